// Copies of tensors, and their elements as host memory.
#include <array>
#include <cstring>
#include <utility>

#include "rml/core/strcat.h"
#include "rml/core/strided_loop.h"
#include "rml/core/tensor.h"

namespace rml::core {

namespace {

// A tensor of packed blocks is, for copying, a tensor of blocks.
struct BlockView {
  Shape shape;
  std::array<int64_t, kMaxRank> strides = {};  // blocks
};

BlockView InBlocks(const Tensor& tensor) {
  const int block = Info(tensor.dtype()).block_elements;
  std::array<int64_t, kMaxRank> dims = {};
  BlockView view;
  const int rank = tensor.rank();
  for (int axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const bool in_blocks = block > 1 && axis == rank - 1;
    dims[i] = in_blocks ? tensor.dim(axis) / block : tensor.dim(axis);
    view.strides[i] = in_blocks ? 1 : tensor.strides()[i] / block;
  }
  view.shape = *Shape::Make({dims.data(), static_cast<size_t>(rank)});
  return view;
}

void CopyRow(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step,
             int64_t count, int64_t block_bytes) {
  // The sizes of ordinary elements as constants, so that each memcpy is one move.
  const auto copy_each = [&](auto size) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(size));
    }
  };
  switch (block_bytes) {
    case 1:
      return copy_each(std::integral_constant<int64_t, 1>());
    case 2:
      return copy_each(std::integral_constant<int64_t, 2>());
    case 4:
      return copy_each(std::integral_constant<int64_t, 4>());
    case 8:
      return copy_each(std::integral_constant<int64_t, 8>());
    default:
      return copy_each(block_bytes);
  }
}

Status CopyStrided(const Tensor& from, const Tensor& to) {
  const BlockView from_blocks = InBlocks(from);
  const BlockView to_blocks = InBlocks(to);
  const StridedLoop<2> loop(from_blocks.shape, {from_blocks.strides, to_blocks.strides});
  const int64_t block_bytes = Info(from.dtype()).block_bytes;
  const int64_t count = loop.row_elements();
  const int64_t from_step = loop.row_strides()[0] * block_bytes;
  const int64_t to_step = loop.row_strides()[1] * block_bytes;
  const bool whole_rows = count == 1 || (from_step == block_bytes && to_step == block_bytes);

  const auto from_host = from.buffer()->HostView();
  const auto to_host = to.buffer()->MutableHostView();
  if (from_host.ok() && to_host.ok()) {
    const std::byte* const source = from_host->data() + from.byte_offset();
    std::byte* const target = to_host->data() + to.byte_offset();
    loop.ForEachRow([&](const std::array<int64_t, 2>& at) {
      const std::byte* const row = source + at[0] * block_bytes;
      if (whole_rows) {
        std::memcpy(target + at[1] * block_bytes, row, static_cast<size_t>(count * block_bytes));
      } else {
        CopyRow(target + at[1] * block_bytes, to_step, row, from_step, count, block_bytes);
      }
    });
    return {};
  }

  // Off the host: one copy per run of neighbours. Slow, and right on every device.
  Status status;
  loop.ForEachRow([&](const std::array<int64_t, 2>& at) {
    const int64_t pieces = whole_rows ? 1 : count;
    const int64_t piece_bytes = whole_rows ? count * block_bytes : block_bytes;
    for (int64_t i = 0; i < pieces && status.ok(); ++i) {
      status = Buffer::Copy(*to.buffer(), to.byte_offset() + at[1] * block_bytes + i * to_step,
                            *from.buffer(),
                            from.byte_offset() + at[0] * block_bytes + i * from_step, piece_bytes);
    }
  });
  return status;
}

}  // namespace

Status Tensor::CopyTo(const Tensor& destination) const {
  if (dtype_ != destination.dtype_ || !(shape_ == destination.shape_)) {
    return InvalidArgument("copy: a tensor of ", Name(dtype_), " ", shape_.ToString(),
                           " to one of ", Name(destination.dtype_), " ",
                           destination.shape_.ToString());
  }
  if (!destination.buffer_->writable()) {
    return FailedPrecondition("copy: the destination lies in read-only memory (a mapped file)");
  }
  for (int axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] > 1 && destination.strides_[static_cast<size_t>(axis)] == 0) {
      return InvalidArgument("copy: axis ", axis, " of the destination ", shape_.ToString(),
                             " is broadcast, so its elements share memory");
    }
  }
  if (elements() == 0) return {};
  if (IsContiguous() && destination.IsContiguous()) {
    return Buffer::Copy(*destination.buffer_, destination.byte_offset_, *buffer_, byte_offset_,
                        bytes());
  }
  return CopyStrided(*this, destination);
}

Expected<Tensor> Tensor::Copy(Allocator& allocator) const {
  RML_ASSIGN(Tensor copy, Empty(dtype_, shape_, allocator));
  RML_TRY(CopyTo(copy));
  return copy;
}

Expected<Tensor> Tensor::Contiguous(Allocator& allocator) const {
  if (IsContiguous() && &device() == &allocator.device()) return *this;
  return Copy(allocator);
}

Status Tensor::CheckHostRead(bool type_fits, size_t alignment) const {
  if (!defined()) return FailedPrecondition("a tensor without memory has no data");
  if (!type_fits) {
    return InvalidArgument("the elements of a tensor of ", Name(dtype_), " ", shape_.ToString(),
                           " were asked for as another type");
  }
  if (!IsContiguous()) {
    return FailedPrecondition("a tensor of shape ", shape_.ToString(),
                              " is not contiguous: call Contiguous first");
  }
  const uintptr_t address = buffer_->handle().value + static_cast<uintptr_t>(byte_offset_);
  if (elements() > 0 && address % alignment != 0) {
    return FailedPrecondition("a tensor of ", Name(dtype_), " ", shape_.ToString(),
                              " starts at byte ", byte_offset_,
                              " of its buffer, which is not aligned for its elements: copy it");
  }
  return {};
}

Expected<std::span<const std::byte>> Tensor::TypedBytes(bool type_fits, size_t alignment) const {
  RML_TRY(CheckHostRead(type_fits, alignment));
  RML_ASSIGN(const std::span<const std::byte> all, std::as_const(*buffer_).HostView());
  return all.subspan(static_cast<size_t>(byte_offset_), static_cast<size_t>(bytes()));
}

Expected<std::span<std::byte>> Tensor::MutableTypedBytes(bool type_fits, size_t alignment) const {
  RML_TRY(CheckHostRead(type_fits, alignment));
  RML_ASSIGN(const std::span<std::byte> all, buffer_->MutableHostView());
  return all.subspan(static_cast<size_t>(byte_offset_), static_cast<size_t>(bytes()));
}

}  // namespace rml::core
