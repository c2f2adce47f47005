// softmax(q · kᵀ · scale + bias) · v, over grouped heads
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

enum { kQ, kK, kV, kBias, kQueryStart, kLengths };

core::Status InferAttention(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& q = call.input(kQ).dims;
  const ir::Dims& k = call.input(kK).dims;
  const ir::Dims& v = call.input(kV).dims;
  for (int i = kQ; i <= kV; ++i) {
    if (call.rank(i) != 4)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected 4");
    if (!(call.dim(i, 0) == q[0]))
      return core::InvalidArgument(call.input_name(i), " has a batch of ",
                                   call.dim(i, 0).ToString(), ", and q of ", q[0].ToString());
  }
  if (!(k[1] == v[1]) || !ExactDiv(q[1], k[1]).valid()) {
    return core::InvalidArgument(q[1].ToString(), " heads of q do not share ", k[1].ToString(),
                                 " of k and ", v[1].ToString(), " of v");
  }
  if (!(k[2] == v[2]))
    return core::InvalidArgument("k has ", k[2].ToString(), " tokens and v ", v[2].ToString());
  if (!(q[3] == k[3]))
    return core::InvalidArgument("heads of q are ", q[3].ToString(), " wide and those of k ",
                                 k[3].ToString());
  if (call.has(kBias)) {
    RML_ASSIGN(const ir::Dims scores,
               BroadcastDims(call.input(kBias).dims, {q[0], q[1], q[2], k[2]}));
    if (!(scores == ir::Dims{q[0], q[1], q[2], k[2]})) {
      return core::InvalidArgument("bias ", call.input(kBias).dims.ToString(),
                                   " does not broadcast to ",
                                   ir::Dims{q[0], q[1], q[2], k[2]}.ToString());
    }
  }
  for (const int i : {kQueryStart, kLengths}) {
    if (call.has(i) && !(call.input(i).dims == ir::Dims{q[0]})) {
      return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                   ", expected one number for each of ", q[0].ToString());
    }
  }
  if (call.integer("window") < 0)
    return core::InvalidArgument("window is ", call.integer("window"));
  outputs->push_back({call.dtype(kQ), {q[0], q[1], q[2], v[3]}});
  return {};
}

// Which keys each query sees, broadcast to [batch, 1, queries, keys]; undefined where all.
ir::Value Mask(const Emit& e, ir::ExprCall& call) {
  const ir::OpCall& c = call.call();
  const ir::Dims q = call.in(kQ).type().dims;
  const ir::Dim keys = call.in(kK).dim(2);
  const auto per_sequence = [&](int i) {
    return e.reshape(e.cast(call.in(i), core::DType::kI64), {q[0], 1, 1, 1});
  };
  const ir::Value key = e.reshape(e.one("iota", {}, {{"shape", ir::Dims{keys}}}), {1, 1, 1, keys});
  ir::Value query = e.reshape(e.one("iota", {}, {{"shape", ir::Dims{q[2]}}}), {1, 1, q[2], 1});
  if (call.in(kQueryStart).defined()) query = e.add(query, per_sequence(kQueryStart));
  ir::Value mask;
  const auto also = [&](const ir::Value& condition) {
    mask = mask.defined() ? e.one("logical_and", {mask, condition}) : condition;
  };
  if (c.flag("causal")) also(e.one("less_equal", {key, query}));
  if (c.integer("window") > 0)
    also(e.one("less",
               {e.sub(query, key), e.like(query, static_cast<double>(c.integer("window")))}));
  if (call.in(kLengths).defined()) also(e.one("less", {key, per_sequence(kLengths)}));
  return mask;
}

ir::Values DecomposeAttention(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ir::Dims q = call.in(kQ).type().dims;
  const ir::Dims k = call.in(kK).type().dims;
  const ir::Dims v = call.in(kV).type().dims;
  const ir::Dim group = ExactDiv(q[1], k[1]);
  const core::DType dtype = call.in(kQ).dtype();
  const ir::Dims scores_dims = {q[0], q[1], q[2], k[2]};

  // Heads that share keys and values are one group: [batch, kv heads, group · queries, width].
  const ir::Value grouped = e.reshape(call.in(kQ), {q[0], k[1], group * q[2], q[3]});
  ir::Value scores = e.reshape(e.matmul(grouped, e.swap_last(call.in(kK))), scores_dims);
  const double scale = c.number("scale");
  const ir::Value factor = scale != 0 ? e.scalar(scale, dtype) : e.rsqrt(e.size(q[3], dtype));
  scores = e.mul(scores, factor);
  if (const double cap = c.number("soft_cap"); cap > 0)
    scores = e.mul(e.one("tanh", {e.mul(scores, 1 / cap)}), cap);
  if (call.in(kBias).defined()) scores = e.add(scores, call.in(kBias));

  // A query that sees no key gives zeros.
  const ir::Value mask = Mask(e, call);
  const double lowest =
      dtype == core::DType::kF16 ? -65504.0 : std::numeric_limits<float>::lowest();
  if (mask.defined()) scores = e.where(mask, scores, e.scalar(lowest, dtype));
  ir::Value weights = e.one("softmax", {scores});
  if (mask.defined()) weights = e.where(mask, weights, e.scalar(0, dtype));
  const ir::Value mixed =
      e.matmul(e.reshape(weights, {q[0], k[1], group * q[2], k[2]}), call.in(kV));
  return {e.reshape(mixed, {q[0], q[1], q[2], v[3]})};
}

