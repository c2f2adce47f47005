#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "rml/core/checked_math.h"
#include "rml/llm/decoder_weights.h"
#include "rml/quant/quantize.h"

namespace rml::llm {

namespace {

using core::DType;
using core::Expected;
using core::Status;

// The types that llama.cpp's quantiser gives to a Llama-shaped model under the same names.
constexpr std::array<WeightMix, 11> kMixes = {{
    {"f32", DType::kF32, DType::kF32, DType::kF32, DType::kF32},
    {"f16", DType::kF16, DType::kF16, DType::kF16, DType::kF16},
    {"bf16", DType::kBF16, DType::kBF16, DType::kBF16, DType::kBF16},
    {"q4_0", DType::kQ4_0, DType::kQ4_0, DType::kQ4_0, DType::kQ6_K},
    {"q4_1", DType::kQ4_1, DType::kQ4_1, DType::kQ4_1, DType::kQ6_K},
    {"q5_0", DType::kQ5_0, DType::kQ5_0, DType::kQ5_0, DType::kQ6_K},
    {"q5_1", DType::kQ5_1, DType::kQ5_1, DType::kQ5_1, DType::kQ6_K},
    {"q8_0", DType::kQ8_0, DType::kQ8_0, DType::kQ8_0, DType::kQ8_0},
    {"q4_k_m", DType::kQ4_K, DType::kQ6_K, DType::kQ6_K, DType::kQ6_K},
    {"q5_k_m", DType::kQ5_K, DType::kQ6_K, DType::kQ6_K, DType::kQ6_K},
    {"q6_k", DType::kQ6_K, DType::kQ6_K, DType::kQ6_K, DType::kQ6_K},
}};

// Where a mix uses its better type: the first and last eighth of the layers, and every third
// between.
bool BetterType(size_t layer, size_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

class RandomMaker {
 public:
  RandomMaker(uint64_t seed, const core::RunContext& context, DecoderWeights* weights)
      : random_(seed), context_(context), weights_(weights) {}

  Status Matrix(DType dtype, int64_t rows, int64_t cols, kernels::WeightMatrix* out) {
    if (cols % core::Info(dtype).block_elements != 0)
      dtype = DType::kQ8_0;  // as llama.cpp falls back
    int64_t elements = 0;
    if (!core::CheckedMul(rows, cols, &elements))
      return core::ResourceExhausted("a matrix of this shape is too large");
    const std::optional<int64_t> bytes = core::StorageBytes(dtype, elements);
    if (!bytes) {
      return core::InvalidArgument("rows of ", cols, " elements are no whole number of ",
                                   core::Name(dtype), " blocks");
    }
    RML_ASSIGN(auto buffer, core::Buffer::Allocate(context_.GetAllocator(), *bytes));
    RML_ASSIGN(const std::span<std::byte> memory, buffer->MutableHostView());
    Fill(dtype, memory);
    RML_ASSIGN(*out, kernels::WeightMatrix::Make(dtype, rows, cols, memory.data()));
    weights_->owned.push_back(std::move(buffer));
    weights_->matrix_bytes += *bytes;
    return {};
  }

  std::vector<float> Vector(int64_t size, float mean) {
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) value = mean + Uniform() * 0.1f;
    return values;
  }

 private:
  float Uniform() { return static_cast<float>(random_() >> 40) * 0x1p-23f - 1.0f; }  // in [-1, 1)

  // Blocks of random values, quantised once and repeated: what is measured does not depend on
  // values.
  void Fill(DType dtype, std::span<std::byte> out) {
    constexpr int64_t kValues = 1 << 16;
    std::vector<float> values(kValues);
    for (float& value : values) value = Uniform() * 0.05f;
    std::vector<std::byte> blocks(static_cast<size_t>(*core::StorageBytes(dtype, kValues)));
    quant::Quantize(dtype, values.data(), kValues, blocks.data());
    const auto step = static_cast<int64_t>(blocks.size());
    const auto size = static_cast<int64_t>(out.size());
    context_.Run(core::CeilDiv(size, step), [&](int64_t chunk, int) {
      const int64_t begin = chunk * step;
      std::memcpy(out.data() + begin, blocks.data(),
                  static_cast<size_t>(std::min(step, size - begin)));
    });
  }

  std::mt19937_64 random_;
  const core::RunContext& context_;
  DecoderWeights* weights_;
};

}  // namespace

Expected<WeightMix> FindWeightMix(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto found = std::ranges::find(kMixes, std::string_view(lower), &WeightMix::name);
  if (found != kMixes.end()) return *found;
  std::string names;
  for (const WeightMix& mix : kMixes) names += core::StrCat(names.empty() ? "" : ", ", mix.name);
  return core::InvalidArgument("'", name, "' is no weight type; known are ", names);
}

Expected<DecoderWeights> RandomWeights(const models::DecoderSpec& spec, const WeightMix& mix,
                                       uint64_t seed, const core::RunContext& context) {
  RML_TRY(models::Validate(spec));
  DecoderWeights weights;
  RandomMaker make(seed, context, &weights);
  const int64_t d = spec.d_model, ff = spec.d_ff, q = spec.q_width(), kv = spec.kv_width();
  RML_TRY(make.Matrix(mix.output, spec.vocab, d, &weights.embedding));
  const int64_t embedding_bytes = weights.matrix_bytes;
  weights.layers.resize(spec.layers.size());
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    LayerWeights& layer = weights.layers[i];
    const bool better = BetterType(i, weights.layers.size());
    layer.attention_norm = make.Vector(d, 1.0f);
    RML_TRY(make.Matrix(mix.matrices, q, d, &layer.q));
    RML_TRY(make.Matrix(mix.matrices, kv, d, &layer.k));
    RML_TRY(make.Matrix(better ? mix.attention_v : mix.matrices, kv, d, &layer.v));
    if (spec.qkv_bias) {
      layer.q_bias = make.Vector(q, 0.0f);
      layer.k_bias = make.Vector(kv, 0.0f);
      layer.v_bias = make.Vector(kv, 0.0f);
    }
    if (spec.qk_norm) {
      layer.q_norm = make.Vector(spec.head_dim, 1.0f);
      layer.k_norm = make.Vector(spec.head_dim, 1.0f);
    }
    RML_TRY(make.Matrix(mix.matrices, d, q, &layer.o));
    if (spec.post_norms) layer.attention_post_norm = make.Vector(d, 1.0f);
    layer.mlp_norm = make.Vector(d, 1.0f);
    RML_TRY(make.Matrix(mix.matrices, ff, d, &layer.gate));
    RML_TRY(make.Matrix(mix.matrices, ff, d, &layer.up));
    RML_TRY(make.Matrix(better ? mix.mlp_down : mix.matrices, d, ff, &layer.down));
    if (spec.post_norms) layer.mlp_post_norm = make.Vector(d, 1.0f);
  }
  weights.final_norm = make.Vector(d, 1.0f);
  if (spec.tied_embeddings) {
    weights.output = weights.embedding;
    weights.matrix_bytes_per_token = weights.matrix_bytes;
  } else {
    RML_TRY(make.Matrix(mix.output, spec.vocab, d, &weights.output));
    weights.matrix_bytes_per_token = weights.matrix_bytes - embedding_bytes;
  }
  return weights;
}

}  // namespace rml::llm
