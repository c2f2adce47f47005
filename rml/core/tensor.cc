#include "rml/core/tensor.h"

#include <algorithm>
#include <utility>

#include "rml/core/checked_math.h"
#include "rml/core/strcat.h"

namespace rml::core {

namespace {

std::string Describe(DType dtype, const Shape& shape) {
  return StrCat(Name(dtype), " ", shape.ToString());
}

std::array<int64_t, kMaxRank> RowMajorStrides(const Shape& shape) {
  std::array<int64_t, kMaxRank> strides = {};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

// A packed dtype needs a last axis of whole blocks.
Status CheckBlocks(DType dtype, const Shape& shape) {
  const int block = Info(dtype).block_elements;
  if (block == 1) return {};
  if (shape.rank() == 0 || shape.dim(-1) % block != 0) {
    return InvalidArgument("a tensor of ", Describe(dtype, shape),
                           ": the last axis must be a multiple of ", block,
                           " elements, the block of ", Name(dtype));
  }
  return {};
}

// The strides that let memory of `old_shape` be seen as `new_shape`, of as many elements (not
// none). Both shapes fall into groups of axes of equal size; a group can change its form when its
// old axes lie together.
std::optional<std::array<int64_t, kMaxRank>> StridesAfterReshape(
    const Shape& old_shape, const std::array<int64_t, kMaxRank>& old_strides,
    const Shape& new_shape) {
  // Axes of one element say nothing about distances.
  std::array<int64_t, kMaxRank> sizes = {};
  std::array<int64_t, kMaxRank> distances = {};
  size_t old_rank = 0;
  for (int axis = 0; axis < old_shape.rank(); ++axis) {
    if (old_shape[axis] == 1) continue;
    sizes[old_rank] = old_shape[axis];
    distances[old_rank++] = old_strides[static_cast<size_t>(axis)];
  }
  std::array<int64_t, kMaxRank> strides = {};
  size_t group = 0;  // where the current group of old axes begins
  int axis = 0;      // the first new axis without a stride
  while (group < old_rank) {
    size_t group_end = group + 1;
    int axis_end = axis + 1;
    int64_t old_size = sizes[group];
    int64_t new_size = new_shape[axis];
    while (old_size != new_size) {
      if (new_size < old_size) {
        new_size *= new_shape[axis_end++];
      } else {
        if (distances[group_end - 1] != sizes[group_end] * distances[group_end])
          return std::nullopt;
        old_size *= sizes[group_end++];
      }
    }
    int64_t stride = distances[group_end - 1];
    for (int i = axis_end - 1; i >= axis; --i) {
      strides[static_cast<size_t>(i)] = stride;
      stride *= new_shape[i];
    }
    group = group_end;
    axis = axis_end;
  }
  // What is left are axes of one element.
  for (; axis < new_shape.rank(); ++axis) strides[static_cast<size_t>(axis)] = 1;
  return strides;
}

Status BreaksBlocks(std::string_view what, DType dtype) {
  return InvalidArgument(what, ": would break the blocks of ", Info(dtype).block_elements, " ",
                         Name(dtype), " elements along the last axis; convert the tensor first");
}

}  // namespace

Expected<TensorLayout> TensorLayout::RowMajor(DType dtype, const Shape& shape) {
  RML_ASSIGN(const int64_t bytes, Tensor::BytesFor(dtype, shape));
  return TensorLayout{dtype, shape, RowMajorStrides(shape), bytes};
}

Expected<int64_t> Tensor::BytesFor(DType dtype, const Shape& shape) {
  RML_TRY(CheckBlocks(dtype, shape));
  const std::optional<int64_t> bytes = StorageBytes(dtype, shape.elements());
  if (!bytes) {
    return InvalidArgument("a tensor of ", Describe(dtype, shape),
                           " has more bytes than 64 bits can count");
  }
  return *bytes;
}

Expected<Tensor> Tensor::Empty(const TensorLayout& layout, Allocator& allocator) {
  RML_ASSIGN(std::shared_ptr<Buffer> buffer, Buffer::Allocate(allocator, layout.bytes));
  return Tensor(std::move(buffer), layout, 0);
}

Expected<Tensor> Tensor::Empty(DType dtype, const Shape& shape, Allocator& allocator) {
  RML_ASSIGN(const TensorLayout layout, TensorLayout::RowMajor(dtype, shape));
  return Empty(layout, allocator);
}

Expected<Tensor> Tensor::Zeros(DType dtype, const Shape& shape, Allocator& allocator) {
  RML_ASSIGN(Tensor tensor, Empty(dtype, shape, allocator));
  // All-zero bytes are zeros in every dtype, the quantised blocks included.
  RML_TRY(tensor.buffer_->Fill(0, tensor.buffer_->bytes(), std::byte{0}));
  return tensor;
}

Expected<Tensor> Tensor::FromBytes(DType dtype, const Shape& shape,
                                   std::span<const std::byte> bytes, Allocator& allocator) {
  RML_ASSIGN(const int64_t needed, BytesFor(dtype, shape));
  if (static_cast<uint64_t>(needed) != bytes.size()) {
    return InvalidArgument("a tensor of ", Describe(dtype, shape), " has ", needed, " bytes, but ",
                           bytes.size(), " were given");
  }
  RML_ASSIGN(Tensor tensor, Empty(dtype, shape, allocator));
  RML_TRY(tensor.buffer_->CopyFromHost(0, bytes));
  return tensor;
}

Expected<Tensor> Tensor::Over(std::shared_ptr<Buffer> buffer, DType dtype, const Shape& shape,
                              int64_t byte_offset) {
  RML_ASSIGN(const TensorLayout layout, TensorLayout::RowMajor(dtype, shape));
  const int64_t bytes = layout.bytes;
  if (byte_offset < 0 || byte_offset > buffer->bytes() || bytes > buffer->bytes() - byte_offset) {
    return OutOfRange("a tensor of ", Describe(dtype, shape), " needs ", bytes, " bytes from byte ",
                      byte_offset, " on, but its buffer has ", buffer->bytes());
  }
  return Tensor(std::move(buffer), layout, byte_offset);
}

Expected<Tensor> Tensor::OverStrided(std::shared_ptr<Buffer> buffer, DType dtype,
                                     const Shape& shape, std::span<const int64_t> strides,
                                     int64_t byte_offset) {
  RML_TRY(CheckBlocks(dtype, shape));
  if (strides.size() != static_cast<size_t>(shape.rank())) {
    return InvalidArgument("a tensor of ", Describe(dtype, shape), " needs ", shape.rank(),
                           " strides, not ", strides.size());
  }
  const DTypeInfo& info = Info(dtype);
  Tensor tensor;
  int64_t last = 0;  // the farthest element's distance from the first
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t stride = strides[static_cast<size_t>(axis)];
    const bool is_last = axis == shape.rank() - 1;
    if (stride < 0) return InvalidArgument("stride ", stride, " of axis ", axis, " is negative");
    if (info.block_elements > 1 && (is_last ? stride != 1 : stride % info.block_elements != 0)) {
      return InvalidArgument("stride ", stride, " of axis ", axis, " breaks the blocks of ",
                             info.block_elements, " ", Name(dtype), " elements");
    }
    int64_t reach = 0;
    if (!CheckedMul<int64_t>(std::max<int64_t>(shape[axis] - 1, 0), stride, &reach) ||
        !CheckedAdd<int64_t>(last, reach, &last)) {
      return InvalidArgument("stride ", stride, " of axis ", axis, " reaches past 64 bits");
    }
    // The stride of a single element is never taken; an absurd one must not stay for views to
    // multiply.
    tensor.strides_[static_cast<size_t>(axis)] = shape[axis] == 1 ? 0 : stride;
  }
  if (shape.elements() == 0) tensor.strides_ = RowMajorStrides(shape);
  int64_t bytes = 0;  // from the first element to the end of the last block
  int64_t blocks = 0;
  if (shape.elements() > 0 && (!CheckedAdd<int64_t>(last / info.block_elements, 1, &blocks) ||
                               !CheckedMul<int64_t>(blocks, info.block_bytes, &bytes))) {
    return InvalidArgument("a tensor of ", Describe(dtype, shape), " reaches past 64 bits");
  }
  if (byte_offset < 0 || byte_offset > buffer->bytes() || bytes > buffer->bytes() - byte_offset) {
    return OutOfRange("a strided tensor of ", Describe(dtype, shape), " spans ", bytes,
                      " bytes from byte ", byte_offset, " on, but its buffer has ",
                      buffer->bytes());
  }
  tensor.buffer_ = std::move(buffer);
  tensor.dtype_ = dtype;
  tensor.shape_ = shape;
  tensor.byte_offset_ = byte_offset;
  return tensor;
}

bool Tensor::IsContiguous() const {
  if (elements() == 0) return true;
  int64_t expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] == 1) continue;
    if (strides_[static_cast<size_t>(axis)] != expected) return false;
    expected *= shape_[axis];
  }
  return true;
}