core::Expected<ir::Axes> ResolveAttention(const ir::OpCall& call) {
  const auto inputs = static_cast<size_t>(call.inputs());
  const auto axis = [&](std::string_view name, ir::AxisRole role, std::initializer_list<int> qkv,
                        int out) {
    ir::NamedAxis named = {
        std::string(name), role, ir::Combine::kSum, std::vector<int>(inputs, -1), {out}};
    int i = 0;
    for (const int place : qkv) named.inputs[static_cast<size_t>(i++)] = place;
    return named;
  };
  ir::Axes axes = {axis("batch", ir::AxisRole::kFree, {0, 0, 0}, 0),
                   axis("value", ir::AxisRole::kFree, {-1, -1, 3}, 3)};
  for (size_t i = kQueryStart; i < inputs; ++i)
    axes[0].inputs[i] = call.has(static_cast<int>(i)) ? 0 : -1;
  const bool grouped = !(call.dim(kQ, 1) == call.dim(kK, 1));
  axes.push_back(axis("heads", grouped ? ir::AxisRole::kWhole : ir::AxisRole::kFree, {1, 1, 1}, 1));
  if (call.has(kBias)) {
    const ir::Dims& bias = call.input(kBias).dims;
    const int lead = 4 - bias.rank();
    if (lead <= 0 && bias[-lead] == call.dim(kQ, 0)) axes[0].inputs[kBias] = -lead;
    if (lead <= 1 && bias[1 - lead] == call.dim(kQ, 1)) axes[2].inputs[kBias] = 1 - lead;
  }
  return axes;
}

ir::Cost CostOfAttention(const ir::OpCall& call) {
  const auto size = [&](int i, int axis) { return static_cast<double>(call.dim(i, axis).max()); };
  // Under a causal mask about half of the scores are wanted.
  const double seen = call.flag("causal") && call.dim(kQ, 2) == call.dim(kK, 2) ? 0.5 : 1;
  const double scores = size(kQ, 0) * size(kQ, 1) * size(kQ, 2) * size(kK, 2) * seen;
  const double bytes = core::Info(call.dtype(kQ)).block_bytes;
  double read = 0;
  for (const ir::OpCall::Input& input : call.all_inputs()) {
    if (input.given) read += static_cast<double>(input.type.dims.elements().max()) * bytes;
  }
  return {scores * (2 * size(kQ, 3) + 2 * size(kV, 3) + 5), read,
          bytes * size(kQ, 0) * size(kQ, 1) * size(kQ, 2) * size(kV, 3)};
}

}  // namespace

ir::OpDef Attention() {
  ir::OpDef op;
  op.name = "attention";
  op.doc =
      "`softmax(q · kᵀ · scale + bias) · v` (Vaswani et al. 2017) for q [batch, heads, queries, "
      "width], k and v [batch, kv heads, keys, width]; heads share keys and values in groups. "
      "Query i stands at `query_start` + i (none: 0): `causal` hides later keys, `window` those "
      "that are `window` or more back, `lengths` those past each sequence's end, as in a cache. "
      "`scale` 0 is 1 / √width; `soft_cap` c > 0 makes scores c · tanh(score / c). A query that "
      "sees no key gives zeros.";
  op.inputs = {{"q"},
               {"k"},
               {"v"},
               {"bias", "T", ir::Arity::kOptional},
               {"query_start", "I", ir::Arity::kOptional},
               {"lengths", "I", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"causal", false}, {"window", 0}, {"scale", 0.0}, {"soft_cap", 0.0}};
  op.axes = ir::AxesRule(ResolveAttention);
  op.infer = InferAttention;
  op.decompose = DecomposeAttention;
  op.cost = CostOfAttention;
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    const auto numbers = [](std::vector<double> values) {
      return ir::SampleInput({static_cast<int64_t>(values.size())}, ir::Fill::Values(values));
    };
    return std::vector<ir::Sample>{
        {{{{1, 1, 1, 2}}, {{1, 1, 1, 2}}, {{1, 1, 1, 2}}}},
        {{{{2, 4, 3, 8}}, {{2, 2, 5, 8}}, {{2, 2, 5, 6}}}},
        {{{{1, 2, 7, 4}}, {{1, 2, 7, 4}}, {{1, 2, 7, 4}}}, {{"causal", true}}},
        {{{{1, 2, 7, 4}}, {{1, 1, 7, 4}}, {{1, 1, 7, 4}}},
         {{"causal", true}, {"window", 3}, {"soft_cap", 5.0}}},
        {{{{2, 2, 3, 4}}, {{2, 2, 4, 4}}, {{2, 2, 4, 4}}, {{2, 1, 3, 4}}}, {{"scale", 0.3}}},
        // A cache: two new tokens of each sequence, behind 3 and 0 others.
        {{{{2, 2, 2, 4}}, {{2, 1, 8, 4}}, {{2, 1, 8, 4}}, none, numbers({3, 0}), numbers({5, 2})},
         {{"causal", true}}},
        {{{{2, 2, 1, 4}}, {{2, 2, 6, 4}}, {{2, 2, 6, 4}}, none, none, numbers({0, 6})}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
