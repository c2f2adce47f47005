// DTypeSet: a set of dtypes, for what an operator or a kernel takes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "rml/core/dtype.h"

namespace rml::ir {

class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(core::DType dtype) : bits_(Bit(dtype)) {}
  constexpr DTypeSet(std::initializer_list<core::DType> dtypes) {
    for (const core::DType dtype : dtypes) bits_ |= Bit(dtype);
  }

  constexpr bool Has(core::DType dtype) const { return (bits_ & Bit(dtype)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ | b.bits_, 0);
  }
  friend constexpr DTypeSet operator&(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ & b.bits_, 0);
  }
  friend constexpr bool operator==(DTypeSet, DTypeSet) = default;

  std::vector<core::DType> list() const;  // in the order of the enum
  std::string ToString() const;           // "f32, f16"

 private:
  constexpr DTypeSet(uint32_t bits, int) : bits_(bits) {}
  static constexpr uint32_t Bit(core::DType dtype) {
    return uint32_t{1} << static_cast<int>(dtype);
  }
  static_assert(core::kDTypeCount <= 32);

  uint32_t bits_ = 0;
};

using enum core::DType;
// Floats to compute with; the 8-bit ones are storage, and only casts and copies take them.
inline constexpr DTypeSet kFloats = {kF64, kF32, kF16, kBF16};
// Whether gradients flow through values of this dtype.
constexpr bool CarriesGradient(core::DType dtype) { return kFloats.Has(dtype); }
inline constexpr DTypeSet kFloats8 = {kF8E4M3, kF8E5M2};
inline constexpr DTypeSet kSignedInts = {kI64, kI32, kI16, kI8};
inline constexpr DTypeSet kUnsignedInts = {kU64, kU32, kU16, kU8};
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kInts4 = {kI4, kU4};
inline constexpr DTypeSet kNumbers = kFloats | kInts;
inline constexpr DTypeSet kBools = {kBool};
inline constexpr DTypeSet kPlain = kNumbers | kBools | kFloats8;  // one element, one C++ value
inline constexpr DTypeSet kIndices = {kI64, kI32};
inline constexpr DTypeSet kBlocks = {kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kQ4_K, kQ5_K, kQ6_K};
inline constexpr DTypeSet kAllDTypes = kPlain | kInts4 | kBlocks;

}  // namespace rml::ir
