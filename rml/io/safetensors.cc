#include "rml/io/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <system_error>

#include "rml/io/json.h"
#include "rml/io/printable.h"
#include "rml/io/safetensors_dtypes.h"
#include "rml/io/safetensors_parse.h"

namespace rml::io {
namespace {

namespace fs = std::filesystem;
using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::string_view kSingleName = "model.safetensors";
constexpr size_t kMaxParts = 10'000;
constexpr uint64_t kMaxIndexBytes = uint64_t{256} << 20;

bool IsInside(const fs::path& file, const fs::path& folder) {
  const auto [in_folder, in_file] = std::ranges::mismatch(folder, file);
  return in_folder == folder.end() && in_file != file.end();
}

// The path of a file that an index names. It must lie in the index's folder: an index is data from
// outside, and must not choose what else of this machine is read.
Expected<fs::path> Confine(const fs::path& folder, const std::string& name,
                           std::string_view index) {
  const fs::path relative(name);
  const bool climbs =
      std::ranges::any_of(relative, [](const fs::path& step) { return step == ".."; });
  if (name.empty() || relative.is_absolute() || climbs || name.find('\0') != std::string::npos) {
    return core::DataLoss(index, ": the file name \"", Printable(name),
                          "\" leads out of the folder");
  }
  const fs::path path = folder / relative;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) {
    return core::NotFound(index, ": the file \"", Printable(name), "\" that it names is missing");
  }
  const fs::path real_folder = fs::canonical(folder, error);
  if (!error && IsInside(real, real_folder)) return path;
  // Hugging Face's cache keeps the bytes in blobs/ and links to them from snapshots/REVISION/.
  if (!error && real_folder.parent_path().filename() == "snapshots" &&
      IsInside(real, real_folder.parent_path().parent_path() / "blobs")) {
    return path;
  }
  return core::DataLoss(index, ": the file \"", Printable(name), "\" is a link out of the folder");
}

}  // namespace

std::string_view SafetensorsDTypeName(core::DType dtype) {
  const auto* found = std::ranges::find(kSafetensorsDTypes, std::optional<core::DType>(dtype),
                                        &SafetensorsDType::dtype);
  return found == kSafetensorsDTypes.end() ? std::string_view() : found->name;
}

struct SafetensorsFile::Rep {
  std::string name;
  std::vector<MappedFile> files;  // empty after Parse
  Metadata metadata;
  std::vector<SafetensorsTensor> tensors;
  std::vector<uint32_t> by_name;
  uint64_t total_bytes = 0;

  void AddPart(SafetensorsPart part, int number, uint64_t size) {
    if (number == 0) metadata = std::move(part.metadata);
    for (SafetensorsTensor& tensor : part.tensors) {
      tensor.part = number;
      tensors.push_back(std::move(tensor));
    }
    total_bytes += size;
  }

  Status AddFile(const std::string& path) {
    RML_ASSIGN(MappedFile file, MappedFile::Open(path));
    RML_ASSIGN(SafetensorsPart part, ParseSafetensorsPart(file.bytes(), path));
    AddPart(std::move(part), static_cast<int>(files.size()), file.size());
    files.push_back(std::move(file));
    return OkStatus();
  }

