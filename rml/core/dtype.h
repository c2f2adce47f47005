// DType: what the elements of a tensor are. Elements are stored in blocks: one element for ordinary
// types, two for 4-bit integers, 32 or 256 for the quantised block types of GGUF, whose layouts are
// described in rml/quant/blocks.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rml::core {

// clang-format off
enum class DType : uint8_t {
  kF64, kF32, kF16, kBF16,
  kF8E4M3,  // OCP FP8 E4M3FN: no infinities, one NaN, largest 448
  kF8E5M2,  // OCP FP8 E5M2: as IEEE, largest 57344
  kI64, kI32, kI16, kI8, kI4,
  kU64, kU32, kU16, kU8, kU4,
  kBool,    // one byte, 0 or 1
  kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0,  // blocks of 32
  kQ4_K, kQ5_K, kQ6_K,                // blocks of 256
};
// clang-format on
inline constexpr int kDTypeCount = static_cast<int>(DType::kQ6_K) + 1;

enum class DTypeKind : uint8_t { kFloat, kSigned, kUnsigned, kBool, kQuantized };

struct DTypeInfo {
  std::string_view name;  // "f32", "q4_K"; the spelling of files, messages and the command line
  DTypeKind kind;
  int block_elements;  // elements in one block
  int block_bytes;     // bytes of one block
};

const DTypeInfo& Info(DType dtype);
inline std::string_view Name(DType dtype) { return Info(dtype).name; }
inline bool IsQuantized(DType dtype) { return Info(dtype).kind == DTypeKind::kQuantized; }
inline bool IsFloat(DType dtype) { return Info(dtype).kind == DTypeKind::kFloat; }

// Case does not matter: "Q4_K" and "q4_k" are the same.
std::optional<DType> ParseDType(std::string_view name);

// Bytes of `elements` consecutive elements; nothing when they are no whole number of blocks,
// negative, or more bytes than fit in an int64.
std::optional<int64_t> StorageBytes(DType dtype, int64_t elements);

}  // namespace rml::core
