#include "rml/core/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "rml/core/device.h"
#include "rml/core/host_memory.h"
#include "rml/core/memory_budget.h"
#include "rml/core/testing/fake_device.h"

namespace rml::core {
namespace {

using ::testing::HasSubstr;

TEST(HostMemory, BlocksAreAlignedAndWritableToTheLastByte) {
  for (const int64_t bytes :
       {int64_t{0}, int64_t{1}, int64_t{64}, int64_t{4097}, kHugePageBytes - 1, kHugePageBytes,
        kHugePageBytes + 1, 5 * kHugePageBytes + 123}) {
    const auto block = AllocateHostMemory(bytes);
    ASSERT_TRUE(block.ok()) << bytes;
    const int64_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : kMemoryAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*block) % static_cast<uintptr_t>(alignment), 0u) << bytes;
    std::memset(*block, 0xa5, static_cast<size_t>(bytes));
    FreeHostMemory(*block, bytes);
  }
}

TEST(HostMemory, SmallBlocksOfManySizesStayApartAcrossThreads) {
  // Freed by another thread than the one that asked, in waves, each block full of its own number.
  std::vector<std::pair<std::byte*, int64_t>> blocks;
  for (int wave = 0; wave < 3; ++wave) {
    for (int64_t i = 0; i < 400; ++i) {
      const int64_t bytes = i % 50 * 25;
      const auto block = AllocateHostMemory(bytes);
      ASSERT_TRUE(block.ok());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(*block) % uintptr_t{kMemoryAlignment}, 0u);
      std::memset(*block, static_cast<int>(i % 251), static_cast<size_t>(bytes));
      blocks.emplace_back(*block, bytes);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      const auto [block, bytes] = blocks[i];
      for (int64_t b = 0; b < bytes; ++b) ASSERT_EQ(static_cast<size_t>(block[b]), i % 251);
    }
    const auto free_all = [&] {
      for (const auto& [block, bytes] : blocks) FreeHostMemory(block, bytes);
    };
    if (wave == 1) {
      std::thread(free_all).join();
    } else {
      free_all();
    }
    blocks.clear();
  }
}

TEST(HostMemory, AnAbsurdSizeIsAnErrorThatNamesIt) {
  for (const int64_t bytes : {INT64_MAX, INT64_MAX / 2, int64_t{1} << 60}) {
    const auto block = AllocateHostMemory(bytes);
    ASSERT_FALSE(block.ok());
    EXPECT_EQ(block.error().code(), StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(block.error().message()), HasSubstr("EiB"));
  }
  EXPECT_EQ(AllocateHostMemory(-1).error().code(), StatusCode::kInvalidArgument);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndNamesTheNumbers) {
  MemoryBudget budget(1000);
  ASSERT_TRUE(budget.Reserve(600, "weights").ok());
  const Status refused = budget.Reserve(500, "the KV cache");
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(
      refused.message(),
      "the KV cache needs 500 B, but of the memory budget of 1000 B only 400 B is left (600 B "
      "used): raise the limit or free something");
  EXPECT_EQ(budget.used(), 600);
  ASSERT_TRUE(budget.Reserve(400, "the rest").ok());
  EXPECT_EQ(budget.available(), 0);
  budget.Release(1000);
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(budget.peak(), 1000);
}

TEST(MemoryBudget, HugeAndNegativeRequestsDoNotWrapAround) {
  MemoryBudget unlimited;
  ASSERT_TRUE(unlimited.Reserve(INT64_MAX - 1, "almost everything").ok());
  EXPECT_FALSE(unlimited.Reserve(2, "a little more").ok());
  EXPECT_EQ(unlimited.Reserve(-1, "nonsense").code(), StatusCode::kInvalidArgument);
}

TEST(MemoryBudget, ThreadsNeverExceedTheLimitTogether) {
  MemoryBudget budget(100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget] {
      for (int i = 0; i < 2000; ++i) {
        if (budget.Reserve(40, "a thread").ok()) budget.Release(40);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0);
  EXPECT_LE(budget.peak(), 100);
  EXPECT_GE(budget.peak(), 40);
}

TEST(Reservation, ReturnsItsBytesOnceAndMoves) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.Reserve(60, "x").ok());
  {
    Reservation first(&budget, 60);
    Reservation second = std::move(first);
    EXPECT_EQ(second.bytes(), 60);
    first = std::move(second);
    EXPECT_EQ(budget.used(), 60);
    first.Reset();
    EXPECT_EQ(budget.used(), 0);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(CpuDevice, CountsWhatItHandsOut) {
  const MemoryStats before = Cpu().stats();
  const auto block = Cpu().Allocate(12345);
  ASSERT_TRUE(block.ok());
  MemoryStats now = Cpu().stats();
  EXPECT_EQ(now.current_bytes, before.current_bytes + 12345);
  EXPECT_EQ(now.live_blocks, before.live_blocks + 1);
  EXPECT_EQ(now.allocations, before.allocations + 1);
  EXPECT_GE(now.peak_bytes, now.current_bytes);
  Cpu().Free(*block, 12345);
  now = Cpu().stats();
  EXPECT_EQ(now.current_bytes, before.current_bytes);
  EXPECT_EQ(now.live_blocks, before.live_blocks);
}

TEST(BudgetedAllocator, ChargesTheBudgetUntilTheBlockIsFreed) {
  MemoryBudget budget(1000);
  BudgetedAllocator allocator(Cpu(), budget, "the workspace");
  const auto block = allocator.Allocate(700);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(budget.used(), 700);
  const auto refused = allocator.Allocate(301);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.error().message()), HasSubstr("the workspace needs 301 B"));
  allocator.Free(*block, 700);
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(allocator.stats().peak_bytes, 700);
}

