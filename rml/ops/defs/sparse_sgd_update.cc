// table[rows[i]] -= lr · values[i]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/sparse_update.h"

namespace rml::ops {
namespace {

enum { kTable, kRows, kValues, kRate };

core::Status ReferenceSparseSgdUpdate(ir::RefCall& call) {
  const auto old = call.in<double>(kTable);
  const auto values = call.in<double>(kValues);
  const double rate = call.in<double>(kRate)[0];
  const auto table = call.out<double>(0);
  RML_ASSIGN(const std::vector<int64_t> rows, RowsToUpdate(call, kTable, kRows));
  std::copy(old.begin(), old.end(), table.begin());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int64_t d = 0; d < table.dim(1); ++d) table(rows[i], d) -= rate * values(i, d);
  }
  return {};
}

}  // namespace

ir::OpDef SparseSgdUpdate() {
  ir::OpDef op;
  op.name = "sparse_sgd_update";
  op.doc =
      "A step of SGD on some rows of `table` [rows, width]: `table[rows[i]] -= lr · values[i]`. "
      "The rows are distinct; all others stay. In place where the table dies with the call.";
  op.inputs = {{"table"}, {"rows", "I"}, {"values", "G"}, {"lr", "f32"}};
  op.outputs = {{"new_table"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}, {"G", ir::kFloats}};
  op.axes = "all! width, n!, n! width, -> all! width";
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckSparseUpdate(call, kTable, kRows, kValues, kRate));
    outputs->push_back(call.input(kTable));
    return {};
  };
  op.reference = ReferenceSparseSgdUpdate;
  op.no_gradient = true;
  op.aliases = {{0, kTable}};
  op.cost = [](const ir::OpCall& call) { return SparseUpdateCost(call, kTable, kValues, 0); };
  op.samples = [] {
    const ir::SampleInput rate = {{}, ir::Fill::Values({0.1})};
    return std::vector<ir::Sample>{
        {{{{1, 1}}, {{1}, ir::Fill::Values({0})}, {{1, 1}}, rate}},
        {{{{5, 7}}, {{3}, ir::Fill::Values({4, 0, -3})}, {{3, 7}}, rate}},
        {{{{7, 33}}, {{2}, ir::Fill::Values({1, 6})}, {{2, 33}}, rate}},
        {{{{3, 2}}, {{0}}, {{0, 2}}, rate}},
    };
  };
  return op;
}

}  // namespace rml::ops
