#include "rml/models/tensor_names.h"

#include <utility>

namespace rml::models {

namespace {

using core::Shape;
using core::StrCat;

// Collects the tensors of one layer: the three spellings differ only in prefix and suffix.
class LayerTensors {
 public:
  LayerTensors(int64_t layer, std::vector<TensorSpec>* out)
      : hugging_face_(StrCat("model.layers.", layer, ".")),
        gguf_(StrCat("blk.", layer, ".")),
        layer_(layer),
        out_(out) {}

  void Add(std::string_view name, std::string_view hugging_face, std::string_view gguf, Shape shape,
           Transform transform = Transform::kNone) {
    out_->push_back({.name = LayerTensorName(layer_, name),
                     .hugging_face = StrCat(hugging_face_, hugging_face),
                     .gguf = StrCat(gguf_, gguf),
                     .shape = shape,
                     .transform = transform});
  }

 private:
  std::string hugging_face_;
  std::string gguf_;
  int64_t layer_;
  std::vector<TensorSpec>* out_;
};

void AddLayer(const DecoderSpec& spec, int64_t index, std::vector<TensorSpec>* out) {
  LayerTensors layer(index, out);
  // Llama's GGUF files are the ones with permuted rows; the other families rotate halves in both
  // formats.
  const bool permuted = spec.family == "llama";
  const Transform q_rows = permuted ? Transform::kRopePermuteQ : Transform::kNone;
  const Transform k_rows = permuted ? Transform::kRopePermuteK : Transform::kNone;
  const Transform norm = spec.family == "gemma3" ? Transform::kNormPlusOne : Transform::kNone;
  const int64_t d = spec.d_model, ff = spec.d_ff, q = spec.q_width(), kv = spec.kv_width();

  layer.Add("attention_norm.weight", "input_layernorm.weight", "attn_norm.weight", {d}, norm);
  layer.Add("attention.q.weight", "self_attn.q_proj.weight", "attn_q.weight", {q, d}, q_rows);
  layer.Add("attention.k.weight", "self_attn.k_proj.weight", "attn_k.weight", {kv, d}, k_rows);
  layer.Add("attention.v.weight", "self_attn.v_proj.weight", "attn_v.weight", {kv, d});
  if (spec.qkv_bias) {
    layer.Add("attention.q.bias", "self_attn.q_proj.bias", "attn_q.bias", {q}, q_rows);
    layer.Add("attention.k.bias", "self_attn.k_proj.bias", "attn_k.bias", {kv}, k_rows);
    layer.Add("attention.v.bias", "self_attn.v_proj.bias", "attn_v.bias", {kv});
  }
  if (spec.qk_norm) {
    layer.Add("attention.q_norm.weight", "self_attn.q_norm.weight", "attn_q_norm.weight",
              {spec.head_dim}, norm);
    layer.Add("attention.k_norm.weight", "self_attn.k_norm.weight", "attn_k_norm.weight",
              {spec.head_dim}, norm);
  }
  layer.Add("attention.o.weight", "self_attn.o_proj.weight", "attn_output.weight", {d, q});
  if (spec.post_norms) {
    layer.Add("attention_post_norm.weight", "post_attention_layernorm.weight",
              "post_attention_norm.weight", {d}, norm);
    layer.Add("mlp_norm.weight", "pre_feedforward_layernorm.weight", "ffn_norm.weight", {d}, norm);
  } else {
    layer.Add("mlp_norm.weight", "post_attention_layernorm.weight", "ffn_norm.weight", {d}, norm);
  }
  layer.Add("mlp.gate.weight", "mlp.gate_proj.weight", "ffn_gate.weight", {ff, d});
  layer.Add("mlp.up.weight", "mlp.up_proj.weight", "ffn_up.weight", {ff, d});
  layer.Add("mlp.down.weight", "mlp.down_proj.weight", "ffn_down.weight", {d, ff});
  if (spec.post_norms) {
    layer.Add("mlp_post_norm.weight", "post_feedforward_layernorm.weight", "post_ffw_norm.weight",
              {d}, norm);
  }
}

}  // namespace

std::string LayerTensorName(int64_t layer, std::string_view suffix) {
  return StrCat("layers.", layer, ".", suffix);
}

std::vector<TensorSpec> DecoderTensors(const DecoderSpec& spec) {
  std::vector<TensorSpec> tensors;
  const Transform norm = spec.family == "gemma3" ? Transform::kNormPlusOne : Transform::kNone;
  tensors.push_back({.name = "embedding.weight",
                     .hugging_face = "model.embed_tokens.weight",
                     .gguf = "token_embd.weight",
                     .shape = {spec.vocab, spec.d_model}});
  // Llama 3.1's frequency factors: GGUF stores them, Hugging Face computes them from its config.
  tensors.push_back({.name = "rope.frequency_factors",
                     .hugging_face = "",
                     .gguf = "rope_freqs.weight",
                     .shape = {spec.ropes.empty() ? 0 : spec.ropes[0].dim / 2},
                     .optional = true});
  for (size_t i = 0; i < spec.layers.size(); ++i) AddLayer(spec, static_cast<int64_t>(i), &tensors);
  tensors.push_back({.name = "final_norm.weight",
                     .hugging_face = "model.norm.weight",
                     .gguf = "output_norm.weight",
                     .shape = {spec.d_model},
                     .transform = norm});
  // Some exporters write the output of a tied model once more: it is then simply used.
  tensors.push_back({.name = "output.weight",
                     .hugging_face = "lm_head.weight",
                     .gguf = "output.weight",
                     .shape = {spec.vocab, spec.d_model},
                     .optional = spec.tied_embeddings});
  return tensors;
}

}  // namespace rml::models
