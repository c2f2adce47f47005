// The gradient of embedding_bag's table, dense.
#include "rml/ops/elementwise.h"
#include "rml/ops/embedding_bag.h"

namespace rml::ops {
namespace {

enum { kGrad, kIndices, kOffsets, kWeights };

core::Status InferEmbeddingBagTableGrad(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckBagGradient(call));
  outputs->push_back({call.dtype(kGrad), {call.attr<ir::Dims>("rows")[0], call.dim(kGrad, 1)}});
  return {};
}

core::Status ReferenceEmbeddingBagTableGrad(ir::RefCall& call) {
  const auto grad = call.in<double>(kGrad);
  const auto table = call.out<double>(0);
  return ForBags(call, table.dim(0), [&](int64_t b, int64_t, int64_t row, double factor) {
    for (int64_t d = 0; d < table.dim(1); ++d) table(row, d) += factor * grad(b, d);
  });
}

}  // namespace

ir::OpDef EmbeddingBagTableGrad() {
  ir::OpDef op;
  op.name = "embedding_bag_table_grad";
  op.doc =
      "The gradient of `embedding_bag` for its table of `rows` rows, dense. Training takes the "
      "sparse form.";
  op.inputs = {
      {"grad"}, {"indices", "I"}, {"offsets", "I"}, {"weights", "T", ir::Arity::kOptional}};
  op.outputs = {{"d_table"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"mode", "sum"}, {"rows", ir::RequiredAttr{ir::Dims()}}};
  op.axes = BagAxes({1});
  op.infer = InferEmbeddingBagTableGrad;
  op.reference = ReferenceEmbeddingBagTableGrad;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    ir::Values grads(size_t{4});
    const ir::AttrList mode = {{"mode", call.call().text("mode")}};
    const ir::Value bags =
        e.one("embedding_bag",
              {call.grad(0), call.in(kIndices), call.in(kOffsets), call.in(kWeights)}, mode);
    if (call.needs(kGrad)) grads[kGrad] = bags;
    if (call.needs(kWeights))
      grads[kWeights] = BagWeightGradient(e, call, call.grad(0), bags, call.in(kGrad));
    return grads;
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
    return samples;
  };
  return op;
}

}  // namespace rml::ops
