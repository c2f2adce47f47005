// What optimizer steps on some rows of a table share. `rows` are distinct, as
// embedding_bag_sparse_grad gives them: kernels update them side by side.
#pragma once

#include <vector>

#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"

namespace rml::ops {

// For table [rows, width], rows [n], values [n, width] and the scalar lr, at these inputs.
core::Status CheckSparseUpdate(const ir::OpCall& call, int table, int rows, int values, int lr);

// The rows that are named, each inside the table and named once.
core::Expected<std::vector<int64_t>> RowsToUpdate(const ir::RefCall& call, int table, int rows);

// Bytes and operations for the rows only, with this many numbers a row beside the table's.
ir::Cost SparseUpdateCost(const ir::OpCall& call, int table, int values, double slot_bytes_per_row);

}  // namespace rml::ops
