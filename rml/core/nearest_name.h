// Suggestions for misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rml::core {

// The known name that is fewest edits away (insert, delete, replace, swap neighbours); empty when
// none is near: more than a third of its letters differ.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

// "; did you mean \"eps\"?", or nothing.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> known);

}  // namespace rml::core