int64_t Tensor::bytes() const {
  const DTypeInfo& info = Info(dtype_);
  return elements() / info.block_elements * info.block_bytes;
}

Tensor Tensor::WithView(const Shape& shape, const Strides& strides, int64_t byte_offset) const {
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = strides;
  view.byte_offset_ = byte_offset;
  return view;
}

Expected<int> Tensor::AxisIndex(int axis, std::string_view what) const {
  if (axis < -rank() || axis >= rank()) {
    return InvalidArgument(what, ": axis ", axis, " of a tensor of shape ", shape_.ToString());
  }
  return axis < 0 ? axis + rank() : axis;
}

Expected<Tensor> Tensor::Slice(int axis, int64_t begin, int64_t end, int64_t step) const {
  RML_ASSIGN(const int at, AxisIndex(axis, "slice"));
  const int64_t size = shape_[at];
  if (begin < 0 || begin > end || end > size || step < 1) {
    return OutOfRange("slice: ", begin, " to ", end, " in steps of ", step, " of an axis of ", size,
                      " (axis ", at, " of ", shape_.ToString(), ")");
  }
  const DTypeInfo& info = Info(dtype_);
  if (IsPacked() && at == rank() - 1 &&
      (step != 1 || begin % info.block_elements != 0 || end % info.block_elements != 0)) {
    return BreaksBlocks(StrCat("slice from ", begin, " to ", end), dtype_);
  }
  std::array<int64_t, kMaxRank> dims = {};
  std::ranges::copy(shape_.dims(), dims.begin());
  Strides strides = strides_;
  const auto i = static_cast<size_t>(at);
  dims[i] = end == begin ? 0 : (end - begin - 1) / step + 1;
  // With one element left the step is never taken, and might not even fit.
  if (dims[i] > 1) strides[i] *= step;
  RML_ASSIGN(const Shape shape, Shape::Make({dims.data(), static_cast<size_t>(rank())}));
  // An empty slice may begin at the end, past the last element: it stays where it is.
  const int64_t skipped = shape.elements() == 0 ? 0 : begin * strides_[i];
  return WithView(shape, strides, byte_offset_ + skipped / info.block_elements * info.block_bytes);
}

