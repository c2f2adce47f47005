#include "rml/core/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "rml/core/strided_loop.h"
#include "rml/core/testing/fake_device.h"

namespace rml::core {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;

// 0, 1, 2, … in the given shape.
Tensor Iota(const Shape& shape) {
  std::vector<int32_t> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0);
  return *Tensor::FromHost<int32_t>(shape, values, Cpu());
}

std::vector<int32_t> Values(const Tensor& tensor) {
  const Tensor copy = *tensor.Contiguous(Cpu());
  const auto data = *copy.HostData<int32_t>();
  return {data.begin(), data.end()};
}

Tensor Take(Expected<Tensor> tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return tensor.ok() ? *tensor : Tensor();
}

TEST(Tensor, ADefaultOneHasNoMemory) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_FALSE(tensor.HostData<float>().ok());
}

TEST(Tensor, EmptyTakesWhatItNeedsFromTheAllocator) {
  const int64_t before = Cpu().stats().current_bytes;
  {
    const Tensor tensor = Take(Tensor::Empty(DType::kF16, {3, 5}, Cpu()));
    EXPECT_EQ(Cpu().stats().current_bytes, before + 30);
    EXPECT_EQ(tensor.bytes(), 30);
    EXPECT_THAT(tensor.strides(), ElementsAre(5, 1));
    const Tensor shared = tensor;
    EXPECT_EQ(shared.buffer(), tensor.buffer());
  }
  EXPECT_EQ(Cpu().stats().current_bytes, before);
}

TEST(Tensor, ZerosAreZerosInEveryDtypeAndOnEveryDevice) {
  FakeDevice fake;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (Device* device : {&Cpu(), static_cast<Device*>(&fake)}) {
      const Tensor zeros = Take(Tensor::Zeros(dtype, {2, 256}, *device));
      const Tensor host = Take(zeros.Contiguous(Cpu()));
      for (const std::byte byte : *host.HostBytes()) ASSERT_EQ(byte, std::byte{0}) << Name(dtype);
    }
  }
}

TEST(Tensor, FromHostNeedsAsManyValuesAsTheShapeHas) {
  const std::vector<float> values = {1, 2, 3};
  const auto wrong = Tensor::FromHost<float>({2, 2}, values, Cpu());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), "a tensor of f32 [2, 2] has 16 bytes, but 12 were given");
}

TEST(Tensor, AllocationFailuresComeBackAsStatus) {
  MemoryBudget budget(100);
  BudgetedAllocator allocator(Cpu(), budget, "activations");
  EXPECT_EQ(Tensor::Empty(DType::kF32, {26}, allocator).error().code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(Tensor::Empty(DType::kF32, {25}, allocator).ok());
  EXPECT_EQ(Tensor::Empty(DType::kF64, {INT64_MAX}, Cpu()).error().code(),
            StatusCode::kInvalidArgument);
}

TEST(Tensor, TypedAccessChecksTheDtype) {
  const Tensor tensor = Iota({4});
  EXPECT_TRUE(tensor.HostData<int32_t>().ok());
  const auto wrong = tensor.HostData<float>();
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(std::string(wrong.error().message()), HasSubstr("i32 [4]"));
  EXPECT_EQ(tensor.HostBytes()->size(), 16u);
  const Tensor flags = Take(Tensor::Zeros(DType::kBool, {4}, Cpu()));
  EXPECT_TRUE(flags.HostData<uint8_t>().ok());
}

TEST(Tensor, TypedAccessNeedsContiguousAlignedHostMemory) {
  const Tensor tensor = Iota({2, 3});
  EXPECT_FALSE(Take(tensor.Transpose(0, 1)).HostData<int32_t>().ok());
  const Tensor shifted = Take(Tensor::Over(tensor.buffer(), DType::kI32, {2}, 1));
  EXPECT_THAT(std::string(shifted.HostData<int32_t>().error().message()), HasSubstr("not aligned"));
  EXPECT_TRUE(shifted.HostBytes().ok());
  EXPECT_TRUE(Take(shifted.Copy(Cpu())).HostData<int32_t>().ok());
  FakeDevice fake;
  const Tensor remote = Take(tensor.Copy(fake));
  EXPECT_EQ(remote.HostData<int32_t>().error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(remote.MutableHostBytes().error().code(), StatusCode::kUnsupported);
}

TEST(Tensor, OverChecksThatItLiesInsideTheBuffer) {
  const std::shared_ptr<Buffer> buffer = *Buffer::Allocate(Cpu(), 64);
  EXPECT_TRUE(Tensor::Over(buffer, DType::kF32, {16}).ok());
  EXPECT_TRUE(Tensor::Over(buffer, DType::kF32, {0}, 64).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kF32, {0}, 65).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kF32, {17}).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kF32, {1}, 61).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kF32, {1}, -4).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kF32, {1}, INT64_MAX).ok());
  EXPECT_FALSE(Tensor::Over(buffer, DType::kQ4_0, {16}).ok());
  EXPECT_EQ(Tensor::Over(buffer, DType::kQ4_0, {3, 32}).ok(), true);
}

