#include "rml/models/families.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "rml/models/rope_config.h"

namespace rml::models {

namespace {

using core::Expected;
using core::Status;
using core::StrCat;

Expected<int> SmallInt(const ConfigSource& source, ConfigKey key,
                       std::optional<int64_t> otherwise = std::nullopt) {
  RML_ASSIGN(const int64_t value, otherwise ? source.Int(key, *otherwise) : source.Int(key));
  if (value < 1 || value > (1 << 20)) {
    return core::DataLoss(source.file_name(), ": key '", source.Spelling(key), "' is ", value,
                          ", expected 1 to ", 1 << 20);
  }
  return static_cast<int>(value);
}

// The numbers that every family has, under the same names. head_dim's default is d_model / heads.
Status ReadCommon(const ConfigSource& source, DecoderSpec* spec) {
  RML_ASSIGN(spec->d_model, source.Int({"embedding_length", "hidden_size"}));
  RML_ASSIGN(spec->d_ff, source.Int({"feed_forward_length", "intermediate_size"}));
  RML_ASSIGN(spec->context_length, source.Int({"context_length", "max_position_embeddings"}));
  RML_ASSIGN(spec->heads, SmallInt(source, {"attention.head_count", "num_attention_heads"}));
  RML_ASSIGN(spec->kv_heads,
             SmallInt(source, {"attention.head_count_kv", "num_key_value_heads"}, spec->heads));
  RML_ASSIGN(spec->head_dim,
             SmallInt(source, {"attention.key_length", "head_dim"}, spec->d_model / spec->heads));
  RML_ASSIGN(const int value_dim, SmallInt(source, {"attention.value_length", ""}, spec->head_dim));
  if (value_dim != spec->head_dim) {
    return core::Unsupported(source.file_name(), ": values of ", value_dim,
                             " elements a head beside keys of ", spec->head_dim,
                             " are not supported");
  }
  RML_ASSIGN(const double eps, source.Float({"attention.layer_norm_rms_epsilon", "rms_norm_eps"}));
  spec->norm_eps = static_cast<float>(eps);
  RML_ASSIGN(const int layers, SmallInt(source, {"block_count", "num_hidden_layers"}));
  if (layers > 4096)
    return core::DataLoss(source.file_name(), ": ", layers,
                          " layers are more than the 4096 supported");
  spec->layers.assign(static_cast<size_t>(layers), LayerSpec{});

  constexpr ConfigKey kEmbedding = {"token_embd.weight", "model.embed_tokens.weight"};
  const std::optional<core::Shape> embedding = source.TensorShape(kEmbedding);
  if (!embedding || embedding->rank() != 2) {
    return core::DataLoss(source.file_name(), ": the tensor '", source.Spelling(kEmbedding),
                          "' is missing or no matrix; this file holds no complete model");
  }
  spec->vocab = (*embedding)[0];
  spec->tied_embeddings = !source.HasTensor({"output.weight", "lm_head.weight"});
  spec->attention_scale = 1.0f / std::sqrt(static_cast<float>(spec->head_dim));
  return {};
}

Status ExpectActivation(const ConfigSource& source, std::string_view key, std::string_view wanted) {
  RML_ASSIGN(const std::string name, source.String({"", key}, wanted));
  if (name == wanted) return {};
  return core::Unsupported(source.file_name(), ": ", key, " '", name,
                           "' is not supported in this family, only '", wanted, "'");
}

// Sliding-window attention in a family whose known models do not have it would change every result.
Status ExpectNoWindow(const ConfigSource& source) {
  RML_ASSIGN(const bool used, source.Bool({"", "use_sliding_window"}, false));
  if (!used) return {};
  return core::Unsupported(source.file_name(),
                           ": use_sliding_window is not supported in this family");
}

Status ReadLlama(const ConfigSource& source, DecoderSpec* spec) {
  RML_TRY(ReadCommon(source, spec));
  RML_TRY(ExpectActivation(source, "hidden_act", "silu"));
  spec->qkv_bias = source.HasTensor({"blk.0.attn_q.bias", "model.layers.0.self_attn.q_proj.bias"});
  RML_ASSIGN(RopeSpec rope, ReadRope(source, *spec, 10000.0));
  // llama.cpp's converter reorders the rows of q and k so that rotated pairs are neighbours.
  rope.layout = source.format() == ConfigFormat::kGguf ? kernels::RopeLayout::kAdjacent
                                                       : kernels::RopeLayout::kHalves;
  spec->ropes = {rope};
  return {};
}

Status ReadQwen2(const ConfigSource& source, DecoderSpec* spec) {
  RML_TRY(ReadCommon(source, spec));
  RML_TRY(ExpectActivation(source, "hidden_act", "silu"));
  RML_TRY(ExpectNoWindow(source));
  spec->qkv_bias = true;
  RML_ASSIGN(const RopeSpec rope, ReadRope(source, *spec, 10000.0));
  spec->ropes = {rope};
  return {};
}

Status ReadQwen3(const ConfigSource& source, DecoderSpec* spec) {
  RML_TRY(ReadCommon(source, spec));
  RML_TRY(ExpectActivation(source, "hidden_act", "silu"));
  RML_TRY(ExpectNoWindow(source));
  spec->qk_norm = true;
  RML_ASSIGN(const RopeSpec rope, ReadRope(source, *spec, 10000.0));
  spec->ropes = {rope};
  return {};
}

// Which layers attend globally. Newer configurations list every layer; older ones give a period:
// every sixth layer of Gemma 3.
Status ReadGemma3Layers(const ConfigSource& source, DecoderSpec* spec) {
  RML_ASSIGN(const int64_t window, source.Int({"attention.sliding_window", "sliding_window"}));
  if (window < 1)
    return core::DataLoss(source.file_name(), ": the sliding window is ", window, " tokens long");
  RML_ASSIGN(const auto types, source.FindStrings({"", "layer_types"}));
  RML_ASSIGN(const int64_t period,
             source.Int({"attention.sliding_window_pattern", "sliding_window_pattern"}, 6));
  if (period < 1)
    return core::DataLoss(source.file_name(), ": the sliding window's period is ", period,
                          " layers");
  if (types && types->size() != spec->layers.size()) {
    return core::DataLoss(source.file_name(), ": layer_types has ", types->size(), " entries for ",
                          spec->layers.size(), " layers");
  }
  for (size_t i = 0; i < spec->layers.size(); ++i) {
    const bool global =
        types ? (*types)[i] == "full_attention" : (i + 1) % static_cast<size_t>(period) == 0;
    if (types && !global && (*types)[i] != "sliding_attention") {
      return core::Unsupported(source.file_name(), ": layer type '", (*types)[i],
                               "' is not supported, only full_attention and sliding_attention");
    }
    spec->layers[i] =
        global ? LayerSpec{.window = 0, .rope = 0} : LayerSpec{.window = window, .rope = 1};
  }
  return {};
}

Status ReadGemma3(const ConfigSource& source, DecoderSpec* spec) {
  RML_TRY(ReadCommon(source, spec));
  RML_TRY(ExpectActivation(source, "hidden_activation", "gelu_pytorch_tanh"));
  spec->activation = Activation::kGeluTanh;
  spec->qk_norm = true;
  spec->post_norms = true;
  spec->embedding_scale = std::sqrt(static_cast<float>(spec->d_model));
  // Hugging Face says the divisor; GGUF leaves it to the reader, and only the 27B model (62 layers)
  // does not divide by the head's own size.
  const int64_t usual_divisor = source.format() == ConfigFormat::kGguf && spec->layers.size() == 62
                                    ? spec->d_model / spec->heads
                                    : spec->head_dim;
  RML_ASSIGN(const int64_t divisor, source.Int({"", "query_pre_attn_scalar"}, usual_divisor));
  if (divisor < 1)
    return core::DataLoss(source.file_name(), ": query_pre_attn_scalar is ", divisor);
  spec->attention_scale = 1.0f / std::sqrt(static_cast<float>(divisor));
  RML_ASSIGN(const double attention_cap,
             source.Float({"attn_logit_softcapping", "attn_logit_softcapping"}, 0.0));
  RML_ASSIGN(const double logit_cap,
             source.Float({"final_logit_softcapping", "final_logit_softcapping"}, 0.0));
  spec->attention_soft_cap = static_cast<float>(attention_cap);
  spec->logit_soft_cap = static_cast<float>(logit_cap);

  RML_ASSIGN(const RopeSpec global, ReadRope(source, *spec, 1000000.0, "full_attention"));
  RopeSpec local = global;
  local.scaling = {};
  RML_ASSIGN(local.base, source.Float({"rope.freq_base_swa", "rope_local_base_freq"}, 10000.0));
  RML_ASSIGN(local.base,
             source.Float({"", "rope_parameters.sliding_attention.rope_theta"}, local.base));
  spec->ropes = {global, local};
  return ReadGemma3Layers(source, spec);
}

constexpr std::string_view kLlamaTypes[] = {"llama"};
constexpr std::string_view kQwen2Types[] = {"qwen2"};
constexpr std::string_view kQwen3Types[] = {"qwen3"};
constexpr std::string_view kGemma3Types[] = {"gemma3_text", "gemma3"};

constexpr Family kFamilies[] = {
    {"llama", kLlamaTypes, ReadLlama},
    {"qwen2", kQwen2Types, ReadQwen2},
    {"qwen3", kQwen3Types, ReadQwen3},
    {"gemma3", kGemma3Types, ReadGemma3},
};

}  // namespace

std::span<const Family> Families() { return kFamilies; }

Expected<DecoderSpec> ReadDecoderSpec(std::string_view architecture, const ConfigSource& source) {
  const auto known = [&](const Family& family) {
    return source.format() == ConfigFormat::kGguf
               ? family.name == architecture
               : std::ranges::find(family.hugging_face_types, architecture) !=
                     family.hugging_face_types.end();
  };
  const auto family = std::ranges::find_if(kFamilies, known);
  if (family == std::end(kFamilies)) {
    std::string names;
    for (const Family& f : kFamilies) names += StrCat(names.empty() ? "" : ", ", f.name);
    return core::Unsupported(source.file_name(), ": the architecture '", architecture,
                             "' is not supported; supported are ", names);
  }
  DecoderSpec spec;
  spec.family = family->name;
  RML_TRY(family->read(source, &spec));
  if (const Status valid = Validate(spec); !valid.ok())
    return valid.WithContext(source.file_name());
  return spec;
}

}  // namespace rml::models
