// The tensor types of GGUF, from the enumeration ggml_type in ggml.h. Numbers that are missing here
// were given to types that ggml has removed.
#include <algorithm>
#include <array>

#include "rml/io/gguf.h"

namespace rml::io {
namespace {

using core::DType;

constexpr std::array kGgmlTypes = {
    GgmlType{0, "f32", 1, 4, DType::kF32},          GgmlType{1, "f16", 1, 2, DType::kF16},
    GgmlType{2, "q4_0", 32, 18, DType::kQ4_0},      GgmlType{3, "q4_1", 32, 20, DType::kQ4_1},
    GgmlType{6, "q5_0", 32, 22, DType::kQ5_0},      GgmlType{7, "q5_1", 32, 24, DType::kQ5_1},
    GgmlType{8, "q8_0", 32, 34, DType::kQ8_0},      GgmlType{9, "q8_1", 32, 36, std::nullopt},
    GgmlType{10, "q2_K", 256, 84, std::nullopt},    GgmlType{11, "q3_K", 256, 110, std::nullopt},
    GgmlType{12, "q4_K", 256, 144, DType::kQ4_K},   GgmlType{13, "q5_K", 256, 176, DType::kQ5_K},
    GgmlType{14, "q6_K", 256, 210, DType::kQ6_K},   GgmlType{15, "q8_K", 256, 292, std::nullopt},
    GgmlType{16, "iq2_xxs", 256, 66, std::nullopt}, GgmlType{17, "iq2_xs", 256, 74, std::nullopt},
    GgmlType{18, "iq3_xxs", 256, 98, std::nullopt}, GgmlType{19, "iq1_s", 256, 50, std::nullopt},
    GgmlType{20, "iq4_nl", 32, 18, std::nullopt},   GgmlType{21, "iq3_s", 256, 110, std::nullopt},
    GgmlType{22, "iq2_s", 256, 82, std::nullopt},   GgmlType{23, "iq4_xs", 256, 136, std::nullopt},
    GgmlType{24, "i8", 1, 1, DType::kI8},           GgmlType{25, "i16", 1, 2, DType::kI16},
    GgmlType{26, "i32", 1, 4, DType::kI32},         GgmlType{27, "i64", 1, 8, DType::kI64},
    GgmlType{28, "f64", 1, 8, DType::kF64},         GgmlType{29, "iq1_m", 256, 56, std::nullopt},
    GgmlType{30, "bf16", 1, 2, DType::kBF16},       GgmlType{34, "tq1_0", 256, 54, std::nullopt},
    GgmlType{35, "tq2_0", 256, 66, std::nullopt},   GgmlType{39, "mxfp4", 32, 17, std::nullopt},
    GgmlType{40, "nvfp4", 64, 36, std::nullopt},    GgmlType{41, "q1_0", 128, 18, std::nullopt},
    GgmlType{42, "q2_0", 64, 18, std::nullopt},
};

}  // namespace

const GgmlType* FindGgmlType(uint32_t id) {
  const auto* found = std::ranges::find(kGgmlTypes, id, &GgmlType::id);
  return found == kGgmlTypes.end() ? nullptr : found;
}

const GgmlType* FindGgmlType(DType dtype) {
  const auto* found = std::ranges::find(kGgmlTypes, std::optional<DType>(dtype), &GgmlType::dtype);
  return found == kGgmlTypes.end() ? nullptr : found;
}

}  // namespace rml::io
