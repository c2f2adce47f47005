// silu(q · kᵀ · scale + bias) / n · v: attention without a softmax
#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

enum { kQ, kK, kV, kBias, kLengths, kNumTargets };

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
  for (const int i : {kLengths, kNumTargets}) {
    if (!call.has(i) || call.input(i).dims == ir::Dims{q[0]}) continue;
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", expected one number for each of ", q[0].ToString());
  }
  for (const char* const name :
       {"divisor", "max_attn_len", "contextual_seq_len", "min_full_attn_seq_len"}) {
    if (call.integer(name) < 0) return core::InvalidArgument(name, " is ", call.integer(name));
  }
  outputs->push_back({call.dtype(kQ), {q[0], q[1], q[2], v[3]}});
  return {};
}

// Which keys each query sees, broadcast to [batch, 1, queries, keys]; undefined where all.
//
// Tokens stand at the places of an id, by which they are compared: 0 for the whole contextual
// prefix, then ascending, and one id for all targets, so that none is before another.
class HstuMask {
 public:
  HstuMask(const Emit& e, const ir::ExprCall& call) : e_(e), call_(call) {
    const ir::Dim queries = call.in(kQ).dim(2);
    const ir::Dim keys = call.in(kK).dim(2);
    const auto count = [&](ir::Dim size, const ir::Dims& dims) {
      return e.reshape(e.one("iota", {}, {{"shape", ir::Dims{size}}}), dims);
    };
    key_ = count(keys, {1, 1, 1, keys});
    // The last query stands at the last key.
    const ir::Value late =
        e.sub(e.size(keys, core::DType::kI64), e.size(queries, core::DType::kI64));
    query_ = e.add(count(queries, {1, 1, queries, 1}), late);
    end_ = call.in(kLengths).defined() ? PerSequence(kLengths) : e.size(keys, core::DType::kI64);
  }

  ir::Value Run() {
    if (NeedsOrder()) mask_ = Ordered();
    if (call_.in(kLengths).defined()) {
      const ir::Value inside = Less(key_, end_);
      mask_ = mask_.defined() ? And(mask_, inside) : inside;
    }
    return mask_;
  }

 private:
  int64_t Number(std::string_view name) const { return call_.call().integer(name); }
  bool NeedsOrder() const {
    return call_.call().flag("causal") || Number("max_attn_len") > 0 ||
           call_.in(kNumTargets).defined();
  }

  ir::Value Ordered() const {
    const double prefix = static_cast<double>(Number("contextual_seq_len"));
    const bool targets = call_.in(kNumTargets).defined();
    ir::Value last = end_;  // the id of the targets, or of what is past the end
    if (prefix > 0) last = e_.add(last, 1 - prefix);
    if (targets) last = e_.sub(last, PerSequence(kNumTargets));
    const auto id = [&](ir::Value place) {
      if (prefix > 0) {
        place = e_.add(place, 1 - prefix);
        place = e_.one("maximum", {place, e_.like(place, 0)});
      }
      return targets ? e_.one("minimum", {place, last}) : place;
    };
    const ir::Value row = id(query_);
    const ir::Value column = id(key_);
    ir::Value apart = e_.sub(row, column);
    if (!call_.call().flag("causal")) apart = e_.one("abs", {apart});
    ir::Value seen = Or(Equal(query_, key_), Less(e_.like(apart, 0), apart));
    if (const int64_t longest = Number("max_attn_len"); longest > 0) {
      ir::Value near = Less(apart, e_.like(apart, static_cast<double>(longest + 1)));
      if (const int64_t full = Number("min_full_attn_seq_len"); full > 0)
        near = Or(near, Less(e_.add(last, -static_cast<double>(full) - 1), row));
      seen = And(seen, near);
    }
    if (prefix > 0) seen = Or(seen, And(Equal(row, e_.like(row, 0)), Less(column, last)));
    return seen;
  }

  ir::Value PerSequence(int i) const {
    return e_.reshape(e_.cast(call_.in(i), core::DType::kI64), {call_.in(kQ).dim(0), 1, 1, 1});
  }
  ir::Value Less(const ir::Value& a, const ir::Value& b) const { return e_.one("less", {a, b}); }
  ir::Value Equal(const ir::Value& a, const ir::Value& b) const { return e_.one("equal", {a, b}); }
  ir::Value And(const ir::Value& a, const ir::Value& b) const {
    return e_.one("logical_and", {a, b});
  }
  ir::Value Or(const ir::Value& a, const ir::Value& b) const {
    return e_.one("logical_or", {a, b});
  }

