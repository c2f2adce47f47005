// Dim: one dimension of a value's type. An integer, or a polynomial over bounded symbols
// ("batch", "2*tokens + 1", "floor(length / 4)") that becomes an integer when a graph runs.
//
// Integer dimensions cost one machine word and no lookup. Symbolic ones are numbers of a table that
// lives as long as the process and holds each expression once, in a canonical form: two dimensions
// are equal exactly when the forms are. What is equal only for some values of the symbols is not
// equal.
//
// Arithmetic never fails: what is negative, overflows 63 bits or divides by zero is an invalid
// dimension, which stays invalid and is refused where a type is made (Dims::Check).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::ir {

class Dim {
 public:
  constexpr Dim() = default;  // 0
  constexpr Dim(int64_t value) : code_(value >= 0 ? value : kInvalid) {}

  // min <= max, min >= 0. The same name with other bounds is another symbol.
  static Dim Symbol(std::string_view name, int64_t min, int64_t max);
  static constexpr Dim Invalid() { return Dim(-1); }

  constexpr bool valid() const { return code_ != kInvalid; }
  constexpr bool is_integer() const { return code_ >= 0; }
  int64_t value() const;  // of an integer; RML_CHECKs that it is one

  // Bounds that hold for every value of the symbols.
  int64_t min() const { return is_integer() ? code_ : Bound(false); }
  int64_t max() const { return is_integer() ? code_ : Bound(true); }

  std::string ToString() const;

  friend constexpr bool operator==(Dim a, Dim b) { return a.code_ == b.code_; }
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);  // invalid where the result may be negative for every value
  friend Dim operator*(Dim a, Dim b);
  friend Dim FloorDiv(Dim a, Dim b);
  // a / b where b divides a for every value of the symbols; else invalid.
  friend Dim ExactDiv(Dim a, Dim b);

  // The symbols that it contains, each once.
  std::vector<Dim> Symbols() const;
  bool is_symbol() const;
  std::string_view symbol_name() const;  // of a symbol

  // With integers for the symbols; `value_of` gives each symbol's, negative when it is unknown,
  // which is an error that names it.
  core::Expected<int64_t> Evaluate(const std::function<int64_t(Dim symbol)>& value_of) const;
  // With dimensions for some symbols; `replace` returns the symbol itself to keep it.
  Dim Substitute(const std::function<Dim(Dim symbol)>& replace) const;

  // Identifies the dimension within this process: the integer, or a negative number.
  constexpr int64_t code() const { return code_; }

 private:
  struct Coded {};
  constexpr Dim(Coded, int64_t code) : code_(code) {}
  int64_t Bound(bool upper) const;
  friend class DimTable;

  static constexpr int64_t kInvalid = INT64_MIN;
  int64_t code_ = 0;  // >= 0: the integer; else -1 - (place in the table)
};

Dim FloorDiv(Dim a, Dim b);
Dim ExactDiv(Dim a, Dim b);

// "batch", "3*batch + 1", "floor(batch / 2)", "17": what ToString writes. `symbol` makes the
// dimension of a name; an error names the character.
core::Expected<Dim> ParseDim(std::string_view text,
                             const std::function<core::Expected<Dim>(std::string_view)>& symbol);

}  // namespace rml::ir
