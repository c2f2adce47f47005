#include "rml/models/decoder_graph.h"

#include <unordered_map>

#include "rml/core/error.h"
#include "rml/ir/trace_builder.h"
#include "rml/kernels/rope.h"
#include "rml/ops/expr.h"

namespace rml::models {

namespace {

using core::DType;
using ir::Dim;
using ir::Value;

constexpr int64_t kMaxBatch = int64_t{1} << 20;

class DecoderBuilder {
 public:
  DecoderBuilder(ir::Builder& builder, const DecoderSpec& spec, const DecoderParameters& parameter,
                 const Value& tokens, const DecoderContext* context, DType dtype)
      : e_(builder),
        spec_(spec),
        parameter_(parameter),
        tokens_(tokens),
        context_(context),
        dtype_(dtype),
        batch_(tokens.dim(0)),
        length_(tokens.dim(1)) {}

  DecoderStep Build() {
    PlaceTokens();
    Value x = Embed();
    DecoderStep step;
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      layer_ = static_cast<int64_t>(i);
      DecoderCache cache;
      if (context_ != nullptr) cache = context_->caches[i];
      x = AddResidual(x, Attend(Norm(x, "attention_norm.weight"), spec_.layers[i], &cache),
                      "attention_post_norm.weight");
      x = AddResidual(x, FeedForward(Norm(x, "mlp_norm.weight")), "mlp_post_norm.weight");
      if (context_ != nullptr) step.caches.push_back(cache);
    }
    const Value output = parameter_("output.weight");
    step.logits = Linear(RmsNorm(x, parameter_("final_norm.weight")),
                         output.defined() ? output : parameter_("embedding.weight"));
    step.logits = SoftCap(step.logits, spec_.logit_soft_cap);
    return step;
  }

 private:
  struct Angles {
    Value cos, sin;  // [batch or 1, 1, tokens, pairs]
  };

  Value Weight(std::string_view suffix) const {
    return parameter_(LayerTensorName(layer_, suffix));
  }
  Value Wide(const Value& x) const { return e_.cast(x, dtype_); }

  // Positions, and the angles of each kind of RoPE: in f64, rounded once, as the runtime's are.
  void PlaceTokens() {
    positions_ = e_.reshape(e_.one("iota", {}, {{"shape", ir::Dims{length_}}}), {1, 1, length_});
    if (context_ != nullptr) {
      const Value start = e_.cast(context_->start, DType::kI64);
      positions_ = e_.add(positions_, e_.reshape(start, {batch_, 1, 1}));
      lengths_ = e_.add(start, e_.size(length_, DType::kI64));
    }
    const Value factors = parameter_("rope.frequency_factors");
    for (const RopeSpec& rope : spec_.ropes) {
      const auto table = kernels::RopeFrequencies(rope.dim, rope.base, rope.scaling);
      Value inverse = Constant(table.inverse);
      if (factors.defined()) inverse = e_.div(inverse, e_.cast(factors, DType::kF64));
      ir::Dims dims = positions_.type().dims;
      dims.Append(1);
      const Value turns = e_.mul(e_.reshape(e_.cast(positions_, DType::kF64), dims), inverse);
      const auto of = [&](std::string_view function) {
        return Wide(e_.mul(e_.one(function, {turns}), static_cast<double>(table.magnitude)));
      };
      angles_.push_back({of("cos"), of("sin")});
    }
  }

  Value Constant(const std::vector<double>& numbers) const {
    auto tensor = core::Tensor::FromHost<double>({static_cast<int64_t>(numbers.size())}, numbers,
                                                 e_.builder().allocator());
    if (!tensor.ok()) throw Error(tensor.status());
    auto value = e_.builder().Constant(*std::move(tensor));
    if (!value.ok()) throw Error(value.status());
    return *value;
  }

  Value Embed() const {
    Value table = parameter_("embedding.weight");
    if (core::IsQuantized(table.dtype()))
      table = e_.one("block_dequantize", {table}, {{"dtype", dtype_}});
    const Value x = Wide(e_.one("gather", {table, tokens_}));
    return spec_.embedding_scale == 1.0f ? x
                                         : e_.mul(x, static_cast<double>(spec_.embedding_scale));
  }

  // x · wᵀ [+ bias]
  Value Linear(const Value& x, const Value& w, const Value& bias = {}) const {
    const Value y = core::IsQuantized(w.dtype()) ? e_.one("quantized_matmul", {x, w})
                                                 : e_.matmul(x, e_.swap_last(Wide(w)));
    return bias.defined() ? e_.add(y, Wide(bias)) : y;
  }

  Value RmsNorm(const Value& x, const Value& weight) const {
    return e_.one("rms_norm", {x, Wide(weight)}, {{"eps", static_cast<double>(spec_.norm_eps)}});
  }
  Value Norm(const Value& x, std::string_view weight) const { return RmsNorm(x, Weight(weight)); }

  Value AddResidual(const Value& x, const Value& update, std::string_view post_norm) const {
    return e_.add(x, spec_.post_norms ? Norm(update, post_norm) : update);
  }

  Value SoftCap(const Value& x, float cap) const {
    if (cap <= 0) return x;
    return e_.mul(e_.one("tanh", {e_.mul(x, 1.0 / static_cast<double>(cap))}),
                  static_cast<double>(cap));
  }

