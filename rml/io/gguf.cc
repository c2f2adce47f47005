#include "rml/io/gguf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>

#include "rml/core/check.h"
#include "rml/io/gguf_parse.h"
#include "rml/io/printable.h"

namespace rml::io {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

namespace {

// What a part's keys say about the whole.
struct SplitKeys {
  uint32_t number = 0;
  uint32_t count = 1;
  int64_t tensors = -1;  // of all parts together; -1 when not said
};

Expected<SplitKeys> ReadSplitKeys(const GgufPart& part, std::string_view name) {
  SplitKeys keys;
  const auto read = [&](std::string_view key, auto* value) -> Status {
    const GgufValue* found = part.Find(key);
    if (found == nullptr) return OkStatus();
    auto number = found->As<std::remove_pointer_t<decltype(value)>>();
    if (!number.ok()) {
      return Status(number.status().code(),
                    StrCat(name, ": key \"", key, "\" ", number.status().message()));
    }
    *value = *number;
    return OkStatus();
  };
  RML_TRY(read(kSplitNumber, &keys.number));
  RML_TRY(read(kSplitCount, &keys.count));
  RML_TRY(read(kSplitTensors, &keys.tensors));
  // Files that were merged again may keep a count of 0 or 1.
  keys.count = std::max<uint32_t>(keys.count, 1);
  return keys;
}

}  // namespace

std::string GgufPartPath(std::string_view prefix, uint32_t number, uint32_t count) {
  std::array<char, 48> suffix;
  const int length =
      std::snprintf(suffix.data(), suffix.size(), "-%05u-of-%05u.gguf", number + 1, count);
  return StrCat(prefix, std::string_view(suffix.data(), static_cast<size_t>(length)));
}

struct GgufFile::Rep {
  std::string name;
  std::vector<MappedFile> files;  // empty after Parse
  GgufPart first;                 // its tensors have moved to `tensors`
  std::vector<GgufTensorInfo> tensors;
  std::vector<uint32_t> tensors_by_name;
  uint64_t total_bytes = 0;

  void AddPart(GgufPart* part, int number, uint64_t size) {
    for (GgufTensorInfo& tensor : part->tensors) {
      tensor.part = number;
      tensors.push_back(std::move(tensor));
    }
    part->tensors.clear();
    total_bytes += size;
  }

  Status Index() {
    tensors_by_name.resize(tensors.size());
    std::iota(tensors_by_name.begin(), tensors_by_name.end(), 0u);
    const auto name_of = [this](uint32_t i) -> const std::string& { return tensors[i].name; };
    std::ranges::sort(tensors_by_name, {}, name_of);
    for (size_t i = 1; i < tensors_by_name.size(); ++i) {
      const std::string& tensor = name_of(tensors_by_name[i]);
      if (tensor == name_of(tensors_by_name[i - 1])) {
        return core::DataLoss(name, ": tensor \"", Printable(tensor), "\" appears in two parts");
      }
    }
    return OkStatus();
  }

