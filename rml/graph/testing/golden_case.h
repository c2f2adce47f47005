// Cases of operators that other software computed: testdata/golden/ops, described in
// testdata/golden/README.md. A case is a graph in its own file form, and tensors by name.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/io/json.h"
#include "rml/io/safetensors.h"
#include "rml/ir/graph.h"

namespace rml::graph::testing {

struct GoldenCase {
  std::string source;  // "onnx", "torch" …: the file that it is in
  std::string name;
  io::Json json;  // the graph; it is read when the case runs, so that a fault fails that case
  std::vector<std::string> gradients;  // of these inputs
  double tolerance = -1;               // instead of the dtype's default; -1: none is stated
  bool each = false;  // the tolerance is relative to each value, not to the size of all as well
  std::shared_ptr<const io::SafetensorsFile> tensors;

  // A tensor of the case in a dtype: what safetensors cannot store is there as bytes.
  core::Expected<core::Tensor> Tensor(std::string_view value, const ir::Type& type) const;
  bool Has(std::string_view value) const;
  core::Expected<ir::Graph> ReadGraph() const;
};

// All files of the folder, in the order of their names.
core::Expected<std::vector<GoldenCase>> ReadGoldenCases(const std::string& folder);

// Every operator that the graph calls, also inside of its bodies.
void OperatorsOf(const io::Json& graph, std::set<std::string>* operators);

}  // namespace rml::graph::testing
