#include "rml/ops/reduce.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::OpCall;

Status InferReduction(const OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Ints axes, call.axes("axes", call.rank(0)));
  ir::Type type = {call.dtype(0), {}};
  for (int axis = 0; axis < call.rank(0); ++axis) {
    if (!Contains(axes, axis)) {
      type.dims.Append(call.dim(0, axis));
    } else if (call.flag("keep_dims")) {
      type.dims.Append(1);
    }
  }
  outputs->push_back(type);
  return {};
}

ir::Cost ReductionCost(const OpCall& call, double operations) {
  const double elements = static_cast<double>(call.input(0).dims.elements().max());
  const core::DTypeInfo& info = core::Info(call.dtype(0));
  return {operations * elements, elements * info.block_bytes, info.block_bytes * 1.0};
}

namespace {

Expected<ir::Axes> ResolveReduction(const OpCall& call, ir::Combine combine) {
  RML_ASSIGN(const ir::Ints reduced, call.axes("axes", call.rank(0)));
  ir::Axes axes;
  int out = 0;
  for (int axis = 0; axis < call.rank(0); ++axis) {
    const bool here = Contains(reduced, axis);
    axes.push_back({core::StrCat("d", axis),
                    here ? ir::AxisRole::kReduced : ir::AxisRole::kFree,
                    combine,
                    {axis},
                    {here ? -1 : out}});
    if (!here || call.flag("keep_dims")) ++out;
  }
  return axes;
}

}  // namespace

ir::OpDef Reduction(ir::Combine combine) {
  ir::OpDef op;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.attributes = {{"axes", ir::Ints()}, {"keep_dims", false}};
  op.axes = ir::AxesRule([combine](const OpCall& call) { return ResolveReduction(call, combine); });
  op.infer = InferReduction;
  op.cost = [](const OpCall& call) { return ReductionCost(call, 1); };
  op.samples = [] { return ReductionSamples(); };
  return op;
}

int64_t ReducedCount(const ir::RefCall& call) {
  const int64_t outputs = call.out_shape(0).elements();
  if (outputs > 0) return call.in_shape(0).elements() / outputs;
  int64_t count = 1;
  const auto axes = call.call().axes("axes", call.in_shape(0).rank());
  for (const int64_t axis : *axes) count *= call.in_shape(0)[static_cast<int>(axis)];
  return count;
}

ir::Value Kept(const ir::ExprCall& call, const Emit& e, const ir::Value& value) {
  if (call.call().flag("keep_dims")) return value;
  return e.restore(value, *call.call().axes("axes", call.in(0).rank()), call.in(0).rank());
}

std::vector<ir::Sample> ReductionSamples(const ir::Fill& fill) {
  return {
      {{{{}, fill}}},
      {{{{7}, fill}}},
      {{{{3, 5}, fill}}, {{"axes", ir::Ints{0}}}},
      {{{{3, 5}, fill}}, {{"axes", ir::Ints{-1}}, {"keep_dims", true}}},
      {{{{2, 3, 17}, fill}}, {{"axes", ir::Ints{2, 0}}}},
      {{{{4, 33}, fill}}, {{"axes", ir::Ints{1}}}},
      {{{{3, 1, 4}, fill}}, {{"axes", ir::Ints{1}}, {"keep_dims", true}}},
  };
}

}  // namespace rml::ops
