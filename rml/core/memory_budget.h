// MemoryBudget: a limit on bytes that several owners share. Whoever allocates reserves first, and a
// reservation that does not fit is a Status that says who asked for how much of what is left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "rml/core/status.h"

namespace rml::core {

class MemoryBudget {
 public:
  static constexpr int64_t kUnlimited = INT64_MAX;

  explicit MemoryBudget(int64_t limit = kUnlimited) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // `what` names the asker in the error: "the KV cache of 4096 tokens". Thread-safe.
  Status Reserve(int64_t bytes, std::string_view what);
  void Release(int64_t bytes);

  int64_t limit() const { return limit_; }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t available() const { return limit_ - used(); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
};

// Bytes reserved for as long as the object lives, for memory that no Allocator hands out.
class Reservation {
 public:
  Reservation() = default;
  Reservation(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { Reset(); }

  int64_t bytes() const { return bytes_; }
  void Reset();

 private:
  MemoryBudget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace rml::core
