// DecoderSpec: the one description of a decoder-only transformer, as plain data. Loaders,
// exporters, the LLM runtime, the nn module and the planner all read it; none keeps its own list of
// families.
//
// The block it describes, for layer i (bracketed steps exist where the spec says so):
//   h = norm(x);  q,k,v = h·Wq, h·Wk, h·Wv [+ bias];  [q,k = norm per head];  q,k = rope(q,k)
//   x = x + [norm](attention(q,k,v)·Wo)
//   h = norm(x);  x = x + [norm]((act(h·Wgate) * (h·Wup))·Wdown)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/kernels/rope.h"

namespace rml::models {

enum class Activation : uint8_t { kSilu, kGeluTanh };

// One way of turning positions into rotations; a model may have several (Gemma 3 has two).
struct RopeSpec {
  double base = 10000.0;
  int dim = 0;  // how many leading elements of a head are rotated
  kernels::RopeLayout layout = kernels::RopeLayout::kHalves;
  kernels::RopeScaling scaling;

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

struct LayerSpec {
  int64_t window = 0;  // attends to the last `window` positions, itself included; 0: to all
  int rope = 0;        // index in DecoderSpec::ropes

  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

struct DecoderSpec {
  std::string family;  // "llama", "qwen2", "qwen3", "gemma3"
  std::string name;    // what the file calls the model; may be empty

  int64_t vocab = 0;
  int64_t d_model = 0;
  int64_t d_ff = 0;
  int64_t context_length = 0;  // what the model was trained for, in tokens
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;

  float norm_eps = 1e-5f;
  Activation activation = Activation::kSilu;
  bool qkv_bias = false;
  bool qk_norm = false;          // RMSNorm of each head of q and k, before RoPE
  bool post_norms = false;       // RMSNorm after attention and after the MLP, before the residual
  bool tied_embeddings = false;  // the output projection is the embedding
  float embedding_scale = 1.0f;  // multiplies what the embedding gives
  float attention_scale = 0.0f;  // multiplies q·k
  float attention_soft_cap = 0.0f;  // 0: none
  float logit_soft_cap = 0.0f;      // 0: none

  std::vector<RopeSpec> ropes;
  std::vector<LayerSpec> layers;

  int64_t q_width() const { return int64_t{heads} * head_dim; }
  int64_t kv_width() const { return int64_t{kv_heads} * head_dim; }

  friend bool operator==(const DecoderSpec&, const DecoderSpec&) = default;
};

// Says what no loader may let through: sizes that are missing, negative or do not divide, an index
// of a rope that is not there, products that overflow.
core::Status Validate(const DecoderSpec& spec);

}  // namespace rml::models
