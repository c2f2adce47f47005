// A row is converted in pieces through a buffer of one of four wide types that hold every value of
// the source exactly: f32 (the narrow floats), f64, i64 (signed), u64 (unsigned, bool). So n dtypes
// need n loads and 4n stores, and no pair needs code of its own.
#include "rml/core/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "rml/core/half.h"
#include "rml/core/strided_loop.h"

namespace rml::core {

namespace {

constexpr int64_t kPiece = 256;  // elements: the buffer and both rows stay in the first-level cache

// Elements that C++ has no type for.
struct I4 {};
struct U4 {};
struct Bool {};

// Calls f with a value of the C++ type of the elements.
template <typename F>
Status VisitDType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(double());
    case DType::kF32:
      return f(float());
    case DType::kF16:
      return f(F16());
    case DType::kBF16:
      return f(BF16());
    case DType::kF8E4M3:
      return f(F8E4M3());
    case DType::kF8E5M2:
      return f(F8E5M2());
    case DType::kI64:
      return f(int64_t());
    case DType::kI32:
      return f(int32_t());
    case DType::kI16:
      return f(int16_t());
    case DType::kI8:
      return f(int8_t());
    case DType::kI4:
      return f(I4());
    case DType::kU64:
      return f(uint64_t());
    case DType::kU32:
      return f(uint32_t());
    case DType::kU16:
      return f(uint16_t());
    case DType::kU8:
      return f(uint8_t());
    case DType::kU4:
      return f(U4());
    case DType::kBool:
      return f(Bool());
    default:
      return Unsupported("convert: ", Name(dtype),
                         " is a quantised dtype; rml/quant quantises and dequantises");
  }
}

template <typename T>
constexpr bool kIsNarrowFloat = std::is_same_v<T, F16> || std::is_same_v<T, BF16> ||
                                std::is_same_v<T, F8E4M3> || std::is_same_v<T, F8E5M2>;
template <typename T>
constexpr bool kIsNibble = std::is_same_v<T, I4> || std::is_same_v<T, U4>;

float Widen(F16 x) { return F16ToF32(x.bits); }
float Widen(BF16 x) { return BF16ToF32(x.bits); }
float Widen(F8E4M3 x) { return F8E4M3ToF32(x.bits); }
float Widen(F8E5M2 x) { return F8E5M2ToF32(x.bits); }

void Narrow(float x, F16* out) { out->bits = F32ToF16(x); }
void Narrow(float x, BF16* out) { out->bits = F32ToBF16(x); }
void Narrow(float x, F8E4M3* out) { out->bits = F32ToF8E4M3(x); }
void Narrow(float x, F8E5M2* out) { out->bits = F32ToF8E5M2(x); }

// The wide type of a source.
template <typename T>
constexpr auto WideOf() {
  if constexpr (std::is_same_v<T, double>) {
    return double();
  } else if constexpr (std::is_same_v<T, float> || kIsNarrowFloat<T>) {
    return float();
  } else if constexpr (std::is_same_v<T, I4> || std::is_signed_v<T>) {
    return int64_t();
  } else {
    return uint64_t();
  }
}

// `first` counts elements from `data`; `step` is the stride. Nibbles always lie together.
template <typename T, typename Wide>
void Load(const std::byte* data, int64_t first, int64_t step, int64_t count, Wide* out) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsNibble<T>) {
      const int64_t at = first + i;
      const auto nibble = static_cast<unsigned>(data[at / 2]) >> (at % 2 * 4) & 15u;
      // Sign extension: flip the sign bit, then take its weight off again.
      out[i] = std::is_same_v<T, I4> ? static_cast<Wide>(static_cast<int>(nibble ^ 8u) - 8)
                                     : static_cast<Wide>(nibble);
    } else if constexpr (std::is_same_v<T, Bool>) {
      out[i] = data[first + i * step] != std::byte{0} ? 1 : 0;
    } else {
      T value;
      std::memcpy(&value, data + (first + i * step) * static_cast<int64_t>(sizeof(T)), sizeof(T));
      if constexpr (kIsNarrowFloat<T>) {
        out[i] = Widen(value);
      } else {
        out[i] = static_cast<Wide>(value);
      }
    }
  }
}

