#include "rml/ops/embedding_bag.h"

namespace rml::ops {

using ir::Dim;

core::Expected<Dim> BagsOf(const ir::OpCall& call) {
  const std::string& mode = call.text("mode");
  if (mode != "sum" && mode != "mean" && mode != "sqrtn")
    return core::InvalidArgument("mode is \"", mode, "\", expected sum, mean or sqrtn");
  for (int i = bag::kRows; i <= bag::kWeights; ++i) {
    const int rank = i == bag::kRows ? 2 : 1;
    if (call.has(i) && call.rank(i) != rank)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected ", rank);
  }
  if (call.has(bag::kWeights) && !(call.dim(bag::kWeights, 0) == call.dim(bag::kIndices, 0))) {
    return core::InvalidArgument("there are ", call.dim(bag::kIndices, 0).ToString(),
                                 " indices and ", call.dim(bag::kWeights, 0).ToString(),
                                 " weights");
  }
  const Dim bags = call.dim(bag::kOffsets, 0) - 1;
  if (!bags.valid())
    return core::InvalidArgument("offsets is empty; it has one element more than there are bags");
  return bags;
}

core::Status CheckBagGradient(const ir::OpCall& call) {
  RML_ASSIGN(const Dim bags, BagsOf(call));
  if (!(bags == call.dim(bag::kRows, 0))) {
    return core::InvalidArgument("grad has ", call.dim(bag::kRows, 0).ToString(),
                                 " bags and offsets ", call.dim(bag::kOffsets, 0).ToString(),
                                 " elements");
  }
  if (call.attr<ir::Dims>("rows").rank() != 1)
    return core::InvalidArgument("rows is not one dimension");
  return {};
}

ir::AxesRule BagAxes(std::vector<int> outputs) {
  return ir::AxesRule([outputs](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    std::vector<int> inputs(static_cast<size_t>(call.inputs()), -1);
    inputs[bag::kRows] = 1;
    return ir::Axes{{"width", ir::AxisRole::kFree, ir::Combine::kSum, inputs, outputs}};
  });
}

ir::Value BagWeightGradient(const Emit& e, const ir::ExprCall& call, const ir::Value& table,
                            const ir::Value& grad) {
  if (call.call().text("mode") != "sum")
    throw Error(core::Unsupported("weights have a gradient in mode sum only"));
  const ir::Value rows = e.one("gather_rows", {table, call.in(bag::kIndices)});
  const ir::Value bags = e.one("bag_rows", {grad, call.in(bag::kOffsets), call.in(bag::kIndices)});
  return e.sum(e.mul(rows, bags), {1});
}

}  // namespace rml::ops
