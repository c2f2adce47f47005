// GgufValue: one metadata value of a GGUF file, read in place. Strings and array elements are views
// into the file's bytes, so a vocabulary of 262,144 pieces costs one vector of views; they live as
// long as the GgufFile (or the bytes given to Parse).
//
// Getters are typed: an integer type accepts every integer value in its range, float and double
// accept f32 and f64, and everything else must match. Messages name the actual type; GgufFile::Get
// adds file and key.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rml/core/expected.h"

namespace rml::io {

// The type numbers of the format.
enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};
inline constexpr uint32_t kGgufTypeCount = 13;

std::string_view GgufTypeName(GgufType type);  // "u32", "string", "array"
// Bytes of one value in the file; 0 for strings and arrays, whose size varies.
size_t GgufTypeSize(GgufType type);

namespace internal {
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
}  // namespace internal

class GgufValue {
 public:
  GgufValue() = default;

  GgufType type() const { return type_; }
  bool is_array() const { return type_ == GgufType::kArray; }
  // Of arrays: what the elements are. Of others: type().
  GgufType element_type() const { return is_array() ? element_type_ : type_; }
  // Of arrays: the number of elements. Of others: 1.
  size_t size() const { return is_array() ? count_ : 1; }

  // T: bool, any standard integer, float, double, std::string_view, std::string, or a std::vector
  // of one of these for arrays.
  template <typename T>
  core::Expected<T> As() const {
    if constexpr (internal::IsVector<T>::value) {
      using E = typename T::value_type;
      RML_TRY(CheckIsArray());
      T result;
      result.reserve(count_);
      for (size_t i = 0; i < count_; ++i) {
        RML_ASSIGN(E element, ElementAs<E>(i));
        result.push_back(std::move(element));
      }
      return result;
    } else {
      RML_TRY(CheckIsScalar());
      return ElementAs<T>(0);
    }
  }

  // Element `i` < size() of an array, or, with i = 0, the value itself.
  template <typename T>
  core::Expected<T> ElementAs(size_t i) const {
    if constexpr (std::is_same_v<T, bool>) {
      return BoolAt(i);
    } else if constexpr (std::is_same_v<T, double>) {
      return DoubleAt(i);
    } else if constexpr (std::is_same_v<T, float>) {
      RML_ASSIGN(const double wide, DoubleAt(i));
      return static_cast<float>(wide);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return StringAt(i);
    } else if constexpr (std::is_same_v<T, std::string>) {
      RML_ASSIGN(const std::string_view view, StringAt(i));
      return std::string(view);
    } else if constexpr (std::unsigned_integral<T>) {
      RML_ASSIGN(const uint64_t wide, UnsignedAt(i, static_cast<T>(-1)));
      return static_cast<T>(wide);
    } else {
      static_assert(std::signed_integral<T>, "no GGUF value is read as this type");
      constexpr int64_t kMax = static_cast<int64_t>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
      RML_ASSIGN(const int64_t wide, SignedAt(i, -kMax - 1, kMax));
      return static_cast<T>(wide);
    }
  }

  // Arrays of strings: all of them, without a copy.
  core::Expected<std::span<const std::string_view>> Strings() const;
  // Arrays of arrays: the inner ones.
  core::Expected<std::span<const GgufValue>> Arrays() const;
  // The bytes of a number or of an array of numbers, as stored (little endian, any alignment).
  std::span<const std::byte> raw() const { return raw_; }

  // For people: "[3, 4]", "\"llama\"", "[\"a\", \"b\", … 32000 strings]".
  std::string ToString(size_t max_elements = 8) const;

 private:
  friend class GgufParser;

  core::Status CheckIsArray() const;
  core::Status CheckIsScalar() const;
  core::Status WrongType(std::string_view wanted) const;
  core::Expected<bool> BoolAt(size_t i) const;
  core::Expected<double> DoubleAt(size_t i) const;
  core::Expected<std::string_view> StringAt(size_t i) const;
  core::Expected<uint64_t> UnsignedAt(size_t i, uint64_t max) const;
  core::Expected<int64_t> SignedAt(size_t i, int64_t min, int64_t max) const;

  GgufType type_ = GgufType::kU8;
  GgufType element_type_ = GgufType::kU8;
  size_t count_ = 1;
  std::span<const std::byte> raw_;         // numbers and booleans
  std::vector<std::string_view> strings_;  // strings: one, or an array's
  std::vector<GgufValue> arrays_;          // arrays of arrays
};

}  // namespace rml::io
