// Operations on text that both str methods and filters need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

// text.find(wanted, from), in linear time whatever the two are (std::string_view's is quadratic).
size_t FindText(std::string_view text, std::string_view wanted, size_t from = 0);

enum class Sides : uint8_t { kLeft = 1, kRight = 2, kBoth = 3 };

// str.strip(chars): white space when there are no chars.
std::string_view Strip(std::string_view text, Sides sides, std::optional<std::string_view> chars);

// str.split(): at runs of white space, at most max_splits times when that is not negative.
std::vector<std::string_view> SplitSpace(std::string_view text, int64_t max_splits);
std::vector<std::string_view> SplitSpaceFromRight(std::string_view text, int64_t max_splits);
// The separator must not be empty.
std::vector<std::string_view> Split(std::string_view text, std::string_view separator,
                                    int64_t max_splits);
std::vector<std::string_view> SplitFromRight(std::string_view text, std::string_view separator,
                                             int64_t max_splits);
std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends);

// str.replace(): all, when max_count is negative.
Expected<std::string> Replace(Runtime& runtime, std::string_view text, std::string_view from,
                              std::string_view to, int64_t max_count);

// Spaces (or another fill) around text until it is `width` characters: center, ljust, rjust, zfill.
Expected<std::string> Pad(Runtime& runtime, std::string_view text, int64_t left, int64_t right,
                          std::string_view fill);

// A list of strings, Markup when they come from Markup.
Expected<Value> MakeStringList(Runtime& runtime, const std::vector<std::string_view>& parts,
                               bool safe);

}  // namespace rml::text::jinja
