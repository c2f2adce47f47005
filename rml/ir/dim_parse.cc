#include <cctype>
#include <charconv>

#include "rml/ir/dim.h"

namespace rml::ir {

using core::Expected;

namespace {

constexpr int kMaxDepth = 32;

bool IsNameByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%';
}

// sum: product {(" + " | " - ") product};  product: factor {"*" factor}
// factor: integer | name | "floor(" sum " / " sum ")"
class DimParser {
 public:
  DimParser(std::string_view text, const std::function<Expected<Dim>(std::string_view)>& symbol)
      : text_(text), symbol_(symbol) {}

  Expected<Dim> Parse() {
    RML_ASSIGN(const Dim dim, Sum(0));
    if (at_ != text_.size()) return Wrong("the end");
    if (!dim.valid()) {
      return core::DataLoss("dimension \"", text_, "\" is negative or too large");
    }
    return dim;
  }

 private:
  core::Status Wrong(std::string_view wanted) const {
    return core::DataLoss("dimension \"", text_, "\": expected ", wanted, " at character ", at_);
  }

  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    SkipSpace();
    return true;
  }

  Expected<Dim> Sum(int depth) {
    if (depth > kMaxDepth) return Wrong("less nesting");
    // Terms that are taken away are summed apart: a partial sum may be negative.
    Dim plus = 0;
    Dim minus = 0;
    bool negative = Take('-');
    for (;;) {
      RML_ASSIGN(const Dim product, Product(depth));
      Dim& sum = negative ? minus : plus;
      sum = sum + product;
      if (Take('+')) {
        negative = false;
      } else if (Take('-')) {
        negative = true;
      } else {
        return plus - minus;
      }
    }
  }

  Expected<Dim> Product(int depth) {
    RML_ASSIGN(Dim product, Factor(depth));
    while (Take('*')) {
      RML_ASSIGN(const Dim factor, Factor(depth));
      product = product * factor;
    }
    return product;
  }

  Expected<Dim> Factor(int depth) {
    SkipSpace();
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return Wrong("a number or a name");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size()) {
        at_ = begin;
        return Wrong("a number of 63 bits");
      }
      return Dim(value);
    }
    if (word != "floor" || !Take('(')) return symbol_(word);
    RML_ASSIGN(const Dim above, Sum(depth + 1));
    if (!Take('/')) return Wrong("/");
    RML_ASSIGN(const Dim below, Sum(depth + 1));
    if (!Take(')')) return Wrong(")");
    return FloorDiv(above, below);
  }

  std::string_view text_;
  const std::function<Expected<Dim>(std::string_view)>& symbol_;
  size_t at_ = 0;
};

}  // namespace

Expected<Dim> ParseDim(std::string_view text,
                       const std::function<Expected<Dim>(std::string_view)>& symbol) {
  return DimParser(text, symbol).Parse();
}

}  // namespace rml::ir
