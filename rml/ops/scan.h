// What operators that go along one axis share (cumsum, cumprod, linear_scan): attributes `axis`,
// `exclusive` and `reverse`.
#pragma once

#include "rml/ir/expr_call.h"
#include "rml/ir/op_def.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/expr.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

// A definition of one input x without name, doc, reference and gradient. The axis is whole, all
// others are free, in every input.
ir::OpDef LineScan();
std::vector<ir::Sample> ScanSamples(const ir::Fill& fill = ir::Fill::Normal());

// The attributes of the call, with these two in place of its own.
ir::AttrList ScanAttributes(const ir::OpCall& call, bool exclusive, bool reverse);

// The positions of one line of elements, in the order of the scan.
struct ScanLine {
  int64_t first = 0;
  int64_t step = 1;
  int64_t size = 0;

  int64_t operator()(int64_t i) const { return first + i * step; }
};

// Calls body(line) for every line along the axis.
template <typename Body>
core::Status ForScanLines(const ir::RefCall& call, Body&& body) {
  const core::Shape& shape = call.in_shape(0);
  RML_ASSIGN(const int axis, call.call().axis("axis", shape.rank()));
  const bool reverse = call.call().flag("reverse");
  const AxisView view(shape, axis);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t in = 0; in < view.inner; ++in) {
      body(ScanLine{view.at(o, reverse ? view.size - 1 : 0, in), reverse ? -view.inner : view.inner,
                    view.size});
    }
  }
  return {};
}

}  // namespace rml::ops