  const Emit& e_;
  const ir::ExprCall& call_;
  ir::Value key_, query_;  // places: [1, 1, 1, keys], [1, 1, queries, 1]
  ir::Value end_;          // of each sequence: [batch, 1, 1, 1], or a scalar
  ir::Value mask_;
};

// In f32 at least: weights are divided by the number of keys, which f16 and bf16 round.
ir::Values DecomposeHstuAttention(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const core::DType dtype = call.in(kQ).dtype();
  const core::DType stat = StatType(dtype);
  const auto wide = [&](int i) { return e.cast(call.in(i), stat); };
  const double scale = c.number("scale");
  const ir::Value factor =
      scale != 0 ? e.scalar(scale, stat) : e.rsqrt(e.size(call.in(kQ).dim(3), stat));
  ir::Value scores = e.mul(e.matmul(wide(kQ), e.swap_last(wide(kK))), factor);
  if (call.in(kBias).defined()) scores = e.add(scores, wide(kBias));
  const int64_t divisor = c.integer("divisor");
  const ir::Value n =
      divisor > 0 ? e.scalar(static_cast<double>(divisor), stat) : e.size(call.in(kK).dim(2), stat);
  ir::Value weights = e.div(e.mul(scores, e.one("sigmoid", {scores})), n);
  if (const ir::Value mask = HstuMask(e, call).Run(); mask.defined())
    weights = e.where(mask, weights, e.scalar(0, stat));
  return {e.cast(e.matmul(weights, wide(kV)), dtype)};
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
  for (const int i : {kLengths, kNumTargets}) {
    if (call.has(i)) axes[0].inputs[static_cast<size_t>(i)] = 0;
  }
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
      "how much there was to see. n is `divisor`, or the number of keys where that is 0; `scale` "
      "0 is 1 / √width (the paper: 1). `causal` hides later keys, the last query standing at the "
      "last key; `lengths` those past each sequence's end. What is hidden has weight 0. The rest "
      "is that of Meta's hstu_mha: the last `num_targets` [batch] tokens of each sequence do not "
      "see each other, only themselves and what came before all of them; the first "
      "`contextual_seq_len` tokens see all that is no target; `max_attn_len` hides what is "
      "further away (0: nothing), counted without the prefix and with all targets at one place, "
      "but from the last `min_full_attn_seq_len` tokens before the targets, and these.";
  op.inputs = {{"q"},
               {"k"},
               {"v"},
               {"bias", "T", ir::Arity::kOptional},
               {"lengths", "I", ir::Arity::kOptional},
               {"num_targets", "I", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"causal", true},
                   {"scale", 0.0},
                   {"divisor", 0},
                   {"max_attn_len", 0},
                   {"contextual_seq_len", 0},
                   {"min_full_attn_seq_len", 0}};
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
    const ir::SampleInput ends = {{2}, ir::Fill::Values({6, 4})};
    const ir::SampleInput targets = {{2}, ir::Fill::Values({2, 1})};
    return std::vector<ir::Sample>{
        {{{{1, 1, 1, 2}}, {{1, 1, 1, 2}}, {{1, 1, 1, 2}}}},
        {{{{2, 2, 5, 3}}, {{2, 2, 5, 3}}, {{2, 2, 5, 4}}}, {{"scale", 1.0}, {"divisor", 9}}},
        {{{{2, 2, 3, 4}}, {{2, 2, 5, 4}}, {{2, 2, 5, 2}}, {{2, 1, 3, 5}}, lengths}},
        {{{{2, 1, 3, 4}}, {{2, 1, 4, 4}}, {{2, 1, 4, 4}}, none, lengths}, {{"causal", false}}},
        {{{{2, 1, 6, 3}}, {{2, 1, 6, 3}}, {{2, 1, 6, 2}}, none, ends, targets}},
        {{{{2, 1, 6, 3}}, {{2, 1, 6, 3}}, {{2, 1, 6, 2}}, none, ends, targets},
         {{"max_attn_len", 2}, {"contextual_seq_len", 2}, {"min_full_attn_seq_len", 1}}},
        {{{{2, 1, 3, 2}}, {{2, 1, 7, 2}}, {{2, 1, 7, 2}}, none, none, targets},
         {{"causal", false}, {"max_attn_len", 3}, {"contextual_seq_len", 1}}},
        {{{{0, 2, 3, 4}}, {{0, 2, 3, 4}}, {{0, 2, 3, 4}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
