#include "rml/models/known_shapes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace rml::models {

namespace {

struct Sizes {
  std::string_view family;
  int64_t vocab, d_model, d_ff, context_length;
  int layers, heads, kv_heads, head_dim;
  double rope_base;
  float norm_eps;
  bool tied;
};

DecoderSpec Make(const Sizes& sizes) {
  DecoderSpec spec;
  spec.family = sizes.family;
  spec.vocab = sizes.vocab;
  spec.d_model = sizes.d_model;
  spec.d_ff = sizes.d_ff;
  spec.context_length = sizes.context_length;
  spec.heads = sizes.heads;
  spec.kv_heads = sizes.kv_heads;
  spec.head_dim = sizes.head_dim;
  spec.norm_eps = sizes.norm_eps;
  spec.tied_embeddings = sizes.tied;
  spec.qkv_bias = sizes.family == "qwen2";
  spec.qk_norm = sizes.family == "qwen3" || sizes.family == "gemma3";
  spec.attention_scale = 1.0f / std::sqrt(static_cast<float>(sizes.head_dim));
  spec.ropes = {{.base = sizes.rope_base, .dim = sizes.head_dim}};
  spec.layers.resize(static_cast<size_t>(sizes.layers));
  return spec;
}

DecoderSpec MakeGemma3(const Sizes& sizes, int64_t window) {
  DecoderSpec spec = Make(sizes);
  spec.activation = Activation::kGeluTanh;
  spec.post_norms = true;
  spec.embedding_scale = std::sqrt(static_cast<float>(sizes.d_model));
  spec.ropes.push_back({.base = 10000.0, .dim = sizes.head_dim});
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if ((i + 1) % 6 != 0) spec.layers[i] = {.window = window, .rope = 1};
  }
  return spec;
}

// The scalings of Llama 3.x change angles, not costs, so the shapes leave them out.
constexpr KnownShape kShapes[] = {
    {"smollm2-135m",
     [] {
       return Make({"llama", 49152, 576, 1536, 8192, 30, 9, 3, 64, 100000, 1e-5f, true});
     }},
    {"smollm2-360m",
     [] {
       return Make({"llama", 49152, 960, 2560, 8192, 32, 15, 5, 64, 100000, 1e-5f, true});
     }},
    {"smollm2-1.7b",
     [] {
       return Make({"llama", 49152, 2048, 8192, 8192, 24, 32, 32, 64, 130000, 1e-5f, true});
     }},
    {"llama-2-7b",
     [] {
       return Make({"llama", 32000, 4096, 11008, 4096, 32, 32, 32, 128, 10000, 1e-5f, false});
     }},
    {"llama-3.2-1b",
     [] {
       return Make({"llama", 128256, 2048, 8192, 131072, 16, 32, 8, 64, 500000, 1e-5f, true});
     }},
    {"llama-3.2-3b",
     [] {
       return Make({"llama", 128256, 3072, 8192, 131072, 28, 24, 8, 128, 500000, 1e-5f, true});
     }},
    {"llama-3.1-8b",
     [] {
       return Make({"llama", 128256, 4096, 14336, 131072, 32, 32, 8, 128, 500000, 1e-5f, false});
     }},
    {"qwen2.5-0.5b",
     [] {
       return Make({"qwen2", 151936, 896, 4864, 32768, 24, 14, 2, 64, 1000000, 1e-6f, true});
     }},
    {"qwen2.5-7b",
     [] {
       return Make({"qwen2", 152064, 3584, 18944, 32768, 28, 28, 4, 128, 1000000, 1e-6f, false});
     }},
    {"qwen3-0.6b",
     [] {
       return Make({"qwen3", 151936, 1024, 3072, 40960, 28, 16, 8, 128, 1000000, 1e-6f, true});
     }},
    {"qwen3-4b",
     [] {
       return Make({"qwen3", 151936, 2560, 9728, 40960, 36, 32, 8, 128, 1000000, 1e-6f, true});
     }},
    {"qwen3-8b",
     [] {
       return Make({"qwen3", 151936, 4096, 12288, 40960, 36, 32, 8, 128, 1000000, 1e-6f, false});
     }},
    {"gemma-3-270m",
     [] {
       return MakeGemma3({"gemma3", 262144, 640, 2048, 32768, 18, 4, 1, 256, 1000000, 1e-6f, true},
                         512);
     }},
    {"gemma-3-1b",
     [] {
       return MakeGemma3({"gemma3", 262144, 1152, 6912, 32768, 26, 4, 1, 256, 1000000, 1e-6f, true},
                         512);
     }},
    {"gemma-3-4b",
     [] {
       return MakeGemma3(
           {"gemma3", 262208, 2560, 10240, 131072, 34, 8, 4, 256, 1000000, 1e-6f, true}, 1024);
     }},
};

}  // namespace

std::span<const KnownShape> KnownShapes() { return kShapes; }

core::Expected<DecoderSpec> FindKnownShape(std::string_view name) {
  const auto found = std::ranges::find(kShapes, name, &KnownShape::name);
  if (found != std::end(kShapes)) {
    DecoderSpec spec = found->make();
    spec.name = name;
    return spec;
  }
  std::string names;
  for (const KnownShape& shape : kShapes)
    names += core::StrCat(names.empty() ? "" : ", ", shape.name);
  return core::InvalidArgument("'", name, "' is no known shape; known are ", names);
}

}  // namespace rml::models
