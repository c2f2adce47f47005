// Allocator: where the memory of buffers comes from. A Device is one (rml/core/device.h); the two
// here stand in front of another: BudgetedAllocator keeps a limit, PoolAllocator keeps freed blocks
// for the next request. All are thread-safe, and each must outlive what it has handed out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/memory_budget.h"

namespace rml::core {

class Device;

// Names a block of a device's memory. On the host it is the address; elsewhere only the device
// knows.
struct MemoryHandle {
  uintptr_t value = 0;
  friend bool operator==(MemoryHandle, MemoryHandle) = default;
};

struct MemoryStats {
  int64_t current_bytes = 0;  // handed out and not yet freed
  int64_t peak_bytes = 0;     // the most that current_bytes has been
  int64_t live_blocks = 0;
  int64_t allocations = 0;  // since the start
};

// Every block starts at a multiple of this, which suits the widest vectors and a cache line.
inline constexpr int64_t kMemoryAlignment = 64;

class Allocator {
 public:
  virtual ~Allocator() = default;

  virtual Device& device() = 0;

  // At least `bytes` (0 is fine) of memory with arbitrary content; ResourceExhausted when there is
  // no more.
  virtual Expected<MemoryHandle> Allocate(int64_t bytes) = 0;
  // `bytes` as given to Allocate.
  virtual void Free(MemoryHandle handle, int64_t bytes) noexcept = 0;

  virtual MemoryStats stats() const = 0;
};

// Counts for MemoryStats, kept without a lock.
class MemoryCounters {
 public:
  void OnAllocate(int64_t bytes);
  void OnFree(int64_t bytes);
  MemoryStats Read() const;

 private:
  std::atomic<int64_t> current_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> allocations_{0};
};

// Reserves every block in `budget` before asking `upstream` for it. `what` names the user of the
// memory in the error that says the budget is spent.
class BudgetedAllocator final : public Allocator {
 public:
  BudgetedAllocator(Allocator& upstream, MemoryBudget& budget, std::string what);
  ~BudgetedAllocator() override;

  Device& device() override { return upstream_.device(); }
  Expected<MemoryHandle> Allocate(int64_t bytes) override;
  void Free(MemoryHandle handle, int64_t bytes) noexcept override;
  MemoryStats stats() const override { return counters_.Read(); }

 private:
  Allocator& upstream_;
  MemoryBudget& budget_;
  const std::string what_;
  MemoryCounters counters_;
};

// Keeps freed blocks, by size class, and hands them out again: no page faults and no system calls
// in a loop that allocates the same sizes over and over. A request is rounded up to its class, at
// most an eighth larger (64 bytes at least).
class PoolAllocator final : public Allocator {
 public:
  // Blocks beyond `cached_limit` bytes go straight back to `upstream` when freed.
  PoolAllocator(Allocator& upstream, int64_t cached_limit);
  ~PoolAllocator() override;

  Device& device() override { return upstream_.device(); }
  // When upstream has no more, gives the cached blocks back and tries once again.
  Expected<MemoryHandle> Allocate(int64_t bytes) override;
  void Free(MemoryHandle handle, int64_t bytes) noexcept override;
  MemoryStats stats() const override { return counters_.Read(); }

  int64_t cached_bytes() const;
  int64_t reuses() const;  // requests that a cached block satisfied

  // Returns cached blocks to upstream, largest first, until at most `keep_bytes` stay. Says how
  // many bytes were returned.
  int64_t Trim(int64_t keep_bytes = 0);
  void SetCachedLimit(int64_t bytes);  // trims to it at once

  // What a request for `bytes` really takes; nothing when it does not fit in an int64.
  static Expected<int64_t> ClassBytes(int64_t bytes);

 private:
  static constexpr int kStepsPerDoubling = 8;
  static constexpr int kClasses = 64 * kStepsPerDoubling;
  static int ClassIndex(int64_t class_bytes);
  int64_t TrimLocked(int64_t keep_bytes);

  Allocator& upstream_;
  MemoryCounters counters_;
  mutable std::mutex mutex_;
  int64_t cached_limit_;
  int64_t cached_bytes_ = 0;
  int64_t reuses_ = 0;
  struct FreeList {
    int64_t block_bytes = 0;
    std::vector<MemoryHandle> blocks;
  };
  std::array<FreeList, kClasses> free_;
};

}  // namespace rml::core
