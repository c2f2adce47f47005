// y = (x - mean) / sqrt(var + eps) * weight + bias, over all axes but the second
#include <cmath>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

enum { kX, kWeight, kBias, kMean, kVar };
enum { kY, kNewMean, kNewVar, kBatchMean, kBatchRstd };

core::Status InferBatchNorm(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(kX) < 2)
    return core::InvalidArgument("x has ", call.rank(kX), " dimensions, expected at least 2");
  const ir::Dim channels = call.dim(kX, 1);
  for (int i = kWeight; i <= kVar; ++i) {
    if (call.rank(i) == 1 && call.dim(i, 0) == channels) continue;
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", and x has ", channels.ToString(), " channels");
  }
  outputs->push_back(call.input(kX));
  for (int i = kNewMean; i <= kBatchRstd; ++i) outputs->push_back({call.dtype(kMean), {channels}});
  return {};
}

core::Status ReferenceBatchNorm(ir::RefCall& call) {
  const auto x = call.in<double>(kX);
  const auto weight = call.in<double>(kWeight);
  const auto bias = call.in<double>(kBias);
  const auto y = call.out<double>(kY);
  const double eps = call.call().number("eps");
  const double momentum = call.call().number("momentum");
  const AxisView view(x.shape(), 1);
  const auto count = static_cast<double>(view.outer * view.inner);
  for (int64_t c = 0; c < view.size; ++c) {
    double mean = call.in<double>(kMean)[c];
    double var = call.in<double>(kVar)[c];
    double new_mean = mean;
    double new_var = var;
    if (call.call().flag("training")) {
      mean = 0;
      for (int64_t o = 0; o < view.outer; ++o) {
        for (int64_t i = 0; i < view.inner; ++i) mean += x[view.at(o, c, i)] / count;
      }
      double squares = 0;
      for (int64_t o = 0; o < view.outer; ++o) {
        for (int64_t i = 0; i < view.inner; ++i) squares += std::pow(x[view.at(o, c, i)] - mean, 2);
      }
      new_mean = (1 - momentum) * new_mean + momentum * mean;
      new_var = (1 - momentum) * new_var + momentum * squares / (count - 1);
      var = squares / count;
    }
    const double rstd = 1 / std::sqrt(var + eps);
    call.out<double>(kNewMean)[c] = new_mean;
    call.out<double>(kNewVar)[c] = new_var;
    call.out<double>(kBatchMean)[c] = mean;
    call.out<double>(kBatchRstd)[c] = rstd;
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        const int64_t at = view.at(o, c, i);
        y[at] = (x[at] - mean) * rstd * weight[c] + bias[c];
      }
    }
  }
  return {};
}

// Every output's gradient, to every input. With n elements a channel and x̂ = (x - mean) · rstd:
//
//   y          dx = rstd · w · (dy - Σdy / n - x̂ · Σ(dy · x̂) / n)   in training; in evaluation the
//   first
//              term, and the statistics get what the others would be
//   mean       dx = 1 / n          rstd   dx = -rstd³ · (x - mean) / n
//   new_mean   (1 - momentum) to mean, momentum to the batch's mean
//   new_var    (1 - momentum) to var, and dx = momentum · 2 (x - mean) / (n - 1)
//
// In f32 at least: n and the sums over it may be beyond 65,504, where f16 ends.
class BatchNormGradient {
 public:
  explicit BatchNormGradient(ir::ExprCall& call)
      : call_(call),
        e_(call.b()),
        dtype_(StatType(call.in(kX).dtype())),
        rank_(call.in(kX).rank()) {
    for (int axis = 2; axis < rank_; ++axis) others_.push_back(axis);
    ir::Dim count = 1;
    for (const int64_t axis : others_) count = count * call.in(kX).dim(static_cast<int>(axis));
    n_ = e_.size(count, dtype_);
  }

