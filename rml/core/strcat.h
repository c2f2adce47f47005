// Joins text and numbers into a string without a formatting library: error messages are built all
// over the tree, and this header must cost nothing to include.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace rml::core {

// One argument of StrCat. Numbers are written into the piece itself; a piece lives as long as the
// call.
class StrPiece {
 public:
  StrPiece(std::string_view text) : text_(text) {}
  StrPiece(const std::string& text) : text_(text) {}
  StrPiece(const char* text) : text_(text) {}
  StrPiece(char c) : text_(digits_, 1) { digits_[0] = c; }
  StrPiece(bool value) : text_(value ? "true" : "false") {}
  template <std::signed_integral T>
  StrPiece(T value) {
    SetSigned(value);
  }
  template <std::unsigned_integral T>
  StrPiece(T value) {
    SetUnsigned(value);
  }
  StrPiece(double value);
  StrPiece(float value);
  StrPiece(const StrPiece&) = delete;
  StrPiece& operator=(const StrPiece&) = delete;

  std::string_view text() const { return text_; }

 private:
  void SetSigned(int64_t value);
  void SetUnsigned(uint64_t value);

  char digits_[32];
  std::string_view text_;
};

std::string StrCatPieces(std::initializer_list<const StrPiece*> pieces);

template <typename... Args>
std::string StrCat(const Args&... args) {
  return [](const auto&... pieces) { return StrCatPieces({&pieces...}); }(StrPiece(args)...);
}

}  // namespace rml::core
