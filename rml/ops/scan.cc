#include "rml/ops/scan.h"

#include "rml/ops/elementwise.h"

namespace rml::ops {

namespace {}  // namespace

ir::OpDef LineScan() {
  ir::OpDef op;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"axis", -1}, {"exclusive", false}, {"reverse", false}};
  op.axes = ir::AxesRule(AxesButOne);
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
