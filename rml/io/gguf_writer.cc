#include "rml/io/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/io/gguf_limits.h"
#include "rml/io/gguf_parse.h"
#include "rml/io/shards.h"
#include "rml/io/utf8.h"

namespace rml::io {
namespace {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

constexpr size_t kMaxTensorNameBytes = 63;  // ggml's GGML_MAX_NAME, with its terminator
constexpr uint32_t kOldestVersion = 2;
constexpr uint32_t kNewestVersion = 3;
constexpr size_t kMaxGgufParts = 65535;  // split.no and split.count have 16 bits

template <typename T>
void Append(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void AppendSized(std::string_view text, std::string* out) {
  Append<uint64_t>(text.size(), out);
  *out += text;
}

void AppendType(GgufType type, std::string* out) { Append(static_cast<uint32_t>(type), out); }

void AppendRaw(std::span<const std::byte> raw, std::string* out) {
  out->append(reinterpret_cast<const char*>(raw.data()), raw.size());
}

// An array without its own type: element type, count, elements.
void AppendArray(const GgufValue& value, std::string* out) {
  AppendType(value.element_type(), out);
  Append<uint64_t>(value.size(), out);
  if (value.element_type() == GgufType::kString) {
    const std::span<const std::string_view> strings = *value.Strings();
    for (const std::string_view text : strings) AppendSized(text, out);
  } else if (value.element_type() == GgufType::kArray) {
    const std::span<const GgufValue> arrays = *value.Arrays();
    for (const GgufValue& inner : arrays) AppendArray(inner, out);
  } else {
    AppendRaw(value.raw(), out);
  }
}

uint64_t Padding(uint64_t size, uint64_t alignment) {
  return (alignment - size % alignment) % alignment;
}

}  // namespace

Expected<GgufWriter> GgufWriter::Create(uint32_t alignment, uint32_t version) {
  if (!std::has_single_bit(alignment) || alignment < 8) {
    return core::InvalidArgument("a GGUF alignment of ", alignment,
                                 " is no power of two of at least 8");
  }
  if (version < kOldestVersion || version > kNewestVersion) {
    return core::Unsupported("GGUF version ", version, " cannot be written; versions ",
                             kOldestVersion, " and ", kNewestVersion, " can");
  }
  GgufWriter writer(alignment, version);
  if (alignment != kGgufDefaultAlignment) RML_TRY(writer.Set(kGgufAlignmentKey, alignment));
  return writer;
}

Status GgufWriter::BeginEntry(std::string_view key) {
  if (key.empty() || key.size() > kGgufMaxKeyBytes || !IsUtf8(key)) {
    return core::InvalidArgument("a GGUF key must be UTF-8 of 1 … ", kGgufMaxKeyBytes,
                                 " bytes, and \"", key, "\" is not");
  }
  // Few keys are ever set; a sorted vector serves.
  const auto place = std::ranges::lower_bound(entries_.keys, key);
  if (place != entries_.keys.end() && *place == key) {
    return core::InvalidArgument("the GGUF key \"", key, "\" is set twice");
  }
  entries_.keys.insert(place, std::string(key));
  AppendSized(key, &entries_.bytes);
  return OkStatus();
}

Status GgufWriter::SetRaw(std::string_view key, GgufType type, const void* data, size_t count,
                          bool array) {
  RML_TRY(BeginEntry(key));
  if (array) AppendType(GgufType::kArray, &entries_.bytes);
  AppendType(type, &entries_.bytes);
  if (array) Append<uint64_t>(count, &entries_.bytes);
  if (count > 0) entries_.bytes.append(static_cast<const char*>(data), count * GgufTypeSize(type));
  return OkStatus();
}

Status GgufWriter::SetString(std::string_view key, std::string_view text) {
  RML_TRY(BeginEntry(key));
  AppendType(GgufType::kString, &entries_.bytes);
  AppendSized(text, &entries_.bytes);
  return OkStatus();
}

Status GgufWriter::SetStrings(std::string_view key, const std::vector<std::string_view>& strings) {
  RML_TRY(BeginEntry(key));
  AppendType(GgufType::kArray, &entries_.bytes);
  AppendType(GgufType::kString, &entries_.bytes);
  Append<uint64_t>(strings.size(), &entries_.bytes);
  for (const std::string_view text : strings) AppendSized(text, &entries_.bytes);
  return OkStatus();
}

Status GgufWriter::Set(std::string_view key, const GgufValue& value) {
  if (value.type() == GgufType::kString) return SetString(key, *value.As<std::string_view>());
  RML_TRY(BeginEntry(key));
  AppendType(value.type(), &entries_.bytes);
  if (value.is_array()) {
    AppendArray(value, &entries_.bytes);
  } else {
    AppendRaw(value.raw(), &entries_.bytes);
  }
  return OkStatus();
}

Status GgufWriter::CopyEntries(const GgufFile& file) {
  for (const GgufEntry& entry : file.entries()) {
    if (entry.key == kGgufAlignmentKey || entry.key.starts_with("split.")) continue;
    RML_TRY(Set(entry.key, entry.value));
  }
  return OkStatus();
}

Status GgufWriter::AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                             std::span<const std::byte> data) {
  RML_TRY(AddTensor(name, dtype, shape, [data](ByteSink sink) { return sink(data); }));
  if (tensors_.back().bytes != data.size()) {
    const uint64_t expected = tensors_.back().bytes;
    tensors_.pop_back();
    return core::InvalidArgument("tensor \"", name, "\" of ", core::Name(dtype), " and shape ",
                                 shape.ToString(), " takes ", expected, " bytes, and ", data.size(),
                                 " were given");
  }
  return OkStatus();
}

Status GgufWriter::AddTensor(std::string_view name, core::DType dtype, const core::Shape& shape,
                             ByteSource source) {
  const GgmlType* type = FindGgmlType(dtype);
  if (type == nullptr) {
    return core::Unsupported("tensor \"", name, "\": GGUF cannot store ", core::Name(dtype));
  }
  return AddTensor(name, *type, shape, std::move(source));
}

Status GgufWriter::AddTensor(std::string_view name, const GgmlType& type, const core::Shape& shape,
                             ByteSource source) {
  if (name.empty() || name.size() > kMaxTensorNameBytes || !IsUtf8(name)) {
    return core::InvalidArgument("a GGUF tensor name must be UTF-8 of 1 … ", kMaxTensorNameBytes,
                                 " bytes, and \"", name, "\" is not");
  }
  if (std::ranges::find(tensors_, name, &Tensor::name) != tensors_.end()) {
    return core::InvalidArgument("the GGUF tensor \"", name, "\" is added twice");
  }
  if (shape.rank() > kGgufMaxDims) {
    return core::Unsupported("tensor \"", name, "\" has ", shape.rank(),
                             " dimensions, and GGUF stores at most ", kGgufMaxDims);
  }
  const int64_t row = shape.rank() == 0 ? 1 : shape.dim(-1);
  if (row % type.block_elements != 0) {
    return core::InvalidArgument("tensor \"", name, "\" has rows of ", row,
                                 " elements, not a multiple of the ", type.block_elements,
                                 " in a block of ", type.name);
  }
  const auto blocks = static_cast<uint64_t>(shape.elements() / type.block_elements);
  uint64_t bytes = 0;
  uint64_t padded = 0;
  uint64_t end = 0;
  if (!core::CheckedMul<uint64_t>(blocks, static_cast<uint64_t>(type.block_bytes), &bytes) ||
      !core::CheckedRoundUp<uint64_t>(bytes, alignment_, &padded) ||
      !core::CheckedAdd<uint64_t>(data_bytes_, padded, &end)) {
    return core::InvalidArgument("tensor \"", name, "\" of shape ", shape.ToString(),
                                 " ends past 2^64 bytes");
  }
  tensors_.push_back({std::string(name), &type, shape, bytes, std::move(source)});
  data_bytes_ = end;
  return OkStatus();
}

Status GgufWriter::WriteTo(const Entries& entries, std::span<const Tensor> tensors,
                           ByteSink sink) const {
  std::string head = "GGUF";
  Append(version_, &head);
  Append<uint64_t>(tensors.size(), &head);
  Append<uint64_t>(entries.keys.size(), &head);
  head += entries.bytes;
  uint64_t offset = 0;  // from the start of the data
  for (const Tensor& tensor : tensors) {
    AppendSized(tensor.name, &head);
    Append(static_cast<uint32_t>(tensor.shape.rank()), &head);
    for (int axis = tensor.shape.rank() - 1; axis >= 0; --axis) Append(tensor.shape[axis], &head);
    Append(tensor.type->id, &head);
    Append(offset, &head);
    offset += tensor.bytes + Padding(tensor.bytes, alignment_);
  }
  if (!tensors.empty()) head.append(static_cast<size_t>(Padding(head.size(), alignment_)), '\0');
  RML_TRY(sink(std::as_bytes(std::span(head))));
  for (const Tensor& tensor : tensors) {
    RML_TRY(CopyExactly(tensor.source, tensor.bytes, StrCat("tensor \"", tensor.name, "\""), sink));
    const std::vector<std::byte> zeros(static_cast<size_t>(Padding(tensor.bytes, alignment_)));
    if (!zeros.empty()) RML_TRY(sink(zeros));
  }
  return OkStatus();
}

Status GgufWriter::WriteTo(const Entries& entries, std::span<const Tensor> tensors,
                           FileWriter* file) const {
  const auto status = WriteTo(entries, tensors,
                              [&](std::span<const std::byte> bytes) { return file->Write(bytes); });
  return status.ok() ? status : status.WithContext(file->path());
}

Status GgufWriter::Write(std::string_view path) const {
  RML_ASSIGN(FileWriter file, FileWriter::Create(path));
  RML_TRY(WriteTo(entries_, tensors_, &file));
  return file.Commit();
}

Status GgufWriter::WriteParts(std::string_view prefix, uint64_t max_part_bytes) const {
  std::vector<uint64_t> sizes;
  for (const Tensor& tensor : tensors_) sizes.push_back(tensor.bytes);
  const std::vector<size_t> begins = ShardBegins(sizes, max_part_bytes);
  if (begins.size() > kMaxGgufParts) {
    return core::InvalidArgument(prefix, ": parts of ", max_part_bytes, " bytes would make ",
                                 begins.size(), " files, and GGUF counts at most ", kMaxGgufParts);
  }
  // No part appears before all are written, so that a full disk leaves none.
  std::vector<FileWriter> files;
  for (size_t i = 0; i < begins.size(); ++i) {
    GgufWriter part(alignment_, version_);
    if (i == 0) {
      part.entries_ = entries_;
    } else if (alignment_ != kGgufDefaultAlignment) {
      RML_TRY(part.Set(kGgufAlignmentKey, alignment_));
    }
    RML_TRY(part.Set(kSplitNumber, static_cast<uint16_t>(i)));
    RML_TRY(part.Set(kSplitCount, static_cast<uint16_t>(begins.size())));
    RML_TRY(part.Set(kSplitTensors, static_cast<int32_t>(tensors_.size())));
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : tensors_.size();
    const auto tensors = std::span(tensors_).subspan(begins[i], end - begins[i]);
    const std::string path =
        GgufPartPath(prefix, static_cast<uint32_t>(i), static_cast<uint32_t>(begins.size()));
    RML_ASSIGN(FileWriter file, FileWriter::Create(path));
    RML_TRY(WriteTo(part.entries_, tensors, &file));
    RML_TRY(file.Finish());
    files.push_back(std::move(file));
  }
  for (size_t i = files.size(); i-- > 0;) RML_TRY(files[i].Commit());
  return OkStatus();
}

Expected<std::vector<std::byte>> GgufWriter::ToBytes() const {
  std::vector<std::byte> result;
  RML_TRY(WriteTo(entries_, tensors_, [&](std::span<const std::byte> bytes) {
    result.insert(result.end(), bytes.begin(), bytes.end());
    return OkStatus();
  }));
  return result;
}

}  // namespace rml::io
