// Value: a handle on one value of a computation, cheap to copy. Either concrete, a tensor that an
// eager call made, or traced, a place in a graph that is being built. An operator's gradient and
// decomposition see values and cannot tell.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "rml/core/tensor.h"
#include "rml/ir/type.h"

namespace rml::ir {

class Graph;
class TapeNode;
using ValueId = int32_t;

class Value {
 public:
  Value() = default;  // an optional input that is left out, or no gradient
  explicit Value(core::Tensor tensor);
  Value(Graph* graph, ValueId id) : graph_(graph), id_(id) {}  // the graph must outlive the value

  Value(const Value& other) noexcept : rep_(other.rep_), graph_(other.graph_), id_(other.id_) {
    AddRef();
  }
  Value(Value&& other) noexcept
      : rep_(std::exchange(other.rep_, nullptr)),
        graph_(std::exchange(other.graph_, nullptr)),
        id_(other.id_) {}
  Value& operator=(Value other) noexcept {
    std::swap(rep_, other.rep_);
    std::swap(graph_, other.graph_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Value() { Drop(); }

  bool defined() const { return rep_ != nullptr || graph_ != nullptr; }
  bool concrete() const { return rep_ != nullptr; }
  bool traced() const { return graph_ != nullptr; }

  Type type() const;
  core::DType dtype() const;
  int rank() const;
  Dim dim(int axis) const;

  const core::Tensor& tensor() const;  // RML_CHECKs that it is concrete
  Graph* graph() const { return graph_; }
  ValueId id() const { return id_; }

  // Gradient mode, for concrete values.
  bool requires_grad() const;
  void set_requires_grad(bool value);
  const std::shared_ptr<TapeNode>& producer() const;  // null for a leaf
  int producer_output() const;
  void set_producer(std::shared_ptr<TapeNode> node, int output);

  // The same value, to tell whether two handles are one.
  const void* identity() const { return rep_; }

 private:
  struct Rep;

  void AddRef() noexcept;
  void Drop() noexcept;

  Rep* rep_ = nullptr;
  Graph* graph_ = nullptr;
  ValueId id_ = -1;
};

}  // namespace rml::ir
