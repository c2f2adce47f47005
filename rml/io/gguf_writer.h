// GgufWriter: writes GGUF version 3, in one file that appears whole or not at all (FileWriter).
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
#include "rml/io/gguf.h"

namespace rml::io {

class GgufWriter {
 public:
  // A power of two, at least 8. The key general.alignment is written when it is not the default.
  static core::Expected<GgufWriter> Create(uint32_t alignment = 32);

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

  // Writes the file; may be called once.
  core::Status Write(std::string_view path);
  // The same, into memory.
  core::Expected<std::vector<std::byte>> ToBytes();

 private:
  struct Tensor {
    std::string name;
    const GgmlType* type;
    core::Shape shape;
    uint64_t bytes;
    uint64_t offset;  // from the start of the data
    ByteSource source;
  };

  explicit GgufWriter(uint32_t alignment) : alignment_(alignment) {}

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
  core::Status WriteTo(ByteSink sink);

  uint32_t alignment_;
  std::string entries_;  // as they will stand in the file
  std::vector<std::string> keys_;
  std::vector<Tensor> tensors_;
  uint64_t data_bytes_ = 0;  // of the tensors so far, padding included
};

}  // namespace rml::io
