// The table of a decoder's tensors: global name, Hugging Face name, GGUF name, shape, and how the
// three relate. It is the only place that knows how a file spells a weight.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/shape.h"
#include "rml/models/decoder_spec.h"

namespace rml::models {

// What is done to a Hugging Face tensor to get the GGUF one.
enum class Transform : uint8_t {
  kNone,
  // Rows of each head are reordered so that rotated pairs become neighbours: row 2j+p of a head
  // comes from its row p·(d/2)+j. A model read from Hugging Face keeps its rows and says
  // RopeLayout::kHalves instead, so this applies only when one format is written from the other.
  kRopePermuteQ,
  kRopePermuteK,
  kNormPlusOne,  // Gemma: Hugging Face stores w, the model multiplies by 1 + w, GGUF stores 1 + w
};

struct TensorSpec {
  std::string name;  // global: checkpoint key, sharding rule, error message
  std::string hugging_face;
  std::string gguf;
  core::Shape shape;  // row-major, [outputs, inputs] for matrices
  Transform transform = Transform::kNone;
  bool optional = false;  // a file may leave it out
};

// Every tensor that a model of this spec has, in the order of the forward pass.
std::vector<TensorSpec> DecoderTensors(const DecoderSpec& spec);

// "layers.<layer>.<suffix>", the global name of a tensor of one layer.
std::string LayerTensorName(int64_t layer, std::string_view suffix);

}  // namespace rml::models
