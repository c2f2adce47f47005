#include "rml/models/model_files.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "rml/io/json.h"
#include "rml/models/families.h"
#include "rml/models/gguf_config.h"
#include "rml/models/hugging_face_config.h"
#include "rml/quant/dequantize.h"

namespace rml::models {

using core::Expected;
using core::Status;

namespace {

// Tensors that old exporters wrote and nobody needs: they follow from the configuration.
bool IsRedundant(std::string_view name) { return name.ends_with("rotary_emb.inv_freq"); }

}  // namespace

Expected<std::shared_ptr<const ModelFiles>> ModelFiles::Open(const std::string& path) {
  if (std::filesystem::is_directory(path)) return OpenFolder(path);
  RML_ASSIGN(io::GgufFile file, io::GgufFile::Open(path));
  return FromGguf(std::move(file));
}

Expected<std::shared_ptr<const ModelFiles>> ModelFiles::FromGguf(io::GgufFile file) {
  auto files = std::make_shared<ModelFiles>();
  files->path_ = file.name();
  files->gguf_.emplace(std::move(file));
  const io::GgufFile& gguf = *files->gguf_;
  RML_ASSIGN(const GgufConfig config, GgufConfig::Make(gguf));
  RML_ASSIGN(files->spec_, ReadDecoderSpec(config.architecture(), config));
  RML_ASSIGN(files->spec_.name, gguf.GetOr<std::string>("general.name", ""));

  std::vector<std::string_view> names;
  for (const io::GgufTensorInfo& tensor : gguf.tensors()) names.push_back(tensor.name);
  RML_TRY(
      files->Collect(names, [&](const TensorSpec& wanted) -> Expected<std::optional<ModelTensor>> {
        const io::GgufTensorInfo* found = gguf.FindTensor(wanted.gguf);
        if (found == nullptr) return std::optional<ModelTensor>();
        RML_ASSIGN(const core::DType dtype, found->RequireDType());
        return std::optional<ModelTensor>(
            {.file_name = found->name, .dtype = dtype, .shape = found->shape, .data = found->data});
      }));
  return std::shared_ptr<const ModelFiles>(std::move(files));
}

Expected<std::shared_ptr<const ModelFiles>> ModelFiles::OpenFolder(const std::string& path) {
  const std::string config_name = path + "/config.json";
  RML_ASSIGN(io::Json json, io::Json::ParseFile(config_name));
  auto files = std::make_shared<ModelFiles>();
  files->path_ = path;
  RML_ASSIGN(files->safetensors_, io::SafetensorsFile::Open(path));
  const io::SafetensorsFile& model = *files->safetensors_;
  const HuggingFaceConfig config(config_name, std::move(json), [&](std::string_view name) {
    const io::SafetensorsTensor* tensor = model.Find(name);
    return tensor == nullptr ? std::optional<core::Shape>()
                             : std::optional<core::Shape>(tensor->shape);
  });
  RML_ASSIGN(const std::string type, config.ModelType());
  RML_ASSIGN(files->spec_, ReadDecoderSpec(type, config));
  RML_ASSIGN(files->spec_.name, config.String({"", "_name_or_path"}, ""));

  std::vector<std::string_view> names;
  for (const io::SafetensorsTensor& tensor : model.tensors()) names.push_back(tensor.name);
  RML_TRY(
      files->Collect(names, [&](const TensorSpec& wanted) -> Expected<std::optional<ModelTensor>> {
        const io::SafetensorsTensor* found =
            wanted.hugging_face.empty() ? nullptr : model.Find(wanted.hugging_face);
        if (found == nullptr) return std::optional<ModelTensor>();
        std::span<const std::byte> data = found->data;
        if (!found->aligned) data = files->copies_.emplace_back(data.begin(), data.end());
        // Rows are not permuted: the spec says RopeLayout::kHalves instead (see Transform).
        return std::optional<ModelTensor>({.file_name = found->name,
                                           .dtype = found->dtype,
                                           .shape = found->shape,
                                           .data = data,
                                           .pending = wanted.transform == Transform::kNormPlusOne
                                                          ? Transform::kNormPlusOne
                                                          : Transform::kNone});
      }));
  return std::shared_ptr<const ModelFiles>(std::move(files));
}

Status ModelFiles::Collect(std::span<const std::string_view> names_in_file, Finder find) {
  std::unordered_set<std::string_view> known;
  const std::vector<TensorSpec> wanted = DecoderTensors(spec_);
  for (const TensorSpec& tensor : wanted) {
    known.insert(gguf_ ? tensor.gguf : tensor.hugging_face);
    auto found = find(tensor);
    if (!found.ok()) return found.status().WithContext(path_);
    if (!*found) {
      if (tensor.optional) continue;
      return core::DataLoss(path_, ": the tensor '", gguf_ ? tensor.gguf : tensor.hugging_face,
                            "' is missing, which every ", spec_.family, " model has");
    }
    const ModelTensor& have = **found;
    if (have.shape != tensor.shape) {
      return core::DataLoss(path_, ": tensor '", have.file_name, "' has shape ",
                            have.shape.ToString(), ", and the model's sizes make it ",
                            tensor.shape.ToString());
    }
    if (!quant::IsWeightDType(have.dtype)) {
      return core::Unsupported(path_, ": tensor '", have.file_name, "' is ", core::Name(have.dtype),
                               ", which is no type of weights that rml computes with");
    }
    tensor_bytes_ += static_cast<int64_t>(have.data.size());
    tensors_.emplace(tensor.name, std::move(**found));
  }
  for (const std::string_view name : names_in_file) {
    if (known.contains(name) || IsRedundant(name)) continue;
    return core::Unsupported(
        path_, ": the tensor '", name, "' has no place in a ", spec_.family,
        " model as rml knows it; computing without it would give wrong results");
  }
  return {};
}

const ModelTensor* ModelFiles::Find(std::string_view name) const {
  const auto found = tensors_.find(std::string(name));
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace rml::models
