// The layout: u64 header length (little endian) · header, one JSON object · data.
//   {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …, "__metadata__":
//   {…}}
// Offsets count from the end of the header.
#include "rml/io/safetensors_parse.h"

#include <algorithm>
#include <cstring>

#include "rml/io/json.h"
#include "rml/io/printable.h"
#include "rml/io/safetensors_dtypes.h"

namespace rml::io {
namespace {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit
constexpr int kMaxHeaderDepth = 8;                 // three levels are used

class SafetensorsParser {
 public:
  SafetensorsParser(std::span<const std::byte> bytes, std::string_view name)
      : bytes_(bytes), name_(name) {}

  Expected<SafetensorsPart> Run() {
    RML_ASSIGN(const Json header, ReadHeader());
    for (const Json::Member& member : header.members()) {
      if (member.key == "__metadata__") {
        RML_TRY(ReadMetadata(member.value));
      } else {
        RML_TRY(ReadTensor(member.key, member.value));
      }
    }
    RML_TRY(CheckCoverage());
    return std::move(part_);
  }

 private:
  Status Malformed(std::string_view message) const { return core::DataLoss(name_, ": ", message); }
  Status InTensor(std::string_view tensor, std::string_view message) const {
    return core::DataLoss(name_, ": tensor \"", Printable(tensor), "\" ", message);
  }

  Expected<Json> ReadHeader() {
    if (bytes_.size() < kLengthBytes) {
      return Malformed(
          StrCat("the file has only ", bytes_.size(), " bytes, and the header's length takes 8"));
    }
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > kMaxHeaderBytes) {
      return Malformed(StrCat("byte 0: the header has a length of ", length,
                              " bytes, more than the limit of ", kMaxHeaderBytes,
                              "; is this a safetensors file?"));
    }
    if (length > bytes_.size() - kLengthBytes) {
      return Malformed(StrCat("byte 0: the header has a length of ", length,
                              " bytes, and the file has only ", bytes_.size() - kLengthBytes,
                              " more"));
    }
    data_start_ = kLengthBytes + static_cast<size_t>(length);
    data_ = bytes_.subspan(data_start_);
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes,
                                static_cast<size_t>(length));
    if (!text.starts_with('{')) return Malformed("byte 8: the header does not begin with {");
    auto header = Json::Parse(text, {.depth = kMaxHeaderDepth, .bytes = kMaxHeaderBytes});
    if (!header.ok()) return header.status().WithContext(StrCat(name_, ": header"));
    return header;
  }

  Status ReadMetadata(const Json& metadata) {
    if (!metadata.is_object()) return Malformed("\"__metadata__\" is no JSON object");
    for (const Json::Member& member : metadata.members()) {
      auto text = member.value.As<std::string>();
      if (!text.ok()) {
        return Malformed(
            StrCat("\"__metadata__\": \"", Printable(member.key), "\" ", text.status().message()));
      }
      part_.metadata.emplace_back(member.key, *std::move(text));
    }
    return OkStatus();
  }

  // A size or offset: a JSON integer, not a double that happens to be whole.
  Expected<uint64_t> ReadSize(std::string_view tensor, std::string_view what,
                              const Json& value) const {
    if (!value.is_int() || *value.As<int64_t>() < 0) {
      return InTensor(tensor, StrCat("has ", value.Dump(), " in its ", what,
                                     ", which must be integers of at least 0"));
    }
    return static_cast<uint64_t>(*value.As<int64_t>());
  }

  Status ReadTensor(const std::string& name, const Json& info) {
    if (name.empty()) return Malformed("a tensor has an empty name");
    if (!info.is_object()) return InTensor(name, "is described by no JSON object");
    SafetensorsTensor tensor;
    tensor.name = name;
    RML_ASSIGN(tensor.dtype, ReadDType(name, info));
    RML_ASSIGN(tensor.shape, ReadShape(name, info));
    RML_TRY(ReadData(info, &tensor));
    part_.tensors.push_back(std::move(tensor));
    return OkStatus();
  }