Expected<Tensor> Tensor::Select(int axis, int64_t index) const {
  RML_ASSIGN(const int at, AxisIndex(axis, "select"));
  if (index < 0 || index >= shape_[at]) {
    return OutOfRange("select: index ", index, " of an axis of ", shape_[at], " (axis ", at, " of ",
                      shape_.ToString(), ")");
  }
  if (IsPacked() && at == rank() - 1) return BreaksBlocks("select along the last axis", dtype_);
  RML_ASSIGN(const Tensor one, Slice(at, index, index + 1));
  return one.Squeeze(at);
}

Expected<Tensor> Tensor::Transpose(int axis_a, int axis_b) const {
  RML_ASSIGN(const int a, AxisIndex(axis_a, "transpose"));
  RML_ASSIGN(const int b, AxisIndex(axis_b, "transpose"));
  std::array<int, kMaxRank> order = {};
  for (int axis = 0; axis < rank(); ++axis) order[static_cast<size_t>(axis)] = axis;
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return Permute({order.data(), static_cast<size_t>(rank())});
}

Expected<Tensor> Tensor::Permute(std::span<const int> order) const {
  if (order.size() != static_cast<size_t>(rank())) {
    return InvalidArgument("permute: an order of ", order.size(), " axes for a tensor of shape ",
                           shape_.ToString());
  }
  std::array<int64_t, kMaxRank> dims = {};
  std::array<bool, kMaxRank> seen = {};
  Strides strides = {};
  for (size_t i = 0; i < order.size(); ++i) {
    RML_ASSIGN(const int from, AxisIndex(order[i], "permute"));
    if (std::exchange(seen[static_cast<size_t>(from)], true)) {
      return InvalidArgument("permute: axis ", from, " appears twice in the order");
    }
    dims[i] = shape_[from];
    strides[i] = strides_[static_cast<size_t>(from)];
  }
  if (IsPacked()) {
    RML_ASSIGN(const int last, AxisIndex(order.back(), "permute"));
    if (last != rank() - 1) return BreaksBlocks("permute", dtype_);
  }
  RML_ASSIGN(const Shape shape, Shape::Make({dims.data(), order.size()}));
  return WithView(shape, strides, byte_offset_);
}

