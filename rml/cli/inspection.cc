#include "rml/cli/inspection.h"

#include <cstdio>
#include <filesystem>
#include <map>

#include "rml/core/format_bytes.h"
#include "rml/io/gguf.h"
#include "rml/io/safetensors.h"
#include "rml/models/model_files.h"

namespace rml::cli {

using core::Expected;
using core::Status;

namespace {

constexpr size_t kShownElements = 8;  // of an array in the metadata

io::Json ElementToJson(const io::GgufValue& value, size_t i) {
  switch (value.element_type()) {
    case io::GgufType::kBool:
      return *value.ElementAs<bool>(i);
    case io::GgufType::kString:
      return *value.ElementAs<std::string>(i);
    case io::GgufType::kF32:
    case io::GgufType::kF64:
      return *value.ElementAs<double>(i);
    case io::GgufType::kU64: {
      const auto wide = value.ElementAs<int64_t>(i);  // JSON's integers are signed here
      return wide.ok() ? io::Json(*wide)
                       : io::Json(static_cast<double>(*value.ElementAs<uint64_t>(i)));
    }
    case io::GgufType::kArray:
      return value.ToString();
    default:
      return *value.ElementAs<int64_t>(i);
  }
}

io::Json ToJson(const io::GgufValue& value) {
  if (!value.is_array()) return ElementToJson(value, 0);
  io::Json list = io::Json::MakeArray();
  for (size_t i = 0; i < std::min(value.size(), kShownElements); ++i)
    list.Append(ElementToJson(value, i));
  if (value.size() <= kShownElements) return list;
  io::Json shortened = io::Json::MakeObject();
  shortened.Set("size", static_cast<int64_t>(value.size()));
  shortened.Set("first", std::move(list));
  return shortened;
}

Status InspectGguf(const std::string& path, Inspection* out) {
  RML_ASSIGN(const io::GgufFile file, io::GgufFile::Open(path));
  out->format = core::StrCat("gguf v", file.version());
  out->file_bytes = static_cast<int64_t>(file.total_bytes());
  for (const io::GgufEntry& entry : file.entries())
    out->metadata.Set(entry.key, ToJson(entry.value));
  for (const io::GgufTensorInfo& tensor : file.tensors()) {
    out->tensors.push_back({.name = tensor.name,
                            .dtype = std::string(tensor.type->name),
                            .shape = {tensor.shape.dims().begin(), tensor.shape.dims().end()},
                            .bytes = static_cast<int64_t>(tensor.data.size())});
  }
  return {};
}

Status InspectSafetensors(const std::string& path, Inspection* out) {
  RML_ASSIGN(const io::SafetensorsFile model, io::SafetensorsFile::Open(path));
  out->file_bytes = static_cast<int64_t>(model.total_bytes());
  for (const auto& [key, value] : model.metadata()) out->metadata.Set(key, value);
  for (const io::SafetensorsTensor& tensor : model.tensors()) {
    out->tensors.push_back({.name = tensor.name,
                            .dtype = std::string(core::Name(tensor.dtype)),
                            .shape = {tensor.shape.dims().begin(), tensor.shape.dims().end()},
                            .bytes = static_cast<int64_t>(tensor.data.size())});
  }
  return {};
}

// Whether rml can run it, and with how much memory.
Status EstimateRun(const std::string& path, int64_t context, Inspection* out) {
  RML_ASSIGN(const auto files, models::ModelFiles::Open(path));
  llm::EngineOptions options{.context_length = context};
  if (context == 0) options.context_length = llm::DefaultContext(files->spec());
  RML_ASSIGN(out->memory, llm::EstimateMemory(files->spec(), files->tensor_bytes(), options,
                                              core::ThreadPool::Default().threads()));
  out->memory_context = options.context_length;
  return {};
}

}  // namespace

Expected<Inspection> Inspect(const std::string& path, int64_t context) {
  Inspection found;
  found.path = path;
  if (std::filesystem::is_directory(path)) {
    found.format = "hugging face folder";
    RML_TRY(InspectSafetensors(path, &found));
    if (auto config = io::Json::ParseFile(path + "/config.json"); config.ok())
      found.metadata = *std::move(config);
  } else if (path.ends_with(".safetensors")) {
    found.format = "safetensors";
    RML_TRY(InspectSafetensors(path, &found));
    found.not_runnable = "a safetensors file alone has no config.json; give its folder";
    return found;
  } else {
    RML_TRY(InspectGguf(path, &found));
  }
  if (const Status run = EstimateRun(path, context, &found); !run.ok())
    found.not_runnable = run.message();
  return found;
}

int64_t Inspection::Parameters() const {
  int64_t count = 0;
  for (const InspectedTensor& tensor : tensors) {
    int64_t elements = 1;
    for (const int64_t dim : tensor.shape) elements *= dim;
    count += elements;
  }
  return count;
}

io::Json Inspection::ToJson() const {
  io::Json out = io::Json::MakeObject();
  out.Set("path", path);
  out.Set("format", format);
  out.Set("file_bytes", file_bytes);
  out.Set("parameters", Parameters());
  out.Set("metadata", metadata);
  io::Json list = io::Json::MakeArray();
  for (const InspectedTensor& tensor : tensors) {
    io::Json shape = io::Json::MakeArray();
    for (const int64_t dim : tensor.shape) shape.Append(dim);
    io::Json entry = io::Json::MakeObject();
    entry.Set("name", tensor.name);
    entry.Set("dtype", tensor.dtype);
    entry.Set("shape", std::move(shape));
    entry.Set("bytes", tensor.bytes);
    list.Append(std::move(entry));
  }
  out.Set("tensors", std::move(list));
  if (memory) {
    io::Json use = io::Json::MakeObject();
    use.Set("context_length", memory_context);
    use.Set("weights_bytes", memory->weights);
    use.Set("cache_bytes", memory->cache);
    use.Set("workspace_bytes", memory->workspace);
    use.Set("total_bytes", memory->total());
    out.Set("memory", std::move(use));
  } else {
    out.Set("memory", nullptr);
    out.Set("not_runnable", not_runnable);
  }
  return out;
}

std::string Inspection::ToText(bool every_tensor) const {
  std::string text = core::StrCat(path, "\n  format      ", format, "\n  size        ",
                                  core::FormatBytes(file_bytes), "\n  parameters  ", Parameters(),
                                  "\n\nmetadata\n");
  for (const io::Json::Member& member : metadata.members()) {
    text += core::StrCat("  ", member.key, " = ", member.value.Dump(), "\n");
  }
  std::map<std::string, std::pair<int64_t, int64_t>> by_dtype;  // count, bytes
  for (const InspectedTensor& tensor : tensors) {
    ++by_dtype[tensor.dtype].first;
    by_dtype[tensor.dtype].second += tensor.bytes;
  }
  text += core::StrCat("\ntensors: ", tensors.size(), "\n");
  for (const auto& [dtype, use] : by_dtype) {
    text += core::StrCat("  ", dtype, ": ", use.first, ", ", core::FormatBytes(use.second), "\n");
  }
  if (every_tensor) {
    for (const InspectedTensor& tensor : tensors) {
      std::string shape;
      for (const int64_t dim : tensor.shape) shape += core::StrCat(shape.empty() ? "" : ", ", dim);
      text += core::StrCat("  ", tensor.name, "  ", tensor.dtype, " [", shape, "]\n");
    }
  }
  if (memory) {
    text += core::StrCat("\nmemory for a context of ", memory_context,
                         " tokens: ", core::FormatBytes(memory->total()), "\n  weights    ",
                         core::FormatBytes(memory->weights),
                         " (mapped from the file)\n  KV cache   ", core::FormatBytes(memory->cache),
                         " (f16, touched as the text grows)\n  workspace  ",
                         core::FormatBytes(memory->workspace), "\n");
  } else {
    text += core::StrCat("\ncannot be run: ", not_runnable, "\n");
  }
  return text;
}

}  // namespace rml::cli
