// Random places of 0 … size - 1, with or without repetition.
#include <algorithm>
#include <cmath>

#include "rml/ops/random_order.h"
#include "rml/ops/random_values.h"

namespace rml::ops {
namespace {

enum { kKey, kWeights };

core::Expected<ir::Dim> SizeOf(const ir::OpCall& call) {
  const ir::Dims& size = call.attr<ir::Dims>("size");
  if (call.has(kWeights)) {
    if (call.rank(kWeights) != 1)
      return core::InvalidArgument("weights have ", call.rank(kWeights), " dimensions, expected 1");
    if (size.rank() != 0) return core::InvalidArgument("weights say the size; leave size out");
    return call.dim(kWeights, 0);
  }
  if (size.rank() != 1)
    return core::InvalidArgument("size has ", size.rank(), " numbers, expected 1");
  return size[0];
}

core::Status InferRandomChoice(const ir::OpCall& call, ir::Types* outputs) {
  const ir::Dims& dims = call.attr<ir::Dims>("shape");
  RML_TRY(CheckRandom(call, kKey, dims));
  RML_ASSIGN(const ir::Dim size, SizeOf(call));
  const ir::Dim count = dims.elements();
  const bool replace = call.flag("replace");
  const bool too_few = replace ? size == ir::Dim(0) && count.min() > 0 : count.min() > size.max();
  if (too_few) {
    return core::InvalidArgument("there are ", size.ToString(), " places to choose ",
                                 count.ToString(), " from");
  }
  if (!replace && !call.ints("start").empty())
    return core::InvalidArgument("a choice without repetition has no pieces");
  outputs->push_back({core::DType::kI64, dims});
  return {};
}

// By the sums of the weights up to each place.
core::Status ChooseWeighted(ir::RefCall& call) {
  const auto weights = call.in<double>(kWeights);
  std::vector<double> sums;
  double total = 0;
  int64_t last = -1;  // that has a weight
  for (int64_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i]))
      return core::InvalidArgument("weight ", i, " is ", weights[i]);
    total += weights[i];
    sums.push_back(total);
    if (weights[i] > 0) last = i;
  }
  if (last < 0 && call.out<int64_t>(0).size() > 0)
    return core::InvalidArgument("all weights are zero");
  return DrawEach<int64_t>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
    const double at = stream.Uniform(place) * total;
    const auto found = std::ranges::upper_bound(sums, at);
    return std::min<int64_t>(found - sums.begin(), last);
  });
}

core::Status ReferenceRandomChoice(ir::RefCall& call) {
  const auto y = call.out<int64_t>(0);
  RML_ASSIGN(const ir::Dim size, SizeOf(call.call()));
  if (call.call().flag("replace")) {
    if (call.has(kWeights)) return ChooseWeighted(call);
    return DrawEach<int64_t>(call, [&](const random::Stream& stream, uint64_t place, int64_t) {
      return stream.Below(static_cast<uint64_t>(size.value()), place);
    });
  }
  std::vector<int64_t> order;
  if (call.has(kWeights)) {
    const auto weights = call.in<double>(kWeights);
    order =
        WeightedOrder(StreamOf(call, kKey), {weights.data(), static_cast<size_t>(weights.size())});
  } else {
    order = RandomOrder(StreamOf(call, kKey), size.value());
  }
  if (static_cast<int64_t>(order.size()) < y.size()) {
    return core::InvalidArgument("there are ", order.size(), " places with a weight to choose ",
                                 y.size(), " from");
  }
  std::copy_n(order.begin(), y.size(), y.begin());
  return {};
}

}  // namespace

ir::OpDef RandomChoice() {
  ir::OpDef op;
  op.name = "random_choice";
  op.doc =
      "Random numbers of `shape` from 0 to `size` - 1, or the places of `weights`, each with "
      "probability weight / Σ weights. Without `replace` no number comes twice: the next is "
      "chosen among the rest.";
  op.inputs = {{"key", "u32"}, {"weights", "T", ir::Arity::kOptional}};
  op.outputs = {{"y", "i64"}};
  op.attributes = RandomAttributes();
  op.attributes.push_back({"shape", ir::RequiredAttr{ir::Dims()}});
  op.attributes.push_back({"size", ir::Dims()});
  op.attributes.push_back({"replace", true});
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    const std::vector<int> none(static_cast<size_t>(call.inputs()), -1);
    const bool split = call.flag("replace");
    for (int i = 0; i < call.attr<ir::Dims>("shape").rank(); ++i) {
      axes.push_back({core::StrCat("d", i),
                      split ? ir::AxisRole::kFree : ir::AxisRole::kWhole,
                      ir::Combine::kSum,
                      none,
                      {i}});
    }
    return axes;
  });
  op.infer = InferRandomChoice;
  op.reference = ReferenceRandomChoice;
  op.no_gradient = true;
  op.localize = RandomOfShape("", {}, core::DType::kI64).localize;
  op.samples = [] {
    const ir::SampleInput weights = {{4}, ir::Fill::Values({0.5, 0, 2, 1})};
    return std::vector<ir::Sample>{
        {{SampleKey()}, {{"shape", ir::Dims{3, 7}}, {"size", ir::Dims{5}}}},
        {{SampleKey()}, {{"shape", ir::Dims{7}}, {"size", ir::Dims{7}}, {"replace", false}}},
        {{SampleKey()}, {{"shape", ir::Dims{2, 2}}, {"size", ir::Dims{9}}, {"replace", false}}},
        {{SampleKey(), weights}, {{"shape", ir::Dims{2, 17}}}},
        {{SampleKey(), weights}, {{"shape", ir::Dims{3}}, {"replace", false}}},
        {{SampleKey()}, {{"shape", ir::Dims{0}}, {"size", ir::Dims{0}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