TEST(BudgetedAllocator, GivesTheBudgetBackWhenTheDeviceRefuses) {
  testing::FakeDevice small(0, 100);
  MemoryBudget budget(1000);
  BudgetedAllocator allocator(small, budget, "the workspace");
  const auto refused = allocator.Allocate(500);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.error().message()), HasSubstr("the workspace: device fake:0"));
  EXPECT_EQ(budget.used(), 0);
}

TEST(PoolAllocator, ClassesAreAtMostAnEighthLargerThanTheRequest) {
  for (int64_t bytes = 0; bytes < 70000; bytes += 7) {
    const int64_t size = *PoolAllocator::ClassBytes(bytes);
    ASSERT_GE(size, bytes);
    ASSERT_EQ(size % kMemoryAlignment, 0) << bytes;
    ASSERT_LE(size - bytes, std::max<int64_t>(kMemoryAlignment, bytes / 8 + 1)) << bytes;
    ASSERT_EQ(*PoolAllocator::ClassBytes(size), size) << "a class is its own class";
  }
  EXPECT_FALSE(PoolAllocator::ClassBytes(INT64_MAX).ok());
  EXPECT_FALSE(PoolAllocator::ClassBytes(-1).ok());
}

TEST(PoolAllocator, HandsAFreedBlockOutAgain) {
  PoolAllocator pool(Cpu(), 1 << 20);
  const MemoryHandle first = *pool.Allocate(1000);
  pool.Free(first, 1000);
  EXPECT_EQ(pool.cached_bytes(), 1024);
  const MemoryHandle second = *pool.Allocate(1020);  // of the same class
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool.reuses(), 1);
  EXPECT_EQ(pool.cached_bytes(), 0);
  const MemoryHandle third = *pool.Allocate(1020);
  EXPECT_NE(third, second);
  pool.Free(second, 1020);
  pool.Free(third, 1020);
  EXPECT_EQ(pool.stats().live_blocks, 0);
  EXPECT_EQ(pool.stats().peak_bytes, 2048);
}

TEST(PoolAllocator, BlocksOfDifferentClassesAreNeverMixedUp) {
  PoolAllocator pool(Cpu(), int64_t{1} << 30);
  for (int64_t bytes = 1; bytes < 20000; bytes = bytes * 5 / 4 + 1) {
    const MemoryHandle block = *pool.Allocate(bytes);
    // Fill to the end of the class: too small a block is caught by AddressSanitizer.
    std::memset(*Cpu().HostPointer(block), 1,
                static_cast<size_t>(*PoolAllocator::ClassBytes(bytes)));
    pool.Free(block, bytes);
  }
}

TEST(PoolAllocator, TrimReturnsMemoryLargestFirst) {
  const int64_t before = Cpu().stats().current_bytes;
  PoolAllocator pool(Cpu(), int64_t{64} << 20);
  const MemoryHandle small = *pool.Allocate(1024);
  const MemoryHandle large = *pool.Allocate(int64_t{4} << 20);
  pool.Free(small, 1024);
  pool.Free(large, int64_t{4} << 20);
  EXPECT_EQ(pool.Trim(2048), int64_t{4} << 20);
  EXPECT_EQ(pool.cached_bytes(), 1024);
  EXPECT_EQ(pool.Trim(), 1024);
  EXPECT_EQ(Cpu().stats().current_bytes, before);
}

TEST(PoolAllocator, NeverCachesMoreThanItsLimit) {
  const int64_t before = Cpu().stats().current_bytes;
  PoolAllocator pool(Cpu(), 2048);
  std::vector<MemoryHandle> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(*pool.Allocate(1024));
  for (const MemoryHandle block : blocks) pool.Free(block, 1024);
  EXPECT_EQ(pool.cached_bytes(), 2048);
  EXPECT_EQ(Cpu().stats().current_bytes, before + 2048);
  pool.SetCachedLimit(1024);
  EXPECT_EQ(pool.cached_bytes(), 1024);
  pool.SetCachedLimit(0);
  EXPECT_EQ(Cpu().stats().current_bytes, before);
}

TEST(PoolAllocator, GivesItsCacheBackBeforeItGivesUp) {
  testing::FakeDevice device(0, 4096);
  PoolAllocator pool(device, 1 << 20);
  const MemoryHandle first = *pool.Allocate(2048);
  pool.Free(first, 2048);
  const auto whole = pool.Allocate(4096);  // fits only without the cached block
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE(pool.Allocate(64).ok());
  pool.Free(*whole, 4096);
}

TEST(PoolAllocator, ThreadsShareIt) {
  PoolAllocator pool(Cpu(), 1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 500; ++i) {
        const int64_t bytes = 64 + (i * 37 + t * 11) % 5000;
        const MemoryHandle block = *pool.Allocate(bytes);
        std::memset(*Cpu().HostPointer(block), t, static_cast<size_t>(bytes));
        pool.Free(block, bytes);
        if (i % 100 == 0) pool.Trim(1000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.stats().current_bytes, 0);
  EXPECT_EQ(pool.stats().allocations, 2000);
}

TEST(PoolAllocatorDeathTest, DyingBeforeItsBlocksIsABug) {
  EXPECT_DEATH(
      {
        PoolAllocator pool(Cpu(), 0);
        static_cast<void>(pool.Allocate(1));
      },
      "check failed");
}

}  // namespace
}  // namespace rml::core
