// Carver: cuts one block of memory into arrays, each aligned to a cache line. Over no memory it
// only counts, so the function that lays a workspace out also says how large it must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::core {

class Carver {
 public:
  static constexpr uintptr_t kAlign = 64;

  // Counts; every array is null.
  Carver() : start_(0), end_(UINTPTR_MAX), counting_(true) {}
  // A start that is not aligned costs up to kAlign - 1 bytes more than was counted.
  explicit Carver(std::span<std::byte> memory)
      : start_(reinterpret_cast<uintptr_t>(memory.data())), end_(start_ + memory.size()) {}

  // `count` uninitialised elements of a trivial type. Aborts when the memory does not hold them.
  template <typename T>
  T* Take(int64_t count) {
    const uintptr_t begin = RoundUp(next_, kAlign);
    next_ = begin + static_cast<uintptr_t>(count) * sizeof(T);
    RML_CHECK(next_ <= end_);
    return counting_ ? nullptr : reinterpret_cast<T*>(begin);
  }

  size_t used() const { return next_ - start_; }
  // What is left; empty when counting.
  std::span<std::byte> Rest() const {
    if (counting_) return {};
    return {reinterpret_cast<std::byte*>(next_), end_ - next_};
  }

 private:
  uintptr_t start_;
  uintptr_t end_;
  uintptr_t next_ = start_;
  bool counting_ = false;
};

}  // namespace rml::core
