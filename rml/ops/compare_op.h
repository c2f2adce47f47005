// The form that comparisons share: broadcast, and a bool for each element.
#pragma once

#include "rml/ops/elementwise.h"

namespace rml::ops {

// F is a function object of two equal types, such as std::less<>.
template <typename F>
ir::OpDef Comparison(std::string_view name, std::string_view doc) {
  ir::OpDef op;
  op.name = name;
  op.doc = doc;
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y", "bool"}};
  op.types = {{"T", ir::kNumbers | ir::kBools}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_ASSIGN(const ir::Dims dims, BroadcastInputs(call));
    outputs->push_back({core::DType::kBool, dims});
    return {};
  };
  op.reference = [](ir::RefCall& call) -> core::Status {
    const auto y = call.out<uint8_t>(0);
    call.VisitIn(0, [&](auto zero) {
      using T = decltype(zero);
      const auto a = call.in<T>(0);
      const auto b = call.in<T>(1);
      ForBroadcast<2>(call, [&](int64_t out, const std::array<int64_t, 2>& in) {
        y[out] = F()(a[in[0]], b[in[1]]) ? 1 : 0;
      });
    });
    return {};
  };
  op.no_gradient = true;
  op.samples = [] {
    auto samples = BinarySamples(ir::Fill::Uniform(-2, 2), ir::Fill::Uniform(-2, 2));
    samples.push_back({{{{6}, ir::Fill::Values({1, 1, 2, 0, -0.0, 3})},
                        {{6}, ir::Fill::Values({1, 2, 1, -0.0, 0, 3})}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
