// loss = log Σ eˣ - x[target], along an axis of classes
#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

enum { kLogits, kTargets };
enum { kLoss, kNormaliser };

core::Status InferCrossEntropy(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(kLogits)));
  ir::Dims rows = call.input(kLogits).dims;
  rows.Erase(axis);
  if (!(call.input(kTargets).dims == rows)) {
    return core::InvalidArgument("targets are ", call.input(kTargets).dims.ToString(),
                                 ", and the logits without their classes ", rows.ToString());
  }
  const std::string& reduction = call.text("reduction");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    return core::InvalidArgument("reduction is \"", reduction, "\", expected none, mean or sum");
  }
  const double smoothing = call.number("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1))
    return core::InvalidArgument("label_smoothing is ", smoothing, ", expected 0 to 1");
  const core::DType stat = StatType(call.dtype(kLogits));
  outputs->push_back({call.dtype(kLogits), reduction == "none" ? rows : ir::Dims()});
  ir::Dims kept = call.input(kLogits).dims;
  kept[axis] = 1;
  outputs->push_back({stat, kept});
  return {};
}

core::Status ReferenceCrossEntropy(ir::RefCall& call) {
  const auto x = call.in<double>(kLogits);
  const auto targets = call.in<int64_t>(kTargets);
  const auto loss = call.out<double>(kLoss);
  const auto normaliser = call.out<double>(kNormaliser);
  RML_ASSIGN(const int axis, call.call().axis("axis", x.rank()));
  const double smoothing = call.call().number("label_smoothing");
  const bool each = call.call().text("reduction") == "none";
  const AxisView view(x.shape(), axis);
  double total = 0;
  int64_t counted = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t in = 0; in < view.inner; ++in) {
      const int64_t row = o * view.inner + in;
      double largest = -std::numeric_limits<double>::infinity();
      double all = 0;
      for (int64_t c = 0; c < view.size; ++c) {
        largest = std::max(largest, x[view.at(o, c, in)]);
        all += x[view.at(o, c, in)];
      }
      double sum = 0;
      for (int64_t c = 0; c < view.size; ++c) sum += std::exp(x[view.at(o, c, in)] - largest);
      const double log_sum = largest + std::log(sum);
      normaliser[row] = log_sum;
      const int64_t target = targets[row];
      if (target == call.call().integer("ignore_index")) continue;
      if (target < 0 || target >= view.size)
        return core::OutOfRange("target ", target, " of row ", row, " is none of ", view.size,
                                " classes");
      double value = log_sum - (1 - smoothing) * x[view.at(o, target, in)];
      // Apart, so that a class of probability zero does not make 0 · ∞.
      if (smoothing > 0) value -= smoothing * all / static_cast<double>(view.size);
      if (each) loss[row] = value;
      total += value;
      ++counted;
    }
  }
  if (!each) {
    const bool mean = call.call().text("reduction") == "mean";
    loss[0] = mean ? total / static_cast<double>(counted) : total;
  }
  return {};
}

// With p = exp(x - normaliser): dx = dloss · (p - (1 - s) · onehot - s / classes) + dnormaliser ·
// p, where rows that are ignored get no dloss.
ir::Values VjpCrossEntropy(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ir::Value& normaliser = call.out(kNormaliser);
  const core::DType stat = normaliser.dtype();
  const ir::Dims dims = call.in(kLogits).type().dims;
  const ir::Dims kept = normaliser.type().dims;
  const int axis = *c.axis("axis", dims.rank());
  const ir::Value p = e.exp(e.sub(e.cast(call.in(kLogits), stat), normaliser));
  ir::Value dx;
  if (call.grad(kLoss).defined()) {
    const ir::Value targets = e.reshape(e.cast(call.in(kTargets), core::DType::kI64), kept);
    const ir::Value ignored =
        e.scalar(static_cast<double>(c.integer("ignore_index")), core::DType::kI64);
    const ir::Value counts = e.cast(e.one("not_equal", {targets, ignored}), stat);
    ir::Value weight = e.cast(call.grad(kLoss), stat);
    if (c.text("reduction") == "none") weight = e.reshape(weight, kept);
    if (c.text("reduction") == "mean") weight = e.div(weight, e.sum(counts, {}));
    weight = e.mul(weight, counts);
    ir::Dims row(dims);
    for (int i = 0; i < row.rank(); ++i) {
      if (i != axis) row[i] = 1;
    }
    const ir::Value classes = e.one("iota", {}, {{"shape", row}, {"axis", axis}});
    const double smoothing = c.number("label_smoothing");
    ir::Value wanted = e.mul(e.cast(e.one("equal", {classes, targets}), stat), 1 - smoothing);
    if (smoothing > 0)
      wanted = e.add(wanted, e.div(e.scalar(smoothing, stat), e.size(dims[axis], stat)));
    dx = e.mul(weight, e.sub(p, wanted));
  }
  if (call.grad(kNormaliser).defined()) dx = AddGradients(e, dx, e.mul(p, call.grad(kNormaliser)));
  return {e.cast(dx, call.in(kLogits).dtype()), ir::Value()};
}

