// Builds the bytes of GGUF files, malformed ones too, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rml/io/gguf_value.h"

namespace rml::io::testing {

class GgufBytes {
 public:
  GgufBytes(uint64_t tensor_count, uint64_t entry_count, uint32_t version = 3) {
    bytes_ = "GGUF";
    Put(version).Put(tensor_count).Put(entry_count);
  }

  template <typename T>
  requires std::is_arithmetic_v<T> GgufBytes& Put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  GgufBytes& Text(std::string_view text) {
    Put<uint64_t>(text.size());
    bytes_ += text;
    return *this;
  }
  GgufBytes& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  GgufBytes& Type(GgufType type) { return Put(static_cast<uint32_t>(type)); }

  // An entry's key and type; the value must follow.
  GgufBytes& Key(std::string_view key, GgufType type) { return Text(key).Type(type); }
  GgufBytes& U32(std::string_view key, uint32_t value) {
    return Key(key, GgufType::kU32).Put(value);
  }

  // `dims` innermost first, as in the file.
  GgufBytes& Tensor(std::string_view name, const std::vector<int64_t>& dims, uint32_t type,
                    uint64_t offset) {
    Text(name).Put(static_cast<uint32_t>(dims.size()));
    for (const int64_t dim : dims) Put(dim);
    return Put(type).Put(offset);
  }

  GgufBytes& PadTo(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  GgufBytes& Zeros(size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace rml::io::testing