TEST(Tensor, OverStridedChecksTheWholeExtent) {
  const std::shared_ptr<Buffer> buffer = *Buffer::Allocate(Cpu(), 64);
  const auto make = [&](const Shape& shape, std::vector<int64_t> strides, int64_t offset = 0) {
    return Tensor::OverStrided(buffer, DType::kI32, shape, strides, offset);
  };
  EXPECT_TRUE(make({4, 4}, {1, 4}).ok());
  EXPECT_TRUE(make({100}, {0}).ok()) << "broadcast";
  EXPECT_TRUE(make({2, 2}, {14, 1}).ok());
  EXPECT_FALSE(make({2, 2}, {15, 1}).ok());
  EXPECT_FALSE(make({4}, {-1}).ok());
  EXPECT_FALSE(make({2}, {INT64_MAX}).ok());
  EXPECT_FALSE(make({3}, {INT64_MAX}).ok());
  EXPECT_FALSE(make({2, 2}, {1}).ok());
  EXPECT_TRUE(make({1}, {INT64_MAX}).ok()) << "a stride that is never taken";
  EXPECT_FALSE(make({1}, {1}, 61).ok());
  const int64_t gaps[] = {64, 1};
  EXPECT_TRUE(Tensor::OverStrided(buffer, DType::kI4, {2, 64}, gaps).ok());
  const int64_t broken[] = {63, 1};
  EXPECT_FALSE(Tensor::OverStrided(buffer, DType::kI4, {2, 64}, broken).ok());
  const int64_t spread[] = {64, 2};
  EXPECT_FALSE(Tensor::OverStrided(buffer, DType::kI4, {2, 4}, spread).ok());
}