template <typename To, typename Float>
To FloatToInteger(Float x) {
  if (std::isnan(x)) return 0;
  // Both bounds are powers of two (or 0), exact in Float; the upper one is the first that is too
  // large.
  constexpr Float kLow = static_cast<Float>(std::numeric_limits<To>::min());
  constexpr Float kPastHigh =
      static_cast<Float>(std::numeric_limits<To>::max() / 2 + 1) * static_cast<Float>(2);
  if (x < kLow) return std::numeric_limits<To>::min();
  if (x >= kPastHigh) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

// An integer as a double whose last bit is set when bits were lost (see RoundToOdd).
double IntegerToOdd(uint64_t magnitude) {
  constexpr int kSpareBits = 11;  // 64 - 53
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const uint64_t lost = magnitude & ((uint64_t{1} << kSpareBits) - 1);
  return std::ldexp(static_cast<double>((magnitude >> kSpareBits) | (lost != 0 ? 1u : 0u)),
                    kSpareBits);
}
float ToOddFloat(float x) { return x; }
float ToOddFloat(double x) { return RoundToOdd(x); }
float ToOddFloat(uint64_t x) { return RoundToOdd(IntegerToOdd(x)); }
float ToOddFloat(int64_t x) {
  const uint64_t magnitude =
      x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const double odd = IntegerToOdd(magnitude);
  return RoundToOdd(x < 0 ? -odd : odd);
}

// Floats saturate and integers keep their low bits, as they do on the way to whole bytes.
template <typename T, typename Wide>
unsigned Nibble(Wide x) {
  if constexpr (std::is_floating_point_v<Wide>) {
    constexpr int kLow = std::is_same_v<T, I4> ? -8 : 0;
    return static_cast<unsigned>(std::clamp(FloatToInteger<int32_t>(x), kLow, kLow + 15)) & 15u;
  } else {
    return static_cast<unsigned>(x & 15);
  }
}

template <typename T, typename Wide>
void Store(const Wide* values, std::byte* data, int64_t first, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Wide x = values[i];
    if constexpr (kIsNibble<T>) {
      const int64_t at = first + i;
      const unsigned nibble = Nibble<T>(x);
      const int shift = static_cast<int>(at % 2) * 4;
      const unsigned other = static_cast<unsigned>(data[at / 2]) & (0xf0u >> shift);
      data[at / 2] = static_cast<std::byte>(other | nibble << shift);
    } else if constexpr (std::is_same_v<T, Bool>) {
      data[first + i * step] = std::byte{x != 0 ? uint8_t{1} : uint8_t{0}};
    } else {
      T value;
      if constexpr (kIsNarrowFloat<T>) {
        Narrow(ToOddFloat(x), &value);
      } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Wide>) {
        value = FloatToInteger<T>(x);
      } else {
        value = static_cast<T>(x);
      }
      std::memcpy(data + (first + i * step) * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
  }
}

// Steps and positions count elements from the tensors' first ones.
template <typename Wide>
using LoadRow = void (*)(const std::byte* data, int64_t first, int64_t step, int64_t count,
                         Wide* out);
template <typename Wide>
using StoreRow = void (*)(const Wide* values, std::byte* data, int64_t first, int64_t step,
                          int64_t count);

template <typename Wide>
void ConvertRows(const StridedLoop<2>& loop, const std::byte* from, LoadRow<Wide> load,
                 std::byte* to, StoreRow<Wide> store) {
  const int64_t count = loop.row_elements();
  const int64_t from_step = loop.row_strides()[0];
  const int64_t to_step = loop.row_strides()[1];
  std::array<Wide, kPiece> wide;
  loop.ForEachRow([&](const std::array<int64_t, 2>& at) {
    for (int64_t done = 0; done < count; done += kPiece) {
      const int64_t part = std::min(kPiece, count - done);
      load(from, at[0] + done * from_step, from_step, part, wide.data());
      store(wide.data(), to, at[1] + done * to_step, to_step, part);
    }
  });
}

}  // namespace

Status ConvertTo(const Tensor& from, const Tensor& to) {
  if (!(from.shape() == to.shape())) {
    return InvalidArgument("convert: a tensor of shape ", from.shape().ToString(),
                           " to one of shape ", to.shape().ToString());
  }
  if (from.dtype() == to.dtype()) return from.CopyTo(to);
  for (int axis = 0; axis < to.rank(); ++axis) {
    if (to.dim(axis) > 1 && to.strides()[static_cast<size_t>(axis)] == 0) {
      return InvalidArgument("convert: axis ", axis, " of the destination ", to.shape().ToString(),
                             " is broadcast, so its elements share memory");
    }
  }
  RML_ASSIGN(const auto from_bytes, std::as_const(*from.buffer()).HostView());
  RML_ASSIGN(const auto to_bytes, to.buffer()->MutableHostView());
  const std::byte* const source = from_bytes.data() + from.byte_offset();
  std::byte* const target = to_bytes.data() + to.byte_offset();
  const StridedLoop<2> loop(from.shape(), {from.strides(), to.strides()});
  return VisitDType(from.dtype(), [&](auto from_element) {
    using From = decltype(from_element);
    using Wide = decltype(WideOf<From>());
    const LoadRow<Wide> load = &Load<From, Wide>;
    return VisitDType(to.dtype(), [&](auto to_element) -> Status {
      ConvertRows<Wide>(loop, source, load, target, &Store<decltype(to_element), Wide>);
      return {};
    });
  });
}

Expected<Tensor> Convert(const Tensor& from, DType dtype, Allocator& allocator) {
  if (from.dtype() == dtype) return from.Copy(allocator);
  RML_ASSIGN(Tensor to, Tensor::Empty(dtype, from.shape(), allocator));
  RML_TRY(ConvertTo(from, to));
  return to;
}

}  // namespace rml::core
