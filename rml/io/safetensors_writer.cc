#include "rml/io/safetensors_writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>

#include "rml/core/checked_math.h"
#include "rml/io/json.h"
#include "rml/io/safetensors.h"
#include "rml/io/safetensors_dtypes.h"
#include "rml/io/shards.h"
#include "rml/io/utf8.h"

namespace rml::io {
namespace {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

constexpr std::string_view kMetadataName = "__metadata__";
constexpr size_t kHeaderAlignment = 8;

size_t DTypeRank(core::DType dtype) {
  const auto* found = std::ranges::find(kSafetensorsDTypes, std::optional<core::DType>(dtype),
                                        &SafetensorsDType::dtype);
  return static_cast<size_t>(found - kSafetensorsDTypes.begin());
}

std::string Quoted(std::string_view text) { return Json(text).Dump(); }

std::string ShardName(size_t number, size_t count) {
  std::array<char, 80> text;
  const int length = std::snprintf(text.data(), text.size(), "model-%05zu-of-%05zu.safetensors",
                                   number + 1, count);
  return std::string(text.data(), static_cast<size_t>(length));
}

}  // namespace

Status SafetensorsWriter::SetMetadata(std::string_view key, std::string_view value) {
  if (!IsUtf8(key) || !IsUtf8(value)) {
    return core::InvalidArgument("metadata of safetensors must be UTF-8, and the entry \"", key,
                                 "\" is not");
  }
  if (std::ranges::find(metadata_, key, &std::pair<std::string, std::string>::first) !=
      metadata_.end()) {
    return core::InvalidArgument("the metadata key \"", key, "\" is set twice");
  }
  metadata_.emplace_back(key, value);
  return OkStatus();
}

Status SafetensorsWriter::AddTensor(std::string_view name, core::DType dtype,
                                    const core::Shape& shape, std::span<const std::byte> data) {
  const auto bytes = core::StorageBytes(dtype, shape.elements());
  if (bytes.has_value() && static_cast<uint64_t>(*bytes) != data.size()) {
    return core::InvalidArgument("tensor \"", name, "\" of ", core::Name(dtype), " and shape ",
                                 shape.ToString(), " takes ", *bytes, " bytes, and ", data.size(),
                                 " were given");
  }
  return AddTensor(name, dtype, shape, [data](ByteSink sink) { return sink(data); });
}

Status SafetensorsWriter::AddTensor(std::string_view name, core::DType dtype,
                                    const core::Shape& shape, ByteSource source) {
  if (name.empty() || name == kMetadataName || !IsUtf8(name)) {
    return core::InvalidArgument("\"", name,
                                 "\" cannot name a tensor: it must be UTF-8, not empty, and not ",
                                 kMetadataName);
  }
  if (SafetensorsDTypeName(dtype).empty()) {
    return core::Unsupported("tensor \"", name, "\": safetensors cannot store ", core::Name(dtype));
  }
  const auto bytes = core::StorageBytes(dtype, shape.elements());
  if (!bytes.has_value()) {
    return core::InvalidArgument("tensor \"", name, "\" of shape ", shape.ToString(),
                                 " is too large");
  }
  const auto place = std::ranges::lower_bound(names_, name);
  if (place != names_.end() && *place == name) {
    return core::InvalidArgument("the tensor \"", name, "\" is added twice");
  }
  names_.insert(place, std::string(name));
  tensors_.push_back(
      {std::string(name), dtype, shape, static_cast<uint64_t>(*bytes), std::move(source)});
  return OkStatus();
}

SafetensorsWriter::Selection SafetensorsWriter::All() const {
  Selection selection;
  for (const Tensor& tensor : tensors_) selection.push_back(&tensor);
  return selection;
}

Status SafetensorsWriter::WriteSelection(Selection selection, ByteSink sink) const {
  // Larger elements first, then by name: every tensor is aligned to its element.
  std::ranges::sort(selection, [](const Tensor* a, const Tensor* b) {
    const size_t rank_a = DTypeRank(a->dtype);
    const size_t rank_b = DTypeRank(b->dtype);
    return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
  });
  std::string header = "{";
  if (!metadata_.empty()) {
    header += StrCat("\"", kMetadataName, "\":{");
    for (size_t i = 0; i < metadata_.size(); ++i) {
      header +=
          StrCat(i > 0 ? "," : "", Quoted(metadata_[i].first), ":", Quoted(metadata_[i].second));
    }
    header += '}';
  }
  uint64_t offset = 0;
  for (const Tensor* tensor : selection) {
    uint64_t end = 0;
    if (!core::CheckedAdd<uint64_t>(offset, tensor->bytes, &end)) {
      return core::InvalidArgument("the tensors up to \"", tensor->name,
                                   "\" take more than 2^64 bytes");
    }
    header += StrCat(header.size() > 1 ? "," : "", Quoted(tensor->name), ":{\"dtype\":\"",
                     SafetensorsDTypeName(tensor->dtype), "\",\"shape\":[");
    for (int axis = 0; axis < tensor->shape.rank(); ++axis) {
      header += StrCat(axis > 0 ? "," : "", tensor->shape[axis]);
    }
    header += StrCat("],\"data_offsets\":[", offset, ",", end, "]}");
    offset = end;
  }
  header += '}';
  header.append((kHeaderAlignment - header.size() % kHeaderAlignment) % kHeaderAlignment, ' ');

  const uint64_t length = header.size();
  RML_TRY(sink(std::as_bytes(std::span(&length, 1))));
  RML_TRY(sink(std::as_bytes(std::span(header))));
  for (const Tensor* tensor : selection) {
    RML_TRY(
        CopyExactly(tensor->source, tensor->bytes, StrCat("tensor \"", tensor->name, "\""), sink));
  }
  return OkStatus();
}

Status SafetensorsWriter::WriteSelection(const Selection& selection, FileWriter* file) const {
  const auto status = WriteSelection(
      selection, [&](std::span<const std::byte> bytes) { return file->Write(bytes); });
  return status.ok() ? status : status.WithContext(file->path());
}

Status SafetensorsWriter::Write(std::string_view path) const {
  RML_ASSIGN(FileWriter file, FileWriter::Create(path));
  RML_TRY(WriteSelection(All(), &file));
  return file.Commit();
}

Expected<std::vector<std::byte>> SafetensorsWriter::ToBytes() const {
  std::vector<std::byte> result;
  RML_TRY(WriteSelection(All(), [&](std::span<const std::byte> bytes) {
    result.insert(result.end(), bytes.begin(), bytes.end());
    return OkStatus();
  }));
  return result;
}

Status SafetensorsWriter::WriteSharded(std::string_view folder, uint64_t max_shard_bytes) const {
  std::vector<uint64_t> sizes;
  for (const Tensor& tensor : tensors_) sizes.push_back(tensor.bytes);
  const std::vector<size_t> begins = ShardBegins(sizes, max_shard_bytes);
  if (begins.size() == 1) return Write(StrCat(folder, "/model.safetensors"));

  // No shard appears before all are written, so that a full disk leaves none.
  std::vector<FileWriter> files;
  std::vector<std::pair<std::string, std::string>> places;
  const Selection all = All();
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : all.size();
    const std::string name = ShardName(i, begins.size());
    const Selection shard(all.begin() + static_cast<ptrdiff_t>(begins[i]),
                          all.begin() + static_cast<ptrdiff_t>(end));
    RML_ASSIGN(FileWriter file, FileWriter::Create(StrCat(folder, "/", name)));
    RML_TRY(WriteSelection(shard, &file));
    RML_TRY(file.Finish());
    files.push_back(std::move(file));
    for (const Tensor* tensor : shard) places.emplace_back(tensor->name, name);
  }
  for (FileWriter& file : files) RML_TRY(file.Commit());
  std::ranges::sort(places);
  Json map = Json::MakeObject();
  for (const auto& [tensor, file] : places) map.Set(tensor, file);
  Json index = Json::MakeObject();
  const uint64_t total = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
  index.Set("metadata", Json::MakeObject().Set("total_size", total));
  index.Set("weight_map", std::move(map));
  // The index comes last: a reader that finds it finds every shard.
  return WriteFile(StrCat(folder, "/model.safetensors.index.json"), StrCat(index.Dump(2), "\n"));
}

}  // namespace rml::io
