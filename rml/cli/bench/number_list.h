// Options that are lists of numbers or names: "1,2", "matmul,softmax".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::cli {

// Each from `smallest` to a million; messages begin with the option.
core::Expected<std::vector<int64_t>> ParseNumberList(std::string_view option,
                                                     const std::string& list, int64_t smallest);
// The parts between commas; empty ones are left out.
std::vector<std::string> ParseNameList(std::string_view list);

}  // namespace rml::cli
