// The element types of safetensors. Internal to safetensors*.cc.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rml/core/dtype.h"

namespace rml::io {

struct SafetensorsDType {
  std::string_view name;
  std::optional<core::DType> dtype;  // absent: a type of the format that rml cannot compute with
};

// In the order of the reference implementation, which writes tensors from the last of these to the
// first, so that larger elements come first and all stay aligned.
inline constexpr std::array<SafetensorsDType, 22> kSafetensorsDTypes = {{
    {"BOOL", core::DType::kBool},
    {"F4", std::nullopt},
    {"F6_E2M3", std::nullopt},
    {"F6_E3M2", std::nullopt},
    {"U8", core::DType::kU8},
    {"I8", core::DType::kI8},
    {"F8_E5M2", core::DType::kF8E5M2},
    {"F8_E4M3", core::DType::kF8E4M3},
    {"F8_E8M0", std::nullopt},
    {"F8_E4M3FNUZ", std::nullopt},
    {"F8_E5M2FNUZ", std::nullopt},
    {"I16", core::DType::kI16},
    {"U16", core::DType::kU16},
    {"F16", core::DType::kF16},
    {"BF16", core::DType::kBF16},
    {"I32", core::DType::kI32},
    {"U32", core::DType::kU32},
    {"F32", core::DType::kF32},
    {"C64", std::nullopt},
    {"F64", core::DType::kF64},
    {"I64", core::DType::kI64},
    {"U64", core::DType::kU64},
}};

}  // namespace rml::io
