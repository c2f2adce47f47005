// A graph's JSON: whatever the text, reading ends in an error or in a graph that keeps every rule,
// and that is written and read back equal.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/check.h"
#include "rml/io/json.h"
#include "rml/ir/graph_json.h"
#include "rml/ir/verify.h"
#include "rml/ops/registry.h"

namespace rml {
namespace {

using fuzz::Require;

// Constants by name: "f32.3" is three floats, "i64.2.2" …; nothing else is there.
core::Expected<core::Tensor> FindTensor(std::string_view name) {
  const size_t dot = name.find('.');
  const auto dtype = core::ParseDType(name.substr(0, dot));
  if (!dtype || dot == std::string_view::npos || core::IsQuantized(*dtype))
    return core::NotFound("no tensor");
  std::vector<int64_t> dims;
  for (const char c : name.substr(dot + 1)) {
    if (c >= '0' && c <= '9') dims.push_back(c - '0');
  }
  RML_ASSIGN(const core::Shape shape, core::Shape::Make(dims));
  return core::Tensor::Zeros(*dtype, shape, core::Cpu());
}

core::Expected<ir::Graph> Read(std::string_view text,
                               const std::vector<ir::NamedTensor>& constants) {
  RML_ASSIGN(const io::Json json, io::Json::Parse(text));
  return ir::GraphFromJson(json, ops::BuiltinOps(),
                           [&](std::string_view name) -> core::Expected<core::Tensor> {
                             for (const ir::NamedTensor& constant : constants) {
                               if (constant.name == name) return constant.tensor;
                             }
                             return FindTensor(name);
                           });
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = rml::Read({reinterpret_cast<const char*>(data), size}, {});
  if (!graph.ok()) {
    rml::Require(!graph.status().message().empty(), "a refusal has a message");
    return 0;
  }
  rml::Require(rml::ir::Verify(*graph).ok(), "a graph that was read keeps the rules");
  std::vector<rml::ir::NamedTensor> constants;
  const std::string text = rml::ir::GraphToJson(*graph, &constants).Dump();
  const auto again = rml::Read(text, constants);
  rml::Require(again.ok(), "a graph that was written is read");
  rml::Require(again->ToString() == graph->ToString(), "it is the same graph");
  return 0;
}
