// loss = log Σ eˣ - x[target], along an axis of classes
#include <algorithm>
#include <cmath>
#include <limits>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

enum { kLogits, kTargets, kWeight };
enum { kLoss, kNormaliser };

core::Status InferCrossEntropy(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(kLogits)));
  ir::Dims rows = call.input(kLogits).dims;
  rows.Erase(axis);
  if (!(call.input(kTargets).dims == rows)) {
    return core::InvalidArgument("targets are ", call.input(kTargets).dims.ToString(),
                                 ", and the logits without their classes ", rows.ToString());
  }
  if (const ir::Dims classes = {call.dim(kLogits, axis)};
      call.has(kWeight) && !(call.input(kWeight).dims == classes)) {
    return core::InvalidArgument("weight is ", call.input(kWeight).dims.ToString(),
                                 ", expected one number for each of the classes, ",
                                 classes.ToString());
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
  const auto weight = [&](int64_t c) {
    return call.has(kWeight) ? call.in<double>(kWeight)[c] : 1.0;
  };
  double total = 0;
  double counted = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t in = 0; in < view.inner; ++in) {
      const int64_t row = o * view.inner + in;
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t c = 0; c < view.size; ++c) largest = std::max(largest, x[view.at(o, c, in)]);
      double sum = 0;
      for (int64_t c = 0; c < view.size; ++c) sum += std::exp(x[view.at(o, c, in)] - largest);
      const double log_sum = largest + std::log(sum);
      normaliser[row] = log_sum;
      const int64_t target = targets[row];
      if (target == call.call().integer("ignore_index")) continue;
      if (target < 0 || target >= view.size)
        return core::OutOfRange("target ", target, " of row ", row, " is none of ", view.size,
                                " classes");
      double value = (1 - smoothing) * weight(target) * (log_sum - x[view.at(o, target, in)]);
      // Apart, so that a class of probability zero does not make 0 · ∞.
      for (int64_t c = 0; smoothing > 0 && c < view.size; ++c) {
        value += smoothing / static_cast<double>(view.size) * weight(c) *
                 (log_sum - x[view.at(o, c, in)]);
      }
      if (each) loss[row] = value;
      total += value;
      counted += weight(target);
    }
  }
  if (!each) {
    const bool mean = call.call().text("reduction") == "mean";
    loss[0] = mean ? total / counted : total;
  }
  return {};
}

// Row i's loss is Σ_c a_ic · (normaliser_i - x_ic), where a_ic = w_c · ((1 - s) · onehot_ic + s /
// classes), and 0 in rows that are ignored. With p = exp(x - normaliser) and g the gradient of each
// row's loss:
//
//   dx_ic = g_i · (p_ic · Σ_c a_ic - a_ic) + dnormaliser_i · p_ic
//   dw_c  = Σ_i g_i · a_ic / w_c · (normaliser_i - x_ic)
//
// A mean divides by n = Σ w[target]: g = dloss / n, and dw_c loses g · loss · Σ_i onehot_ic.
class CrossEntropyGradient {
 public:
  explicit CrossEntropyGradient(ir::ExprCall& call)
      : call_(call),
        e_(call.b()),
        stat_(call.out(kNormaliser).dtype()),
        dims_(call.in(kLogits).type().dims),
        axis_(*call.call().axis("axis", dims_.rank())),
        smoothing_(call.call().number("label_smoothing")) {}

  ir::Values Run() {
    const ir::Value& normaliser = call_.out(kNormaliser);
    const ir::Value below = e_.sub(normaliser, e_.cast(call_.in(kLogits), stat_));
    const ir::Value p = e_.exp(e_.neg(below));
    ir::Values grads(size_t{3});
    ir::Value& dx = grads[kLogits];
    if (call_.grad(kLoss).defined()) {
      MakeTargets();
      const ir::Value g = RowGradients();
      ir::Value wanted = Probabilities();
      if (weight_.defined()) wanted = e_.mul(wanted, weight_);
      const ir::Value total = weight_.defined() ? e_.sum(wanted, {axis_}, true) : counts_;
      dx = e_.mul(g, e_.sub(e_.mul(p, total), wanted));
      if (call_.needs(kWeight)) grads[kWeight] = WeightGradient(g, below);
    }
    if (call_.grad(kNormaliser).defined())
      dx = AddGradients(e_, dx, e_.mul(p, call_.grad(kNormaliser)));
    dx = e_.cast(dx, call_.in(kLogits).dtype());
    return grads;
  }