TEST(Tensor, SlicesShareMemory) {
  const Tensor tensor = Iota({4, 5});
  const Tensor rows = Take(tensor.Slice(0, 1, 3));
  EXPECT_TRUE(rows.IsContiguous());
  EXPECT_EQ(rows.buffer(), tensor.buffer());
  EXPECT_EQ(Values(rows), (std::vector<int32_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  const Tensor columns = Take(rows.Slice(-1, 1, 5, 2));
  EXPECT_FALSE(columns.IsContiguous());
  EXPECT_EQ(Values(columns), (std::vector<int32_t>{6, 8, 11, 13}));
  EXPECT_EQ(Values(Take(columns.Slice(1, 1, 2))), (std::vector<int32_t>{8, 13}));
  (*rows.MutableHostData<int32_t>())[0] = 99;
  EXPECT_EQ((*tensor.HostData<int32_t>())[5], 99);
}

TEST(Tensor, SlicesMayBeEmptyButNotOutside) {
  const Tensor tensor = Iota({4});
  EXPECT_EQ(Take(tensor.Slice(0, 4, 4)).elements(), 0);
  EXPECT_EQ(Take(Take(tensor.Slice(0, 4, 4)).Slice(0, 0, 0)).elements(), 0);
  EXPECT_TRUE(Take(tensor.Slice(0, 2, 2)).HostData<int32_t>().ok());
  EXPECT_FALSE(tensor.Slice(0, 3, 5).ok());
  EXPECT_FALSE(tensor.Slice(0, -1, 2).ok());
  EXPECT_FALSE(tensor.Slice(0, 3, 2).ok());
  EXPECT_FALSE(tensor.Slice(0, 0, 4, 0).ok());
  EXPECT_FALSE(tensor.Slice(1, 0, 1).ok());
  EXPECT_EQ(Values(Take(tensor.Slice(0, 0, 4, INT64_MAX))), (std::vector<int32_t>{0}));
}

TEST(Tensor, SelectDropsTheAxis) {
  const Tensor tensor = Iota({2, 3});
  EXPECT_EQ(Values(Take(tensor.Select(0, 1))), (std::vector<int32_t>{3, 4, 5}));
  const Tensor column = Take(tensor.Select(1, 2));
  EXPECT_EQ(column.rank(), 1);
  EXPECT_EQ(Values(column), (std::vector<int32_t>{2, 5}));
  EXPECT_EQ(Take(column.Select(0, 0)).rank(), 0);
  EXPECT_EQ(tensor.Select(0, 2).error().message(),
            "select: index 2 of an axis of 2 (axis 0 of [2, 3])");
}

TEST(Tensor, PermuteAndTransposeReorderAxes) {
  const Tensor tensor = Iota({2, 3});
  EXPECT_EQ(Values(Take(tensor.Transpose(0, 1))), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  const Tensor cube = Iota({2, 3, 4});
  const int order[] = {2, 0, -2};
  const Tensor turned = Take(cube.Permute(order));
  EXPECT_TRUE(turned.shape() == Shape({4, 2, 3}));
  EXPECT_EQ(Values(turned)[1 * 6 + 1 * 3 + 2], 1 * 12 + 2 * 4 + 1);
  const int twice[] = {0, 0, 1};
  EXPECT_FALSE(cube.Permute(twice).ok());
  const int outside[] = {0, 1, 3};
  EXPECT_FALSE(cube.Permute(outside).ok());
}

TEST(Tensor, ReshapeIsAViewWhereTheAxesLieTogether) {
  const Tensor tensor = Iota({2, 3, 4});
  EXPECT_EQ(Values(Take(tensor.Reshape({6, 4}))), Values(tensor));
  EXPECT_FALSE(tensor.Reshape({5, 5}).ok());

  // [2, 3, 4] with gaps after each row of 4: the outer two axes still merge, the inner one does
  // not.
  const Tensor gaps = Take(Iota({2, 3, 6}).Slice(2, 0, 4));
  const Tensor merged = Take(gaps.Reshape({6, 4}));
  EXPECT_EQ(merged.buffer(), gaps.buffer());
  EXPECT_EQ(Values(merged), Values(gaps));
  EXPECT_EQ(Values(Take(gaps.Reshape({3, 2, 2, 2}))), Values(gaps));
  EXPECT_EQ(Values(Take(gaps.Reshape({1, 6, 1, 4, 1}))), Values(gaps));
  const auto impossible = gaps.Reshape({24});
  ASSERT_FALSE(impossible.ok());
  EXPECT_THAT(std::string(impossible.error().message()), HasSubstr("call Contiguous first"));
  EXPECT_EQ(Values(Take(Take(gaps.Contiguous(Cpu())).Reshape({24}))), Values(gaps));
}

TEST(Tensor, ReshapeOfEmptyAndScalarTensors) {
  const Tensor empty = Iota({0, 3});
  EXPECT_TRUE(Take(empty.Reshape({7, 0})).shape() == Shape({7, 0}));
  const Tensor scalar = Iota({});
  EXPECT_EQ(Values(Take(scalar.Reshape({1, 1}))), (std::vector<int32_t>{0}));
  EXPECT_EQ(Take(Iota({1, 1}).Reshape({})).rank(), 0);
}

// Every reshape that is accepted shows the same elements in the same order.
TEST(Tensor, RandomReshapesOfRandomViewsKeepTheOrder) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    Tensor view = Iota({2, 3, 4, 2});
    for (int step = 0; step < 3; ++step) {
      const int axis = static_cast<int>(pick(view.rank()));
      switch (pick(3)) {
        case 0:
          view = Take(view.Transpose(axis, static_cast<int>(pick(view.rank()))));
          break;
        case 1: {
          const int64_t begin = pick(view.dim(axis));
          const int64_t end = begin + 1 + pick(view.dim(axis) - begin);
          view = Take(view.Slice(axis, begin, end, 1 + pick(2)));
          break;
        }
        default:
          if (view.rank() < 6) view = Take(view.Unsqueeze(axis));
      }
    }
    // A random factorisation of the number of elements.
    std::vector<int64_t> dims;
    int64_t left = view.elements();
    while (left > 1) {
      int64_t factor = 2 + pick(left - 1);
      while (left % factor != 0) ++factor;
      dims.push_back(factor);
      left /= factor;
      if (pick(4) == 0 && dims.size() < 6) dims.push_back(1);
    }
    const auto reshaped = view.Reshape(*Shape::Make(dims));
    if (!reshaped.ok()) continue;
    ++accepted;
    ASSERT_EQ(Values(*reshaped), Values(view)) << view.shape().ToString();
  }
  EXPECT_GT(accepted, 500);
}

TEST(Tensor, SqueezeAndUnsqueezeMoveOnesInAndOut) {
  const Tensor tensor = Iota({2, 3});
  for (int axis : {0, 1, 2, -1, -2, -3}) {
    const Tensor wider = Take(tensor.Unsqueeze(axis));
    EXPECT_TRUE(wider.IsContiguous());
    EXPECT_EQ(wider.dim(axis), 1);
    EXPECT_EQ(Values(wider), Values(tensor));
    EXPECT_TRUE(Take(wider.Squeeze(axis)).shape() == tensor.shape());
  }
  EXPECT_FALSE(tensor.Unsqueeze(3).ok());
  EXPECT_FALSE(tensor.Squeeze(0).ok());
  EXPECT_FALSE(Iota({1, 1, 1, 1, 1, 1, 1, 1}).Unsqueeze(0).ok());
}

TEST(Tensor, BroadcastRepeatsWithoutMemory) {
  const Tensor row = Iota({3});
  const Tensor wide = Take(row.BroadcastTo({2, 3}));
  EXPECT_THAT(wide.strides(), ElementsAre(0, 1));
  EXPECT_EQ(Values(wide), (std::vector<int32_t>{0, 1, 2, 0, 1, 2}));
  const Tensor column = Take(Iota({2, 1}).BroadcastTo({3, 2, 2}));
  EXPECT_EQ(Values(column), (std::vector<int32_t>{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_FALSE(row.BroadcastTo({2}).ok());
  EXPECT_FALSE(row.BroadcastTo({3, 2}).ok());
  EXPECT_FALSE(Iota({2, 3}).BroadcastTo({3}).ok());
  EXPECT_EQ(Take(Iota({1}).BroadcastTo({0})).elements(), 0);
}

TEST(Tensor, ContiguousCopiesOnlyWhenItMust) {
  const Tensor tensor = Iota({2, 3});
  EXPECT_EQ(Take(tensor.Contiguous(Cpu())).buffer(), tensor.buffer());
  EXPECT_NE(Take(tensor.Copy(Cpu())).buffer(), tensor.buffer());
  const Tensor turned = Take(tensor.Transpose(0, 1));
  const Tensor copy = Take(turned.Contiguous(Cpu()));
  EXPECT_NE(copy.buffer(), tensor.buffer());
  EXPECT_TRUE(copy.IsContiguous());
  EXPECT_EQ(Values(copy), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Tensor, CopyToAnyStridesOnAnyDevice) {
  FakeDevice one(1);
  FakeDevice two(2);
  for (Device* from : {&Cpu(), static_cast<Device*>(&one)}) {
    for (Device* to : {&Cpu(), static_cast<Device*>(&one), static_cast<Device*>(&two)}) {
      const Tensor source = Take(Take(Iota({3, 4}).Copy(*from)).Transpose(0, 1));
      const Tensor whole = Take(Tensor::Zeros(DType::kI32, {4, 6}, *to));
      ASSERT_TRUE(source.CopyTo(Take(whole.Slice(1, 1, 6, 2))).ok());
      EXPECT_EQ(Values(whole), (std::vector<int32_t>{0, 0, 0, 4, 0, 8,   //
                                                     0, 1, 0, 5, 0, 9,   //
                                                     0, 2, 0, 6, 0, 10,  //
                                                     0, 3, 0, 7, 0, 11}));
      const Tensor rows = Take(Tensor::Zeros(DType::kI32, {3, 6}, *to));
      ASSERT_TRUE(Take(Iota({3, 4}).Copy(*from)).CopyTo(Take(rows.Slice(1, 2, 6))).ok());
      EXPECT_EQ(Values(rows),
                (std::vector<int32_t>{0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 7, 0, 0, 8, 9, 10, 11}));
    }
  }
}

TEST(Tensor, CopyToRefusesWhatCannotBeMeant) {
  const Tensor tensor = Iota({2, 3});
  EXPECT_FALSE(tensor.CopyTo(Iota({3, 2})).ok());
  EXPECT_FALSE(tensor.CopyTo(Take(Tensor::Empty(DType::kF32, {2, 3}, Cpu()))).ok());
  EXPECT_FALSE(tensor.CopyTo(Take(Iota({3}).BroadcastTo({2, 3}))).ok());
  const std::vector<int32_t> constant(6);
  const Tensor mapped = Take(Tensor::Over(
      Buffer::WrapReadOnly(std::as_bytes(std::span(constant)), nullptr), DType::kI32, {2, 3}));
  EXPECT_EQ(tensor.CopyTo(mapped).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(mapped.MutableHostData<int32_t>().error().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(mapped.HostData<int32_t>().ok());
}

TEST(Tensor, CopiesOfEveryElementSizeTurnRight) {
  for (const DType dtype : {DType::kU8, DType::kBF16, DType::kF32, DType::kF64}) {
    const auto size = static_cast<size_t>(Info(dtype).block_bytes);
    std::vector<std::byte> bytes(6 * size);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    const Tensor tensor = Take(Tensor::FromBytes(dtype, {2, 3}, bytes, Cpu()));
    const Tensor turned = Take(Take(tensor.Transpose(0, 1)).Copy(Cpu()));
    const auto out = *turned.HostBytes();
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 2; ++column) {
        for (size_t byte = 0; byte < size; ++byte) {
          EXPECT_EQ(out[(row * 2 + column) * size + byte], bytes[(column * 3 + row) * size + byte]);
        }
      }
    }
  }
}

// [4, 64] in Q4_0: two blocks of 18 bytes a row, each filled with its own number.
Tensor Blocks() {
  std::vector<std::byte> bytes(4 * 2 * 18);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 18);
  return Take(Tensor::FromBytes(DType::kQ4_0, {4, 64}, bytes, Cpu()));
}

std::vector<int> BlockNumbers(const Tensor& tensor) {
  const Tensor copy = Take(tensor.Contiguous(Cpu()));
  const auto bytes = *copy.HostBytes();
  std::vector<int> numbers;
  for (size_t i = 0; i < bytes.size(); i += 18) {
    numbers.push_back(static_cast<int>(bytes[i]));
    EXPECT_EQ(bytes[i], bytes[i + 17]) << "a block was torn";
  }
  return numbers;
}

TEST(Tensor, BlockDtypesTakeViewsThatKeepBlocksWhole) {
  const Tensor tensor = Blocks();
  EXPECT_EQ(tensor.bytes(), 144);
  EXPECT_EQ(BlockNumbers(Take(tensor.Select(0, 2))), (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(BlockNumbers(Take(tensor.Slice(0, 0, 4, 3))), (std::vector<int32_t>{0, 1, 6, 7}));
  EXPECT_EQ(BlockNumbers(Take(tensor.Slice(1, 32, 64))), (std::vector<int32_t>{1, 3, 5, 7}));
  EXPECT_EQ(BlockNumbers(Take(tensor.Reshape({2, 2, 64}))),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(BlockNumbers(Take(tensor.Reshape({8, 32}))),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor stacked = Take(tensor.Reshape({2, 2, 64}));
  EXPECT_EQ(BlockNumbers(Take(stacked.Transpose(0, 1))),
            (std::vector<int32_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(BlockNumbers(Take(Take(tensor.Slice(0, 0, 1)).BroadcastTo({2, 64}))),
            (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(BlockNumbers(Take(tensor.Unsqueeze(0))),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor target = Take(Tensor::Zeros(DType::kQ4_0, {4, 64}, Cpu()));
  ASSERT_TRUE(Take(tensor.Slice(1, 0, 32)).CopyTo(Take(target.Slice(1, 32, 64))).ok());
  EXPECT_EQ(BlockNumbers(target), (std::vector<int32_t>{0, 0, 0, 2, 0, 4, 0, 6}));
}

TEST(Tensor, BlockDtypesRefuseViewsThatBreakBlocks) {
  const Tensor tensor = Blocks();
  EXPECT_FALSE(tensor.Slice(1, 16, 48).ok());
  EXPECT_FALSE(tensor.Slice(1, 0, 64, 2).ok());
  EXPECT_FALSE(tensor.Select(1, 0).ok());
  EXPECT_FALSE(tensor.Transpose(0, 1).ok());
  EXPECT_FALSE(tensor.Reshape({16, 16}).ok());
  EXPECT_FALSE(tensor.Reshape({256, 1}).ok());
  EXPECT_FALSE(tensor.Unsqueeze(-1).ok());
  EXPECT_FALSE(Tensor::Empty(DType::kQ4_0, {4, 33}, Cpu()).ok());
  EXPECT_FALSE(Tensor::Empty(DType::kQ4_0, {}, Cpu()).ok());
  EXPECT_THAT(std::string(tensor.Transpose(0, 1).error().message()),
              HasSubstr("blocks of 32 q4_0"));
}

TEST(Tensor, FourBitIntegersTakeHalfAByteEach) {
  const std::byte bytes[] = {std::byte{0x10}, std::byte{0x32}, std::byte{0x54}, std::byte{0x76}};
  const Tensor tensor = Take(Tensor::FromBytes(DType::kU4, {2, 4}, bytes, Cpu()));
  EXPECT_EQ(tensor.bytes(), 4);
  const Tensor row = Take(tensor.Select(0, 1));
  EXPECT_THAT(*row.HostBytes(), ElementsAre(std::byte{0x54}, std::byte{0x76}));
  const Tensor right = Take(Take(tensor.Slice(1, 2, 4)).Contiguous(Cpu()));
  EXPECT_THAT(*right.HostBytes(), ElementsAre(std::byte{0x32}, std::byte{0x76}));
  EXPECT_FALSE(tensor.Slice(1, 1, 3).ok());
}

TEST(StridedLoop, MergesWhatLiesTogetherIntoOneRow) {
  const int64_t row_major[] = {12, 4, 1};
  const int64_t also[] = {12, 4, 1};
  const StridedLoop<2> loop({2, 3, 4}, {row_major, also});
  EXPECT_EQ(loop.row_elements(), 24);
  int rows = 0;
  loop.ForEachRow([&](const auto& at) {
    ++rows;
    EXPECT_EQ(at[0], 0);
  });
  EXPECT_EQ(rows, 1);
}

TEST(StridedLoop, KeepsApartWhatOneOperandKeepsApart) {
  const int64_t row_major[] = {12, 4, 1};
  const int64_t gaps[] = {18, 6, 1};
  const int64_t repeated[] = {0, 0, 1};
  const StridedLoop<3> loop({2, 3, 4}, {row_major, gaps, repeated});
  EXPECT_EQ(loop.row_elements(), 4);
  std::vector<std::array<int64_t, 3>> rows;
  loop.ForEachRow([&](const auto& at) { rows.push_back(at); });
  const std::vector<std::array<int64_t, 3>> expected = {{0, 0, 0},   {4, 6, 0},   {8, 12, 0},
                                                        {12, 18, 0}, {16, 24, 0}, {20, 30, 0}};
  EXPECT_EQ(rows, expected);
}

TEST(StridedLoop, ScalarsAreOneElementAndEmptyShapesNone) {
  int calls = 0;
  const StridedLoop<1> scalar(Shape(), {std::span<const int64_t>()});
  EXPECT_EQ(scalar.row_elements(), 1);
  scalar.ForEachRow([&](const auto&) { ++calls; });
  EXPECT_EQ(calls, 1);
  const int64_t strides[] = {3, 1};
  StridedLoop<1>({0, 3}, {strides}).ForEachRow([&](const auto&) { ++calls; });
  StridedLoop<1>({3, 0}, {strides}).ForEachRow([&](const auto&) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace rml::core