  Expected<core::DType> ReadDType(const std::string& name, const Json& info) const {
    auto text = info.Get<std::string_view>("dtype");
    if (!text.ok()) return InTensor(name, StrCat("has no usable dtype: ", text.status().message()));
    const auto* found = std::ranges::find(kSafetensorsDTypes, *text, &SafetensorsDType::name);
    if (found == kSafetensorsDTypes.end()) {
      return InTensor(name, StrCat("has the unknown dtype \"", Printable(*text), "\""));
    }
    if (!found->dtype.has_value()) {
      return core::Unsupported(name_, ": tensor \"", Printable(name), "\" has the dtype ", *text,
                               ", which rml cannot compute with");
    }
    return *found->dtype;
  }

  Expected<core::Shape> ReadShape(const std::string& name, const Json& info) const {
    const Json* dims = info.Find("shape");
    if (dims == nullptr || !dims->is_array()) return InTensor(name, "has no array \"shape\"");
    std::vector<int64_t> sizes;
    for (const Json& dim : dims->items()) {
      RML_ASSIGN(const uint64_t size, ReadSize(name, "shape", dim));
      sizes.push_back(static_cast<int64_t>(size));
    }
    auto shape = core::Shape::Make(sizes);
    if (!shape.ok())
      return InTensor(name, StrCat("has an impossible shape: ", shape.status().message()));
    return shape;
  }

  Status ReadData(const Json& info, SafetensorsTensor* tensor) const {
    const std::string& name = tensor->name;
    const Json* offsets = info.Find("data_offsets");
    if (offsets == nullptr || offsets->items().size() != 2) {
      return InTensor(name, "has no array \"data_offsets\" of two integers");
    }
    RML_ASSIGN(const uint64_t begin, ReadSize(name, "data_offsets", offsets->items()[0]));
    RML_ASSIGN(const uint64_t end, ReadSize(name, "data_offsets", offsets->items()[1]));
    if (begin > end) return InTensor(name, StrCat("begins at ", begin, ", after its end at ", end));
    if (end > data_.size()) {
      return InTensor(name,
                      StrCat("takes bytes ", begin, " … ", end, " of the data, which has only ",
                             data_.size(), "; the file is truncated"));
    }
    const auto size = core::StorageBytes(tensor->dtype, tensor->shape.elements());
    if (!size.has_value() || static_cast<uint64_t>(*size) != end - begin) {
      return InTensor(name, StrCat("takes ", end - begin, " bytes, which is not ",
                                   tensor->shape.ToString(), " × ", core::Name(tensor->dtype)));
    }
    tensor->data = data_.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    tensor->file_offset = data_start_ + begin;
    const auto element = static_cast<uintptr_t>(core::Info(tensor->dtype).block_bytes);
    tensor->aligned = reinterpret_cast<uintptr_t>(tensor->data.data()) % element == 0;
    return OkStatus();
  }

  // Every byte of the data belongs to exactly one tensor: no overlap, and no room to hide anything.
  Status CheckCoverage() const {
    std::vector<const SafetensorsTensor*> order;
    order.reserve(part_.tensors.size());
    for (const SafetensorsTensor& tensor : part_.tensors) order.push_back(&tensor);
    std::ranges::sort(order, {}, [](const SafetensorsTensor* tensor) {
      return std::pair(tensor->file_offset, tensor->data.size());
    });
    uint64_t covered = data_start_;
    const SafetensorsTensor* before = nullptr;
    for (const SafetensorsTensor* tensor : order) {
      if (tensor->file_offset < covered) {
        return InTensor(tensor->name, StrCat("overlaps tensor \"", Printable(before->name),
                                             "\" at byte ", tensor->file_offset));
      }
      if (tensor->file_offset > covered) {
        return InTensor(tensor->name, StrCat("leaves a gap before it, at bytes ", covered, " … ",
                                             tensor->file_offset));
      }
      covered += tensor->data.size();
      before = tensor;
    }
    if (covered != bytes_.size()) {
      return Malformed(StrCat("byte ", covered, ": ", bytes_.size() - covered,
                              " bytes after the last tensor belong to none"));
    }
    return OkStatus();
  }

  const std::span<const std::byte> bytes_;
  const std::string name_;
  size_t data_start_ = 0;
  std::span<const std::byte> data_;
  SafetensorsPart part_;
};

}  // namespace

Expected<SafetensorsPart> ParseSafetensorsPart(std::span<const std::byte> bytes,
                                               std::string_view name) {
  return SafetensorsParser(bytes, name).Run();
}

}  // namespace rml::io
