// Text from a file, made fit for an error message.
#pragma once

#include <string>
#include <string_view>

namespace rml::io {

// Control characters and bytes that are not UTF-8 become '?', and long text is cut.
std::string Printable(std::string_view text);

}  // namespace rml::io
