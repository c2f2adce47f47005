// GGUF: whatever the bytes, parsing ends in an error or in views that lie inside them; and what was
// read, written again and read again, is the same.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/check.h"
#include "rml/io/gguf.h"
#include "rml/io/gguf_writer.h"

namespace rml {
namespace {

using fuzz::Require;
using fuzz::Touch;

void Walk(const io::GgufValue& value) {
  Touch(value.raw());
  (void)value.As<bool>();
  (void)value.As<int8_t>();
  (void)value.As<uint32_t>();
  (void)value.As<int64_t>();
  (void)value.As<float>();
  (void)value.As<std::string>();
  (void)value.As<std::vector<uint64_t>>();
  (void)value.As<std::vector<int16_t>>();
  (void)value.As<std::vector<double>>();
  (void)value.As<std::vector<std::string_view>>();
  if (const auto strings = value.Strings(); strings.ok()) {
    for (const std::string_view text : *strings) Touch(text);
  }
  if (const auto arrays = value.Arrays(); arrays.ok()) {
    for (const io::GgufValue& inner : *arrays) Walk(inner);
  }
  Touch(value.ToString());
}

void Walk(const io::GgufFile& file) {
  for (const io::GgufEntry& entry : file.entries()) {
    Require(file.Find(entry.key) == &entry.value, "every key is found");
    Walk(entry.value);
  }
  for (const io::GgufTensorInfo& tensor : file.tensors()) {
    Require(file.FindTensor(tensor.name) == &tensor, "every tensor is found");
    Require(tensor.file_offset % file.alignment() == 0, "tensors are aligned");
    (void)tensor.RequireDType();
    Touch(tensor.data);
  }
}

// The text of everything that a copy must keep.
std::string Summary(const io::GgufFile& file) {
  std::string out;
  for (const io::GgufEntry& entry : file.entries()) {
    if (entry.key == "general.alignment" || entry.key.starts_with("split.")) continue;
    out += core::StrCat(entry.key, " ", io::GgufTypeName(entry.value.type()), " ",
                        entry.value.ToString(~size_t{0}), "\n");
  }
  for (const io::GgufTensorInfo& tensor : file.tensors()) {
    out += core::StrCat(tensor.name, " ", tensor.type->name, " ", tensor.shape.ToString(), " ");
    out.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  return out;
}

void RoundTrip(const io::GgufFile& file) {
  auto writer = io::GgufWriter::Create(file.alignment());
  Require(writer.ok(), "a file's alignment can be written");
  // An alignment that pads a small file to gigabytes is legal, and of no interest.
  if (file.alignment() > 4096) return;
  Require(writer->CopyEntries(file).ok(), "entries that were read can be written");
  for (const io::GgufTensorInfo& tensor : file.tensors()) {
    if (tensor.name.size() > 63) return;  // longer than other readers take, so not written
    const auto source = [&tensor](io::ByteSink sink) { return sink(tensor.data); };
    Require(writer->AddTensor(tensor.name, *tensor.type, tensor.shape, source).ok(),
            "tensors that were read can be written");
  }
  auto bytes = writer->ToBytes();
  Require(bytes.ok(), "a copy can be written");
  auto copy = io::GgufFile::Parse(*bytes, "copy");
  Require(copy.ok(), "a copy can be read");
  Require(Summary(file) == Summary(*copy), "a copy is equal");
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto file = rml::io::GgufFile::Parse(bytes, "input");
  if (!file.ok()) {
    rml::fuzz::Require(!file.status().message().empty(), "a refusal has a message");
    return 0;
  }
  rml::Walk(*file);
  rml::RoundTrip(*file);
  return 0;
}
