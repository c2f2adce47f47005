#include "rml/ir/dim_table.h"

#include <algorithm>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::ir {
namespace {

// a * b for values >= 0, or the largest integer.
int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  return core::CheckedMul(a, b, &product) ? product : INT64_MAX;
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (core::CheckedAdd(a, b, &sum)) return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

// Adds terms with the same atoms, drops those that cancel; false on overflow.
bool Normalize(std::vector<DimTerm>* terms) {
  for (DimTerm& term : *terms) std::ranges::sort(term.atoms);
  std::ranges::sort(*terms, {}, &DimTerm::atoms);
  std::vector<DimTerm> sum;
  for (DimTerm& term : *terms) {
    if (!sum.empty() && sum.back().atoms == term.atoms) {
      if (!core::CheckedAdd(sum.back().factor, term.factor, &sum.back().factor)) return false;
    } else {
      sum.push_back(std::move(term));
    }
  }
  std::erase_if(sum, [](const DimTerm& term) { return term.factor == 0; });
  *terms = std::move(sum);
  return true;
}

}  // namespace

DimTable& DimTable::Get() {
  static auto* const table = new DimTable;  // never destroyed: dimensions may outlive every order
  return *table;
}

const DimExpr& DimTable::Expr(Dim dim) {
  const std::scoped_lock lock(mutex_);
  return exprs_[static_cast<size_t>(-1 - dim.code())];
}

const DimAtom& DimTable::Atom(int atom) {
  const std::scoped_lock lock(mutex_);
  return atoms_[static_cast<size_t>(atom)];
}

std::vector<DimTerm> DimTable::Terms(Dim dim) {
  if (!dim.is_integer()) return Expr(dim).terms;
  if (dim.value() == 0) return {};
  return {{dim.value(), {}}};
}

Dim DimTable::Make(std::vector<DimTerm> terms) {
  if (!Normalize(&terms)) return Dim::Invalid();
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty()) return terms[0].factor;

  const std::scoped_lock lock(mutex_);
  DimExpr expr;
  std::vector<int64_t> key;
  for (const DimTerm& term : terms) {
    int64_t low = 1;
    int64_t high = 1;
    for (const int atom : term.atoms) {
      low = SaturatingMul(low, atoms_[static_cast<size_t>(atom)].min);
      high = SaturatingMul(high, atoms_[static_cast<size_t>(atom)].max);
    }
    const bool positive = term.factor > 0;
    const int64_t size = positive ? term.factor : -term.factor;
    low = SaturatingMul(low, size);
    high = SaturatingMul(high, size);
    expr.min = SaturatingAdd(expr.min, positive ? low : -high);
    expr.max = SaturatingAdd(expr.max, positive ? high : -low);
    key.push_back(static_cast<int64_t>(term.atoms.size()));
    key.insert(key.end(), term.atoms.begin(), term.atoms.end());
    key.push_back(term.factor);
  }
  if (expr.max < 0) return Dim::Invalid();
  expr.min = std::max<int64_t>(expr.min, 0);
  const auto [place, added] =
      codes_.try_emplace(std::move(key), -1 - static_cast<int64_t>(exprs_.size()));
  if (added) {
    expr.terms = std::move(terms);
    exprs_.push_back(std::move(expr));
  }
  return Dim(Dim::Coded{}, place->second);
}

int DimTable::AddAtom(DimAtom atom) {
  const std::string key = atom.name.empty()
                              ? core::StrCat("/", atom.above.code(), "/", atom.below.code())
                              : core::StrCat(atom.name, "\n", atom.min, "\n", atom.max);
  const std::scoped_lock lock(mutex_);
  const auto [place, added] = atom_keys_.try_emplace(key, static_cast<int>(atoms_.size()));
  if (added) atoms_.push_back(std::move(atom));
  return place->second;
}

Dim DimTable::MakeSymbol(std::string_view name, int64_t min, int64_t max) {
  RML_CHECK(!name.empty() && min >= 0 && min <= max);
  if (min == max) return min;
  return Make({{1, {AddAtom({std::string(name), min, max, 0, 0})}}});
}

Dim DimTable::MakeFloorDiv(Dim above, Dim below) {
  DimAtom atom;
  atom.above = above;
  atom.below = below;
  atom.min = above.min() / std::max<int64_t>(below.max(), 1);
  atom.max = above.max() / std::max<int64_t>(below.min(), 1);
  if (atom.min == atom.max) return atom.min;
  return Make({{1, {AddAtom(std::move(atom))}}});
}

}  // namespace rml::ir
