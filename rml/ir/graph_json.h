// A graph's form in files: graph.json beside weights.safetensors, which holds its constants.
//
//   {"format": "rml-graph", "version": 1,
//    "symbols": {"batch": [0, 64]},
//    "values": [{"kind": "input", "type": "f32", "dims": ["batch", 3], "name": "x"}, …],
//    "nodes": [{"op": "matmul", "op_version": 1, "inputs": [0, 1], "outputs": [2],
//               "attributes": {…}, "scope": "layers.0"}, …],
//    "outputs": [2], "updates": [[3, 4]]}
//
// Values are numbered by their place; an input that is left out is -1. A constant names its tensor.
// Only attributes that are not the default are written; dimensions are integers or texts ("2*batch
// + 1").
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/io/json.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"

namespace rml::ir {

struct NamedTensor {
  std::string name;
  core::Tensor tensor;
};

// The constants, those of inner graphs too, are appended to `constants` under new names.
io::Json GraphToJson(const Graph& graph, std::vector<NamedTensor>* constants);

// Everything is checked, by Verify at the end: the result is a graph that keeps every rule.
// Messages say where: "nodes[3].inputs[1]: …". `tensor` finds a constant.
core::Expected<Graph> GraphFromJson(
    const io::Json& json, const OpSource& operators,
    const std::function<core::Expected<core::Tensor>(std::string_view name)>& tensor);

// A folder with both files. Writing replaces what is there; graph.json appears last.
core::Status SaveGraph(const Graph& graph, const std::string& folder);
// Constants are mapped, not copied.
core::Expected<Graph> LoadGraph(const std::string& folder, const OpSource& operators);

}  // namespace rml::ir
