// RefCall: one run of an operator's reference. Whatever the dtypes of the call, a reference sees
// wide, contiguous host arrays: floats (and block-quantised weights) as double, signed integers as
// int64_t, unsigned ones as uint64_t, booleans as uint8_t. What it writes is rounded once to the
// outputs' dtypes (integers keep their low bits). So it is written once, and reads like the
// formula.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rml/core/check.h"
#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/core/shape.h"
#include "rml/ir/op_call.h"

namespace rml::ir {

enum class WideType : uint8_t { kFloat, kSigned, kUnsigned, kBool };
WideType WideTypeOf(core::DType dtype);

template <typename T>
struct WideTypeTag;
template <>
struct WideTypeTag<double> {
  static constexpr WideType kType = WideType::kFloat;
};
template <>
struct WideTypeTag<int64_t> {
  static constexpr WideType kType = WideType::kSigned;
};
template <>
struct WideTypeTag<uint64_t> {
  static constexpr WideType kType = WideType::kUnsigned;
};
template <>
struct WideTypeTag<uint8_t> {
  static constexpr WideType kType = WideType::kBool;
};

// A row-major array: flat by [], or by one index for each axis.
template <typename T>
class WideArray {
 public:
  WideArray(T* data, const core::Shape& shape)
      : data_(data), shape_(shape), size_(shape.elements()) {
    int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      strides_[static_cast<size_t>(axis)] = stride;
      stride *= shape[axis];
    }
  }

  T& operator[](int64_t i) const { return data_[i]; }
  template <typename... Index>
  T& operator()(Index... index) const {
    size_t axis = 0;
    int64_t at = 0;
    ((at += static_cast<int64_t>(index) * strides_[axis++]), ...);
    return data_[at];
  }
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  int64_t size() const { return size_; }
  const core::Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_.dim(axis); }
  int64_t stride(int axis) const { return strides_[static_cast<size_t>(axis)]; }

 private:
  T* data_;
  core::Shape shape_;
  int64_t size_;
  std::array<int64_t, core::kMaxRank> strides_ = {};
};

class RefCall {
 public:
  // Storage of one wide array.
  struct Wide {
    WideType type = WideType::kFloat;
    core::Shape shape;
    std::vector<uint64_t> words;  // 8 bytes an element; booleans 1
    std::vector<int64_t> extent;  // of an output: set where it is less than the shape
  };

  RefCall(const OpCall& call, std::span<const Wide> inputs, std::span<Wide> outputs,
          const core::RunContext& context)
      : call_(call), inputs_(inputs), outputs_(outputs), context_(context) {}

  const OpCall& call() const { return call_; }
  const core::RunContext& context() const { return context_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  bool has(int i) const { return call_.has(i); }
  WideType in_type(int i) const { return inputs_[static_cast<size_t>(i)].type; }
  const core::Shape& in_shape(int i) const { return inputs_[static_cast<size_t>(i)].shape; }
  const core::Shape& out_shape(int i) const { return outputs_[static_cast<size_t>(i)].shape; }

  // RML_CHECKs the type.
  template <typename T>
  WideArray<const T> in(int i) const {
    const Wide& wide = inputs_[static_cast<size_t>(i)];
    RML_CHECK(wide.type == WideTypeTag<T>::kType);
    return {reinterpret_cast<const T*>(wide.words.data()), wide.shape};
  }
  template <typename T>
  WideArray<T> out(int i) const {
    Wide& wide = outputs_[static_cast<size_t>(i)];
    RML_CHECK(wide.type == WideTypeTag<T>::kType);
    return {reinterpret_cast<T*>(wide.words.data()), wide.shape};
  }

  // Says how much of an axis of an output, whose size only the run knows, is there. The elements
  // are laid out for the largest size.
  void SetExtent(int output, int axis, int64_t size) {
    Wide& wide = outputs_[static_cast<size_t>(output)];
    if (wide.extent.empty()) wide.extent.assign(wide.shape.dims().begin(), wide.shape.dims().end());
    wide.extent[static_cast<size_t>(axis)] = size;
  }

  // Calls body with a value of the wide type of input or output `i`: body(double()), …
  template <typename Body>
  auto VisitIn(int i, Body&& body) const {
    return Visit(in_type(i), body);
  }
  template <typename Body>
  auto VisitOut(int i, Body&& body) const {
    return Visit(outputs_[static_cast<size_t>(i)].type, body);
  }
  // The same for numbers only; booleans are a fault of the operator.
  template <typename Body>
  auto VisitNumber(int i, Body&& body) const {
    switch (in_type(i)) {
      case WideType::kSigned:
        return body(int64_t{0});
      case WideType::kUnsigned:
        return body(uint64_t{0});
      default:
        RML_CHECK(in_type(i) == WideType::kFloat);
        return body(0.0);
    }
  }

 private:
  template <typename Body>
  static auto Visit(WideType type, Body&& body) {
    switch (type) {
      case WideType::kSigned:
        return body(int64_t{0});
      case WideType::kUnsigned:
        return body(uint64_t{0});
      case WideType::kBool:
        return body(uint8_t{0});
      case WideType::kFloat:
        break;
    }
    return body(0.0);
  }

  const OpCall& call_;
  std::span<const Wide> inputs_;
  std::span<Wide> outputs_;
  const core::RunContext& context_;
};

// Sums of signed integers wrap, as the machine's do; C++ leaves that undefined.
inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace rml::ir
