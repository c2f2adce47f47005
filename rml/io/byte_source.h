// How a writer asks for the bytes of one tensor: it calls the source, which hands all of them to
// the sink, in order, in any number of pieces. So a tensor may be made while it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "rml/core/function_ref.h"
#include "rml/core/status.h"

namespace rml::io {

using ByteSink = core::FunctionRef<core::Status(std::span<const std::byte>)>;
using ByteSource = std::function<core::Status(ByteSink)>;

// Calls `source` and passes its bytes on; fails when they are not exactly `expected` bytes. `what`
// names the tensor in messages.
core::Status CopyExactly(const ByteSource& source, uint64_t expected, std::string_view what,
                         ByteSink sink);

}  // namespace rml::io
