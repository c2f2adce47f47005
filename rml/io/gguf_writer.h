// GgufWriter: writes GGUF, in one file or in parts, which appear whole or not at all (FileWriter).
// Metadata is collected first; tensor bytes are asked for while writing, one tensor after the
// other, so that a model larger than memory can be converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/io/byte_source.h"
#include "rml/io/file_writer.h"
#include "rml/io/gguf.h"

namespace rml::io {

class GgufWriter {
 public:
  // `alignment`: a power of two, at least 8; the key general.alignment is written when it is not
  // the default. `version`: 3, or 2, which differs in nothing else that a little-endian file shows.
  static core::Expected<GgufWriter> Create(uint32_t alignment = 32, uint32_t version = 3);

  // T: bool, an integer type, float, double, or text; or a vector or span of these for an array.
  // Failures: a key that is empty, no UTF-8, longer than 65,535 bytes, or set before.
  template <typename T>
  core::Status Set(std::string_view key, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return SetString(key, value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return SetRaw(key, TypeOf<T>(), &value, 1, false);
    } else {
      using E = std::remove_cv_t<typename T::value_type>;
      if constexpr (std::is_arithmetic_v<E>) {
        static_assert(!std::is_same_v<T, std::vector<bool>>, "pack booleans in a span of bool");
        return SetRaw(key, TypeOf<E>(), value.data(), value.size(), true);
      } else {
        return SetStrings(key, std::vector<std::string_view>(value.begin(), value.end()));
      }
    }
  }
  // A value as another file has it.
  core::Status Set(std::string_view key, const GgufValue& value);

  // Every entry of `file` but general.alignment, which is this writer's own, and split.*.
  core::Status CopyEntries(const GgufFile& file);

  // Names must be unique and shorter than 64 bytes, which is what other readers take. `data` must
  // stay valid until Write returns; its size must be that of shape × dtype.
  core::Status AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                         std::span<const std::byte> data);
  core::Status AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                         ByteSource source);
  // For types that rml copies without understanding them.
  core::Status AddTensor(std::string_view name, const GgmlType& type, const core::Shape& shape,
                         ByteSource source);

  core::Status Write(std::string_view path) const;
  core::Expected<std::vector<std::byte>> ToBytes() const;

  // In parts PREFIX-00001-of-0000N.gguf, as llama.cpp names and opens them: the tensors fill them
  // in the order in which they were added, up to `max_part_bytes` of tensor bytes each; one that is
  // larger gets a part of its own. All metadata stands in the first part, which appears last.
  core::Status WriteParts(std::string_view prefix, uint64_t max_part_bytes) const;

 private:
  struct Tensor {
    std::string name;
    const GgmlType* type;
    core::Shape shape;
    uint64_t bytes;
    ByteSource source;
  };
  // Metadata, as it stands in the file. Keys are kept in order of their bytes.
  struct Entries {
    std::string bytes;
    std::vector<std::string> keys;
  };

  GgufWriter(uint32_t alignment, uint32_t version) : alignment_(alignment), version_(version) {}

  template <typename T>
  static constexpr GgufType TypeOf() {
    if constexpr (std::is_same_v<T, bool>) {
      return GgufType::kBool;
    } else if constexpr (std::is_same_v<T, float>) {
      return GgufType::kF32;
    } else if constexpr (std::is_same_v<T, double>) {
      return GgufType::kF64;
    } else {
      static_assert(std::is_integral_v<T> && sizeof(T) <= 8);
      constexpr bool kSigned = std::is_signed_v<T>;
      switch (sizeof(T)) {
        case 1:
          return kSigned ? GgufType::kI8 : GgufType::kU8;
        case 2:
          return kSigned ? GgufType::kI16 : GgufType::kU16;
        case 4:
          return kSigned ? GgufType::kI32 : GgufType::kU32;
        default:
          return kSigned ? GgufType::kI64 : GgufType::kU64;
      }
    }
  }

  core::Status BeginEntry(std::string_view key);
  core::Status SetRaw(std::string_view key, GgufType type, const void* data, size_t count,
                      bool array);
  core::Status SetString(std::string_view key, std::string_view text);
  core::Status SetStrings(std::string_view key, const std::vector<std::string_view>& strings);
  core::Status WriteTo(const Entries& entries, std::span<const Tensor> tensors,
                       ByteSink sink) const;
  core::Status WriteTo(const Entries& entries, std::span<const Tensor> tensors,
                       FileWriter* file) const;

  uint32_t alignment_;
  uint32_t version_;
  Entries entries_;
  std::vector<Tensor> tensors_;
  uint64_t data_bytes_ = 0;  // of the tensors so far, padding included
};

}  // namespace rml::io