 private:
  // Whether each row counts, [rows, 1], and its target as a one among the classes, [rows, classes].
  void MakeTargets() {
    const ir::OpCall& c = call_.call();
    const ir::Dims kept = call_.out(kNormaliser).type().dims;
    const ir::Value targets = e_.reshape(e_.cast(call_.in(kTargets), core::DType::kI64), kept);
    const ir::Value ignored =
        e_.scalar(static_cast<double>(c.integer("ignore_index")), core::DType::kI64);
    const ir::Value counted = e_.one("not_equal", {targets, ignored});
    ir::Dims row(dims_);
    for (int i = 0; i < row.rank(); ++i) {
      if (i != axis_) row[i] = 1;
    }
    const ir::Value classes = e_.one("iota", {}, {{"shape", row}, {"axis", axis_}});
    counts_ = e_.cast(counted, stat_);
    hits_ = e_.one("logical_and", {e_.one("equal", {classes, targets}), counted});
    if (call_.in(kWeight).defined()) weight_ = e_.reshape(e_.cast(call_.in(kWeight), stat_), row);
  }

  // (1 - s) · onehot + s / classes, and 0 in rows that are ignored.
  ir::Value Probabilities() const {
    const ir::Value target = e_.mul(e_.cast(hits_, stat_), 1 - smoothing_);
    if (smoothing_ == 0) return target;
    return e_.add(target, e_.mul(counts_, Spread()));
  }
  ir::Value Spread() const {
    return e_.div(e_.scalar(smoothing_, stat_), e_.size(dims_[axis_], stat_));
  }

  // Of each row's loss: [rows, 1], or one for all.
  ir::Value RowGradients() const {
    const ir::Value g = e_.cast(call_.grad(kLoss), stat_);
    const std::string& reduction = call_.call().text("reduction");
    if (reduction == "none") return e_.reshape(g, call_.out(kNormaliser).type().dims);
    if (reduction == "sum") return g;
    const ir::Value hits = e_.cast(hits_, stat_);
    const ir::Value n = weight_.defined() ? e_.mul(hits, weight_) : counts_;
    return e_.div(g, e_.sum(n, {}));
  }

  ir::Value WeightGradient(const ir::Value& g, const ir::Value& below) const {
    const ir::Value zero = e_.scalar(0, stat_);
    // Where there is no target, also below is not looked at: it may be infinite.
    ir::Value each = e_.mul(e_.where(hits_, below, zero), 1 - smoothing_);
    if (smoothing_ > 0) {
      const ir::Value counted = e_.one("not_equal", {counts_, zero});
      each = e_.add(each, e_.mul(e_.where(counted, below, zero), Spread()));
    }
    if (call_.call().text("reduction") == "mean")
      each = e_.sub(each, e_.mul(e_.cast(hits_, stat_), e_.cast(call_.out(kLoss), stat_)));
    const ir::Type type = call_.in(kWeight).type();
    return e_.cast(e_.reshape(e_.sum_to(e_.mul(g, each), weight_.type().dims), type.dims),
                   type.dtype);
  }

  ir::ExprCall& call_;
  const Emit e_;
  const core::DType stat_;
  const ir::Dims dims_;
  const int axis_;
  const double smoothing_;
  ir::Value counts_, hits_;
  ir::Value weight_;  // with the axes of the logits; undefined where there is none
};

