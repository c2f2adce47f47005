// The layout, all little endian (docs/gguf.md of ggml):
//   "GGUF" · u32 version · u64 tensor count · u64 entry count
//   entries: string key · u32 type · value        (string: u64 length · bytes)
//   tensors: string name · u32 dimension count · u64 dimensions, innermost first · u32 type · u64
//   offset padding to the alignment · data; offsets count from here
#include "rml/io/gguf_parse.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "rml/core/checked_math.h"
#include "rml/io/gguf_limits.h"
#include "rml/io/printable.h"
#include "rml/io/utf8.h"

namespace rml::io {

using core::Expected;
using core::OkStatus;
using core::Status;
using core::StrCat;

namespace {

constexpr int kMaxArrayDepth = 4;
// Tensor data must suit every element type; the format asks for a multiple of 8.
constexpr uint32_t kMinAlignment = 8;
// The least bytes that one entry (name of one byte, type, value of one byte) and one tensor (name,
// no dimensions, type, offset) take. They bound the counts in the header by the size of the file.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;

// The positions of `items` in the order of their names.
template <typename Item, typename Name>
std::vector<uint32_t> SortedBy(const std::vector<Item>& items, Name name) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) -> std::string_view { return name(items[i]); });
  return order;
}

}  // namespace

const GgufValue* GgufPart::Find(std::string_view key) const {
  const auto key_of = [&](uint32_t i) { return entries[i].key; };
  const auto found = std::ranges::lower_bound(entries_by_key, key, {}, key_of);
  if (found == entries_by_key.end() || key_of(*found) != key) return nullptr;
  return &entries[*found].value;
}

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, std::string_view name)
      : bytes_(bytes), name_(name) {}

  Expected<GgufPart> Run() {
    RML_TRY(ReadHeader());
    RML_TRY(ReadEntries());
    RML_TRY(ReadAlignment());
    RML_TRY(ReadTensors());
    RML_TRY(PlaceTensors());
    return std::move(part_);
  }

 private:
  size_t Left() const { return bytes_.size() - at_; }

  // `what` names the thing that was being read: "the value of key \"general.name\"".
  Status ErrorAt(uint64_t byte, std::string_view message) const {
    return core::DataLoss(name_, ": byte ", byte, ": ", message);
  }
  Status Truncated(std::string_view what) const {
    return ErrorAt(at_, StrCat("the file ends after ", bytes_.size(), " bytes, inside ", what));
  }

  template <typename T>
  Status Read(T* value, std::string_view what) {
    if (Left() < sizeof(T)) return Truncated(what);
    std::memcpy(value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return OkStatus();
  }

  Status ReadString(std::string_view* text, std::string_view what) {
    const size_t start = at_;
    uint64_t length = 0;
    RML_TRY(Read(&length, what));
    if (length > Left()) {
      return ErrorAt(start, StrCat(what, " has a length of ", length,
                                   " bytes, and the file has only ", Left(), " more"));
    }
    *text = {reinterpret_cast<const char*>(bytes_.data()) + at_, static_cast<size_t>(length)};
    at_ += static_cast<size_t>(length);
    return OkStatus();
  }

  // A key or tensor name: what identifies things must be short, printable text.
  Status ReadName(std::string_view* text, std::string_view what) {
    const size_t start = at_;
    RML_TRY(ReadString(text, what));
    if (text->empty()) return ErrorAt(start, StrCat(what, " is empty"));
    if (text->size() > kGgufMaxKeyBytes) {
      return ErrorAt(start,
                     StrCat(what, " has ", text->size(), " bytes, more than ", kGgufMaxKeyBytes));
    }
    if (!IsUtf8(*text)) return ErrorAt(start, StrCat(what, " is not UTF-8"));
    return OkStatus();
  }

  Status ReadHeader() {
    std::array<char, 4> magic = {};
    RML_TRY(Read(&magic, "the magic number"));
    const std::string_view magic_text(magic.data(), magic.size());
    if (magic_text != "GGUF") {
      return ErrorAt(
          0, StrCat("this is no GGUF file: it begins with \"", Printable(magic_text), "\""));
    }
    RML_TRY(Read(&part_.version, "the version"));
    if (part_.version != 0 && (part_.version & 0xffff) == 0) {
      return core::Unsupported(name_,
                               ": byte 4: the file is big endian; convert it to little endian");
    }
    if (part_.version == 0) return ErrorAt(4, "the version is 0");
    if (part_.version < 2 || part_.version > 3) {
      return core::Unsupported(name_, ": byte 4: GGUF version ", part_.version,
                               " is not supported, only 2 and 3; convert the model again");
    }
    RML_TRY(Read(&tensor_count_, "the tensor count"));
    RML_TRY(Read(&entry_count_, "the entry count"));
    if (entry_count_ > Left() / kMinEntryBytes) {
      return ErrorAt(16, StrCat("the header promises ", entry_count_, " entries, more than ",
                                bytes_.size(), " bytes can hold"));
    }
    if (tensor_count_ > Left() / kMinTensorBytes) {
      return ErrorAt(8, StrCat("the header promises ", tensor_count_, " tensors, more than ",
                               bytes_.size(), " bytes can hold"));
    }
    return OkStatus();
  }

  Status ReadEntries() {
    part_.entries.reserve(static_cast<size_t>(entry_count_));
    for (uint64_t i = 0; i < entry_count_; ++i) {
      GgufEntry& entry = part_.entries.emplace_back();
      entry.file_offset = at_;
      RML_TRY(ReadName(&entry.key, StrCat("the name of entry ", i)));
      const std::string what = StrCat("key \"", Printable(entry.key), "\"");
      uint32_t type = 0;
      RML_TRY(Read(&type, what));
      if (type >= kGgufTypeCount)
        return ErrorAt(at_ - 4, StrCat(what, " has the unknown type ", type));
      RML_TRY(ReadValue(static_cast<GgufType>(type), 0, what, &entry.value));
    }
    part_.entries_by_key = SortedBy(part_.entries, [](const GgufEntry& e) { return e.key; });
    const auto& order = part_.entries_by_key;
    for (size_t i = 1; i < order.size(); ++i) {
      const GgufEntry& a = part_.entries[order[i - 1]];
      const GgufEntry& b = part_.entries[order[i]];
      if (a.key == b.key) {
        return ErrorAt(std::max(a.file_offset, b.file_offset),
                       StrCat("key \"", Printable(a.key), "\" appears twice"));
      }
    }
    return OkStatus();
  }

  Status ReadValue(GgufType type, int depth, const std::string& what, GgufValue* value) {
    value->type_ = type;
    if (type == GgufType::kString) {
      return ReadString(&value->strings_.emplace_back(), what);
    }
    if (type != GgufType::kArray) return ReadNumbers(type, 1, what, value);

    if (depth == kMaxArrayDepth) {
      return ErrorAt(at_, StrCat(what, " nests arrays deeper than ", kMaxArrayDepth));
    }
    uint32_t element_type = 0;
    RML_TRY(Read(&element_type, what));
    if (element_type >= kGgufTypeCount) {
      return ErrorAt(at_ - 4, StrCat(what, " is an array of the unknown type ", element_type));
    }
    value->element_type_ = static_cast<GgufType>(element_type);
    const size_t start = at_;
    uint64_t count = 0;
    RML_TRY(Read(&count, what));
    // Least bytes of an element: a string's length, an array's type and count, or the number
    // itself.
    const size_t least = value->element_type_ == GgufType::kString ? 8
                         : value->element_type_ == GgufType::kArray
                             ? 12
                             : GgufTypeSize(value->element_type_);
    if (count > Left() / least) {
      return ErrorAt(start, StrCat(what, " is an array of ", count,
                                   " elements, and the file has only ", Left(), " more bytes"));
    }
    value->count_ = static_cast<size_t>(count);
    if (value->element_type_ == GgufType::kString) {
      value->strings_.resize(value->count_);
      for (std::string_view& text : value->strings_) RML_TRY(ReadString(&text, what));
      return OkStatus();
    }
    if (value->element_type_ == GgufType::kArray) {
      for (size_t i = 0; i < value->count_; ++i) {
        RML_TRY(ReadValue(GgufType::kArray, depth + 1, what, &value->arrays_.emplace_back()));
      }
      return OkStatus();
    }
    return ReadNumbers(value->element_type_, value->count_, what, value);
  }

  // `count` is known to be small enough for the product not to wrap.
  Status ReadNumbers(GgufType type, size_t count, const std::string& what, GgufValue* value) {
    const size_t size = count * GgufTypeSize(type);
    if (size > Left()) return Truncated(what);
    value->raw_ = bytes_.subspan(at_, size);
    if (type == GgufType::kBool) {
      for (size_t i = 0; i < size; ++i) {
        if (static_cast<uint8_t>(value->raw_[i]) > 1) {
          return ErrorAt(at_ + i, StrCat(what, " is a bool of value ",
                                         static_cast<int>(value->raw_[i]), ", neither 0 nor 1"));
        }
      }
    }
    at_ += size;
    return OkStatus();
  }

  Status ReadAlignment() {
    const GgufValue* value = part_.Find(kGgufAlignmentKey);
    if (value == nullptr) return OkStatus();
    const auto place = std::ranges::find(part_.entries, kGgufAlignmentKey, &GgufEntry::key);
    if (value->type() != GgufType::kU32) {
      return ErrorAt(place->file_offset, StrCat("key \"", kGgufAlignmentKey, "\" is of type ",
                                                GgufTypeName(value->type()), ", not u32"));
    }
    RML_ASSIGN(part_.alignment, value->As<uint32_t>());
    if (!std::has_single_bit(part_.alignment) || part_.alignment < kMinAlignment) {
      return ErrorAt(place->file_offset,
                     StrCat("key \"", kGgufAlignmentKey, "\" is ", part_.alignment,
                            ", not a power of two of at least ", kMinAlignment));
    }
    return OkStatus();
  }

  Status ReadTensors() {
    // Entries were read since the header's check, so the bound is taken again.
    if (tensor_count_ > Left() / kMinTensorBytes) {
      return ErrorAt(8, StrCat("the header promises ", tensor_count_, " tensors, more than the ",
                               Left(), " bytes after the entries can hold"));
    }
    part_.tensors.reserve(static_cast<size_t>(tensor_count_));
    for (uint64_t i = 0; i < tensor_count_; ++i) RML_TRY(ReadTensor(i));

    const auto order =
        SortedBy(part_.tensors, [](const GgufTensorInfo& t) { return std::string_view(t.name); });
    for (size_t i = 1; i < order.size(); ++i) {
      const std::string& name = part_.tensors[order[i]].name;
      if (name == part_.tensors[order[i - 1]].name) {
        return core::DataLoss(name_, ": tensor \"", Printable(name), "\" appears twice");
      }
    }
    return OkStatus();
  }

  Status ReadTensor(uint64_t index) {
    const size_t start = at_;
    GgufTensorInfo& tensor = part_.tensors.emplace_back();
    std::string_view name;
    RML_TRY(ReadName(&name, StrCat("the name of tensor ", index)));
    tensor.name = std::string(name);
    const std::string what = StrCat("tensor \"", Printable(name), "\"");

    uint32_t rank = 0;
    RML_TRY(Read(&rank, what));
    if (rank > kGgufMaxDims) {
      return ErrorAt(at_ - 4, StrCat(what, " has ", rank, " dimensions, more than ", kGgufMaxDims));
    }
    std::array<int64_t, kGgufMaxDims> dims = {};
    for (uint32_t axis = 0; axis < rank; ++axis) RML_TRY(Read(&dims[rank - 1 - axis], what));
    auto shape = core::Shape::Make({dims.data(), rank});
    if (!shape.ok()) return ErrorAt(start, StrCat(what, ": ", shape.status().message()));
    tensor.shape = *shape;

    uint32_t type = 0;
    RML_TRY(Read(&type, what));
    tensor.type = FindGgmlType(type);
    if (tensor.type == nullptr) {
      return core::Unsupported(name_, ": byte ", at_ - 4, ": ", what,
                               " has the unknown type number ", type);
    }
    tensor.dtype = tensor.type->dtype;
    // A scalar is a row of one element.
    const int64_t row = rank == 0 ? 1 : tensor.shape.dim(-1);
    if (row % tensor.type->block_elements != 0) {
      return ErrorAt(start,
                     StrCat(what, " has rows of ", row, " elements, not a multiple of the ",
                            tensor.type->block_elements, " in a block of ", tensor.type->name));
    }
    uint64_t offset = 0;
    RML_TRY(Read(&offset, what));
    if (offset % part_.alignment != 0) {
      return ErrorAt(at_ - 8, StrCat(what, " has the offset ", offset,
                                     ", not a multiple of the alignment ", part_.alignment));
    }
    tensor.file_offset = offset;  // from the start of the data, until PlaceTensors
    return OkStatus();
  }

  Status PlaceTensors() {
    if (part_.tensors.empty()) return OkStatus();
    uint64_t data_start = 0;
    if (!core::CheckedRoundUp<uint64_t>(at_, part_.alignment, &data_start)) {
      return ErrorAt(at_, "the padding before the tensor data overflows");
    }
    for (GgufTensorInfo& tensor : part_.tensors) {
      const auto blocks =
          static_cast<uint64_t>(tensor.shape.elements() / tensor.type->block_elements);
      uint64_t size = 0;
      uint64_t begin = 0;
      uint64_t end = 0;
      if (!core::CheckedMul<uint64_t>(blocks, static_cast<uint64_t>(tensor.type->block_bytes),
                                      &size) ||
          !core::CheckedAdd<uint64_t>(data_start, tensor.file_offset, &begin) ||
          !core::CheckedAdd<uint64_t>(begin, size, &end)) {
        return core::DataLoss(name_, ": tensor \"", Printable(tensor.name), "\" of shape ",
                              tensor.shape.ToString(), " at offset ", tensor.file_offset,
                              " ends past 2^64 bytes");
      }
      if (end > bytes_.size()) {
        return core::DataLoss(name_, ": tensor \"", Printable(tensor.name), "\" takes bytes ",
                              begin, " … ", end, ", and the file has only ", bytes_.size(),
                              "; it is truncated");
      }
      tensor.file_offset = begin;
      tensor.data = bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
    }
    return CheckOverlaps();
  }

  Status CheckOverlaps() const {
    std::vector<const GgufTensorInfo*> order;
    for (const GgufTensorInfo& tensor : part_.tensors) {
      if (!tensor.data.empty()) order.push_back(&tensor);
    }
    std::ranges::sort(order, {}, &GgufTensorInfo::file_offset);
    for (size_t i = 1; i < order.size(); ++i) {
      const GgufTensorInfo& before = *order[i - 1];
      if (before.file_offset + before.data.size() > order[i]->file_offset) {
        return ErrorAt(order[i]->file_offset,
                       StrCat("tensors \"", Printable(before.name), "\" and \"",
                              Printable(order[i]->name), "\" overlap"));
      }
    }
    return OkStatus();
  }

  const std::span<const std::byte> bytes_;
  const std::string name_;
  size_t at_ = 0;  // never past bytes_.size()
  uint64_t tensor_count_ = 0;
  uint64_t entry_count_ = 0;
  GgufPart part_;
};

Expected<GgufPart> ParseGgufPart(std::span<const std::byte> bytes, std::string_view name) {
  return GgufParser(bytes, name).Run();
}

}  // namespace rml::io
