#include "rml/io/printable.h"

#include <algorithm>

#include "rml/io/utf8.h"

namespace rml::io {

std::string Printable(std::string_view text) {
  constexpr size_t kMaxBytes = 100;
  std::string out;
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = Utf8SequenceLength(text.substr(i));
    if (out.size() + length > kMaxBytes) return out + "…";
    const auto first = static_cast<unsigned char>(text[i]);
    if (length == 0 || first < 0x20 || first == 0x7f) {
      out += '?';
    } else {
      out += text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return out;
}

}  // namespace rml::io
