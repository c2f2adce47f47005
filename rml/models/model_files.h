// ModelFiles: a decoder as it lies on disk (a GGUF file or a Hugging Face folder), seen as a spec
// and tensors by global name. Everything is checked while opening: that each tensor of the spec is
// there with its shape and a dtype that rml computes with, and that the file holds no tensor that
// the family does not know, which would silently be left out of the mathematics.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/function_ref.h"
#include "rml/core/shape.h"
#include "rml/io/gguf.h"
#include "rml/io/safetensors.h"
#include "rml/models/decoder_spec.h"
#include "rml/models/tensor_names.h"

namespace rml::models {

struct ModelTensor {
  std::string file_name;  // the tensor's name in the file, for messages
  core::DType dtype;
  core::Shape shape;
  std::span<const std::byte> data;
  Transform pending = Transform::kNone;  // what the reader must still apply: kNone or kNormPlusOne
};

class ModelFiles {
 public:
  // A .gguf file (the first part of a split one), or a folder with config.json and safetensors.
  static core::Expected<std::shared_ptr<const ModelFiles>> Open(const std::string& path);
  static core::Expected<std::shared_ptr<const ModelFiles>> FromGguf(io::GgufFile file);

  const std::string& path() const { return path_; }
  const DecoderSpec& spec() const { return spec_; }
  const io::GgufFile* gguf() const { return gguf_ ? &*gguf_ : nullptr; }

  // By global name; null when the file leaves an optional tensor out.
  const ModelTensor* Find(std::string_view name) const;
  // Bytes of all tensors of the spec.
  int64_t tensor_bytes() const { return tensor_bytes_; }

 private:
  // Finds a tensor of the spec in the file; nothing when it is not there.
  using Finder = core::FunctionRef<core::Expected<std::optional<ModelTensor>>(const TensorSpec&)>;

  static core::Expected<std::shared_ptr<const ModelFiles>> OpenFolder(const std::string& path);
  core::Status Collect(std::span<const std::string_view> names_in_file, Finder find);

  std::string path_;
  DecoderSpec spec_;
  std::optional<io::GgufFile> gguf_;
  std::optional<io::SafetensorsFile> safetensors_;
  std::deque<std::vector<std::byte>> copies_;  // of tensors that the file does not align
  std::unordered_map<std::string, ModelTensor> tensors_;
  int64_t tensor_bytes_ = 0;
};

}  // namespace rml::models
