// slot[rows[i]] += g², table[rows[i]] -= lr · g / (√slot + eps), with g = values[i]
#include <algorithm>
#include <cmath>

#include "rml/ops/elementwise.h"
#include "rml/ops/sparse_update.h"

namespace rml::ops {
namespace {

enum { kTable, kSlot, kRows, kValues, kRate };

core::Status InferSparseAdagradUpdate(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckSparseUpdate(call, kTable, kRows, kValues, kRate));
  const ir::Dims& table = call.input(kTable).dims;
  const bool rowwise = call.flag("rowwise");
  const ir::Dims expected = rowwise ? ir::Dims{table[0]} : table;
  if (!(call.input(kSlot).dims == expected)) {
    return core::InvalidArgument("slot is ", call.input(kSlot).dims.ToString(), ", expected ",
                                 expected.ToString(), rowwise ? " where rowwise" : "");
  }
  if (!(call.number("eps") >= 0))
    return core::InvalidArgument("eps is ", call.number("eps"), ", expected at least 0");
  outputs->push_back(call.input(kTable));
  outputs->push_back(call.input(kSlot));
  return {};
}

core::Status ReferenceSparseAdagradUpdate(ir::RefCall& call) {
  const auto old_table = call.in<double>(kTable);
  const auto old_slot = call.in<double>(kSlot);
  const auto values = call.in<double>(kValues);
  const double rate = call.in<double>(kRate)[0];
  const double eps = call.call().number("eps");
  const auto table = call.out<double>(0);
  const auto slot = call.out<double>(1);
  const int64_t width = table.dim(1);
  RML_ASSIGN(const std::vector<int64_t> rows, RowsToUpdate(call, kTable, kRows));
  std::copy(old_table.begin(), old_table.end(), table.begin());
  std::copy(old_slot.begin(), old_slot.end(), slot.begin());
  const auto step = [&](double sum, double g) {
    return sum > 0 || eps > 0 ? rate * g / (std::sqrt(sum) + eps) : 0;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t row = rows[i];
    if (call.call().flag("rowwise")) {
      double squares = 0;
      for (int64_t d = 0; d < width; ++d) squares += values(i, d) * values(i, d);
      if (width > 0) slot[row] += squares / static_cast<double>(width);
      for (int64_t d = 0; d < width; ++d) table(row, d) -= step(slot[row], values(i, d));
      continue;
    }
    for (int64_t d = 0; d < width; ++d) {
      slot(row, d) += values(i, d) * values(i, d);
      table(row, d) -= step(slot(row, d), values(i, d));
    }
  }
  return {};
}

core::Expected<ir::Axes> ResolveUpdate(const ir::OpCall& call) {
  if (call.flag("rowwise")) return ir::Axes();  // the mean is over the whole width
  return ir::Axes{{"width", ir::AxisRole::kFree, ir::Combine::kSum, {1, 1, -1, 1, -1}, {1, 1}}};
}

}  // namespace

ir::OpDef SparseAdagradUpdate() {
  ir::OpDef op;
  op.name = "sparse_adagrad_update";
  op.doc =
      "A step of Adagrad (Duchi et al. 2011) on some rows of `table` [rows, width]. With g = "
      "values[i] at row rows[i]: `slot += g²`, then `table -= lr · g / (√slot + eps)` with the "
      "new slot, which is as large as the table. Where `rowwise`, the slot holds one number a "
      "row: `slot += mean(g²)`. Where slot and eps are 0 nothing moves. The rows are distinct; "
      "all others stay. In place where table and slot die with the call.";
  op.inputs = {{"table"}, {"slot", "S"}, {"rows", "I"}, {"values", "G"}, {"lr", "f32"}};
  op.outputs = {{"new_table"}, {"new_slot", "S"}};
  op.types = {{"T", ir::kFloats}, {"S", ir::kFloats}, {"I", ir::kIndices}, {"G", ir::kFloats}};
  op.attributes = {{"rowwise", false}, {"eps", 1e-10}};
  op.axes = ir::AxesRule(ResolveUpdate);
  op.infer = InferSparseAdagradUpdate;
  op.reference = ReferenceSparseAdagradUpdate;
  op.no_gradient = true;
  op.aliases = {{0, kTable}, {1, kSlot}};
  op.cost = [](const ir::OpCall& call) {
    const double slots = call.flag("rowwise") ? 1 : static_cast<double>(call.dim(kTable, 1).max());
    return SparseUpdateCost(call, kTable, kValues,
                            slots * core::Info(call.dtype(kSlot)).block_bytes);
  };
  op.samples = [] {
    const ir::SampleInput rate = {{}, ir::Fill::Values({0.1})};
    const ir::Fill positive = ir::Fill::Uniform(0.1, 2);
    std::vector<ir::Sample> samples;
    for (const bool rowwise : {false, true}) {
      const auto slot = [&](core::Shape table) {
        return ir::SampleInput(rowwise ? core::Shape{table[0]} : table, positive);
      };
      const ir::AttrList attributes = {{"rowwise", rowwise}, {"eps", 1e-8}};
      samples.push_back(
          {{{{1, 1}}, slot({1, 1}), {{1}, ir::Fill::Values({0})}, {{1, 1}}, rate}, attributes});
      samples.push_back(
          {{{{5, 7}}, slot({5, 7}), {{3}, ir::Fill::Values({4, 0, -3})}, {{3, 7}}, rate},
           attributes});
      samples.push_back(
          {{{{7, 33}}, slot({7, 33}), {{2}, ir::Fill::Values({1, 6})}, {{2, 33}}, rate},
           attributes});
      samples.push_back({{{{3, 2}}, slot({3, 2}), {{0}}, {{0, 2}}, rate}, attributes});
    }
    // A gradient of zero on a fresh slot.
    samples.push_back({{{{2, 2}},
                        {{2, 2}, ir::Fill::Values({0})},
                        {{1}, ir::Fill::Values({1})},
                        {{1, 2}, ir::Fill::Values({0, 1})},
                        rate},
                       {{"eps", 0.0}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
