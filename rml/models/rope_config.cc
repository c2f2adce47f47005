#include "rml/models/rope_config.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace rml::models {

namespace {

using core::Expected;
using core::StrCat;
using kernels::RopeScaling;
using kernels::RopeScalingKind;

// Looks one parameter up in GGUF's "rope.scaling.…" or in every place that config.json may have it.
class ScalingReader {
 public:
  ScalingReader(const ConfigSource& source, std::string_view layer_type) : source_(source) {
    prefixes_.push_back("rope_scaling.");
    prefixes_.push_back("rope_parameters.");
    if (!layer_type.empty()) prefixes_.push_back(StrCat("rope_parameters.", layer_type, "."));
  }

  Expected<std::optional<double>> Find(std::string_view gguf, std::string_view hugging_face) const {
    return Search<double>(gguf, hugging_face, &ConfigSource::FindFloat);
  }
  Expected<std::optional<std::string>> FindText(std::string_view gguf,
                                                std::string_view hugging_face) const {
    return Search<std::string>(gguf, hugging_face, &ConfigSource::FindString);
  }
  Expected<double> Float(std::string_view gguf, std::string_view hugging_face,
                         double otherwise) const {
    RML_ASSIGN(const std::optional<double> found, Find(gguf, hugging_face));
    return found.value_or(otherwise);
  }
  // A number of tokens, which some files write as a float.
  Expected<int64_t> Tokens(std::string_view gguf, std::string_view hugging_face,
                           int64_t otherwise) const {
    RML_ASSIGN(const double value, Float(gguf, hugging_face, static_cast<double>(otherwise)));
    if (!(value >= 0 && value <= 1e12)) {
      return core::DataLoss(source_.file_name(), ": RoPE scaling's ", hugging_face, " is ", value);
    }
    return static_cast<int64_t>(value);
  }

 private:
  template <typename T>
  Expected<std::optional<T>> Search(std::string_view gguf, std::string_view hugging_face,
                                    Expected<std::optional<T>> (ConfigSource::*find)(ConfigKey)
                                        const) const {
    for (const std::string& prefix : prefixes_) {
      const std::string spelled = StrCat(prefix, hugging_face);
      RML_ASSIGN(auto found, (source_.*find)({gguf, spelled}));
      if (found) return found;
      if (source_.format() == ConfigFormat::kGguf) break;  // one spelling there
    }
    return std::optional<T>();
  }

  const ConfigSource& source_;
  std::vector<std::string> prefixes_;
};

struct KindName {
  std::string_view name;
  RopeScalingKind kind;
};
constexpr std::array<KindName, 6> kKinds = {{{"none", RopeScalingKind::kNone},
                                             {"default", RopeScalingKind::kNone},
                                             {"linear", RopeScalingKind::kLinear},
                                             {"dynamic", RopeScalingKind::kDynamicNtk},
                                             {"yarn", RopeScalingKind::kYarn},
                                             {"llama3", RopeScalingKind::kLlama3}}};

Expected<RopeScalingKind> ReadKind(const ConfigSource& source, const ScalingReader& reader) {
  RML_ASSIGN(auto name, reader.FindText("rope.scaling.type", "rope_type"));
  if (!name) {
    RML_ASSIGN(name, reader.FindText("", "type"));
  }
  if (!name) {
    // Files from before the key existed say only how much longer the context is.
    RML_ASSIGN(const std::optional<double> factor, reader.Find("rope.scale_linear", ""));
    return factor && *factor != 1.0 ? RopeScalingKind::kLinear : RopeScalingKind::kNone;
  }
  for (const KindName& known : kKinds) {
    if (known.name == *name) return known.kind;
  }
  return core::Unsupported(
      source.file_name(), ": RoPE scaling '", *name,
      "' is not supported; supported are none, linear, dynamic, yarn and llama3");
}

}  // namespace

Expected<RopeSpec> ReadRope(const ConfigSource& source, const DecoderSpec& spec,
                            double default_base, std::string_view layer_type) {
  const ScalingReader reader(source, layer_type);
  RopeSpec rope;
  RML_ASSIGN(rope.base, reader.Float("rope.freq_base", "rope_theta", default_base));
  RML_ASSIGN(rope.base, source.Float({"", "rope_theta"}, rope.base));
  RML_ASSIGN(const double rotated, source.Float({"", "partial_rotary_factor"}, 1.0));
  RML_ASSIGN(const int64_t dim,
             source.Int({"rope.dimension_count", ""},
                        static_cast<int64_t>(std::lround(rotated * spec.head_dim))));
  if (dim < 2 || dim > spec.head_dim) {
    return core::DataLoss(source.file_name(), ": RoPE rotates ", dim, " elements of a head of ",
                          spec.head_dim);
  }
  rope.dim = static_cast<int>(dim);

  RopeScaling& scaling = rope.scaling;
  RML_ASSIGN(scaling.kind, ReadKind(source, reader));
  if (scaling.kind == RopeScalingKind::kNone) return rope;
  RML_ASSIGN(scaling.factor, reader.Float("rope.scaling.factor", "factor", 1.0));
  if (scaling.factor == 1.0) {
    RML_ASSIGN(scaling.factor, reader.Float("rope.scale_linear", "", 1.0));
  }
  if (!(scaling.factor > 0) || !std::isfinite(scaling.factor)) {
    return core::DataLoss(source.file_name(), ": the RoPE scaling factor is ", scaling.factor);
  }
  RML_ASSIGN(scaling.original_context,
             reader.Tokens("rope.scaling.original_context_length",
                           "original_max_position_embeddings", spec.context_length));
  scaling.context = spec.context_length;
  RML_ASSIGN(scaling.beta_fast, reader.Float("rope.scaling.yarn_beta_fast", "beta_fast", 32.0));
  RML_ASSIGN(scaling.beta_slow, reader.Float("rope.scaling.yarn_beta_slow", "beta_slow", 1.0));
  RML_ASSIGN(scaling.mscale, reader.Float("", "mscale", 0.0));
  RML_ASSIGN(scaling.mscale_all_dim, reader.Float("", "mscale_all_dim", 0.0));
  RML_ASSIGN(scaling.low_frequency_factor, reader.Float("", "low_freq_factor", 1.0));
  RML_ASSIGN(scaling.high_frequency_factor, reader.Float("", "high_freq_factor", 4.0));
  RML_ASSIGN(scaling.attention_factor,
             reader.Float("rope.scaling.attn_factor", "attention_factor", 0.0));
  return rope;
}

}  // namespace rml::models
