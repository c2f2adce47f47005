// SafetensorsWriter: writes safetensors as the reference implementation does (same order of
// tensors, same header), in files that appear whole or not at all. Tensor bytes are asked for while
// writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/io/byte_source.h"
#include "rml/io/file_writer.h"

namespace rml::io {

class SafetensorsWriter {
 public:
  // An entry of "__metadata__". Hugging Face's loaders look for "format": "pt".
  core::Status SetMetadata(std::string_view key, std::string_view value);

  // Names must be unique, UTF-8, and not "__metadata__". `data` must stay valid until the file has
  // been written; its size must be that of shape × dtype.
  core::Status AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                         std::span<const std::byte> data);
  core::Status AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                         ByteSource source);

  core::Status Write(std::string_view path) const;
  core::Expected<std::vector<std::byte>> ToBytes() const;

  // model.safetensors in `folder` when everything fits in `max_shard_bytes`; else
  // model-00001-of-0000N.safetensors … and, last of all, their index. Tensors fill the shards in
  // the order in which they were added; one larger than a shard gets a shard of its own.
  core::Status WriteSharded(std::string_view folder, uint64_t max_shard_bytes) const;

 private:
  struct Tensor {
    std::string name;
    core::DType dtype;
    core::Shape shape;
    uint64_t bytes;
    ByteSource source;
  };
  using Selection = std::vector<const Tensor*>;

  core::Status WriteSelection(Selection selection, ByteSink sink) const;
  core::Status WriteSelection(const Selection& selection, FileWriter* file) const;
  Selection All() const;

  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<Tensor> tensors_;
  std::vector<std::string> names_;  // sorted
};

}  // namespace rml::io
