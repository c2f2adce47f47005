#include "rml/models/decoder_spec.h"

#include <cmath>

#include "rml/core/checked_math.h"

namespace rml::models {

namespace {

using core::InvalidArgument;
using core::Status;

// Larger than any model there is, and small enough that no product of two overflows.
constexpr int64_t kLargestDimension = int64_t{1} << 30;
constexpr int64_t kLargestLayerCount = 4096;

Status InRange(std::string_view what, int64_t value, int64_t largest = kLargestDimension) {
  if (value >= 1 && value <= largest) return {};
  return InvalidArgument("model: ", what, " is ", value, ", expected 1 to ", largest);
}

}  // namespace

Status Validate(const DecoderSpec& spec) {
  RML_TRY(InRange("vocabulary size", spec.vocab));
  RML_TRY(InRange("embedding length", spec.d_model));
  RML_TRY(InRange("feed-forward length", spec.d_ff));
  RML_TRY(InRange("context length", spec.context_length));
  RML_TRY(InRange("head count", spec.heads, 1 << 16));
  RML_TRY(InRange("key/value head count", spec.kv_heads, 1 << 16));
  RML_TRY(InRange("head dimension", spec.head_dim, 1 << 16));
  RML_TRY(InRange("layer count", static_cast<int64_t>(spec.layers.size()), kLargestLayerCount));
  if (spec.heads % spec.kv_heads != 0) {
    return InvalidArgument("model: ", spec.heads, " heads cannot share ", spec.kv_heads,
                           " key/value heads evenly");
  }
  if (!(spec.norm_eps >= 0) || !std::isfinite(spec.norm_eps)) {
    return InvalidArgument("model: norm epsilon is ", spec.norm_eps,
                           ", expected a small number that is not negative");
  }
  if (!std::isfinite(spec.attention_scale) || !std::isfinite(spec.embedding_scale)) {
    return InvalidArgument("model: the attention or embedding scale is not finite");
  }
  for (const RopeSpec& rope : spec.ropes) {
    if (rope.dim < 2 || rope.dim % 2 != 0 || rope.dim > spec.head_dim) {
      return InvalidArgument("model: RoPE rotates ", rope.dim, " elements of a head of ",
                             spec.head_dim, "; expected an even number, at most the head's");
    }
    if (!(rope.base > 0) || !std::isfinite(rope.base)) {
      return InvalidArgument("model: RoPE base is ", rope.base, ", expected a positive number");
    }
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    if (layer.rope < 0 || static_cast<size_t>(layer.rope) >= spec.ropes.size()) {
      return InvalidArgument("model: layer ", i, " names RoPE ", layer.rope, " of ",
                             spec.ropes.size());
    }
    if (layer.window < 0)
      return InvalidArgument("model: layer ", i, " has a negative attention window");
  }
  return {};
}

}  // namespace rml::models
