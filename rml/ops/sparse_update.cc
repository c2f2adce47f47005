#include "rml/ops/sparse_update.h"

#include "rml/ops/indexing.h"

namespace rml::ops {

using core::Expected;
using core::Status;

Status CheckSparseUpdate(const ir::OpCall& call, int table, int rows, int values, int lr) {
  const auto rank = [&](int i, int expected) -> Status {
    if (call.rank(i) == expected) return {};
    return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                 " dimensions, expected ", expected);
  };
  RML_TRY(rank(table, 2));
  RML_TRY(rank(rows, 1));
  RML_TRY(rank(values, 2));
  RML_TRY(rank(lr, 0));
  if (!(call.dim(values, 0) == call.dim(rows, 0))) {
    return core::InvalidArgument("there are ", call.dim(rows, 0).ToString(), " rows and ",
                                 call.dim(values, 0).ToString(), " gradients");
  }
  if (!(call.dim(values, 1) == call.dim(table, 1))) {
    return core::InvalidArgument("table is ", call.dim(table, 1).ToString(), " wide and values ",
                                 call.dim(values, 1).ToString());
  }
  return {};
}

Expected<std::vector<int64_t>> RowsToUpdate(const ir::RefCall& call, int table, int rows) {
  const int64_t size = call.in_shape(table)[0];
  const auto named = call.in<int64_t>(rows);
  std::vector<int64_t> found;
  std::vector<bool> seen(static_cast<size_t>(size));
  for (int64_t i = 0; i < named.size(); ++i) {
    RML_ASSIGN(const int64_t row, CheckIndex(named[i], size, i, named.shape()));
    if (seen[static_cast<size_t>(row)])
      return core::InvalidArgument("row ", row, " is named twice, at ", i, " for the second time");
    seen[static_cast<size_t>(row)] = true;
    found.push_back(row);
  }
  return found;
}

ir::Cost SparseUpdateCost(const ir::OpCall& call, int table, int values,
                          double slot_bytes_per_row) {
  const double elements = static_cast<double>(call.input(values).dims.elements().max());
  const double slots = static_cast<double>(call.dim(values, 0).max()) * slot_bytes_per_row;
  const double table_bytes = elements * core::Info(call.dtype(table)).block_bytes;
  const double value_bytes = elements * core::Info(call.dtype(values)).block_bytes;
  return {6 * elements, table_bytes + value_bytes + slots, table_bytes + slots};
}

}  // namespace rml::ops
