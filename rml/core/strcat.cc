#include "rml/core/strcat.h"

#include <charconv>

namespace rml::core {

namespace {

template <typename T>
std::string_view Write(char (&buffer)[32], T value) {
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, static_cast<size_t>(result.ptr - buffer)};
}

}  // namespace

StrPiece::StrPiece(double value) : text_(Write(digits_, value)) {}
StrPiece::StrPiece(float value) : text_(Write(digits_, value)) {}
void StrPiece::SetSigned(int64_t value) { text_ = Write(digits_, value); }
void StrPiece::SetUnsigned(uint64_t value) { text_ = Write(digits_, value); }

std::string StrCatPieces(std::initializer_list<const StrPiece*> pieces) {
  size_t size = 0;
  for (const StrPiece* piece : pieces) size += piece->text().size();
  std::string out;
  out.reserve(size);
  for (const StrPiece* piece : pieces) out.append(piece->text());
  return out;
}

}  // namespace rml::core
