// y[i] = x[bag of i]
#include <algorithm>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status ReferenceBagRows(ir::RefCall& call) {
  const auto offsets = call.in<int64_t>(1);
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  const int64_t count = y.dim(0);
  for (int64_t b = 0; b + 1 < offsets.size(); ++b) {
    if (offsets[b] < 0 || offsets[b + 1] < offsets[b] || offsets[b + 1] > count) {
      return core::OutOfRange("offsets ", offsets[b], " and ", offsets[b + 1], " of bag ", b,
                              " do not ascend within ", count);
    }
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i)
      std::copy_n(x.data() + b * x.dim(1), x.dim(1), y.data() + i * x.dim(1));
  }
  return {};
}

}  // namespace

ir::OpDef BagRows() {
  ir::OpDef op;
  op.name = "bag_rows";
  op.doc =
      "Each bag's row of `x` [bags, width] for every member: `y[i] = x[b]` for offsets[b] ≤ i < "
      "offsets[b + 1]. `members` only says how many there are.";
  op.inputs = {{"x"}, {"offsets", "I"}, {"members", "*"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.axes = "bags! d, ends!, i! -> i! d";
  op.reference = ReferenceBagRows;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Value every = e.one(
        "iota", {}, {{"shape", ir::Dims{call.grad(0).dim(0)}}, {"dtype", call.in(1).dtype()}});
    return {e.one("embedding_bag", {call.grad(0), every, call.in(1)})};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{{{{{2, 3}},
                                     {{3}, ir::Fill::Values({0, 1, 4})},
                                     {{4}, ir::Fill::Normal(), core::DType::kI64}}},
                                   {{{{3, 2}},
                                     {{4}, ir::Fill::Values({0, 2, 2, 3})},
                                     {{3}, ir::Fill::Normal(), core::DType::kI64}}}};
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
