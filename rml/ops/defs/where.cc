// y = condition ? a : b
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceWhere(ir::RefCall& call) {
  const auto condition = call.in<uint8_t>(0);
  call.VisitIn(1, [&](auto zero) {
    using T = decltype(zero);
    const auto a = call.in<T>(1);
    const auto b = call.in<T>(2);
    const auto y = call.out<T>(0);
    ForBroadcast<3>(call, [&](int64_t out, const std::array<int64_t, 3>& in) {
      y[out] = condition[in[0]] != 0 ? a[in[1]] : b[in[2]];
    });
  });
  return {};
}

ir::Values VjpWhere(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Value zero = e.like(call.grad(0), 0);
  ir::Values grads(size_t{3});
  if (call.needs(1))
    grads[1] = e.sum_to(e.where(call.in(0), call.grad(0), zero), call.in(1).type().dims);
  if (call.needs(2))
    grads[2] = e.sum_to(e.where(call.in(0), zero, call.grad(0)), call.in(2).type().dims);
  return grads;
}

}  // namespace

ir::OpDef Where() {
  ir::OpDef op;
  op.name = "where";
  op.doc = "Choice, elementwise: `y = condition ? a : b`.";
  op.inputs = {{"condition", "bool"}, {"a"}, {"b"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, BroadcastInputs(call));
    outputs->push_back({call.dtype(1), dims});
    return {};
  };
  op.reference = ReferenceWhere;
  op.vjp = VjpWhere;
  op.samples = [] {
    const ir::Fill bits = ir::Fill::Uniform(0, 1);
    return std::vector<ir::Sample>{{{{{}, bits}, {{}}, {{}}}},
                                   {{{{0}, bits}, {{1}}, {{}}}},
                                   {{{{7}, bits}, {{7}}, {{7}}}},
                                   {{{{2, 1}, bits}, {{5}}, {{2, 5}}}}};
  };
  return op;
}

}  // namespace rml::ops
