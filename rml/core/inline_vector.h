// InlineVector: a vector that keeps its first N elements inside itself, for lists that are nearly
// always short and are made on hot paths.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace rml::core {

template <typename T, size_t N>
class InlineVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() {}
  InlineVector(std::initializer_list<T> values) { Append(values.begin(), values.end()); }
  explicit InlineVector(std::span<const T> values) {
    Append(values.data(), values.data() + values.size());
  }
  explicit InlineVector(size_t count) { resize(count); }

  InlineVector(const InlineVector& other) { Append(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { Take(std::move(other)); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) {
      clear();
      Append(other.begin(), other.end());
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      Release();
      Take(std::move(other));
    }
    return *this;
  }
  ~InlineVector() { Release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<T>() { return {data_, size_}; }
  operator std::span<const T>() const { return {data_, size_}; }

  void reserve(size_t capacity) {
    if (capacity > capacity_) Grow(capacity);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T value(std::forward<Args>(args)...);  // an argument may live in this vector
      Grow(2 * capacity_);
      return *std::construct_at(data_ + size_++, std::move(value));
    }
    return *std::construct_at(data_ + size_++, std::forward<Args>(args)...);
  }
  void pop_back() { std::destroy_at(data_ + --size_); }
  void resize(size_t size) {
    reserve(size);
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  T* Inline() { return inline_; }

  void Append(const T* begin, const T* end) {
    reserve(size_ + static_cast<size_t>(end - begin));
    std::uninitialized_copy(begin, end, data_ + size_);
    size_ += static_cast<size_t>(end - begin);
  }

  void Grow(size_t capacity) {
    if (capacity <= N) __builtin_unreachable();  // g++ 12 would warn of arrays of no elements
    T* const moved = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), moved);
    const size_t size = size_;
    Release();
    data_ = moved;
    size_ = size;
    capacity_ = capacity;
  }

  // Leaves this vector empty and inside itself.
  void Release() {
    clear();
    if (data_ != Inline()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = Inline();
    capacity_ = N;
  }

  // Into a vector that is empty and inside itself.
  void Take(InlineVector&& other) noexcept {
    if (other.data_ != other.Inline()) {
      data_ = std::exchange(other.data_, other.Inline());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    std::uninitialized_move(other.begin(), other.end(), data_);
    size_ = other.size_;
    other.clear();
  }

  union {
    T inline_[N];  // its elements' lives are managed by hand
  };
  T* data_ = Inline();
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace rml::core