Expected<Tensor> Tensor::Reshape(const Shape& shape) const {
  if (shape.elements() != elements()) {
    return InvalidArgument("reshape: ", shape_.ToString(), " has ", elements(), " elements, ",
                           shape.ToString(), " has ", shape.elements());
  }
  RML_TRY(CheckBlocks(dtype_, shape).WithContext("reshape"));
  if (IsContiguous()) return WithView(shape, RowMajorStrides(shape), byte_offset_);

  const std::optional<Strides> strides = StridesAfterReshape(shape_, strides_, shape);
  if (!strides) {
    return InvalidArgument(
        "reshape: ", shape_.ToString(), " to ", shape.ToString(),
        " needs a copy, since the tensor is not contiguous: call Contiguous first");
  }
  return WithView(shape, *strides, byte_offset_);
}

Expected<Tensor> Tensor::Squeeze(int axis) const {
  RML_ASSIGN(const int at, AxisIndex(axis, "squeeze"));
  if (shape_[at] != 1) {
    return InvalidArgument("squeeze: axis ", at, " of ", shape_.ToString(), " has ", shape_[at],
                           " elements, not 1");
  }
  std::array<int64_t, kMaxRank> dims = {};
  Strides strides = {};
  size_t kept = 0;
  for (int i = 0; i < rank(); ++i) {
    if (i == at) continue;
    dims[kept] = shape_[i];
    strides[kept++] = strides_[static_cast<size_t>(i)];
  }
  RML_ASSIGN(const Shape shape, Shape::Make({dims.data(), kept}));
  return WithView(shape, strides, byte_offset_);
}

Expected<Tensor> Tensor::Unsqueeze(int axis) const {
  const int new_rank = rank() + 1;
  if (axis < -new_rank || axis >= new_rank) {
    return InvalidArgument("unsqueeze: axis ", axis, " of a tensor of shape ", shape_.ToString());
  }
  const int at = axis < 0 ? axis + new_rank : axis;
  if (IsPacked() && at == new_rank - 1) return BreaksBlocks("unsqueeze", dtype_);
  if (new_rank > kMaxRank) {
    return InvalidArgument("unsqueeze: ", shape_.ToString(), " has all of the ", kMaxRank,
                           " dimensions that are supported");
  }
  std::array<int64_t, kMaxRank> dims = {};
  Strides strides = {};
  for (int i = 0, old_axis = 0; i < new_rank; ++i) {
    const auto to = static_cast<size_t>(i);
    if (i == at) {
      dims[to] = 1;
      // A multiple of whatever lies inside, as a row-major stride would be.
      strides[to] =
          old_axis < rank() ? shape_[old_axis] * strides_[static_cast<size_t>(old_axis)] : 1;
    } else {
      dims[to] = shape_[old_axis];
      strides[to] = strides_[static_cast<size_t>(old_axis++)];
    }
  }
  RML_ASSIGN(const Shape shape, Shape::Make({dims.data(), static_cast<size_t>(new_rank)}));
  return WithView(shape, strides, byte_offset_);
}

Expected<Tensor> Tensor::BroadcastTo(const Shape& shape) const {
  const int added = shape.rank() - rank();
  const auto mismatch = [&] {
    return InvalidArgument("broadcast: ", shape_.ToString(), " does not broadcast to ",
                           shape.ToString());
  };
  if (added < 0) return mismatch();
  Strides strides = {};
  for (int axis = 0; axis < rank(); ++axis) {
    const auto to = static_cast<size_t>(axis + added);
    if (shape_[axis] == shape[axis + added]) {
      strides[to] = strides_[static_cast<size_t>(axis)];
    } else if (shape_[axis] != 1) {
      return mismatch();
    }
  }
  RML_TRY(CheckBlocks(dtype_, shape).WithContext("broadcast"));
  return WithView(shape, strides, byte_offset_);
}

}  // namespace rml::core