  Status AddIndexedFiles(const std::string& index_path) {
    auto index = Json::ParseFile(index_path, {.bytes = kMaxIndexBytes});
    if (!index.ok()) return index.status();
    const Json* map = index->Find("weight_map");
    if (map == nullptr || !map->is_object()) {
      return core::DataLoss(index_path, ": there is no object \"weight_map\"");
    }
    const fs::path folder = fs::path(index_path).parent_path();
    std::vector<std::string> names;
    for (const Json::Member& member : map->members()) {
      auto file = member.value.As<std::string>();
      if (!file.ok()) {
        return core::DataLoss(index_path, ": the file of tensor \"", Printable(member.key), "\" ",
                              file.status().message());
      }
      names.push_back(*std::move(file));
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    if (names.size() > kMaxParts) {
      return core::DataLoss(index_path, ": it names ", names.size(), " files, more than ",
                            kMaxParts);
    }
    for (const std::string& file : names) {
      RML_ASSIGN(const fs::path path, Confine(folder.empty() ? "." : folder, file, index_path));
      RML_TRY(AddFile(path.string()));
    }
    RML_TRY(Index());
    for (const Json::Member& member : map->members()) {
      const SafetensorsTensor* tensor = Find(member.key);
      const std::string wanted = *member.value.As<std::string>();
      if (tensor == nullptr || names[static_cast<size_t>(tensor->part)] != wanted) {
        return core::DataLoss(index_path, ": tensor \"", Printable(member.key), "\" is not in ",
                              Printable(wanted), ", where the index puts it");
      }
    }
    return OkStatus();
  }

  Status Index() {
    by_name.resize(tensors.size());
    std::iota(by_name.begin(), by_name.end(), 0u);
    const auto name_of = [this](uint32_t i) -> const std::string& { return tensors[i].name; };
    std::ranges::sort(by_name, {}, name_of);
    for (size_t i = 1; i < by_name.size(); ++i) {
      const std::string& tensor = name_of(by_name[i]);
      if (tensor == name_of(by_name[i - 1])) {
        return core::DataLoss(name, ": tensor \"", Printable(tensor), "\" is in two files");
      }
    }
    return OkStatus();
  }

  const SafetensorsTensor* Find(std::string_view tensor_name) const {
    const auto name_of = [this](uint32_t i) -> std::string_view { return tensors[i].name; };
    const auto found = std::ranges::lower_bound(by_name, tensor_name, {}, name_of);
    if (found == by_name.end() || name_of(*found) != tensor_name) return nullptr;
    return &tensors[*found];
  }
};

Expected<SafetensorsFile> SafetensorsFile::Open(std::string_view path) {
  auto rep = std::make_unique<Rep>();
  rep->name = std::string(path);
  std::error_code error;
  if (fs::is_directory(rep->name, error)) {
    const fs::path folder(rep->name);
    if (fs::exists(folder / kIndexName, error)) {
      rep->name = (folder / kIndexName).string();
    } else if (fs::exists(folder / kSingleName, error)) {
      rep->name = (folder / kSingleName).string();
    } else {
      return core::NotFound(path, ": the folder holds neither ", kIndexName, " nor ", kSingleName);
    }
  }
  if (rep->name.ends_with(".json")) {
    RML_TRY(rep->AddIndexedFiles(rep->name));
  } else {
    RML_TRY(rep->AddFile(rep->name));
    RML_TRY(rep->Index());
  }
  return SafetensorsFile(std::move(rep));
}

Expected<SafetensorsFile> SafetensorsFile::Parse(std::span<const std::byte> bytes,
                                                 std::string_view name) {
  auto rep = std::make_unique<Rep>();
  rep->name = std::string(name);
  RML_ASSIGN(SafetensorsPart part, ParseSafetensorsPart(bytes, name));
  rep->AddPart(std::move(part), 0, bytes.size());
  RML_TRY(rep->Index());
  return SafetensorsFile(std::move(rep));
}

SafetensorsFile::SafetensorsFile(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const std::string& SafetensorsFile::name() const { return rep_->name; }
std::span<const SafetensorsTensor> SafetensorsFile::tensors() const { return rep_->tensors; }
const SafetensorsFile::Metadata& SafetensorsFile::metadata() const { return rep_->metadata; }
uint64_t SafetensorsFile::total_bytes() const { return rep_->total_bytes; }

const SafetensorsTensor* SafetensorsFile::Find(std::string_view tensor_name) const {
  return rep_->Find(tensor_name);
}

Expected<const SafetensorsTensor*> SafetensorsFile::Require(std::string_view tensor_name) const {
  const SafetensorsTensor* tensor = Find(tensor_name);
  if (tensor == nullptr)
    return core::NotFound(name(), ": there is no tensor \"", tensor_name, "\"");
  return tensor;
}

int SafetensorsFile::part_count() const {
  return std::max(1, static_cast<int>(rep_->files.size()));
}

const MappedFile* SafetensorsFile::part_file(int part) const {
  const auto index = static_cast<size_t>(part);
  return part >= 0 && index < rep_->files.size() ? &rep_->files[index] : nullptr;
}

void SafetensorsFile::Advise(Access access) const {
  for (const MappedFile& file : rep_->files) file.Advise(access);
}

void SafetensorsFile::Release(const SafetensorsTensor& tensor) const {
  if (const MappedFile* file = part_file(tensor.part)) file->Release(tensor.data);
}

}  // namespace rml::io
