// GgufFile: reads GGUF, the model files of llama.cpp (versions 2 and 3, little endian), in place:
// the file is mapped, metadata and tensor bytes are views into it. A model split into parts
// (NAME-00001-of-00005.gguf …) opens through its first part and looks like one file.
//
// Everything is validated while opening: counts, lengths and offsets against the file's size,
// types, alignment, names, and that tensors neither overlap nor leave the file. Errors name the
// file, the key or tensor, and the byte offset. Format:
// github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/io/gguf_value.h"
#include "rml/io/mapped_file.h"

namespace rml::io {

// One tensor type of the format. Types that rml cannot compute with keep a name and a size, so that
// files which hold them can be inspected and copied.
struct GgmlType {
  uint32_t id;
  std::string_view name;  // "f32", "q4_K", "iq4_xs"
  int block_elements;
  int block_bytes;
  std::optional<core::DType> dtype;
};

const GgmlType* FindGgmlType(uint32_t id);        // null when the number names no type
const GgmlType* FindGgmlType(core::DType dtype);  // null when GGUF cannot store it (f8, u8, bool …)

struct GgufTensorInfo {
  std::string name;
  const GgmlType* type = nullptr;    // never null in an opened file
  std::optional<core::DType> dtype;  // absent when rml cannot compute with `type`
  core::Shape shape;                 // row-major, outermost first: the file's dimensions reversed
  std::span<const std::byte> data;   // aligned to alignment() of its part
  uint64_t file_offset = 0;          // of data, from the start of its part
  int part = 0;

  // The dtype, or the Unsupported error that names tensor and type.
  core::Expected<core::DType> RequireDType() const;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
  uint64_t file_offset = 0;  // of the key, in the first part
};

class GgufFile {
 public:
  // Opens a file, and when its keys say that it is the first of several parts, the others beside
  // it.
  static core::Expected<GgufFile> Open(std::string_view path);

  // Reads a single-part file held in memory. `bytes` must outlive the result and start at an
  // address that is a multiple of 32; `name` stands in messages.
  static core::Expected<GgufFile> Parse(std::span<const std::byte> bytes, std::string_view name);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& name() const;  // path of the first part, or Parse's name
  uint32_t version() const;
  uint32_t alignment() const;  // of the first part

  std::span<const GgufEntry> entries() const;  // in the order of the file
  const GgufValue* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }

  template <typename T>
  core::Expected<T> Get(std::string_view key) const {
    const GgufValue* value = Find(key);
    if (value == nullptr) return MissingKey(key);
    auto result = value->As<T>();
    if (!result.ok()) return InKey(key, result.status());
    return result;
  }
  // `fallback` when the key is missing; a key of the wrong type is still an error.
  template <typename T>
  core::Expected<T> GetOr(std::string_view key, T fallback) const {
    if (!Has(key)) return fallback;
    return Get<T>(key);
  }
  // An array of strings without a copy.
  core::Expected<std::span<const std::string_view>> GetStrings(std::string_view key) const;

  std::span<const GgufTensorInfo> tensors() const;  // in the order of the files
  const GgufTensorInfo* FindTensor(std::string_view tensor_name) const;
  core::Expected<const GgufTensorInfo*> RequireTensor(std::string_view tensor_name) const;

  int part_count() const;
  uint64_t total_bytes() const;                 // of all parts
  const MappedFile* part_file(int part) const;  // null after Parse

  // Advice for all parts, and the release of a tensor's pages once it has been repacked.
  void Advise(Access access) const;
  void Release(const GgufTensorInfo& tensor) const;

 private:
  struct Rep;
  explicit GgufFile(std::unique_ptr<Rep> rep);
  core::Status MissingKey(std::string_view key) const;
  core::Status InKey(std::string_view key, const core::Status& status) const;

  std::unique_ptr<Rep> rep_;
};

// "PREFIX-00001-of-00005.gguf" for number 0 of count 5.
std::string GgufPartPath(std::string_view prefix, uint32_t number, uint32_t count);

}  // namespace rml::io
