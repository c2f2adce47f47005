#include "rml/ops/embedding_bag.h"

#include <limits>

namespace rml::ops {

using ir::Dim;

core::Expected<Dim> BagsOf(const ir::OpCall& call) {
  const std::string& mode = call.text("mode");
  if (mode != "sum" && mode != "mean" && mode != "sqrtn" && mode != "max")
    return core::InvalidArgument("mode is \"", mode, "\", expected sum, mean, sqrtn or max");
  if (mode == "max" && call.has(bag::kWeights))
    return core::InvalidArgument("mode max takes no weights");
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
  if (call.text("mode") == "max")
    return core::InvalidArgument("mode is \"max\", expected sum, mean or sqrtn");
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

namespace {

// A place for each index, to take rows that are one for each of them.
ir::Value EveryMember(const Emit& e, const ir::ExprCall& call, Dim count) {
  return e.one("iota", {}, {{"shape", ir::Dims{count}}, {"dtype", call.in(bag::kIndices).dtype()}});
}

}  // namespace

// With y = Σ w r / n: in mode sum, n = 1 and dw = g · r; in mode mean, n = Σ w and
// dw = g · (r - y) / n; in mode sqrtn, n = √Σ w² and dw = g · (r - y w / n) / n. Where n is 0, y
// does not depend on w.
ir::Value BagWeightGradient(const Emit& e, const ir::ExprCall& call, const ir::Value& table,
                            const ir::Value& bags, const ir::Value& grad) {
  const ir::Value& offsets = call.in(bag::kOffsets);
  const ir::Value& indices = call.in(bag::kIndices);
  const ir::Value& weights = call.in(bag::kWeights);
  const auto of_members = [&](const ir::Value& x) {
    return e.one("bag_rows", {x, offsets, indices});
  };
  const ir::Value given = of_members(grad);  // [members, width]
  const ir::Value own = e.sum(e.mul(e.one("gather_rows", {table, indices}), given), {1});
  const std::string& mode = call.call().text("mode");
  if (mode == "sum") return own;
  const ir::Dim members = weights.type().dims[0];
  ir::Value shared = e.sum(e.mul(of_members(bags), given), {1});
  const ir::Value column =
      e.reshape(mode == "mean" ? weights : e.mul(weights, weights), {members, 1});
  ir::Value norm = e.one("embedding_bag", {column, EveryMember(e, call, members), offsets});
  if (mode == "sqrtn") norm = e.sqrt(norm);
  norm = e.reshape(of_members(norm), {members});
  const ir::Value none = e.one("equal", {norm, e.like(norm, 0)});
  norm = e.where(none, e.like(norm, 1), norm);
  if (mode == "sqrtn") shared = e.div(e.mul(shared, weights), norm);
  return e.where(none, e.like(norm, 0), e.div(e.sub(own, shared), norm));
}

ir::Value BagMaxGradient(const Emit& e, const ir::ExprCall& call) {
  const ir::Value& table = call.in(bag::kRows);
  const ir::Value& offsets = call.in(bag::kOffsets);
  const ir::Value& indices = call.in(bag::kIndices);
  const ir::Dim members = indices.type().dims[0];
  const auto of_members = [&](const ir::Value& x) {
    return e.one("bag_rows", {x, offsets, indices});
  };
  const ir::Value rows = e.one("gather_rows", {table, indices});  // [members, width]
  // Of several that are largest the first: the one whose negated place is largest.
  const ir::Value hits = e.one(
      "logical_or", {e.one("equal", {rows, of_members(call.out(0))}), e.one("is_nan", {rows})});
  const ir::Value every = EveryMember(e, call, members);
  const ir::Value place = e.neg(e.cast(e.reshape(every, {members, 1}), core::DType::kF64));
  const ir::Value rank =
      e.where(hits, place, e.like(place, -std::numeric_limits<double>::infinity()));
  const ir::Value first = e.one("embedding_bag", {rank, every, offsets}, {{"mode", "max"}});
  const ir::Value chosen = e.one("equal", {of_members(first), place});
  const ir::Value given = of_members(call.grad(0));
  return e.one(
      "embedding_bag_table_grad",
      {e.where(chosen, given, e.like(given, 0)), indices, EveryMember(e, call, members + 1)},
      {{"rows", ir::Dims{table.type().dims[0]}}});
}

}  // namespace rml::ops
