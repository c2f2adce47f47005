// The table of symbolic dimensions, and the polynomials in it. Internal to dim*.cc.
//
// A polynomial is a sum of terms, each an integer times a product of atoms; an atom is a symbol or
// floor(a / b) of two dimensions. Terms are sorted by their atoms, so that equal polynomials have
// equal forms.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "rml/ir/dim.h"

namespace rml::ir {

struct DimAtom {
  std::string name;  // empty: floor(above / below)
  int64_t min = 0;
  int64_t max = 0;
  Dim above;
  Dim below;
};

struct DimTerm {
  int64_t factor = 0;
  std::vector<int> atoms;  // sorted; one that is repeated is a power
  friend bool operator==(const DimTerm&, const DimTerm&) = default;
};

struct DimExpr {
  std::vector<DimTerm> terms;  // sorted by their atoms; factors are not 0; the constant comes first
  int64_t min = 0;
  int64_t max = 0;
};

class DimTable {
 public:
  static DimTable& Get();

  // The dimension of these terms, in any order, with repetitions.
  Dim Make(std::vector<DimTerm> terms);
  Dim MakeSymbol(std::string_view name, int64_t min, int64_t max);
  Dim MakeFloorDiv(Dim above, Dim below);

  // Entries never move and never change.
  const DimExpr& Expr(Dim dim);
  const DimAtom& Atom(int atom);

  // The terms of any valid dimension; none for the integer 0.
  std::vector<DimTerm> Terms(Dim dim);

 private:
  int AddAtom(DimAtom atom);

  std::mutex mutex_;
  std::deque<DimExpr> exprs_;
  std::deque<DimAtom> atoms_;
  std::map<std::vector<int64_t>, int64_t> codes_;  // of an expression's terms
  std::map<std::string, int> atom_keys_;
};

}  // namespace rml::ir
