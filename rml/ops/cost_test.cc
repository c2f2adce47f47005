// What operators cost, in numbers: the planner and MFU figures add them up, and the checks of every
// operator only hold a call's cost against those of its pieces.
#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/ir/cost.h"
#include "rml/ir/op_call.h"
#include "rml/ops/registry.h"

namespace rml::ops {
namespace {

using core::DType;
using ir::Ints;
using ir::Type;

ir::Cost CostOfCall(std::string_view op, const std::vector<Type>& inputs,
                    const ir::AttrList& attributes = {}) {
  const ir::OpDef& definition = **BuiltinOps().Find(op);
  std::vector<ir::OpCall::Input> known;
  for (const Type& type : inputs) known.push_back({.type = type});
  const auto bound = ir::Attributes::Bind(definition.attributes, attributes);
  if (!bound.ok()) throw Error(bound.status());
  const ir::OpCall call(definition, known, *bound);
  ir::Types types;
  const core::Status status = ir::InferTypes(call, &types);
  EXPECT_TRUE(status.ok()) << status.message();
  return ir::CostOf(call, types);
}

void ExpectCost(const ir::Cost& cost, double flops, double read, double written) {
  EXPECT_DOUBLE_EQ(cost.flops, flops);
  EXPECT_DOUBLE_EQ(cost.bytes_read, read);
  EXPECT_DOUBLE_EQ(cost.bytes_written, written);
}

Type Floats32(std::initializer_list<ir::Dim> dims) { return {DType::kF32, dims}; }

TEST(Cost, MatmulIsTwoMNK) {
  ExpectCost(CostOfCall("matmul", {Floats32({3, 4}), Floats32({4, 5})}), 2 * 3 * 4 * 5,
             4 * (12 + 20), 4 * 15);
  // Of a batch, each; a matrix that all share is read once.
  ExpectCost(CostOfCall("matmul", {Floats32({7, 3, 4}), Floats32({4, 5})}), 7 * 120, 4 * (84 + 20),
             4 * 105);
  const Type half = {DType::kF16, {3, 4}};
  ExpectCost(CostOfCall("matmul", {half, {DType::kF16, {4, 5}}}), 120, 2 * (12 + 20), 2 * 15);
}

TEST(Cost, EveryWayToSayAMatmulCostsTheSame) {
  const ir::Cost matmul = CostOfCall("matmul", {Floats32({3, 256}), Floats32({256, 5})});
  const auto expect_same = [&](const ir::Cost& other) {
    ExpectCost(other, matmul.flops, matmul.bytes_read, matmul.bytes_written);
  };
  expect_same(
      CostOfCall("einsum", {Floats32({3, 256}), Floats32({256, 5})}, {{"equation", "ik,kj->ij"}}));
  expect_same(CostOfCall("dot_general", {Floats32({3, 256}), Floats32({256, 5})},
                         {{"lhs_contract", Ints{1}}, {"rhs_contract", Ints{0}}}));
  // Quantised weights are as many products, of fewer bytes: 34 for 32 numbers.
  ExpectCost(CostOfCall("quantized_matmul", {Floats32({3, 256}), {DType::kQ8_0, {5, 256}}}),
             matmul.flops, 4 * 3 * 256 + 5 * 256 * 34 / 32.0, matmul.bytes_written);
}

TEST(Cost, ConvolutionAndItsGradientsAreTheSameProducts) {
  // 2 images, 4 of 6 channels in each of 2 groups, 3 x 3, to 5 x 7 places.
  const Type x = Floats32({2, 8, 5, 7}), w = Floats32({6, 4, 3, 3}), y = Floats32({2, 6, 5, 7});
  const double flops = 2.0 * (2 * 6 * 5 * 7) * (4 * 3 * 3);
  const double xs = 4 * 560, ws = 4 * 216, ys = 4 * 420;
  const ir::AttrList attributes = {{"groups", 2}, {"pads", Ints{1, 1, 1, 1}}};
  const auto with_shape = [&](const ir::Dims& shape) {
    ir::AttrList list = attributes;
    list.push_back({"shape", shape});
    return list;
  };
  ExpectCost(CostOfCall("convolution", {x, w}, attributes), flops, xs + ws, ys);
  ExpectCost(CostOfCall("convolution_input_grad", {y, w}, with_shape(x.dims)), flops, ys + ws, xs);
  ExpectCost(CostOfCall("convolution_weight_grad", {x, y}, with_shape(w.dims)), flops, xs + ys, ws);
}

TEST(Cost, AttentionIsItsTwoProductsAndASoftmax) {
  // 2 sequences, 4 heads that share 2 of keys; 3 queries, 5 keys; widths 8 and 6.
  const std::vector<Type> inputs = {Floats32({2, 4, 3, 8}), Floats32({2, 2, 5, 8}),
                                    Floats32({2, 2, 5, 6})};
  const double scores = 2 * 4 * 3 * 5;
  ExpectCost(CostOfCall("attention", inputs), scores * (2 * 8 + 2 * 6 + 5),
             4 * (2 * 4 * 3 * 8 + 2 * 2 * 5 * 8 + 2 * 2 * 5 * 6), 4 * 2 * 4 * 3 * 6);
  const std::vector<Type> square(3, Floats32({1, 1, 6, 8}));
  EXPECT_DOUBLE_EQ(CostOfCall("attention", square, {{"causal", true}}).flops,
                   CostOfCall("attention", square).flops / 2);
}

TEST(Cost, ElementwiseIsOneOperationAnElementAndEveryByteOnce) {
  ExpectCost(CostOfCall("add", {Floats32({6, 7}), Floats32({7})}), 42, 4 * (42 + 7), 4 * 42);
  ExpectCost(CostOfCall("copy", {{DType::kI4, {6, 8}}}), 48, 24, 24);
}

TEST(Cost, SymbolsCostTheirLargestSize) {
  const ir::Dim batch = ir::Dim::Symbol("batch", 0, 16);
  ExpectCost(CostOfCall("matmul", {Floats32({batch, 4}), Floats32({4, 5})}), 16 * 2 * 4 * 5,
             4 * (64 + 20), 4 * 16 * 5);
}

}  // namespace
}  // namespace rml::ops
