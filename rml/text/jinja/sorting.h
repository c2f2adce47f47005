// Stable sorting by keys whose comparison can fail, as Python's sorted().
#pragma once

#include <cstdint>
#include <vector>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

// The places of the keys in ascending (or descending) order; equal keys keep their order.
Expected<std::vector<uint32_t>> SortedOrder(Runtime& runtime, const Items& keys, bool descending);

}  // namespace rml::text::jinja
