#include <filesystem>
#include <memory>

#include "rml/io/file_writer.h"
#include "rml/io/safetensors.h"
#include "rml/io/safetensors_writer.h"
#include "rml/ir/graph_json.h"

namespace rml::ir {

using core::Expected;
using core::Status;
using core::StrCat;

namespace {

std::string GraphPath(const std::string& folder) { return folder + "/graph.json"; }
std::string WeightsPath(const std::string& folder) { return folder + "/weights.safetensors"; }

}  // namespace

Status SaveGraph(const Graph& graph, const std::string& folder) {
  std::vector<NamedTensor> constants;
  const io::Json json = GraphToJson(graph, &constants);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return core::IoError(StrCat(folder, ": cannot make the folder"), error.value());
  io::SafetensorsWriter weights;
  for (const NamedTensor& constant : constants) {
    RML_ASSIGN(const core::Tensor here, constant.tensor.Contiguous(core::Cpu()));
    const std::shared_ptr<core::Buffer> keep = here.buffer();
    RML_TRY(weights.AddTensor(
        constant.name, here.dtype(), here.shape(), [here, keep](io::ByteSink sink) -> Status {
          RML_ASSIGN(const std::span<const std::byte> bytes, here.HostBytes());
          return sink(bytes);
        }));
  }
  RML_TRY(weights.Write(WeightsPath(folder)));
  return io::WriteFile(GraphPath(folder), StrCat(json.Dump(1), "\n"));
}

Expected<Graph> LoadGraph(const std::string& folder, const OpSource& operators) {
  RML_ASSIGN(const io::Json json, io::Json::ParseFile(GraphPath(folder)));
  RML_ASSIGN(io::SafetensorsFile opened, io::SafetensorsFile::Open(WeightsPath(folder)));
  const auto weights = std::make_shared<io::SafetensorsFile>(std::move(opened));
  const auto find = [&](std::string_view name) -> Expected<core::Tensor> {
    const io::SafetensorsTensor* const found = weights->Find(name);
    if (found == nullptr)
      return core::NotFound(WeightsPath(folder), ": there is no tensor \"", name, "\"");
    return core::Tensor::Over(core::Buffer::WrapReadOnly(found->data, weights), found->dtype,
                              found->shape);
  };
  auto graph = GraphFromJson(json, operators, find);
  return graph.ok() ? std::move(graph)
                    : Expected<Graph>(graph.status().WithContext(GraphPath(folder)));
}

}  // namespace rml::ir
