// A decoder as it lies on disk, of several files: a Hugging Face folder (config.json, shards and
// their index) or a GGUF model in parts. Whatever they say, opening ends in an error or in a spec
// whose tensors are all there, with the shapes that the spec promises.
//
// An input is a sequence of files, each "=== NAME LENGTH\n" and then that many bytes, or what is
// left; only the names below are written. An input without such a line is one GGUF file.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "rml/models/model_files.h"
#include "rml/models/tensor_names.h"

namespace rml {
namespace {

using fuzz::Require;
using fuzz::Touch;

constexpr std::string_view kHead = "=== ";
constexpr std::string_view kFirstPart = "m-00001-of-00002.gguf";
constexpr std::array<std::string_view, 7> kNames = {
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-00001-of-00002.safetensors",
    "model-00002-of-00002.safetensors",
    kFirstPart,
    "m-00002-of-00002.gguf",
};

// In memory where the system has such a folder: an input is written thousands of times a second.
const std::string& Folder() {
  // Never destroyed: the exit handler needs it.
  static const std::string* const folder = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto base =
        std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    auto* const pattern = new std::string((base / "rml_model_files_XXXXXX").string());
    Require(::mkdtemp(pattern->data()) != nullptr, "a folder can be made");
    std::atexit([] { std::filesystem::remove_all(Folder()); });
    return pattern;
  }();
  return *folder;
}

void Put(std::string_view name, std::string_view bytes) {
  std::ofstream(Folder() + "/" + std::string(name), std::ios::binary) << bytes;
}

void PutFiles(std::string_view input) {
  if (!input.starts_with(kHead)) return Put(kFirstPart, input);
  while (input.starts_with(kHead)) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const size_t space = line.rfind(' ');
    const std::string_view name =
        line.substr(kHead.size(), std::max(space, kHead.size()) - kHead.size());
    size_t length = input.size();
    std::from_chars(line.data() + space + 1, line.data() + line.size(), length);
    const std::string_view bytes = input.substr(0, length);
    input.remove_prefix(bytes.size());
    if (std::ranges::find(kNames, name) != kNames.end()) Put(name, bytes);
  }
}

void Check(const std::string& path) {
  const auto files = models::ModelFiles::Open(path);
  if (!files.ok()) {
    Require(!files.status().message().empty(), "a refusal has a message");
    return;
  }
  for (const models::TensorSpec& spec : models::DecoderTensors((*files)->spec())) {
    const models::ModelTensor* tensor = (*files)->Find(spec.name);
    if (tensor == nullptr) continue;
    Require(tensor->shape == spec.shape, "a tensor has the shape that the spec promises");
    Touch(tensor->data);
  }
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const std::string_view name : rml::kNames) {
    std::error_code ignored;
    std::filesystem::remove(rml::Folder() + "/" + std::string(name), ignored);
  }
  rml::PutFiles({reinterpret_cast<const char*>(data), size});
  const std::string first_part = rml::Folder() + "/" + std::string(rml::kFirstPart);
  rml::Check(std::filesystem::exists(first_part) ? first_part : rml::Folder());
  return 0;
}
