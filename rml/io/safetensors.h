// SafetensorsFile: reads Hugging Face's safetensors in place: one file, or a folder whose
// model.safetensors.index.json spreads the tensors over several. Files are mapped; tensor bytes are
// views into them.
//
// Everything is validated while opening: the header against the file's size, names, dtypes, that
// each span is shape × dtype, and that the spans cover the data without gap or overlap. Errors name
// file and tensor. Format: github.com/huggingface/safetensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/io/mapped_file.h"

namespace rml::io {

struct SafetensorsTensor {
  std::string name;
  core::DType dtype = core::DType::kF32;
  core::Shape shape;
  std::span<const std::byte> data;
  uint64_t file_offset = 0;  // of data, from the start of its file
  int part = 0;
  // Whether data starts at a multiple of its element's size. Every writer of today aligns; the
  // format does not ask for it, so a reader that casts must look here, and copy when it is false.
  bool aligned = true;
};

// "F32", "BF16", "F8_E4M3" …; nothing for what the format cannot store.
std::string_view SafetensorsDTypeName(core::DType dtype);

class SafetensorsFile {
 public:
  using Metadata = std::vector<std::pair<std::string, std::string>>;  // in the order of the file

  // `path`: a .safetensors file, an index (….safetensors.index.json), or a folder that holds
  // model.safetensors.index.json or model.safetensors. The files that an index names must lie in
  // its folder, also after symbolic links are followed.
  static core::Expected<SafetensorsFile> Open(std::string_view path);

  // Reads a single file held in memory. `bytes` must outlive the result; `name` stands in messages.
  static core::Expected<SafetensorsFile> Parse(std::span<const std::byte> bytes,
                                               std::string_view name);

  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  const std::string& name() const;  // the file or index that was opened, or Parse's name

  std::span<const SafetensorsTensor> tensors() const;  // in the order of the files
  const SafetensorsTensor* Find(std::string_view tensor_name) const;
  core::Expected<const SafetensorsTensor*> Require(std::string_view tensor_name) const;

  // "__metadata__" of the first file.
  const Metadata& metadata() const;

  int part_count() const;
  uint64_t total_bytes() const;                 // of all files
  const MappedFile* part_file(int part) const;  // null after Parse

  void Advise(Access access) const;
  void Release(const SafetensorsTensor& tensor) const;

 private:
  struct Rep;
  explicit SafetensorsFile(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

}  // namespace rml::io
