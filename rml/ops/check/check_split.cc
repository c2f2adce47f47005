#include <cmath>

#include "rml/core/error.h"
#include "rml/ops/check/checks.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using ir::NamedAxis;
using ir::Value;
using ir::Values;

namespace {

// The size of an axis in this case; -1 where inputs disagree, which is our own bug.
int64_t SizeOf(const OpCase& c, const NamedAxis& axis, const Values& outputs) {
  int64_t size = -1;
  for (size_t i = 0; i < axis.inputs.size(); ++i) {
    if (axis.inputs[i] >= 0) size = c.inputs[i].dim(axis.inputs[i]);
  }
  for (size_t i = 0; size < 0 && i < axis.outputs.size(); ++i) {
    if (axis.outputs[i] >= 0) size = outputs[i].tensor().dim(axis.outputs[i]);
  }
  return size;
}

// The case on one piece of an axis: inputs cut along it, attributes localised.
Expected<OpCase> PieceOf(const OpCase& c, const NamedAxis& axis, const ir::AxisPiece& piece) {
  OpCase cut = c;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].defined() || axis.inputs[i] < 0) continue;
    RML_ASSIGN(const Tensor part,
               c.inputs[i].Slice(axis.inputs[i], piece.begin, piece.begin + piece.size));
    RML_ASSIGN(cut.inputs[i], part.Contiguous(core::Cpu()));
  }
  RML_ASSIGN(cut.attributes, LocalAttributes(c, piece));
  return cut;
}

Expected<double> FlopsOf(const OpCase& c) {
  const std::vector<ir::OpCall::Input> known = c.known();
  const ir::OpCall call(*c.op, known, c.attributes);
  ir::Types types;
  RML_TRY(ir::InferTypes(call, &types));
  return ir::CostOf(call, types).flops;
}

// Pieces are work divided, perhaps with some of it done in each (attention's scores, where values
// are split): a planner adds them up.
Status CompareCosts(const OpCase& whole, const OpCase& first, const OpCase& second) {
  RML_ASSIGN(const double all, FlopsOf(whole));
  RML_ASSIGN(const double a, FlopsOf(first));
  RML_ASSIGN(const double b, FlopsOf(second));
  const double slack = 0.01 * all + 1;
  if (a <= all + slack && b <= all + slack && a + b >= all - slack) return {};
  return core::Internal("costs ", a, " and ", b, " operations, and the whole ", all);
}

Expected<Tensor> Join(const Tensor& a, const Tensor& b, int axis) {
  std::array<int64_t, core::kMaxRank> dims = {};
  for (int i = 0; i < a.rank(); ++i)
    dims[static_cast<size_t>(i)] = a.dim(i) + (i == axis ? b.dim(i) : 0);
  RML_ASSIGN(const core::Shape shape,
             core::Shape::Make({dims.data(), static_cast<size_t>(a.rank())}));
  RML_ASSIGN(const Tensor joined, Tensor::Empty(a.dtype(), shape, core::Cpu()));
  RML_ASSIGN(const Tensor first, joined.Slice(axis, 0, a.dim(axis)));
  RML_ASSIGN(const Tensor second, joined.Slice(axis, a.dim(axis), shape[axis]));
  RML_TRY(a.CopyTo(first));
  RML_TRY(b.CopyTo(second));
  return joined;
}

Value CombinePartials(const Emit& e, ir::Combine how, const Value& a, const Value& b) {
  const Value nan = e.one("not_equal", {a, a});  // passed on by max and min
  switch (how) {
    case ir::Combine::kSum:
      return e.add(a, b);
    case ir::Combine::kProd:
      return e.mul(a, b);
    case ir::Combine::kMax:
      return e.where(e.one("logical_or", {e.one("greater", {a, b}), nan}), a, b);
    case ir::Combine::kMin:
      return e.where(e.one("logical_or", {e.one("less", {a, b}), nan}), a, b);
  }
  return a;
}

}  // namespace

Status CheckSplits(const OpCase& c) {
  if (c.op->collective) return {};
  const core::RunContext context;
  EagerBuilder eager(context, {&ReferenceProvider()}, BuiltinOps());
  const Emit e(eager);
  const auto whole = RunCase(eager, c, ValuesOf(c.inputs));
  if (!whole.ok()) return whole.status().WithContext(c.ToString());
  const std::vector<ir::OpCall::Input> known = c.known();
  const auto axes = ir::ResolveAxes(ir::OpCall(*c.op, known, c.attributes));
  if (!axes.ok()) return axes.status().WithContext(StrCat(c.ToString(), ", axes"));
  for (const NamedAxis& axis : *axes) {
    if (axis.role == ir::AxisRole::kWhole) continue;
    const std::string what = StrCat(c.ToString(), ", split along ", axis.name);
    if (axis.inputs.size() != c.inputs.size() || axis.outputs.size() != whole->size()) {
      return core::Internal(what, ": the axes name ", axis.inputs.size(), " inputs and ",
                            axis.outputs.size(), " outputs");
    }
    const int64_t size = SizeOf(c, axis, *whole);
    if (size < 2) continue;
    const int64_t middle = (size + 1) / 2;
    const auto first_case = PieceOf(c, axis, {axis.name, 0, middle});
    const auto second_case = PieceOf(c, axis, {axis.name, middle, size - middle});
    if (!first_case.ok()) return first_case.status().WithContext(what);
    if (!second_case.ok()) return second_case.status().WithContext(what);
    if (axis.role == ir::AxisRole::kFree) {
      const Status costs = CompareCosts(c, *first_case, *second_case);
      if (!costs.ok()) return costs.WithContext(what);
    }
    const auto first = RunCase(eager, *first_case, ValuesOf(first_case->inputs));
    const auto second = RunCase(eager, *second_case, ValuesOf(second_case->inputs));
    if (!first.ok()) return first.status().WithContext(what);
    if (!second.ok()) return second.status().WithContext(what);
    for (size_t i = 0; i < whole->size(); ++i) {
      Tensor merged;
      const Tensor& a = (*first)[i].tensor();
      const Tensor& b = (*second)[i].tensor();
      try {
        if (axis.outputs[i] >= 0) {
          RML_ASSIGN(merged, Join(a, b, axis.outputs[i]));
        } else if (axis.role == ir::AxisRole::kReduced) {
          merged = CombinePartials(e, axis.combine, (*first)[i], (*second)[i]).tensor();
        } else {
          merged = a;  // an output that the axis does not touch is the same in each piece
        }
      } catch (const Error& error) {
        return error.status().WithContext(what);
      }
      const auto difference = Compare(merged, (*whole)[i].tensor());
      if (!difference.ok()) return difference.status().WithContext(what);
      // Partial sums are rounded to the dtype, and once more when they are added.
      const bool reduced = axis.role == ir::AxisRole::kReduced;
      const double allowed = reduced ? 2 * ToleranceFor(c.op->tolerance, merged.dtype()) : 0;
      if (difference->worst > allowed)
        return core::Internal(what, ": output ", i, " differs by ", difference->worst, " ",
                              difference->where);
    }
  }
  return {};
}

}  // namespace rml::ops
