#include "rml/graph/testing/random_graph.h"

#include <algorithm>
#include <string_view>

#include "rml/core/check.h"
#include "rml/core/convert.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/broadcast.h"
#include "rml/ops/expr.h"
#include "rml/ops/registry.h"
#include "rml/random/stream.h"

namespace rml::graph::testing {

using core::Tensor;
using ir::Dims;
using ir::Graph;
using ir::Ints;
using ir::Value;

namespace {

constexpr int64_t kMaxElements = 4096;

// Values stay within a few units: what could grow is squashed. What a rounding could make jump is
// left out: providers may differ in the last bits.
class Grower {
 public:
  Grower(Graph* graph, core::DType dtype)
      : trace_(*graph, ops::BuiltinOps(), core::Cpu()), e_(trace_), dtype_(dtype) {
    for (const Dims& dims : {Dims{2, 3}, Dims{3}, Dims{3, 4}, Dims{2, 1, 4}, Dims{}})
      values_.push_back(trace_.Input({dtype, dims}));
  }

  void Step(const RecipeStep& step) {
    const Value& a = Pick(step.a);
    const Value& b = Pick(step.b);
    using Rule = bool (Grower::*)(const Value&, const Value&, uint32_t);
    constexpr Rule kRules[] = {
        &Grower::Unary,   &Grower::Binary,  &Grower::Matmul, &Grower::Reduce, &Grower::Transpose,
        &Grower::Reshape, &Grower::Softmax, &Grower::Choose, &Grower::TopK,   &Grower::Broadcast};
    (this->*kRules[step.op % std::size(kRules)])(a, b, step.c);
  }

 private:
  const Value& Pick(uint32_t number) const { return values_[number % values_.size()]; }
  bool Keep(const Value& value) {
    values_.push_back(value);
    return true;
  }

  bool Unary(const Value& a, const Value&, uint32_t c) {
    constexpr std::string_view kOps[] = {"tanh", "neg", "sigmoid", "exp"};
    const std::string_view op = kOps[c % std::size(kOps)];
    return Keep(e_.one(op, {op == "exp" ? e_.one("tanh", {a}) : a}));
  }
  bool Binary(const Value& a, const Value& b, uint32_t c) {
    const auto dims = ops::BroadcastDims(a.type().dims, b.type().dims);
    if (!dims.ok() || dims->elements().value() > kMaxElements) return false;
    constexpr std::string_view kOps[] = {"add", "sub", "mul"};
    const Value y = e_.one(kOps[c % std::size(kOps)], {a, b});
    return Keep(c % 2 == 0 ? e_.one("tanh", {y}) : e_.mul(y, 0.5));
  }
  bool Matmul(const Value& a, const Value& b, uint32_t) {
    if (a.rank() != 2 || b.rank() != 2) return false;
    const Value right = a.dim(1) == b.dim(0) ? b : e_.transpose(b, {1, 0});
    if (!(a.dim(1) == right.dim(0))) return false;
    return Keep(e_.one("tanh", {e_.matmul(a, right)}));
  }
  bool Reduce(const Value& a, const Value&, uint32_t c) {
    if (a.rank() == 0) return false;
    return Keep(
        e_.mean(a, {static_cast<int64_t>(c % static_cast<uint32_t>(a.rank()))}, c % 3 == 0));
  }
  bool Transpose(const Value& a, const Value&, uint32_t c) {
    if (a.rank() < 2) return false;
    Ints order;
    for (int axis = 0; axis < a.rank(); ++axis)
      order.push_back((axis + static_cast<int>(c)) % a.rank());
    return Keep(e_.transpose(a, order));
  }
  bool Reshape(const Value& a, const Value&, uint32_t c) {
    const ir::Dim all = a.type().dims.elements();
    if (c % 3 == 0) return Keep(e_.reshape(a, {all}));
    const ir::Dim half = ExactDiv(all, 2);
    return half.valid() && Keep(e_.reshape(a, {half, 2}));
  }
  bool Softmax(const Value& a, const Value&, uint32_t c) {
    if (a.rank() == 0) return false;
    return Keep(e_.call("softmax", {a},
                        {{"axis", static_cast<int64_t>(c % static_cast<uint32_t>(a.rank()))}})[0]);
  }
  bool Choose(const Value& a, const Value& b, uint32_t) {
    if (!(a.type() == b.type())) return false;
    return Keep(e_.where(e_.one("less", {a, b}), a, b));
  }
  bool TopK(const Value& a, const Value&, uint32_t c) {
    if (a.rank() == 0 || a.dim(-1).value() < 1) return false;
    return Keep(e_.call(
        "top_k", {a},
        {{"k", static_cast<int64_t>(1 + c % static_cast<uint32_t>(a.dim(-1).value()))}})[0]);
  }
  bool Broadcast(const Value& a, const Value&, uint32_t) {
    if (a.rank() >= 4 || a.type().dims.elements().value() > kMaxElements / 3) return false;
    Dims dims = a.type().dims;
    dims.Insert(0, 3);
    return Keep(e_.broadcast(a, dims));
  }

  ir::TraceBuilder trace_;
  const ops::Emit e_;
  const core::DType dtype_;
  std::vector<Value> values_;
};

}  // namespace

Recipe RandomRecipe(uint64_t seed, int steps) {
  const random::Stream stream(random::Key::FromSeed(seed));
  Recipe recipe;
  for (int i = 0; i < steps; ++i) {
    const random::PhiloxBlock block = stream.Block(static_cast<uint64_t>(i));
    recipe.push_back({block[0], block[1], block[2], block[3]});
  }
  return recipe;
}

Graph GrowGraph(const Recipe& recipe, core::DType dtype) {
  Graph graph;
  Grower grower(&graph, dtype);
  for (const RecipeStep& step : recipe) grower.Step(step);
  std::vector<bool> read(graph.values().size());
  for (const ir::Node& node : graph.nodes()) {
    for (const ir::ValueId id : node.inputs) {
      if (id != ir::kNoValue) read[static_cast<size_t>(id)] = true;
    }
  }
  for (size_t v = 0; v < read.size(); ++v) {
    const ir::GraphValue& value = graph.values()[v];
    const bool made = value.kind == ir::ValueKind::kResult && core::IsFloat(value.type.dtype);
    if (made && !read[v]) graph.AddOutput(static_cast<ir::ValueId>(v));
  }
  return graph;
}

std::vector<Tensor> RandomInputs(const Graph& graph, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.value(id).type;
    const core::Shape shape = type.dims.shape();
    const random::Stream stream(
        random::Fold(random::Key::FromSeed(seed), static_cast<uint64_t>(id)));
    std::vector<double> values(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * stream.Uniform(i) - 1;
    const auto wide = Tensor::FromHost<double>(shape, values, core::Cpu());
    RML_CHECK(wide.ok());
    auto tensor = core::Convert(*wide, type.dtype, core::Cpu());
    RML_CHECK(tensor.ok());
    inputs.push_back(*std::move(tensor));
  }
  return inputs;
}

Recipe Shrink(Recipe recipe, const std::function<bool(const Recipe&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = recipe.size(); i-- > 0;) {
      Recipe without = recipe;
      without.erase(without.begin() + static_cast<ptrdiff_t>(i));
      if (!fails(without)) continue;
      recipe = std::move(without);
      smaller = true;
    }
  }
  return recipe;
}

}  // namespace rml::graph::testing
