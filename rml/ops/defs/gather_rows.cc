// y[i] = x[indices[i]]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/indexing.h"

namespace rml::ops {
namespace {

core::Status ReferenceGatherRows(ir::RefCall& call) {
  const auto indices = call.in<int64_t>(1);
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto y = call.out<T>(0);
    for (int64_t i = 0; i < indices.size(); ++i) {
      RML_ASSIGN(const int64_t row, CheckIndex(indices[i], x.dim(0), i, indices.shape()));
      std::copy_n(x.data() + row * x.dim(1), x.dim(1), y.data() + i * x.dim(1));
    }
    return {};
  });
}

}  // namespace

ir::OpDef GatherRows() {
  ir::OpDef op;
  op.name = "gather_rows";
  op.doc = "Rows of a matrix: `y[i] = x[indices[i]]`. Negative indices count from the end.";
  op.inputs = {{"x"}, {"indices", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kPlain}, {"I", ir::kIndices}};
  op.axes = "rows! d, i -> i d";
  op.reference = ReferenceGatherRows;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const Emit e(call.b());
    const ir::Dims dims = call.grad(0).type().dims;
    const ir::Value index = e.broadcast(e.reshape(call.in(1), {dims[0], 1}), dims);
    return {e.one("scatter_along_axis", {e.zeros_like(call.in(0)), index, call.grad(0)},
                  {{"axis", 0}, {"reduce", "add"}})};
  };
  op.samples = [] {
    return std::vector<ir::Sample>{{{{{4, 3}}, {{5}, ir::Fill::Values({3, 0, -1, 0, 1})}}},
                                   {{{{2, 33}}, {{1}, ir::Fill::Values({1})}}},
                                   {{{{2, 3}}, {{0}}}},
                                   {{{{5, 0}}, {{2}, ir::Fill::Values({1, 4})}}}};
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