core::Expected<ir::Axes> ResolveCrossEntropy(const ir::OpCall& call) {
  RML_ASSIGN(const int along, call.axis("axis", call.rank(kLogits)));
  // A sum over rows would leave the normaliser apart: only the losses of each row can be split.
  const bool each = call.text("reduction") == "none";
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(kLogits); ++axis) {
    if (axis == along || !each) {
      axes.push_back(
          {core::StrCat("d", axis), ir::AxisRole::kWhole, ir::Combine::kSum, {axis, -1}, {-1, -1}});
      continue;
    }
    const int row = axis - (axis > along ? 1 : 0);
    axes.push_back({core::StrCat("d", axis),
                    ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {axis, row},
                    {row, axis}});
  }
  return axes;
}

}  // namespace

ir::OpDef CrossEntropy() {
  ir::OpDef op;
  op.name = "cross_entropy";
  op.doc =
      "Cross entropy of `logits`, whose classes lie along `axis`, against integer `targets`: `log "
      "Σ "
      "eˣ - x[target]`. With `label_smoothing` s the target has probability 1 - s + s / classes, "
      "every other class s / classes. Rows whose target is `ignore_index` give 0, and are not "
      "counted in the mean; of no rows the mean is NaN. `reduction`: none, mean or sum. ONNX and "
      "PyTorch have the classes along axis 1.";
  op.inputs = {{"logits"}, {"targets", "I"}};
  op.outputs = {{"loss"}, {"normaliser", "*", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {
      {"axis", -1}, {"ignore_index", -100}, {"label_smoothing", 0.0}, {"reduction", "mean"}};
  op.axes = ir::AxesRule(ResolveCrossEntropy);
  op.infer = InferCrossEntropy;
  op.reference = ReferenceCrossEntropy;
  op.vjp = VjpCrossEntropy;
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(kLogits).dims.elements().max());
    const double bytes = elements * core::Info(call.dtype(kLogits)).block_bytes;
    return ir::Cost{4 * elements, bytes, 0};
  };
  op.samples = [] {
    const auto targets = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    return std::vector<ir::Sample>{
        {{{{3, 5}}, targets({3}, {0, 4, 2})}},
        {{{{3, 5}}, targets({3}, {0, -100, 2})}, {{"reduction", "none"}}},
        {{{{4, 7}}, targets({4}, {6, 1, 1, 0})}, {{"reduction", "sum"}, {"label_smoothing", 0.1}}},
        {{{{4, 7}}, targets({4}, {3, 1, 3, 0})}, {{"ignore_index", 3}, {"label_smoothing", 0.2}}},
        {{{{2, 3, 4}}, targets({2, 4}, {0, 2, 1, -100, 1})}, {{"axis", 1}, {"reduction", "none"}}},
        {{{{5}}, targets({}, {3})}},
        {{{{2, 33}, ir::Fill::Normal(0, 30)}, targets({2}, {7, 32})}},
        {{{{0, 3}}, targets({0}, {0})}, {{"reduction", "sum"}}},
        {{{{2, 3}}, targets({2}, {-100})}, {{"reduction", "sum"}}},
    };
  };
  return op;
}

}  // namespace rml::ops
