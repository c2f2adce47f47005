#include "rml/io/gguf_value.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rml/core/check.h"

namespace rml::io {
namespace {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

struct TypeInfo {
  std::string_view name;
  size_t size;
};

constexpr std::array<TypeInfo, kGgufTypeCount> kValueTypes = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 0},
    {"array", 0},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

// The file is little endian, and so is every machine that rml builds for.
template <typename T>
T Load(std::span<const std::byte> raw, size_t i) {
  T value;
  std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

bool IsUnsigned(GgufType type) {
  return type == GgufType::kU8 || type == GgufType::kU16 || type == GgufType::kU32 ||
         type == GgufType::kU64;
}
bool IsSigned(GgufType type) {
  return type == GgufType::kI8 || type == GgufType::kI16 || type == GgufType::kI32 ||
         type == GgufType::kI64;
}

uint64_t LoadUnsigned(GgufType type, std::span<const std::byte> raw, size_t i) {
  switch (type) {
    case GgufType::kU8:
      return Load<uint8_t>(raw, i);
    case GgufType::kU16:
      return Load<uint16_t>(raw, i);
    case GgufType::kU32:
      return Load<uint32_t>(raw, i);
    default:
      return Load<uint64_t>(raw, i);
  }
}

int64_t LoadSigned(GgufType type, std::span<const std::byte> raw, size_t i) {
  switch (type) {
    case GgufType::kI8:
      return Load<int8_t>(raw, i);
    case GgufType::kI16:
      return Load<int16_t>(raw, i);
    case GgufType::kI32:
      return Load<int32_t>(raw, i);
    default:
      return Load<int64_t>(raw, i);
  }
}

// "true", "3", "1e-05"; numbers and booleans only.
std::string NumberText(GgufType type, std::span<const std::byte> raw, size_t i) {
  if (type == GgufType::kBool) return Load<uint8_t>(raw, i) != 0 ? "true" : "false";
  if (type == GgufType::kF32) return StrCat(Load<float>(raw, i));
  if (type == GgufType::kF64) return StrCat(Load<double>(raw, i));
  if (IsUnsigned(type)) return StrCat(LoadUnsigned(type, raw, i));
  return StrCat(LoadSigned(type, raw, i));
}

}  // namespace

std::string_view GgufTypeName(GgufType type) {
  const auto number = static_cast<uint32_t>(type);
  return number < kGgufTypeCount ? kValueTypes[number].name : "unknown";
}

size_t GgufTypeSize(GgufType type) {
  const auto number = static_cast<uint32_t>(type);
  return number < kGgufTypeCount ? kValueTypes[number].size : 0;
}

Status GgufValue::CheckIsArray() const { return is_array() ? OkStatus() : WrongType("an array"); }
Status GgufValue::CheckIsScalar() const {
  return is_array() ? WrongType("a single value") : OkStatus();
}

Status GgufValue::WrongType(std::string_view wanted) const {
  if (is_array()) {
    return core::InvalidArgument("is an array of ", count_, " × ", GgufTypeName(element_type_),
                                 ", not ", wanted);
  }
  return core::InvalidArgument("is of type ", GgufTypeName(type_), ", not ", wanted);
}

Expected<bool> GgufValue::BoolAt(size_t i) const {
  RML_CHECK(i < size());
  if (element_type() != GgufType::kBool) return WrongType("bool");
  return Load<uint8_t>(raw_, i) != 0;
}

Expected<double> GgufValue::DoubleAt(size_t i) const {
  RML_CHECK(i < size());
  if (element_type() == GgufType::kF32) return Load<float>(raw_, i);
  if (element_type() == GgufType::kF64) return Load<double>(raw_, i);
  return WrongType("a floating-point number");
}

Expected<std::string_view> GgufValue::StringAt(size_t i) const {
  RML_CHECK(i < size());
  if (element_type() != GgufType::kString) return WrongType("a string");
  return strings_[i];
}

Expected<uint64_t> GgufValue::UnsignedAt(size_t i, uint64_t max) const {
  RML_CHECK(i < size());
  const GgufType type = element_type();
  uint64_t value = 0;
  if (IsUnsigned(type)) {
    value = LoadUnsigned(type, raw_, i);
  } else if (IsSigned(type)) {
    const int64_t number = LoadSigned(type, raw_, i);
    if (number < 0) return core::OutOfRange("is ", number, ", and must not be negative");
    value = static_cast<uint64_t>(number);
  } else {
    return WrongType("an integer");
  }
  if (value > max) return core::OutOfRange("is ", value, ", more than the largest allowed, ", max);
  return value;
}

Expected<int64_t> GgufValue::SignedAt(size_t i, int64_t min, int64_t max) const {
  RML_CHECK(i < size());
  const GgufType type = element_type();
  if (IsUnsigned(type)) {
    RML_ASSIGN(const uint64_t value, UnsignedAt(i, static_cast<uint64_t>(max)));
    return static_cast<int64_t>(value);
  }
  if (!IsSigned(type)) return WrongType("an integer");
  const int64_t value = LoadSigned(type, raw_, i);
  if (value < min || value > max) {
    return core::OutOfRange("is ", value, ", outside of ", min, " … ", max);
  }
  return value;
}

Expected<std::span<const std::string_view>> GgufValue::Strings() const {
  if (!is_array() || element_type_ != GgufType::kString) return WrongType("an array of strings");
  return std::span<const std::string_view>(strings_);
}

Expected<std::span<const GgufValue>> GgufValue::Arrays() const {
  if (!is_array() || element_type_ != GgufType::kArray) return WrongType("an array of arrays");
  return std::span<const GgufValue>(arrays_);
}

std::string GgufValue::ToString(size_t max_elements) const {
  const auto element = [&](size_t i) -> std::string {
    if (element_type() == GgufType::kString) return StrCat("\"", strings_[i], "\"");
    if (element_type() == GgufType::kArray) return arrays_[i].ToString(max_elements);
    return NumberText(element_type(), raw_, i);
  };
  if (!is_array()) return element(0);
  std::string out = "[";
  const size_t shown = std::min(count_, max_elements);
  for (size_t i = 0; i < shown; ++i) out += StrCat(i > 0 ? ", " : "", element(i));
  if (shown < count_) {
    out += StrCat(shown > 0 ? ", … " : "… ", count_, " × ", GgufTypeName(element_type_));
  }
  return out + "]";
}

}  // namespace rml::io
