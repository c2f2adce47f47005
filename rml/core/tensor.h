// Tensor: dtype + shape + strides + position over a shared Buffer. Copying a tensor, and every view
// below, shares the memory. Nothing allocates unless it is given an Allocator.
//
// Strides count elements. Packed dtypes (i4 and u4: two elements a byte, the low nibble first; the
// quantised blocks) keep their blocks whole: the last axis is a whole number of blocks and lies
// contiguous, every other stride is a multiple of the block, and a view that would break a block is
// an error that says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rml/core/buffer.h"
#include "rml/core/dtype.h"
#include "rml/core/dtype_of.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"

namespace rml::core {

// How a row-major tensor lies in memory: worked out and checked once, for those who make many.
struct TensorLayout {
  DType dtype = DType::kF32;
  Shape shape;
  std::array<int64_t, kMaxRank> strides = {};  // elements
  int64_t bytes = 0;

  // Fails when they are no whole blocks or overflow.
  static Expected<TensorLayout> RowMajor(DType dtype, const Shape& shape);
};

class Tensor {
 public:
  Tensor() = default;  // no memory: defined() is false, and nothing else may be asked but its shape

  // New memory; Cpu() is an Allocator.
  static Expected<Tensor> Empty(DType dtype, const Shape& shape, Allocator& allocator);
  static Expected<Tensor> Empty(const TensorLayout& layout, Allocator& allocator);
  static Expected<Tensor> Zeros(DType dtype, const Shape& shape, Allocator& allocator);
  static Expected<Tensor> FromBytes(DType dtype, const Shape& shape,
                                    std::span<const std::byte> bytes, Allocator& allocator);
  template <typename T>
  static Expected<Tensor> FromHost(const Shape& shape, std::span<const T> values,
                                   Allocator& allocator) {
    return FromBytes(DTypeOf<T>::value, shape, std::as_bytes(values), allocator);
  }

  // Over memory that is there already, row-major from `byte_offset` on.
  static Expected<Tensor> Over(std::shared_ptr<Buffer> buffer, DType dtype, const Shape& shape,
                               int64_t byte_offset = 0);
  // The same with strides (not negative); the whole extent must lie inside the buffer.
  static Expected<Tensor> OverStrided(std::shared_ptr<Buffer> buffer, DType dtype,
                                      const Shape& shape, std::span<const int64_t> strides,
                                      int64_t byte_offset = 0);

  // Bytes of a row-major tensor; fails when they are no whole blocks or overflow.
  static Expected<int64_t> BytesFor(DType dtype, const Shape& shape);

  bool defined() const { return buffer_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_.dim(axis); }  // -1: the last
  int64_t elements() const { return shape_.elements(); }
  std::span<const int64_t> strides() const {
    return {strides_.data(), static_cast<size_t>(rank())};
  }
  int64_t byte_offset() const { return byte_offset_; }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  Device& device() const { return buffer_->device(); }

  // Row-major without gaps; axes of one element may have any stride.
  bool IsContiguous() const;
  // Bytes of the elements without gaps, whatever the strides.
  int64_t bytes() const;

  // Views. An axis may be counted from the end (-1 is the last).
  Expected<Tensor> Slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const;
  Expected<Tensor> Select(int axis, int64_t index) const;  // drops the axis
  Expected<Tensor> Transpose(int axis_a, int axis_b) const;
  Expected<Tensor> Permute(
      std::span<const int> order) const;               // axis i of the view is order[i] of this
  Expected<Tensor> Reshape(const Shape& shape) const;  // fails where only a copy could do it
  Expected<Tensor> Squeeze(int axis) const;
  Expected<Tensor> Unsqueeze(int axis) const;              // the new axis' place in the result
  Expected<Tensor> BroadcastTo(const Shape& shape) const;  // repeated axes get stride 0

  // This tensor where it is contiguous and on the allocator's device, else a copy.
  Expected<Tensor> Contiguous(Allocator& allocator) const;
  // Always a new, contiguous copy; also from device to device.
  Expected<Tensor> Copy(Allocator& allocator) const;
  // Writes every element to `destination`: same dtype and shape, any strides, any device. The two
  // must not overlap unless both are contiguous.
  Status CopyTo(const Tensor& destination) const;

  // The elements of a contiguous tensor in host memory, in row-major order. A constant tensor
  // shares its memory like any other: what may be written is the buffer's to say.
  template <typename T>
  Expected<std::span<const T>> HostData() const {
    RML_ASSIGN(const std::span<const std::byte> data, TypedBytes(CanRead<T>(dtype_), alignof(T)));
    return std::span<const T>(reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T));
  }
  template <typename T>
  Expected<std::span<T>> MutableHostData() const {
    RML_ASSIGN(const std::span<std::byte> data, MutableTypedBytes(CanRead<T>(dtype_), alignof(T)));
    return std::span<T>(reinterpret_cast<T*>(data.data()), data.size() / sizeof(T));
  }
  // The same as bytes, for any dtype.
  Expected<std::span<const std::byte>> HostBytes() const { return TypedBytes(true, 1); }
  Expected<std::span<std::byte>> MutableHostBytes() const { return MutableTypedBytes(true, 1); }

 private:
  using Strides = std::array<int64_t, kMaxRank>;

  Tensor(std::shared_ptr<Buffer> buffer, const TensorLayout& layout, int64_t byte_offset)
      : buffer_(std::move(buffer)),
        dtype_(layout.dtype),
        shape_(layout.shape),
        strides_(layout.strides),
        byte_offset_(byte_offset) {}

  Tensor WithView(const Shape& shape, const Strides& strides, int64_t byte_offset) const;
  Expected<int> AxisIndex(int axis, std::string_view what) const;
  bool IsPacked() const { return Info(dtype_).block_elements > 1; }
  Status CheckHostRead(bool type_fits, size_t alignment) const;
  Expected<std::span<const std::byte>> TypedBytes(bool type_fits, size_t alignment) const;
  Expected<std::span<std::byte>> MutableTypedBytes(bool type_fits, size_t alignment) const;

  std::shared_ptr<Buffer> buffer_;
  DType dtype_ = DType::kF32;
  Shape shape_;
  Strides strides_ = {};     // elements
  int64_t byte_offset_ = 0;  // of the first element in the buffer
};

}  // namespace rml::core
