#include "rml/models/testing/tiny_model.h"

#include <filesystem>
#include <random>

#include "rml/core/check.h"
#include "rml/io/file_writer.h"

namespace rml::models::testing {

namespace {

constexpr int64_t kVocab = 48, kWidth = 32, kFeedForward = 80, kContext = 256, kLayers = 7;
constexpr int kHeads = 4, kKvHeads = 2, kHeadDim = 12;

DecoderSpec Spec(const std::string& family, bool tied, bool qkv_bias) {
  DecoderSpec spec;
  spec.family = family;
  spec.vocab = kVocab;
  spec.d_model = kWidth;
  spec.d_ff = kFeedForward;
  spec.context_length = kContext;
  spec.heads = kHeads;
  spec.kv_heads = kKvHeads;
  spec.head_dim = kHeadDim;
  spec.qkv_bias = qkv_bias || family == "qwen2";
  spec.qk_norm = family == "qwen3" || family == "gemma3";
  spec.post_norms = family == "gemma3";
  spec.tied_embeddings = tied;
  spec.ropes = {{.dim = kHeadDim}};
  spec.layers.resize(kLayers);
  return spec;
}

// What llama.cpp's converter does to a tensor of a Hugging Face file.
std::vector<float> ToGguf(const TensorSpec& spec, std::vector<float> values) {
  switch (spec.transform) {
    case Transform::kNone:
      return values;
    case Transform::kNormPlusOne:
      for (float& value : values) value += 1;
      return values;
    case Transform::kRopePermuteQ:
    case Transform::kRopePermuteK:
      break;
  }
  const int64_t columns = spec.shape.rank() == 2 ? spec.shape[1] : 1;
  std::vector<float> permuted(values.size());
  for (int64_t row = 0; row < spec.shape[0]; ++row) {
    const int64_t head = row / kHeadDim, in_head = row % kHeadDim;
    const int64_t from = head * kHeadDim + in_head % 2 * (kHeadDim / 2) + in_head / 2;
    for (int64_t c = 0; c < columns; ++c) {
      permuted[static_cast<size_t>(row * columns + c)] =
          values[static_cast<size_t>(from * columns + c)];
    }
  }
  return permuted;
}

std::span<const std::byte> Bytes(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

TinyModel::TinyModel(const std::string& family, bool tied_embeddings, bool qkv_bias)
    : family_(family) {
  std::mt19937 random(11);
  for (TensorSpec& spec : DecoderTensors(Spec(family, tied_embeddings, qkv_bias))) {
    if (spec.hugging_face.empty() || (tied_embeddings && spec.name == "output.weight")) continue;
    std::vector<float> values(static_cast<size_t>(spec.shape.elements()));
    for (float& value : values) value = static_cast<float>(random() % 2001) / 5000.0f - 0.2f;
    // Around 1, or what comes after would be too small for attention to tell positions apart.
    if (spec.name.ends_with("norm.weight") && spec.transform == Transform::kNone) {
      for (float& value : values) value += 1;
    }
    std::vector<float> gguf = ToGguf(spec, values);
    tensors_.push_back({std::move(spec), std::move(values), std::move(gguf)});
  }

  gguf_strings["general.architecture"] = family;
  const std::string prefix = family + ".";
  gguf_ints = {
      {prefix + "embedding_length", kWidth},       {prefix + "feed_forward_length", kFeedForward},
      {prefix + "context_length", kContext},       {prefix + "block_count", kLayers},
      {prefix + "attention.head_count", kHeads},   {prefix + "attention.head_count_kv", kKvHeads},
      {prefix + "attention.key_length", kHeadDim}, {prefix + "attention.value_length", kHeadDim},
      {prefix + "rope.dimension_count", kHeadDim}};
  gguf_floats = {{prefix + "attention.layer_norm_rms_epsilon", 1e-6f},
                 {prefix + "rope.freq_base", 50000.0f}};
  if (family == "gemma3") gguf_ints[prefix + "attention.sliding_window"] = 9;

  config.Set("model_type", family == "gemma3" ? "gemma3_text" : family);
  config.Set("hidden_size", kWidth).Set("intermediate_size", kFeedForward);
  config.Set("max_position_embeddings", kContext).Set("num_hidden_layers", kLayers);
  config.Set("num_attention_heads", kHeads)
      .Set("num_key_value_heads", kKvHeads)
      .Set("head_dim", kHeadDim);
  config.Set("rms_norm_eps", 1e-6).Set("rope_theta", 50000.0);
  if (family == "gemma3") {
    config.Set("sliding_window", 9)
        .Set("query_pre_attn_scalar", kHeadDim)
        .Set("rope_local_base_freq", 10000.0);
  }
}

std::vector<std::byte> TinyModel::Gguf() const {
  auto writer = io::GgufWriter::Create();
  RML_CHECK(writer.ok());
  for (const auto& [key, value] : gguf_strings) RML_CHECK(writer->Set(key, value).ok());
  for (const auto& [key, value] : gguf_ints)
    RML_CHECK(writer->Set(key, static_cast<uint32_t>(value)).ok());
  for (const auto& [key, value] : gguf_floats) RML_CHECK(writer->Set(key, value).ok());
  for (const Tensor& tensor : tensors_) {
    std::string name = tensor.spec.gguf;
    core::Shape shape = tensor.spec.shape;
    if (edit_tensor && !edit_tensor(&name, &shape)) continue;
    RML_CHECK(writer->AddTensor(name, core::DType::kF32, shape, Bytes(tensor.gguf)).ok());
  }
  if (!rope_frequency_factors.empty()) {
    const core::Shape shape = {static_cast<int64_t>(rope_frequency_factors.size())};
    RML_CHECK(writer
                  ->AddTensor("rope_freqs.weight", core::DType::kF32, shape,
                              Bytes(rope_frequency_factors))
                  .ok());
  }
  auto bytes = writer->ToBytes();
  RML_CHECK(bytes.ok());
  return *std::move(bytes);
}

void TinyModel::WriteFolder(const std::string& folder) const {
  std::filesystem::create_directories(folder);
  RML_CHECK(io::WriteFile(folder + "/config.json", config.Dump(2)).ok());
  io::SafetensorsWriter writer;
  for (const Tensor& tensor : tensors_) {
    std::string name = tensor.spec.hugging_face;
    core::Shape shape = tensor.spec.shape;
    if (edit_tensor && !edit_tensor(&name, &shape)) continue;
    RML_CHECK(writer.AddTensor(name, core::DType::kF32, shape, Bytes(tensor.hugging_face)).ok());
  }
  RML_CHECK(writer.WriteSharded(folder, 1 << 14).ok());  // small enough for several shards
}

}  // namespace rml::models::testing
