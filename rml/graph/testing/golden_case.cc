#include "rml/graph/testing/golden_case.h"

#include <algorithm>
#include <filesystem>

#include "rml/core/buffer.h"
#include "rml/ir/graph_json.h"
#include "rml/ops/registry.h"

namespace rml::graph::testing {

using core::Expected;
using core::Status;
using core::StrCat;

namespace {

Expected<GoldenCase> ReadGoldenCase(const io::Json& json) {
  GoldenCase c;
  auto name = json.Get<std::string>("name");
  if (!name.ok()) return name.status();
  c.name = *std::move(name);
  RML_ASSIGN(c.json, json.Get<io::Json>("graph"));
  RML_ASSIGN(c.tolerance, json.GetOr<double>("tolerance", -1));
  RML_ASSIGN(c.each, json.GetOr<bool>("each", false));
  RML_ASSIGN(c.gradients,
             json.GetOr<std::vector<std::string>>("gradients", std::vector<std::string>()));
  return c;
}

Status ReadGoldenFile(const std::filesystem::path& path, std::vector<GoldenCase>* cases) {
  RML_ASSIGN(const io::Json file, io::Json::ParseFile(path.string()));
  RML_ASSIGN(const io::Json rows, file.Get<io::Json>("cases"));
  std::filesystem::path data = path;
  data.replace_extension(".safetensors");
  RML_ASSIGN(io::SafetensorsFile opened, io::SafetensorsFile::Open(data.string()));
  const auto tensors = std::make_shared<const io::SafetensorsFile>(std::move(opened));
  for (const io::Json& row : rows.items()) {
    auto c = ReadGoldenCase(row);
    if (!c.ok()) return c.status().WithContext(path.string());
    c->source = path.stem().string();
    c->tensors = tensors;
    cases->push_back(*std::move(c));
  }
  return {};
}

}  // namespace

bool GoldenCase::Has(std::string_view value) const {
  return tensors->Find(StrCat(name, "/", value)) != nullptr;
}

Expected<core::Tensor> GoldenCase::Tensor(std::string_view value, const ir::Type& type) const {
  RML_ASSIGN(const io::SafetensorsTensor* found, tensors->Require(StrCat(name, "/", value)));
  core::Shape shape = found->shape;
  if (found->dtype != type.dtype) {
    if (!io::SafetensorsDTypeName(type.dtype).empty() || !type.dims.is_static())
      return core::DataLoss(found->name, " is ", core::Name(found->dtype), ", expected ",
                            type.ToString());
    shape = type.dims.shape();
  }
  return core::Tensor::Over(core::Buffer::WrapReadOnly(found->data, tensors), type.dtype, shape);
}

Expected<ir::Graph> GoldenCase::ReadGraph() const {
  return ir::GraphFromJson(
      json, ops::BuiltinOps(), [&](std::string_view tensor) -> Expected<core::Tensor> {
        RML_ASSIGN(const io::SafetensorsTensor* found, tensors->Require(tensor));
        return core::Tensor::Over(core::Buffer::WrapReadOnly(found->data, tensors), found->dtype,
                                  found->shape);
      });
}

Expected<std::vector<GoldenCase>> ReadGoldenCases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    auto data = entry.path();
    data.replace_extension(".safetensors");
    if (entry.path().extension() == ".json" && std::filesystem::exists(data))
      files.push_back(entry.path());
  }
  if (error) return core::IoError(StrCat(folder, ": cannot be listed"), error.value());
  std::ranges::sort(files);
  std::vector<GoldenCase> cases;
  for (const auto& file : files) RML_TRY(ReadGoldenFile(file, &cases));
  return cases;
}

void OperatorsOf(const io::Json& graph, std::set<std::string>* operators) {
  const io::Json* const nodes = graph.Find("nodes");
  if (nodes == nullptr) return;
  for (const io::Json& node : nodes->items()) {
    if (const auto op = node.Get<std::string>("op"); op.ok()) operators->insert(*op);
    const io::Json* const attributes = node.Find("attributes");
    if (attributes == nullptr) continue;
    for (const io::Json::Member& member : attributes->members())
      OperatorsOf(member.value, operators);
  }
}

}  // namespace rml::graph::testing
