#include "rml/core/dtype.h"

#include <array>

#include "rml/core/checked_math.h"

namespace rml::core {

namespace {

using enum DTypeKind;

constexpr std::array<DTypeInfo, kDTypeCount> kInfos = {{
    {"f64", kFloat, 1, 8},
    {"f32", kFloat, 1, 4},
    {"f16", kFloat, 1, 2},
    {"bf16", kFloat, 1, 2},
    {"f8_e4m3", kFloat, 1, 1},
    {"f8_e5m2", kFloat, 1, 1},
    {"i64", kSigned, 1, 8},
    {"i32", kSigned, 1, 4},
    {"i16", kSigned, 1, 2},
    {"i8", kSigned, 1, 1},
    {"i4", kSigned, 2, 1},
    {"u64", kUnsigned, 1, 8},
    {"u32", kUnsigned, 1, 4},
    {"u16", kUnsigned, 1, 2},
    {"u8", kUnsigned, 1, 1},
    {"u4", kUnsigned, 2, 1},
    {"bool", DTypeKind::kBool, 1, 1},
    {"q4_0", kQuantized, 32, 18},
    {"q4_1", kQuantized, 32, 20},
    {"q5_0", kQuantized, 32, 22},
    {"q5_1", kQuantized, 32, 24},
    {"q8_0", kQuantized, 32, 34},
    {"q4_K", kQuantized, 256, 144},
    {"q5_K", kQuantized, 256, 176},
    {"q6_K", kQuantized, 256, 210},
}};

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

}  // namespace

const DTypeInfo& Info(DType dtype) { return kInfos[static_cast<size_t>(dtype)]; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (EqualsIgnoringCase(kInfos[static_cast<size_t>(i)].name, name)) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<int64_t> StorageBytes(DType dtype, int64_t elements) {
  const DTypeInfo& info = Info(dtype);
  int64_t blocks = elements;
  if (info.block_elements != 1) {  // divisions cost more than all else that a small tensor needs
    if (elements % info.block_elements != 0) return std::nullopt;
    blocks = elements / info.block_elements;
  }
  int64_t bytes = 0;
  if (elements < 0 || !CheckedMul<int64_t>(blocks, info.block_bytes, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace rml::core
