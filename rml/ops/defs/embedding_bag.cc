// y[b] = Σ_{i in bag b} weights[i] · table[indices[i]] / divisor
#include "rml/ops/embedding_bag.h"

#include "rml/ops/elementwise.h"
#include "rml/ops/extremes.h"

namespace rml::ops {
namespace {

enum { kTable, kIndices, kOffsets, kWeights };

core::Status InferEmbeddingBag(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Dim bags, BagsOf(call));
  outputs->push_back({call.dtype(kTable), {bags, call.dim(kTable, 1)}});
  return {};
}

core::Status ReferenceEmbeddingBag(ir::RefCall& call) {
  const auto table = call.in<double>(kTable);
  const auto y = call.out<double>(0);
  const bool largest = call.call().text("mode") == "max";
  const auto offsets = call.in<int64_t>(kOffsets);
  return ForBags(call, table.dim(0), [&](int64_t b, int64_t i, int64_t row, double factor) {
    for (int64_t d = 0; d < table.dim(1); ++d) {
      const double x = table(row, d);
      if (!largest) {
        y(b, d) += factor * x;
      } else {
        y(b, d) = i == offsets[b] ? x : Larger(y(b, d), x);
      }
    }
  });
}

ir::Values VjpEmbeddingBag(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::AttrList mode = {{"mode", call.call().text("mode")}};
  ir::Values grads(size_t{4});
  if (call.needs(kTable) && call.call().text("mode") == "max") {
    grads[kTable] = BagMaxGradient(e, call);
  } else if (call.needs(kTable)) {
    ir::AttrList attributes = mode;
    attributes.push_back({"rows", ir::Dims{call.in(kTable).dim(0)}});
    grads[kTable] =
        e.one("embedding_bag_table_grad",
              {call.grad(0), call.in(kIndices), call.in(kOffsets), call.in(kWeights)}, attributes);
  }
  if (call.needs(kWeights))
    grads[kWeights] = BagWeightGradient(e, call, call.in(kTable), call.out(0), call.grad(0));
  return grads;
}

}  // namespace

ir::OpDef EmbeddingBag() {
  ir::OpDef op;
  op.name = "embedding_bag";
  op.doc =
      "Rows of `table` [rows, width], combined bag by bag: bag b takes `indices` from "
      "`offsets[b]` to `offsets[b + 1]` - 1 (so `offsets` has one element more than there are "
      "bags). `mode`: sum; mean, over the sum of the weights; sqrtn, over the root of the sum of "
      "their squares; max, of each column by itself, without weights (NaN is passed on; the "
      "gradient goes to the first of the largest, as PyTorch's). An empty bag gives zeros.";
  op.inputs = {
      {"table"}, {"indices", "I"}, {"offsets", "I"}, {"weights", "T", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"mode", "sum"}};
  op.axes = BagAxes({1});
  op.infer = InferEmbeddingBag;
  op.reference = ReferenceEmbeddingBag;
  op.vjp = VjpEmbeddingBag;
  op.cost = [](const ir::OpCall& call) {
    const double elements =
        static_cast<double>((call.dim(kIndices, 0) * call.dim(kTable, 1)).max());
    const double bytes = core::Info(call.dtype(kTable)).block_bytes;
    return ir::Cost{
        2 * elements, elements * bytes + 8 * static_cast<double>(call.dim(kIndices, 0).max()),
        bytes * static_cast<double>((call.dim(kOffsets, 0) * call.dim(kTable, 1)).max())};
  };
  op.samples = [] {
    const auto numbers = [](std::vector<double> values) {
      return ir::SampleInput({static_cast<int64_t>(values.size())}, ir::Fill::Values(values));
    };
    std::vector<ir::Sample> samples;
    for (const char* mode : {"sum", "mean", "sqrtn"}) {
      samples.push_back(
          {{{{5, 3}}, numbers({4, 0, 0, -1, 2}), numbers({0, 2, 2, 5})}, {{"mode", mode}}});
    }
    samples.push_back({{{{4, 2}}, numbers({1, 1, 3}), numbers({0, 1, 3}), {{3}}}});
    for (const char* mode : {"mean", "sqrtn"}) {
      samples.push_back({{{{4, 2}},
                          numbers({1, 1, 3, 0}),
                          numbers({0, 1, 1, 4}),
                          {{4}, ir::Fill::Uniform(0.5, 1.5)}},
                         {{"mode", mode}}});
    }
    samples.push_back(
        {{{{5, 3}, ir::Fill::Distinct()}, numbers({4, 0, 0, -1, 2, 1}), numbers({0, 2, 2, 5, 6})},
         {{"mode", "max"}}});
    samples.push_back({{{{7, 33}}, {{40}, ir::Fill::Uniform(0, 6)}, numbers({0, 7, 40})},
                       {{"mode", "max"}},
                       false});
    samples.push_back({{{{7, 33}}, {{40}, ir::Fill::Uniform(0, 6)}, numbers({0, 7, 40})}});
    samples.push_back({{{{3, 2}}, {{0}}, numbers({0})}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