core::Expected<ir::Axes> ResolveCrossEntropy(const ir::OpCall& call) {
  RML_ASSIGN(const int along, call.axis("axis", call.rank(kLogits)));
  // A piece does not know how many rows, or which weights, the mean divides by.
  const bool mean = call.text("reduction") == "mean";
  const bool each = call.text("reduction") == "none";
  ir::Axes axes;
  for (int axis = 0; axis < call.rank(kLogits); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    named.inputs.assign(static_cast<size_t>(call.inputs()), -1);
    named.inputs[kLogits] = axis;
    named.outputs = {-1, -1};
    if (axis == along) {
      if (call.has(kWeight)) named.inputs[kWeight] = 0;
      continue;
    }
    if (mean) continue;
    const int row = axis - (axis > along ? 1 : 0);
    named.role = each ? ir::AxisRole::kFree : ir::AxisRole::kReduced;
    named.inputs[kTargets] = row;
    named.outputs = {each ? row : -1, axis};
  }
  return axes;
}

}  // namespace

ir::OpDef CrossEntropy() {
  ir::OpDef op;
  op.name = "cross_entropy";
  op.doc =
      "Cross entropy of `logits`, whose classes lie along `axis`, against integer `targets`: `log "
      "Σ eˣ - x[target]`. With `label_smoothing` s the target has probability 1 - s + s / "
      "classes, every other class s / classes. `weight` [classes] multiplies each class's part of "
      "a row, and the mean divides by the sum of the targets' weights. Rows whose target is "
      "`ignore_index` give 0, and are not counted in the mean; of no rows the mean is NaN. "
      "`reduction`: none, mean or sum. As PyTorch's cross_entropy and ONNX's "
      "SoftmaxCrossEntropyLoss, which have the classes along axis 1.";
  op.inputs = {{"logits"}, {"targets", "I"}, {"weight", "T", ir::Arity::kOptional}};
  op.outputs = {{"loss"}, {"normaliser", "*", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {
      {"axis", -1}, {"ignore_index", -100}, {"label_smoothing", 0.0}, {"reduction", "mean"}};
  op.axes = ir::AxesRule(ResolveCrossEntropy);
  op.infer = InferCrossEntropy;
  op.reference = ReferenceCrossEntropy;
  op.vjp = [](ir::ExprCall& call) { return CrossEntropyGradient(call).Run(); };
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(kLogits).dims.elements().max());
    const double bytes = elements * core::Info(call.dtype(kLogits)).block_bytes;
    return ir::Cost{4 * elements, bytes, 0};
  };
  op.samples = [] {
    const auto targets = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    const ir::Fill weights = ir::Fill::Uniform(0.5, 2);
    return std::vector<ir::Sample>{
        {{{{3, 5}}, targets({3}, {0, 4, 2})}},
        {{{{3, 5}}, targets({3}, {0, -100, 2})}, {{"reduction", "none"}}},
        {{{{4, 7}}, targets({4}, {6, 1, 1, 0})}, {{"reduction", "sum"}, {"label_smoothing", 0.1}}},
        {{{{4, 7}}, targets({4}, {3, 1, 3, 0})}, {{"ignore_index", 3}, {"label_smoothing", 0.2}}},
        {{{{2, 3, 4}}, targets({2, 4}, {0, 2, 1, -100, 1})}, {{"axis", 1}, {"reduction", "none"}}},
        {{{{5}}, targets({}, {3})}},
        {{{{4, 3}}, targets({4}, {2, 0, -100, 2}), {{3}, weights}}},
        {{{{4, 3}}, targets({4}, {2, 0, -100, 1}), {{3}, weights}}, {{"label_smoothing", 0.3}}},
        {{{{2, 3, 4}}, targets({2, 4}, {0, 2, 1, -100, 1}), {{3}, weights}},
         {{"axis", 1}, {"reduction", "none"}, {"label_smoothing", 0.1}}},
        {{{{3, 5}}, targets({3}, {4, 0, 4}), {{5}, weights}}, {{"reduction", "sum"}}},
        {{{{2, 33}, ir::Fill::Normal(0, 30)}, targets({2}, {7, 32})}},
        {{{{0, 3}}, targets({0}, {0})}, {{"reduction", "sum"}}},
        {{{{2, 3}}, targets({2}, {-100})}, {{"reduction", "sum"}}},
    };
  };
  return op;
}

}  // namespace rml::ops
