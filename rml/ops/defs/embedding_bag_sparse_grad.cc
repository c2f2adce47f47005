// The gradient of embedding_bag's table, as the rows that it is not zero in.
#include <map>
#include <vector>

#include "rml/ops/elementwise.h"
#include "rml/ops/embedding_bag.h"

namespace rml::ops {
namespace {

enum { kGrad, kIndices, kOffsets, kWeights };

core::Status InferEmbeddingBagSparseGrad(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckBagGradient(call));
  const ir::Dim found = call.FreshDim(0, call.dim(kIndices, 0));
  outputs->push_back({core::DType::kI64, {found}});
  outputs->push_back({call.dtype(kGrad), {found, call.dim(kGrad, 1)}});
  return {};
}

core::Status ReferenceEmbeddingBagSparseGrad(ir::RefCall& call) {
  const auto grad = call.in<double>(kGrad);
  const int64_t width = grad.dim(1);
  std::map<int64_t, std::vector<double>> sums;
  RML_TRY(ForBags(call, call.call().attr<ir::Dims>("rows")[0].value(),
                  [&](int64_t b, int64_t, int64_t row, double factor) {
                    std::vector<double>& sum = sums[row];
                    sum.resize(static_cast<size_t>(width));
                    for (int64_t d = 0; d < width; ++d)
                      sum[static_cast<size_t>(d)] += factor * grad(b, d);
                  }));
  const auto rows = call.out<int64_t>(0);
  const auto values = call.out<double>(1);
  int64_t found = 0;
  for (const auto& [row, sum] : sums) {
    rows[found] = row;
    for (int64_t d = 0; d < width; ++d) values(found, d) = sum[static_cast<size_t>(d)];
    ++found;
  }
  call.SetExtent(0, 0, found);
  call.SetExtent(1, 0, found);
  return {};
}

// Values are linear in grad. What comes back is put into a dense table
// first: second gradients of tables are rare, and this one is right.
ir::Values VjpEmbeddingBagSparseGrad(ir::ExprCall& call) {
  const Emit e(call.b());
  ir::Values grads(size_t{4});
  if (!call.grad(1).defined()) return grads;
  const std::string& mode = call.call().text("mode");
  const ir::Type rows = call.out(0).type();
  const ir::Type table = {call.grad(1).dtype(),
                          {call.call().attr<ir::Dims>("rows")[0], call.in(kGrad).dim(1)}};
  const ir::Value dense = e.one(
      "scatter_nd", {e.full(0, table), e.reshape(call.out(0), {rows.dims[0], 1}), call.grad(1)},
      {{"reduce", "add"}});
  const ir::Value bags =
      e.one("embedding_bag", {dense, call.in(kIndices), call.in(kOffsets), call.in(kWeights)},
            {{"mode", mode}});
  if (call.needs(kGrad)) grads[kGrad] = bags;
  if (call.needs(kWeights))
    grads[kWeights] = BagWeightGradient(e, call, dense, bags, call.in(kGrad));
  return grads;
}

}  // namespace

ir::OpDef EmbeddingBagSparseGrad() {
  ir::OpDef op;
  op.name = "embedding_bag_sparse_grad";
  op.doc =
      "The gradient of `embedding_bag` for its table of `rows` rows, sparse: the distinct rows "
      "that the indices name, in ascending order, and the sum of what reaches each. How many "
      "there are is known only when it runs.";
  op.inputs = {
      {"grad"}, {"indices", "I"}, {"offsets", "I"}, {"weights", "T", ir::Arity::kOptional}};
  op.outputs = {{"rows", "i64"}, {"values"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"mode", "sum"}, {"rows", ir::RequiredAttr{ir::Dims()}}};
  op.axes = BagAxes({-1, 1});
  op.infer = InferEmbeddingBagSparseGrad;
  op.reference = ReferenceEmbeddingBagSparseGrad;
  op.vjp = VjpEmbeddingBagSparseGrad;
  op.cost = [](const ir::OpCall& call) {
    const double members = static_cast<double>(call.dim(kIndices, 0).max());
    const double elements = static_cast<double>((call.dim(kIndices, 0) * call.dim(kGrad, 1)).max());
    const double bytes = core::Info(call.dtype(kGrad)).block_bytes;
    return ir::Cost{2 * elements, elements * bytes + 8 * members, elements * bytes + 8 * members};
  };
  op.samples = [] {
    const auto numbers = [](std::vector<double> values) {
      return ir::SampleInput({static_cast<int64_t>(values.size())}, ir::Fill::Values(values));
    };
    std::vector<ir::Sample> samples;
    for (const char* mode : {"sum", "mean", "sqrtn"}) {
      samples.push_back({{{{3, 4}}, numbers({4, 0, 0, -1, 2}), numbers({0, 2, 2, 5})},
                         {{"mode", mode}, {"rows", ir::Dims{5}}}});
    }
    samples.push_back(
        {{{{2, 2}}, numbers({1, 1, 3}), numbers({0, 1, 3}), {{3}}}, {{"rows", ir::Dims{4}}}});
    for (const char* mode : {"mean", "sqrtn"}) {
      samples.push_back(
          {{{{2, 2}}, numbers({1, 1, 3}), numbers({0, 1, 3}), {{3}, ir::Fill::Uniform(0.5, 1.5)}},
           {{"mode", mode}, {"rows", ir::Dims{4}}}});
    }
    samples.push_back({{{{2, 33}}, {{40}, ir::Fill::Uniform(0, 6)}, numbers({0, 7, 40})},
                       {{"rows", ir::Dims{1000000}}},
                       false});
    samples.push_back({{{{1, 2}}, {{0}}, numbers({0, 0})}, {{"rows", ir::Dims{3}}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