  // Opens the parts after the first, which stand beside it.
  Status OpenOtherParts(const SplitKeys& keys) {
    const std::string suffix = GgufPartPath("", keys.number, keys.count);
    if (!std::string_view(name).ends_with(suffix)) {
      return core::InvalidArgument(name, ": the file is part ", keys.number + 1, " of ", keys.count,
                                   ", so its name must end in ", suffix, "; rename it back");
    }
    const std::string_view prefix = std::string_view(name).substr(0, name.size() - suffix.size());
    if (keys.number != 0) {
      return core::InvalidArgument(name, ": this is part ", keys.number + 1, " of ", keys.count,
                                   "; open the first one, ", GgufPartPath(prefix, 0, keys.count));
    }
    for (uint32_t i = 1; i < keys.count; ++i) {
      const std::string path = GgufPartPath(prefix, i, keys.count);
      auto file = MappedFile::Open(path);
      if (!file.ok()) {
        return file.status().WithContext(StrCat(name, ": part ", i + 1, " of ", keys.count));
      }
      RML_ASSIGN(GgufPart part, ParseGgufPart(file->bytes(), path));
      RML_ASSIGN(const SplitKeys part_keys, ReadSplitKeys(part, path));
      if (part_keys.number != i || part_keys.count != keys.count) {
        return core::DataLoss(path, ": the keys say part ", part_keys.number + 1, " of ",
                              part_keys.count, ", and the name says ", i + 1, " of ", keys.count);
      }
      AddPart(&part, static_cast<int>(i), file->size());
      files.push_back(*std::move(file));
    }
    if (keys.tensors >= 0 && static_cast<uint64_t>(keys.tensors) != tensors.size()) {
      return core::DataLoss(name, ": key \"", kSplitTensors, "\" promises ", keys.tensors,
                            " tensors, and the ", keys.count, " parts hold ", tensors.size());
    }
    return OkStatus();
  }
};

Expected<core::DType> GgufTensorInfo::RequireDType() const {
  if (dtype.has_value()) return *dtype;
  return core::Unsupported("tensor \"", Printable(name), "\" has the type ", type->name,
                           ", which rml cannot compute with; quantise the model to another type");
}

Expected<GgufFile> GgufFile::Open(std::string_view path) {
  auto rep = std::make_unique<Rep>();
  rep->name = std::string(path);
  RML_ASSIGN(MappedFile file, MappedFile::Open(path));
  RML_ASSIGN(rep->first, ParseGgufPart(file.bytes(), path));
  rep->AddPart(&rep->first, 0, file.size());
  rep->files.push_back(std::move(file));
  RML_ASSIGN(const SplitKeys keys, ReadSplitKeys(rep->first, path));
  if (keys.count > 1) RML_TRY(rep->OpenOtherParts(keys));
  RML_TRY(rep->Index());
  return GgufFile(std::move(rep));
}

Expected<GgufFile> GgufFile::Parse(std::span<const std::byte> bytes, std::string_view name) {
  auto rep = std::make_unique<Rep>();
  rep->name = std::string(name);
  RML_ASSIGN(rep->first, ParseGgufPart(bytes, name));
  rep->AddPart(&rep->first, 0, bytes.size());
  RML_ASSIGN(const SplitKeys keys, ReadSplitKeys(rep->first, name));
  if (keys.count > 1) {
    return core::InvalidArgument(name, ": this is part ", keys.number + 1, " of ", keys.count,
                                 "; a model in parts must be opened by its path");
  }
  RML_TRY(rep->Index());
  return GgufFile(std::move(rep));
}

GgufFile::GgufFile(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

const std::string& GgufFile::name() const { return rep_->name; }
uint32_t GgufFile::version() const { return rep_->first.version; }
uint32_t GgufFile::alignment() const { return rep_->first.alignment; }
std::span<const GgufEntry> GgufFile::entries() const { return rep_->first.entries; }
const GgufValue* GgufFile::Find(std::string_view key) const { return rep_->first.Find(key); }
std::span<const GgufTensorInfo> GgufFile::tensors() const { return rep_->tensors; }
uint64_t GgufFile::total_bytes() const { return rep_->total_bytes; }

int GgufFile::part_count() const { return std::max(1, static_cast<int>(rep_->files.size())); }

const MappedFile* GgufFile::part_file(int part) const {
  const auto index = static_cast<size_t>(part);
  return part >= 0 && index < rep_->files.size() ? &rep_->files[index] : nullptr;
}

Expected<std::span<const std::string_view>> GgufFile::GetStrings(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return MissingKey(key);
  auto strings = value->Strings();
  if (!strings.ok()) return InKey(key, strings.status());
  return strings;
}

const GgufTensorInfo* GgufFile::FindTensor(std::string_view tensor_name) const {
  const auto name_of = [this](uint32_t i) -> std::string_view { return rep_->tensors[i].name; };
  const auto& order = rep_->tensors_by_name;
  const auto found = std::ranges::lower_bound(order, tensor_name, {}, name_of);
  if (found == order.end() || name_of(*found) != tensor_name) return nullptr;
  return &rep_->tensors[*found];
}

Expected<const GgufTensorInfo*> GgufFile::RequireTensor(std::string_view tensor_name) const {
  const GgufTensorInfo* tensor = FindTensor(tensor_name);
  if (tensor == nullptr)
    return core::NotFound(name(), ": there is no tensor \"", tensor_name, "\"");
  return tensor;
}

void GgufFile::Advise(Access access) const {
  for (const MappedFile& file : rep_->files) file.Advise(access);
}

void GgufFile::Release(const GgufTensorInfo& tensor) const {
  if (const MappedFile* file = part_file(tensor.part)) file->Release(tensor.data);
}

Status GgufFile::MissingKey(std::string_view key) const {
  return core::NotFound(name(), ": there is no key \"", key, "\"");
}

Status GgufFile::InKey(std::string_view key, const Status& status) const {
  return Status(status.code(), StrCat(name(), ": key \"", key, "\" ", status.message()));
}

}  // namespace rml::io
