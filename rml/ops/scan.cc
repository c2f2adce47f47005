#include "rml/ops/scan.h"

#include "rml/ops/elementwise.h"

namespace rml::ops {

namespace {

core::Expected<ir::Axes> ResolveScan(const ir::OpCall& call) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  for (int i = 0; i < call.rank(0); ++i) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", i);
    named.role = i == axis ? ir::AxisRole::kWhole : ir::AxisRole::kFree;
    named.inputs.assign(static_cast<size_t>(call.inputs()), i);
    named.outputs = {i};
  }
  return axes;
}

}  // namespace

ir::OpDef LineScan() {
  ir::OpDef op;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"axis", -1}, {"exclusive", false}, {"reverse", false}};
  op.axes = ir::AxesRule(ResolveScan);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axis("axis", call.rank(0)));
    return InferLikeFirst(call, outputs);
  };
  op.samples = [] { return ScanSamples(); };
  return op;
}

ir::AttrList ScanAttributes(const ir::OpCall& call, bool exclusive, bool reverse) {
  return {{"axis", call.integer("axis")}, {"exclusive", exclusive}, {"reverse", reverse}};
}

std::vector<ir::Sample> ScanSamples(const ir::Fill& fill) {
  return {
      {{{{1}, fill}}},
      {{{{7}, fill}}, {{"exclusive", true}}},
      {{{{7}, fill}}, {{"reverse", true}}},
      {{{{17}, fill}}, {{"exclusive", true}, {"reverse", true}}},
      {{{{2, 4, 3}, fill}}, {{"axis", 1}}},
      {{{{2, 4, 3}, fill}}, {{"axis", 0}, {"reverse", true}}},
      {{{{3, 33}, fill}}},
      {{{{0, 3}, fill}}},
      {{{{3, 0}, fill}}, {{"exclusive", true}}},
  };
}

}  // namespace rml::ops
