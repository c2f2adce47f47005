#include "rml/ir/value.h"

#include <vector>

#include "rml/core/check.h"
#include "rml/ir/graph.h"
#include "rml/ir/tape.h"

namespace rml::ir {

struct Value::Rep {
  explicit Rep(core::Tensor content) : tensor(std::move(content)) {}

  std::atomic<int> references{1};
  bool requires_grad = false;
  int producer_output = 0;
  core::Tensor tensor;
  std::shared_ptr<TapeNode> producer;
};

namespace {

// Nodes whose last owner may have gone. Destroying one can free values, whose producers land here
// in turn instead of being destroyed inside one another.
class Graveyard {
 public:
  void Bury(std::shared_ptr<TapeNode> node) {
    waiting_.push_back(std::move(node));
    if (digging_) return;
    digging_ = true;
    while (!waiting_.empty()) {
      const std::shared_ptr<TapeNode> last = std::move(waiting_.back());
      waiting_.pop_back();
    }
    digging_ = false;
  }

 private:
  std::vector<std::shared_ptr<TapeNode>> waiting_;
  bool digging_ = false;
};

thread_local Graveyard graveyard;
thread_local bool gradient_mode = true;
std::atomic<uint64_t> next_order{0};

}  // namespace

Value::Value(core::Tensor tensor) : rep_(new Rep(std::move(tensor))) {}

void Value::AddRef() noexcept {
  if (rep_ != nullptr) rep_->references.fetch_add(1, std::memory_order_relaxed);
}

void Value::Drop() noexcept {
  if (rep_ == nullptr || rep_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::shared_ptr<TapeNode> producer = std::move(rep_->producer);
  delete rep_;
  if (producer != nullptr) graveyard.Bury(std::move(producer));
}

Type Value::type() const {
  if (rep_ != nullptr) return {rep_->tensor.dtype(), Dims(rep_->tensor.shape())};
  RML_CHECK(graph_ != nullptr);
  return graph_->value(id_).type;
}

core::DType Value::dtype() const {
  if (rep_ != nullptr) return rep_->tensor.dtype();
  RML_CHECK(graph_ != nullptr);
  return graph_->value(id_).type.dtype;
}

int Value::rank() const {
  if (rep_ != nullptr) return rep_->tensor.rank();
  RML_CHECK(graph_ != nullptr);
  return graph_->value(id_).type.rank();
}

Dim Value::dim(int axis) const {
  if (rep_ != nullptr) return rep_->tensor.dim(axis);
  RML_CHECK(graph_ != nullptr);
  return graph_->value(id_).type.dim(axis);
}

const core::Tensor& Value::tensor() const {
  RML_CHECK(rep_ != nullptr);
  return rep_->tensor;
}

bool Value::requires_grad() const { return rep_ != nullptr && rep_->requires_grad; }

void Value::set_requires_grad(bool value) {
  RML_CHECK(rep_ != nullptr);
  rep_->requires_grad = value;
}

const std::shared_ptr<TapeNode>& Value::producer() const {
  RML_CHECK(rep_ != nullptr);
  return rep_->producer;
}

int Value::producer_output() const { return rep_->producer_output; }

void Value::set_producer(std::shared_ptr<TapeNode> node, int output) {
  RML_CHECK(rep_ != nullptr);
  rep_->producer = std::move(node);
  rep_->producer_output = output;
  rep_->requires_grad = true;
}

TapeNode::TapeNode(const OpDef& op_def, Attributes call_attributes,
                   std::span<const Value> call_inputs, std::vector<core::Tensor> call_outputs)
    : op(op_def),
      attributes(std::move(call_attributes)),
      inputs(call_inputs),
      outputs(std::move(call_outputs)),
      order(next_order.fetch_add(1, std::memory_order_relaxed)) {}

bool GradientMode() { return gradient_mode; }

GradientModeGuard::GradientModeGuard(bool enabled) : before_(gradient_mode) {
  gradient_mode = enabled;
}
GradientModeGuard::~GradientModeGuard() { gradient_mode = before_; }

}  // namespace rml::ir
