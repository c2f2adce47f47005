#include "rml/ops/testing/group_run.h"

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/ops/testing/thread_collectives.h"

namespace rml::ops::testing {

namespace {

std::vector<double> NumbersOf(const ir::Value& value) {
  const auto numbers = *value.tensor().HostData<double>();
  return {numbers.begin(), numbers.end()};
}

}  // namespace

GroupRun RunOnGroup(int members, std::string_view op, const ir::AttrList& attributes,
                    core::FunctionRef<core::Tensor(int rank)> x_of,
                    core::FunctionRef<double(int rank, int64_t i)> weight_of) {
  GroupRun result;
  result.y.resize(static_cast<size_t>(members));
  result.gradient.resize(static_cast<size_t>(members));
  std::vector<double> losses(static_cast<size_t>(members));
  ThreadGroup group(members);
  group.Run([&](core::Collectives& member) {
    const core::RunContext context = {.collectives = &member};
    EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
    const Emit e(eager);
    const auto r = static_cast<size_t>(member.rank());
    ir::Value x(x_of(member.rank()));
    x.set_requires_grad(true);
    const ir::Value y = e.one(op, {x}, attributes);
    std::vector<double> weights(static_cast<size_t>(y.tensor().elements()));
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = weight_of(member.rank(), static_cast<int64_t>(i));
    const ir::Value weight(
        *core::Tensor::FromHost<double>(y.tensor().shape(), weights, core::Cpu()));
    const ir::Value loss = e.sum(e.mul(y, weight), {});
    const ir::Value one = e.scalar(1, core::DType::kF64);
    const auto gradient =
        ir::TapeBackward(eager, std::span(&loss, 1), std::span(&one, 1), std::span(&x, 1));
    if (!gradient.ok()) throw Error(gradient.status());
    result.y[r] = NumbersOf(y);
    result.gradient[r] = NumbersOf((*gradient)[0]);
    losses[r] = NumbersOf(loss)[0];
  });
  for (const double loss : losses) result.loss += loss;
  return result;
}

}  // namespace rml::ops::testing
