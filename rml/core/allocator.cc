#include "rml/core/allocator.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::core {

void MemoryCounters::OnAllocate(int64_t bytes) {
  const int64_t now = current_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  live_.fetch_add(1, std::memory_order_relaxed);
  allocations_.fetch_add(1, std::memory_order_relaxed);
}

void MemoryCounters::OnFree(int64_t bytes) {
  current_.fetch_sub(bytes, std::memory_order_relaxed);
  live_.fetch_sub(1, std::memory_order_relaxed);
}

MemoryStats MemoryCounters::Read() const {
  return {.current_bytes = current_.load(std::memory_order_relaxed),
          .peak_bytes = peak_.load(std::memory_order_relaxed),
          .live_blocks = live_.load(std::memory_order_relaxed),
          .allocations = allocations_.load(std::memory_order_relaxed)};
}

BudgetedAllocator::BudgetedAllocator(Allocator& upstream, MemoryBudget& budget, std::string what)
    : upstream_(upstream), budget_(budget), what_(std::move(what)) {}

BudgetedAllocator::~BudgetedAllocator() { RML_CHECK(stats().live_blocks == 0); }

Expected<MemoryHandle> BudgetedAllocator::Allocate(int64_t bytes) {
  RML_TRY(budget_.Reserve(bytes, what_));
  Expected<MemoryHandle> handle = upstream_.Allocate(bytes);
  if (!handle.ok()) {
    budget_.Release(bytes);
    return handle.status().WithContext(what_);
  }
  counters_.OnAllocate(bytes);
  return handle;
}

void BudgetedAllocator::Free(MemoryHandle handle, int64_t bytes) noexcept {
  upstream_.Free(handle, bytes);
  budget_.Release(bytes);
  counters_.OnFree(bytes);
}

PoolAllocator::PoolAllocator(Allocator& upstream, int64_t cached_limit)
    : upstream_(upstream), cached_limit_(cached_limit) {}

PoolAllocator::~PoolAllocator() {
  RML_CHECK(stats().live_blocks == 0);
  Trim();
}

// Eight classes to a doubling, all of them multiples of 64 bytes.
Expected<int64_t> PoolAllocator::ClassBytes(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("asked for ", bytes, " bytes of memory");
  const auto wanted = static_cast<uint64_t>(std::max(bytes, kMemoryAlignment));
  const uint64_t step =
      std::max<uint64_t>(std::bit_floor(wanted) / kStepsPerDoubling, kMemoryAlignment);
  uint64_t rounded = 0;
  if (!CheckedRoundUp<uint64_t>(wanted, step, &rounded) || rounded > INT64_MAX) {
    return ResourceExhausted("a block of ", bytes, " bytes is more than a machine can address");
  }
  return static_cast<int64_t>(rounded);
}

int PoolAllocator::ClassIndex(int64_t class_bytes) {
  const auto size = static_cast<uint64_t>(class_bytes);
  const int doubling = std::bit_width(size) - 1;
  // The three bits under the leading one; sizes come from ClassBytes, so nothing lies below them
  // but for sizes under 512, where steps are coarser and some indices stay unused.
  const auto step = static_cast<int>((size >> (doubling - 3)) & (kStepsPerDoubling - 1));
  return doubling * kStepsPerDoubling + step;
}

Expected<MemoryHandle> PoolAllocator::Allocate(int64_t bytes) {
  RML_ASSIGN(const int64_t size, ClassBytes(bytes));
  {
    const std::lock_guard lock(mutex_);
    FreeList& list = free_[static_cast<size_t>(ClassIndex(size))];
    if (!list.blocks.empty()) {
      const MemoryHandle handle = list.blocks.back();
      list.blocks.pop_back();
      cached_bytes_ -= size;
      ++reuses_;
      counters_.OnAllocate(size);
      return handle;
    }
  }
  Expected<MemoryHandle> handle = upstream_.Allocate(size);
  if (!handle.ok() && handle.status().code() == StatusCode::kResourceExhausted && Trim() > 0) {
    handle = upstream_.Allocate(size);
  }
  if (handle.ok()) counters_.OnAllocate(size);
  return handle;
}

void PoolAllocator::Free(MemoryHandle handle, int64_t bytes) noexcept {
  const int64_t size = *ClassBytes(bytes);
  counters_.OnFree(size);
  {
    const std::lock_guard lock(mutex_);
    if (size <= cached_limit_ - cached_bytes_) {
      FreeList& list = free_[static_cast<size_t>(ClassIndex(size))];
      list.block_bytes = size;
      list.blocks.push_back(handle);
      cached_bytes_ += size;
      return;
    }
  }
  upstream_.Free(handle, size);
}

int64_t PoolAllocator::cached_bytes() const {
  const std::lock_guard lock(mutex_);
  return cached_bytes_;
}

int64_t PoolAllocator::reuses() const {
  const std::lock_guard lock(mutex_);
  return reuses_;
}

int64_t PoolAllocator::Trim(int64_t keep_bytes) {
  const std::lock_guard lock(mutex_);
  return TrimLocked(keep_bytes);
}

int64_t PoolAllocator::TrimLocked(int64_t keep_bytes) {
  const int64_t before = cached_bytes_;
  for (auto list = free_.rbegin(); list != free_.rend() && cached_bytes_ > keep_bytes; ++list) {
    while (!list->blocks.empty() && cached_bytes_ > keep_bytes) {
      upstream_.Free(list->blocks.back(), list->block_bytes);
      list->blocks.pop_back();
      cached_bytes_ -= list->block_bytes;
    }
  }
  return before - cached_bytes_;
}

void PoolAllocator::SetCachedLimit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  cached_limit_ = bytes;
  TrimLocked(std::max<int64_t>(bytes, 0));
}

}  // namespace rml::core
