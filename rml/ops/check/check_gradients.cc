#include <algorithm>
#include <cmath>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/tape.h"
#include "rml/ops/check/checks.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"
#include "rml/random/stream.h"

namespace rml::ops {

using core::DType;
using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using ir::Value;
using ir::Values;

namespace {

bool IsFloatValue(const Value& value) {
  return value.defined() && ir::CarriesGradient(value.dtype());
}

// Steps are taken in f64 only: what has another dtype of its own stays where it is.
bool IsDifferentiable(const Value& value) {
  return value.defined() && value.dtype() == DType::kF64;
}

// Weights and directions: f64, the same in every call.
Tensor Random(const core::Shape& shape, uint64_t number) {
  const random::Stream stream(random::Fold(random::Key::FromSeed(99), number));
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5 + stream.Uniform(i);
  auto tensor = Tensor::FromHost<double>(shape, values, core::Cpu());
  RML_CHECK(tensor.ok());
  return *tensor;
}

// Σ weight · value over the outputs, or the gradients, of a case: one number to differentiate.
Value WeightedSum(const Emit& e, std::span<const Value> values) {
  Value total;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsFloatValue(values[i]) || values[i].tensor().elements() == 0) continue;
    const Value weight(Random(values[i].tensor().shape(), 1000 + i));
    total = AddGradients(e, total, e.sum(e.mul(e.cast(values[i], DType::kF64), weight), {}));
  }
  return total;
}

class Differentiated {
 public:
  explicit Differentiated(const OpCase& c)
      : c_(c), builder_(context_, {&ReferenceProvider()}, BuiltinOps()), e_(builder_) {}

  // Fresh leaves of the case, moved along a direction.
  Values Leaves(double step) const {
    Values leaves = ValuesOf(c_.inputs);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!IsDifferentiable(leaves[i])) continue;
      const ir::GradientModeGuard off(false);
      if (step != 0)
        leaves[i] = e_.add(leaves[i], e_.mul(Value(Random(c_.inputs[i].shape(), i)), step));
      leaves[i] = Value(leaves[i].tensor());
      leaves[i].set_requires_grad(true);
    }
    return leaves;
  }

  // The weighted sum of the outputs. Undefined where no output is a float.
  Value Loss(const Values& leaves) {
    const auto outputs = RunCase(builder_, c_, leaves);
    if (!outputs.ok()) throw Error(outputs.status());
    return WeightedSum(e_, *outputs);
  }

  // Its gradients for the leaves that are floats.
  Values Gradients(const Values& leaves, bool create_graph) {
    const Value loss = Loss(leaves);
    if (!loss.defined() || !loss.requires_grad()) return Values(leaves.size());
    return GradientsOf(loss, leaves, create_graph);
  }

  // ⟨gradient, direction⟩ over all inputs.
  double Along(const Values& gradients) const {
    double sum = 0;
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      const Tensor direction = Random(gradients[i].tensor().shape(), i);
      const auto gradient = gradients[i].tensor().Contiguous(core::Cpu());
      const auto g = gradient->HostData<double>();
      const auto d = direction.HostData<double>();
      for (size_t k = 0; k < d->size(); ++k) sum += (*g)[k] * (*d)[k];
    }
    return sum;
  }

  // The gradients of the weighted sum of the gradients.
  Values SecondGradients(const Values& leaves) {
    const Values first = Gradients(leaves, true);
    const Value loss = WeightedSum(e_, first);
    if (!loss.defined() || !loss.requires_grad()) return Values(leaves.size());
    return GradientsOf(loss, leaves, false);
  }

  double LossAt(double step, bool second) {
    const Values leaves = Leaves(step);
    const Value loss = second ? WeightedSum(e_, Gradients(leaves, false)) : Loss(leaves);
    return loss.defined() ? (*loss.tensor().HostData<double>())[0] : 0;
  }

 private:
  Values GradientsOf(const Value& loss, const Values& leaves, bool create_graph) {
    const Value one = e_.scalar(1, DType::kF64);
    Values wanted;
    for (const Value& leaf : leaves) {
      if (IsDifferentiable(leaf)) wanted.push_back(leaf);
    }
    const auto found = ir::TapeBackward(builder_, std::span(&loss, 1), std::span(&one, 1), wanted,
                                        {.create_graph = create_graph});
    if (!found.ok()) throw Error(found.status());
    Values gradients(leaves.size());
    size_t next = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (IsDifferentiable(leaves[i])) gradients[i] = (*found)[next++];
    }
    return gradients;
  }

  const OpCase& c_;
  core::RunContext context_;
  EagerBuilder builder_;
  const Emit e_;
};

}  // namespace

Status CheckGradient(const OpCase& c, bool second) {
  const bool has_floats = std::ranges::any_of(
      c.inputs, [](const Tensor& t) { return t.defined() && ir::CarriesGradient(t.dtype()); });
  if (!has_floats || c.op->no_gradient || !c.sample->smooth) return {};
  try {
    Differentiated d(c);
    const Values leaves = d.Leaves(0);
    const double found = d.Along(second ? d.SecondGradients(leaves) : d.Gradients(leaves, false));
    // Richardson's extrapolation of central differences: errors of order step⁴.
    const auto central = [&](double step) {
      return (d.LossAt(step, second) - d.LossAt(-step, second)) / (2 * step);
    };
    constexpr double kStep = 1e-4;
    const double expected = (4 * central(kStep / 2) - central(kStep)) / 3;
    const double size = std::abs(expected) + std::abs(d.LossAt(0, second)) * 1e-2 + 1;
    if (std::abs(found - expected) > 2e-6 * size) {
      return core::Internal(c.ToString(), second ? ": second gradient" : ": gradient",
                            " along a direction is ", found, ", and finite differences say ",
                            expected);
    }
  } catch (const Error& error) {
    return error.status().WithContext(
        StrCat(c.ToString(), second ? ", second gradient" : ", gradient"));
  }
  return {};
}

Status CheckDecomposedGradient(const OpCase& c) {
  if (!c.op->vjp || !c.op->decompose || !c.sample->smooth) return {};
  // The same operator without its own rule.
  ir::OpDef plain = *c.op;
  plain.vjp = nullptr;
  OpCase other = c;
  other.op = &plain;
  try {
    Differentiated own(c);
    Differentiated derived(other);
    const Values a = own.Gradients(own.Leaves(0), false);
    const Values b = derived.Gradients(derived.Leaves(0), false);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!a[i].defined() && !b[i].defined()) continue;
      if (a[i].defined() != b[i].defined())
        return core::Internal(c.ToString(), ": input ", i, " has a gradient by one rule only");
      RML_ASSIGN(const Difference difference, Compare(a[i].tensor(), b[i].tensor()));
      if (difference.worst > 1e-10)
        return core::Internal(c.ToString(), ": gradient of input ", i,
                              " differs from the decomposition's by ", difference.worst, " ",
                              difference.where);
    }
  } catch (const Error& error) {
    return error.status().WithContext(c.ToString());
  }
  return {};
}

}  // namespace rml::ops
