// safetensors: whatever the bytes, parsing ends in an error or in views that cover the data
// exactly; and what was read, written again and read again, is the same.
#include <algorithm>
#include <cstdint>

#include "fuzz/check.h"
#include "rml/io/safetensors.h"
#include "rml/io/safetensors_writer.h"

namespace rml {
namespace {

using fuzz::Require;
using fuzz::Touch;

void Walk(const io::SafetensorsFile& file) {
  for (const auto& [key, value] : file.metadata()) Touch(value);
  for (const io::SafetensorsTensor& tensor : file.tensors()) {
    Require(file.Find(tensor.name) == &tensor, "every tensor is found");
    const auto bytes = core::StorageBytes(tensor.dtype, tensor.shape.elements());
    Require(bytes.has_value() && static_cast<uint64_t>(*bytes) == tensor.data.size(),
            "a span is shape × dtype");
    Touch(tensor.data);
  }
}

void RoundTrip(const io::SafetensorsFile& file) {
  io::SafetensorsWriter writer;
  for (const auto& [key, value] : file.metadata()) {
    Require(writer.SetMetadata(key, value).ok(), "metadata that was read can be written");
  }
  for (const io::SafetensorsTensor& tensor : file.tensors()) {
    Require(writer.AddTensor(tensor.name, tensor.dtype, tensor.shape, tensor.data).ok(),
            "tensors that were read can be written");
  }
  const auto bytes = writer.ToBytes();
  Require(bytes.ok(), "a copy can be written");
  const auto copy = io::SafetensorsFile::Parse(*bytes, "copy");
  Require(copy.ok(), "a copy can be read");
  Require(copy->metadata() == file.metadata(), "a copy has the same metadata");
  Require(copy->tensors().size() == file.tensors().size(), "a copy has as many tensors");
  for (const io::SafetensorsTensor& tensor : file.tensors()) {
    const io::SafetensorsTensor* other = copy->Find(tensor.name);
    Require(other != nullptr && other->dtype == tensor.dtype && other->shape == tensor.shape &&
                std::ranges::equal(other->data, tensor.data),
            "a copy has equal tensors");
  }
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = rml::io::SafetensorsFile::Parse(std::as_bytes(std::span(data, size)), "input");
  if (!file.ok()) {
    rml::fuzz::Require(!file.status().message().empty(), "a refusal has a message");
    return 0;
  }
  rml::Walk(*file);
  rml::RoundTrip(*file);
  return 0;
}
