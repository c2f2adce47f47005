#include "rml/io/byte_source.h"

namespace rml::io {

core::Status CopyExactly(const ByteSource& source, uint64_t expected, std::string_view what,
                         ByteSink sink) {
  uint64_t given = 0;
  const auto counted = [&](std::span<const std::byte> bytes) -> core::Status {
    given += bytes.size();
    if (given > expected) {
      return core::InvalidArgument(what, " takes ", expected, " bytes, and its source gave more");
    }
    return sink(bytes);
  };
  if (core::Status status = source(counted); !status.ok()) return status;
  if (given != expected) {
    return core::InvalidArgument(what, " takes ", expected, " bytes, and its source gave ", given);
  }
  return core::OkStatus();
}

}  // namespace rml::io
