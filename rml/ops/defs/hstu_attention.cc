// silu(q · kᵀ · scale + bias) / n · v: attention without a softmax
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

enum { kQ, kK, kV, kBias, kLengths };

core::Status InferHstuAttention(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& q = call.input(kQ).dims;
  const ir::Dims& k = call.input(kK).dims;
  const ir::Dims& v = call.input(kV).dims;
  for (int i = kQ; i <= kV; ++i) {
    if (call.rank(i) != 4)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected 4");
    for (const int axis : {0, 1}) {
      if (call.dim(i, axis) == q[axis]) continue;
      return core::InvalidArgument("axis ", axis, " is ", call.dim(i, axis).ToString(), " in ",
                                   call.input_name(i), " and ", q[axis].ToString(), " in q");
    }
  }
  if (!(k[2] == v[2]))
    return core::InvalidArgument("k has ", k[2].ToString(), " tokens and v ", v[2].ToString());
  if (!(q[3] == k[3]))
    return core::InvalidArgument("heads of q are ", q[3].ToString(), " wide and those of k ",
                                 k[3].ToString());
  const ir::Dims scores = {q[0], q[1], q[2], k[2]};
  if (call.has(kBias)) {
    RML_ASSIGN(const ir::Dims both, BroadcastDims(call.input(kBias).dims, scores));
    if (!(both == scores)) {
      return core::InvalidArgument("bias ", call.input(kBias).dims.ToString(),
                                   " does not broadcast to ", scores.ToString());
    }
  }
  if (call.has(kLengths) && !(call.input(kLengths).dims == ir::Dims{q[0]})) {
    return core::InvalidArgument("lengths is ", call.input(kLengths).dims.ToString(),
                                 ", expected one number for each of ", q[0].ToString());
  }
  if (call.integer("divisor") < 0)
    return core::InvalidArgument("divisor is ", call.integer("divisor"));
  outputs->push_back({call.dtype(kQ), {q[0], q[1], q[2], v[3]}});
  return {};
}

ir::Values DecomposeHstuAttention(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ir::Dims q = call.in(kQ).type().dims;
  const ir::Dim keys = call.in(kK).dim(2);
  const core::DType dtype = call.in(kQ).dtype();
  const double scale = c.number("scale");
  const ir::Value factor = scale != 0 ? e.scalar(scale, dtype) : e.rsqrt(e.size(q[3], dtype));
  ir::Value scores = e.mul(e.matmul(call.in(kQ), e.swap_last(call.in(kK))), factor);
  if (call.in(kBias).defined()) scores = e.add(scores, call.in(kBias));
  const int64_t divisor = c.integer("divisor");
  const ir::Value n =
      divisor > 0 ? e.scalar(static_cast<double>(divisor), dtype) : e.size(keys, dtype);
  ir::Value weights = e.div(e.mul(scores, e.one("sigmoid", {scores})), n);
  const ir::Value key = e.reshape(e.one("iota", {}, {{"shape", ir::Dims{keys}}}), {1, 1, 1, keys});
  const ir::Value zero = e.scalar(0, dtype);
  if (c.flag("causal")) {
    // The last query stands at the last key.
    const ir::Value query =
        e.reshape(e.one("iota", {}, {{"shape", ir::Dims{q[2]}}}), {1, 1, q[2], 1});
    const ir::Value late = e.sub(e.size(keys, core::DType::kI64), e.size(q[2], core::DType::kI64));
    weights = e.where(e.one("less_equal", {key, e.add(query, late)}), weights, zero);
  }
  if (call.in(kLengths).defined()) {
    const ir::Value lengths =
        e.reshape(e.cast(call.in(kLengths), core::DType::kI64), {q[0], 1, 1, 1});
    weights = e.where(e.one("less", {key, lengths}), weights, zero);
  }
  return {e.matmul(weights, call.in(kV))};
}

