#include "rml/ops/elementwise_forms.h"

#include <limits>

namespace rml::ops {

using core::Status;
using ir::Fill;
using ir::OpDef;
using ir::RefCall;

OpDef UnaryWith(std::string_view name, std::string_view doc, std::vector<ir::AttrDef> attributes,
                std::function<UnaryFunction(const ir::OpCall&)> make) {
  OpDef op = Unary(name, doc, nullptr);
  op.attributes = std::move(attributes);
  op.reference = [make = std::move(make)](RefCall& call) -> Status {
    const UnaryFunction f = make(call.call());
    const auto x = call.in<double>(0);
    const auto y = call.out<double>(0);
    for (int64_t i = 0; i < y.size(); ++i) y[i] = f(x[i]);
    return {};
  };
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

OpDef Predicate(std::string_view name, std::string_view doc, bool (*f)(double)) {
  OpDef op = Unary(name, doc, nullptr);
  op.outputs = {{"y", "bool"}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> Status {
    outputs->push_back({core::DType::kBool, call.input(0).dims});
    return {};
  };
  op.reference = [f](RefCall& call) -> Status {
    const auto x = call.in<double>(0);
    const auto y = call.out<uint8_t>(0);
    for (int64_t i = 0; i < y.size(); ++i) y[i] = f(x[i]) ? 1 : 0;
    return {};
  };
  op.no_gradient = true;
  op.samples = [] { return UnaryEdgeSamples(); };
  return op;
}

OpDef Bitwise(std::string_view name, std::string_view doc, bool bools,
              int64_t (*fi)(int64_t, int64_t), uint64_t (*fu)(uint64_t, uint64_t)) {
  OpDef op = Binary(name, doc, nullptr);
  op.types = {{"T", bools ? ir::kInts | ir::kBools : ir::kInts}};
  op.reference = [fi, fu](RefCall& call) -> Status {
    call.VisitIn(0, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, double>) {
        const auto a = call.in<T>(0);
        const auto b = call.in<T>(1);
        const auto y = call.out<T>(0);
        ForBroadcast<2>(call, [&](int64_t out, const std::array<int64_t, 2>& in) {
          if constexpr (std::is_same_v<T, int64_t>) {
            y[out] = fi(a[in[0]], b[in[1]]);
          } else {
            y[out] = static_cast<T>(fu(a[in[0]], b[in[1]]));
          }
        });
      }
    });
    return {};
  };
  op.no_gradient = true;
  op.samples = [] { return BinarySamples(Fill::Normal(0, 40), Fill::Normal(0, 40)); };
  return op;
}

std::vector<ir::Sample> UnaryEdgeSamples(const Fill& fill) {
  std::vector<ir::Sample> samples = UnarySamples(fill);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  samples.push_back({{{{17},
                       Fill::Values({0, -0.0, kInfinity, -kInfinity, kNaN, 0.5, -0.5, 1, -1, 2.5,
                                     -2.5, 100, -100, 60000, -60000, 1e-7, -1e-7})}},
                     {},
                     false});
  return samples;
}

ir::Value NegativePart(const Emit& e, const ir::Value& x) {
  const ir::Value zero = e.like(x, 0);
  return e.where(e.one("greater", {x, zero}), zero, x);
}

}  // namespace rml::ops
