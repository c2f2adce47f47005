#include "rml/ir/dim.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/ir/dim_table.h"

namespace rml::ir {

using core::Expected;

namespace {

DimTable& Table() { return DimTable::Get(); }

// a + sign * b
Dim Sum(Dim a, Dim b, int64_t sign) {
  std::vector<DimTerm> terms = Table().Terms(a);
  for (DimTerm& term : Table().Terms(b)) {
    term.factor *= sign;
    terms.push_back(std::move(term));
  }
  return Table().Make(std::move(terms));
}

// The atoms of `all` without those of `part`, each as often as it is there; nothing when some are
// missing. Both are sorted.
std::optional<std::vector<int>> Without(const std::vector<int>& all, const std::vector<int>& part) {
  if (!std::ranges::includes(all, part)) return std::nullopt;
  std::vector<int> rest;
  std::ranges::set_difference(all, part, std::back_inserter(rest));
  return rest;
}

std::string TermText(const DimTerm& term, int64_t factor) {
  std::string out;
  if (term.atoms.empty() || factor != 1) out = core::StrCat(factor);
  for (const int id : term.atoms) {
    const DimAtom& atom = Table().Atom(id);
    if (!out.empty()) out += "*";
    if (atom.name.empty()) {
      out += core::StrCat("floor(", atom.above.ToString(), " / ", atom.below.ToString(), ")");
    } else {
      out += atom.name;
    }
  }
  return out;
}

void CollectSymbols(Dim dim, std::vector<Dim>* symbols) {
  if (dim.is_integer() || !dim.valid()) return;
  for (const DimTerm& term : Table().Expr(dim).terms) {
    for (const int id : term.atoms) {
      const DimAtom& atom = Table().Atom(id);
      if (atom.name.empty()) {
        CollectSymbols(atom.above, symbols);
        CollectSymbols(atom.below, symbols);
        continue;
      }
      const Dim symbol = Dim::Symbol(atom.name, atom.min, atom.max);
      if (std::ranges::find(*symbols, symbol) == symbols->end()) symbols->push_back(symbol);
    }
  }
}

}  // namespace

Dim Dim::Symbol(std::string_view name, int64_t min, int64_t max) {
  return Table().MakeSymbol(name, min, max);
}

int64_t Dim::value() const {
  RML_CHECK(is_integer());
  return code_;
}

int64_t Dim::Bound(bool upper) const {
  if (!valid()) return upper ? INT64_MAX : 0;
  const DimExpr& expr = Table().Expr(*this);
  return upper ? expr.max : expr.min;
}

Dim operator+(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim::Invalid();
  if (a.is_integer() && b.is_integer()) {
    int64_t sum = 0;
    return core::CheckedAdd(a.code_, b.code_, &sum) ? Dim(sum) : Dim::Invalid();
  }
  return Sum(a, b, 1);
}

Dim operator-(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim::Invalid();
  if (a.is_integer() && b.is_integer()) return Dim(a.code_ - b.code_);
  return Sum(a, b, -1);
}

Dim operator*(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return Dim::Invalid();
  if (a.is_integer() && b.is_integer()) {
    int64_t product = 0;
    return core::CheckedMul(a.code_, b.code_, &product) ? Dim(product) : Dim::Invalid();
  }
  std::vector<DimTerm> terms;
  for (const DimTerm& x : Table().Terms(a)) {
    for (const DimTerm& y : Table().Terms(b)) {
      DimTerm term = x;
      if (!core::CheckedMul(x.factor, y.factor, &term.factor)) return Dim::Invalid();
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      terms.push_back(std::move(term));
    }
  }
  return Table().Make(std::move(terms));
}

Dim ExactDiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid() || b == Dim(0)) return Dim::Invalid();
  if (a.is_integer() && b.is_integer()) {
    return a.code_ % b.code_ == 0 ? Dim(a.code_ / b.code_) : Dim::Invalid();
  }
  if (a == b) return 1;
  const std::vector<DimTerm> below = Table().Terms(b);
  if (below.size() != 1) return Dim::Invalid();
  std::vector<DimTerm> terms = Table().Terms(a);
  for (DimTerm& term : terms) {
    auto rest = Without(term.atoms, below[0].atoms);
    if (!rest || term.factor % below[0].factor != 0) return Dim::Invalid();
    term = {term.factor / below[0].factor, *std::move(rest)};
  }
  return Table().Make(std::move(terms));
}

Dim FloorDiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid() || b == Dim(0)) return Dim::Invalid();
  if (a.is_integer() && b.is_integer()) return a.code_ / b.code_;
  const Dim exact = ExactDiv(a, b);
  return exact.valid() ? exact : Table().MakeFloorDiv(a, b);
}

std::string Dim::ToString() const {
  if (!valid()) return "?";
  if (is_integer()) return core::StrCat(code_);
  std::string out;
  // The constant, which comes first in the table, is written last.
  const std::vector<DimTerm>& terms = Table().Expr(*this).terms;
  for (size_t i = 0; i < terms.size(); ++i) {
    const DimTerm& term = terms[terms[0].atoms.empty() ? (i + 1) % terms.size() : i];
    if (out.empty()) {
      out = TermText(term, term.factor);
    } else {
      out += core::StrCat(term.factor < 0 ? " - " : " + ", TermText(term, std::abs(term.factor)));
    }
  }
  return out;
}

std::vector<Dim> Dim::Symbols() const {
  std::vector<Dim> symbols;
  CollectSymbols(*this, &symbols);
  return symbols;
}

bool Dim::is_symbol() const { return !symbol_name().empty(); }

std::string_view Dim::symbol_name() const {
  if (is_integer() || !valid()) return {};
  const std::vector<DimTerm>& terms = Table().Expr(*this).terms;
  if (terms.size() != 1 || terms[0].factor != 1 || terms[0].atoms.size() != 1) return {};
  return Table().Atom(terms[0].atoms[0]).name;
}

Expected<int64_t> Dim::Evaluate(const std::function<int64_t(Dim symbol)>& value_of) const {
  std::string unknown;
  const Dim result = Substitute([&](Dim symbol) -> Dim {
    const int64_t value = value_of(symbol);
    if (value >= 0) return value;
    unknown = symbol.symbol_name();
    return symbol;
  });
  if (!unknown.empty()) {
    return core::InvalidArgument("dimension ", ToString(), " needs a value for \"", unknown, "\"");
  }
  if (!result.is_integer()) {
    return core::InvalidArgument("dimension ", ToString(), " is negative or too large here");
  }
  return result.value();
}

Dim Dim::Substitute(const std::function<Dim(Dim symbol)>& replace) const {
  if (is_integer() || !valid()) return *this;
  Dim positive = 0;
  Dim negative = 0;
  for (const DimTerm& term : Table().Expr(*this).terms) {
    Dim product = std::abs(term.factor);
    for (const int id : term.atoms) {
      const DimAtom& atom = Table().Atom(id);
      product = product * (atom.name.empty() ? FloorDiv(atom.above.Substitute(replace),
                                                        atom.below.Substitute(replace))
                                             : replace(Symbol(atom.name, atom.min, atom.max)));
    }
    Dim& sum = term.factor > 0 ? positive : negative;
    sum = sum + product;
  }
  return positive - negative;
}

}  // namespace rml::ir