  ir::Values Run() {
    const bool training = call_.call().flag("training");
    const ir::Value rstd = e_.cast(call_.out(kBatchRstd), dtype_);
    const ir::Value centred =
        e_.sub(e_.cast(call_.in(kX), dtype_), Spread(e_.cast(call_.out(kBatchMean), dtype_)));
    // What reaches the mean and the reciprocal deviation that y was made with.
    ir::Value to_mean = Incoming(kBatchMean);
    ir::Value to_rstd = Incoming(kBatchRstd);
    ir::Value dx;
    ir::Values grads(size_t{5});
    if (const ir::Value dy = Incoming(kY); dy.defined()) {
      const ir::Value d_scale = PerChannel(e_.mul(dy, centred));  // for rstd · weight
      const ir::Value d_bias = PerChannel(dy);
      const ir::Value weight = e_.cast(call_.in(kWeight), dtype_);
      grads[kWeight] = e_.mul(d_scale, rstd);
      grads[kBias] = d_bias;
      dx = e_.mul(dy, Spread(e_.mul(rstd, weight)));
      to_mean = AddGradients(e_, to_mean, e_.neg(e_.mul(d_bias, e_.mul(rstd, weight))));
      to_rstd = AddGradients(e_, to_rstd, e_.mul(d_scale, weight));
    }
    const ir::Value cube = e_.mul(rstd, e_.mul(rstd, rstd));
    const double momentum = call_.call().number("momentum");
    if (training) {
      if (const ir::Value next = Incoming(kNewMean); next.defined()) {
        grads[kMean] = e_.mul(next, 1 - momentum);
        to_mean = AddGradients(e_, to_mean, e_.mul(next, momentum));
      }
      ir::Value along;  // of centred, per channel
      if (const ir::Value next = Incoming(kNewVar); next.defined()) {
        grads[kVar] = e_.mul(next, 1 - momentum);
        along = e_.div(e_.mul(next, 2 * momentum), e_.sub(n_, e_.like(n_, 1)));
      }
      if (to_rstd.defined())
        along = AddGradients(e_, along, e_.neg(e_.div(e_.mul(to_rstd, cube), n_)));
      if (along.defined()) dx = AddGradients(e_, dx, e_.mul(centred, Spread(along)));
      if (to_mean.defined())
        dx = AddGradients(e_, dx,
                          e_.broadcast(Spread(e_.div(to_mean, n_)), call_.in(kX).type().dims));
    } else {
      grads[kMean] = AddGradients(e_, Incoming(kNewMean), to_mean);
      grads[kVar] = Incoming(kNewVar);
      if (to_rstd.defined())
        grads[kVar] = AddGradients(e_, grads[kVar], e_.mul(e_.mul(to_rstd, cube), -0.5));
    }
    grads[kX] = dx;
    for (int i = kX; i <= kVar; ++i) {
      ir::Value& grad = grads[static_cast<size_t>(i)];
      if (grad.defined()) grad = e_.cast(grad, call_.in(i).dtype());
    }
    return grads;
  }

 private:
  ir::Value Spread(const ir::Value& channel) const { return e_.restore(channel, others_, rank_); }
  ir::Value PerChannel(const ir::Value& full) const { return e_.sum(full, others_); }
  ir::Value Incoming(int output) const {
    const ir::Value& grad = call_.grad(output);
    return grad.defined() ? e_.cast(grad, dtype_) : grad;
  }

  ir::ExprCall& call_;
  const Emit e_;
  const core::DType dtype_;
  const int rank_;
  ir::Ints others_ = {0};
  ir::Value n_;
};

core::Expected<ir::Axes> ResolveBatchNorm(const ir::OpCall& call) {
  ir::Axes axes = {
      {"channel", ir::AxisRole::kFree, ir::Combine::kSum, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}};
  for (int axis = 0; axis < call.rank(kX); ++axis) {
    if (axis == 1) continue;
    // In evaluation the others are free as well, but a piece repeats the statistics: join nothing.
    axes.push_back({core::StrCat("d", axis),
                    ir::AxisRole::kWhole,
                    ir::Combine::kSum,
                    {axis, -1, -1, -1, -1},
                    {axis, -1, -1, -1, -1}});
  }
  return axes;
}

}  // namespace

ir::OpDef BatchNorm() {
  ir::OpDef op;
  op.name = "batch_norm";
  op.doc =
      "Batch normalisation of `x` [batch, channels, …] (Ioffe and Szegedy 2015). In `training` by "
      "the batch's own mean and variance, and the running ones move by `momentum` (PyTorch's "
      "convention: new = (1 - momentum) · old + momentum · batch, with the unbiased variance); "
      "else by the running ones.";
  op.inputs = {{"x"}, {"weight", "S"}, {"bias", "S"}, {"mean", "S"}, {"var", "S"}};
  op.outputs = {{"y"},
                {"new_mean", "S"},
                {"new_var", "S"},
                {"batch_mean", "S", ir::OutputKind::kSaved},
                {"batch_rstd", "S", ir::OutputKind::kSaved}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}};
  op.attributes = {{"training", false}, {"momentum", 0.1}, {"eps", 1e-5}};
  op.axes = ir::AxesRule(ResolveBatchNorm);
  op.infer = InferBatchNorm;
  op.reference = ReferenceBatchNorm;
  op.vjp = [](ir::ExprCall& call) { return BatchNormGradient(call).Run(); };
  op.aliases = {{kNewMean, kMean}, {kNewVar, kVar}};
  op.cost = [](const ir::OpCall& call) { return PassCost(call, call.flag("training") ? 8 : 4); };
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const bool training : {false, true}) {
      for (const core::Shape& x : {core::Shape{4, 3}, {2, 3, 5}, {3, 1, 2, 4}, {2, 17, 3}}) {
        const core::Shape channels = {x[1]};
        samples.push_back(
            {{{x}, {channels}, {channels}, {channels}, {channels, ir::Fill::Uniform(0.5, 2)}},
             {{"training", training}}});
      }
    }
    return samples;
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