core::Expected<ir::Axes> ResolveHstu(const ir::OpCall& call) {
  const auto inputs = static_cast<size_t>(call.inputs());
  ir::Axes axes = {
      {"batch", ir::AxisRole::kFree, ir::Combine::kSum, std::vector<int>(inputs, -1), {0}},
      {"heads", ir::AxisRole::kFree, ir::Combine::kSum, std::vector<int>(inputs, -1), {1}},
      {"value", ir::AxisRole::kFree, ir::Combine::kSum, std::vector<int>(inputs, -1), {3}}};
  for (size_t i = kQ; i <= kV; ++i) {
    axes[0].inputs[i] = 0;
    axes[1].inputs[i] = 1;
  }
  axes[2].inputs[kV] = 3;
  if (call.has(kLengths)) axes[0].inputs[kLengths] = 0;
  if (call.has(kBias)) {
    const int lead = 4 - call.rank(kBias);
    for (int axis = lead; axis < 2; ++axis) {
      if (call.dim(kBias, axis - lead) == call.dim(kQ, axis))
        axes[static_cast<size_t>(axis)].inputs[kBias] = axis - lead;
    }
  }
  return axes;
}

}  // namespace

ir::OpDef HstuAttention() {
  ir::OpDef op;
  op.name = "hstu_attention";
  op.doc =
      "`silu(q · kᵀ · scale + bias) / n · v` (Zhai et al. 2024) for q [batch, heads, queries, "
      "width], k and v [batch, heads, keys, width]: weights do not sum to one, so that they keep "
      "how much there was to see. n is `divisor`, or the number of keys where that is 0; `scale` 0 "
      "is 1 / √width (the paper: 1). `causal` hides later keys, the last query standing at the "
      "last key; `lengths` those past each sequence's end. What is hidden has weight 0.";
  op.inputs = {{"q"},
               {"k"},
               {"v"},
               {"bias", "T", ir::Arity::kOptional},
               {"lengths", "I", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"causal", true}, {"scale", 0.0}, {"divisor", 0}};
  op.axes = ir::AxesRule(ResolveHstu);
  op.infer = InferHstuAttention;
  op.decompose = DecomposeHstuAttention;
  op.cost = [](const ir::OpCall& call) {
    const auto size = [&](int i, int axis) { return static_cast<double>(call.dim(i, axis).max()); };
    const double scores = size(kQ, 0) * size(kQ, 1) * size(kQ, 2) * size(kK, 2);
    const double bytes = core::Info(call.dtype(kQ)).block_bytes;
    double read = 0;
    for (const ir::OpCall::Input& input : call.all_inputs()) {
      if (input.given) read += static_cast<double>(input.type.dims.elements().max()) * bytes;
    }
    const double seen = call.flag("causal") ? 0.5 : 1;
    return ir::Cost{scores * seen * (2 * size(kQ, 3) + 2 * size(kV, 3) + 4), read,
                    bytes * size(kQ, 0) * size(kQ, 1) * size(kQ, 2) * size(kV, 3)};
  };
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    const ir::SampleInput lengths = {{2}, ir::Fill::Values({0, 3})};
    return std::vector<ir::Sample>{
        {{{{1, 1, 1, 2}}, {{1, 1, 1, 2}}, {{1, 1, 1, 2}}}},
        {{{{2, 2, 5, 3}}, {{2, 2, 5, 3}}, {{2, 2, 5, 4}}}, {{"scale", 1.0}, {"divisor", 9}}},
        {{{{2, 2, 3, 4}}, {{2, 2, 5, 4}}, {{2, 2, 5, 2}}, {{2, 1, 3, 5}}, lengths}},
        {{{{2, 1, 3, 4}}, {{2, 1, 4, 4}}, {{2, 1, 4, 4}}, none, lengths}, {{"causal", false}}},
        {{{{0, 2, 3, 4}}, {{0, 2, 3, 4}}, {{0, 2, 3, 4}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