  // [batch, tokens, heads · head_dim] to [batch, heads, tokens, head_dim]
  Value Heads(const Value& x, int heads) const {
    return e_.transpose(e_.reshape(x, {batch_, length_, heads, spec_.head_dim}), {0, 2, 1, 3});
  }

  Value Rotate(const Value& x, const LayerSpec& layer) const {
    const auto i = static_cast<size_t>(layer.rope);
    const bool adjacent = spec_.ropes[i].layout == kernels::RopeLayout::kAdjacent;
    return e_.one("rope", {x, Value(), angles_[i].cos, angles_[i].sin},
                  {{"layout", adjacent ? "adjacent" : "halves"}});
  }

  Value Store(const Value& cache, const Value& rows) const {
    return e_.one("kv_append", {cache, e_.cast(rows, cache.dtype()), context_->start});
  }

  Value Attend(const Value& h, const LayerSpec& layer, DecoderCache* cache) const {
    const auto project = [&](const char* name, int heads) {
      const std::string prefix = core::StrCat("attention.", name);
      return Heads(Linear(h, Weight(prefix + ".weight"),
                          spec_.qkv_bias ? Weight(prefix + ".bias") : Value()),
                   heads);
    };
    Value q = project("q", spec_.heads);
    Value k = project("k", spec_.kv_heads);
    Value v = project("v", spec_.kv_heads);
    if (spec_.qk_norm) {
      q = Norm(q, "attention.q_norm.weight");
      k = Norm(k, "attention.k_norm.weight");
    }
    q = Rotate(q, layer);
    k = Rotate(k, layer);
    Value start, lengths;
    if (context_ != nullptr) {
      cache->k = Store(cache->k, k);
      cache->v = Store(cache->v, v);
      k = Wide(cache->k);
      v = Wide(cache->v);
      start = e_.cast(context_->start, DType::kI64);
      lengths = lengths_;
    }
    const Value mixed = e_.one("attention", {q, k, v, Value(), start, lengths},
                               {{"causal", true},
                                {"window", layer.window},
                                {"scale", static_cast<double>(spec_.attention_scale)},
                                {"soft_cap", static_cast<double>(spec_.attention_soft_cap)}});
    return Linear(e_.reshape(e_.transpose(mixed, {0, 2, 1, 3}), {batch_, length_, spec_.q_width()}),
                  Weight("attention.o.weight"));
  }

  Value FeedForward(const Value& h) const {
    const Value gate = Linear(h, Weight("mlp.gate.weight"));
    const Value active = spec_.activation == Activation::kSilu
                             ? e_.one("silu", {gate})
                             : e_.one("gelu", {gate}, {{"approximate", "tanh"}});
    return Linear(e_.mul(active, Linear(h, Weight("mlp.up.weight"))), Weight("mlp.down.weight"));
  }

  const ops::Emit e_;
  const DecoderSpec& spec_;
  const DecoderParameters& parameter_;
  const Value& tokens_;
  const DecoderContext* context_;
  const DType dtype_;
  const Dim batch_, length_;
  int64_t layer_ = 0;
  Value positions_;  // [batch or 1, 1, tokens]
  Value lengths_;    // [batch], the tokens included; only with a context
  std::vector<Angles> angles_;
};

}  // namespace

DecoderStep BuildDecoder(ir::Builder& builder, const DecoderSpec& spec,
                         const DecoderParameters& parameter, const Value& tokens,
                         const DecoderContext* context, DType dtype) {
  if (tokens.rank() != 2) {
    throw Error(core::InvalidArgument("decoder: tokens have ", tokens.rank(),
                                      " dimensions, expected [batch, tokens]"));
  }
  if (context != nullptr && context->caches.size() != spec.layers.size()) {
    throw Error(core::InvalidArgument("decoder: there are ", context->caches.size(), " caches for ",
                                      spec.layers.size(), " layers"));
  }
  return DecoderBuilder(builder, spec, parameter, tokens, context, dtype).Build();
}

core::Expected<ir::Graph> TraceDecoder(const DecoderSpec& spec, const StoredDType& stored,
                                       const ir::OpSource& operators) {
  RML_TRY(Validate(spec));
  ir::Graph graph;
  ir::TraceBuilder builder(graph, operators, core::Cpu());
  const Value tokens = builder.Input(
      {DType::kI64,
       {Dim::Symbol("batch", 1, kMaxBatch), Dim::Symbol("tokens", 1, spec.context_length)}},
      "tokens");
  std::unordered_map<std::string, Value> parameters;
  for (const TensorSpec& tensor : DecoderTensors(spec)) {
    if (const std::optional<DType> dtype = stored(tensor))
      parameters[tensor.name] = builder.Parameter({*dtype, ir::Dims(tensor.shape)}, tensor.name);
  }
  try {
    const auto find = [&](const std::string& name) {
      const auto found = parameters.find(name);
      return found == parameters.end() ? Value() : found->second;
    };
    const DecoderStep step = BuildDecoder(builder, spec, find, tokens);
    graph.AddOutput(step.logits.id());
    RML_TRY(graph.SetName(step.logits.id(), "logits"));
  } catch (const Error& error) {
    return error.status();
  }
  return graph;
}

}  // namespace rml::models
