#include "rml/ops/einsum.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "rml/ops/shape_ops.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::Dim;

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// "ab...c": letters around an ellipsis.
struct Term {
  std::string before;
  bool ellipsis = false;
  std::string after;

  std::string letters() const { return before + after; }
};

Expected<Term> ReadTerm(std::string_view text) {
  Term term;
  while (!text.empty()) {
    if (text.starts_with("...")) {
      if (term.ellipsis) return core::InvalidArgument("equation: an ellipsis stands twice");
      term.ellipsis = true;
      text.remove_prefix(3);
      continue;
    }
    if (kLetters.find(text[0]) == std::string_view::npos)
      return core::InvalidArgument("equation: \"", text.substr(0, 1), "\" is no index");
    (term.ellipsis ? term.after : term.before) += text[0];
    text.remove_prefix(1);
  }
  return term;
}

class Reader {
 public:
  explicit Reader(const ir::OpCall& call) : call_(call) {}

  Expected<Equation> Read() {
    std::string equation;
    for (const char c : call_.text("equation")) {
      if (c != ' ') equation += c;
    }
    const size_t arrow = equation.find("->");
    RML_TRY(ReadInputs(std::string_view(equation).substr(0, arrow)));
    RML_TRY(PlaceInputs());
    std::optional<Term> output;
    if (arrow != std::string::npos) {
      RML_ASSIGN(output, ReadTerm(std::string_view(equation).substr(arrow + 2)));
    }
    RML_TRY(PlaceOutput(output ? *output : Implicit()));
    return std::move(equation_);
  }

 private:
  Status ReadInputs(std::string_view text) {
    for (;;) {
      const size_t end = text.find(',');
      RML_ASSIGN(terms_.emplace_back(), ReadTerm(text.substr(0, end)));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    if (terms_.size() != static_cast<size_t>(call_.inputs())) {
      return core::InvalidArgument("equation has ", terms_.size(), " terms, and there are ",
                                   call_.inputs(), " inputs");
    }
    for (size_t i = 0; i < terms_.size(); ++i) {
      const int rank = call_.rank(static_cast<int>(i));
      const auto named = static_cast<int>(terms_[i].letters().size());
      if (terms_[i].ellipsis ? named > rank : named != rank) {
        return core::InvalidArgument("equation names ", named, " axes of ",
                                     call_.input_name(static_cast<int>(i)), ", which has ", rank);
      }
      if (terms_[i].ellipsis) wide_ = std::max(wide_, rank - named);
      letters_ += terms_[i].letters();
    }
    return {};
  }

  // Letters are numbered as they come, the axes of ellipses behind them.
  int IndexOf(char letter) const { return static_cast<int>(distinct_.find(letter)); }
  int EllipsisIndex(int from_end) const {
    return static_cast<int>(distinct_.size()) + wide_ - from_end;
  }

  Status PlaceInputs() {
    for (const char letter : letters_) {
      if (distinct_.find(letter) == std::string::npos) distinct_ += letter;
    }
    equation_.sizes.assign(distinct_.size() + static_cast<size_t>(wide_), 1);
    if (equation_.sizes.size() > kMostIndices) {
      return core::Unsupported("equation has ", equation_.sizes.size(), " indices, and at most ",
                               kMostIndices, " are possible");
    }
    std::string known;
    for (size_t i = 0; i < terms_.size(); ++i) {
      const int input = static_cast<int>(i);
      std::vector<int>& places = equation_.inputs.emplace_back();
      const auto named = [&](const std::string& letters) -> Status {
        for (const char letter : letters) {
          const Dim dim = call_.dim(input, static_cast<int>(places.size()));
          Dim& size = equation_.sizes[static_cast<size_t>(IndexOf(letter))];
          if (known.find(letter) != std::string::npos && !(size == dim)) {
            return core::InvalidArgument("index ", std::string_view(&letter, 1), " is ",
                                         size.ToString(), ", and ", dim.ToString(), " in ",
                                         call_.input_name(input));
          }
          known += letter;
          size = dim;
          places.push_back(IndexOf(letter));
        }
        return {};
      };
      RML_TRY(named(terms_[i].before));
      const int hidden = call_.rank(input) - static_cast<int>(terms_[i].letters().size());
      for (int k = hidden; k > 0; --k) {
        const Dim dim = call_.dim(input, static_cast<int>(places.size()));
        Dim& size = equation_.sizes[static_cast<size_t>(EllipsisIndex(k))];
        if (!(size == Dim(1)) && !(dim == Dim(1)) && !(size == dim)) {
          return core::InvalidArgument("axis -", k, " of the ellipsis is ", size.ToString(),
                                       ", and ", dim.ToString(), " in ", call_.input_name(input));
        }
        if (size == Dim(1)) size = dim;
        places.push_back(EllipsisIndex(k));
      }
      RML_TRY(named(terms_[i].after));
    }
    for (size_t i = 0; i < terms_.size(); ++i) {
      for (size_t axis = 0; axis < equation_.inputs[i].size(); ++axis) {
        int& index = equation_.inputs[i][axis];
        const Dim dim = call_.dim(static_cast<int>(i), static_cast<int>(axis));
        if (!(dim == equation_.sizes[static_cast<size_t>(index)])) index = -1;
      }
    }
    return {};
  }

  // The ellipsis, then the letters that occur once, in alphabetical order.
  Term Implicit() const {
    Term term;
    term.ellipsis = true;
    for (const char letter : distinct_) {
      if (std::ranges::count(letters_, letter) == 1) term.after += letter;
    }
    std::ranges::sort(term.after);
    return term;
  }

  Status PlaceOutput(const Term& term) {
    const auto named = [&](const std::string& letters) -> Status {
      for (const char letter : letters) {
        const std::string_view name(&letter, 1);
        if (IndexOf(letter) < 0)
          return core::InvalidArgument("output index ", name, " is in no input");
        if (std::ranges::count(equation_.output, IndexOf(letter)) > 0)
          return core::InvalidArgument("output index ", name, " stands twice");
        equation_.output.push_back(IndexOf(letter));
      }
      return {};
    };
    RML_TRY(named(term.before));
    for (int k = term.ellipsis ? wide_ : 0; k > 0; --k)
      equation_.output.push_back(EllipsisIndex(k));
    RML_TRY(named(term.after));
    return CheckRank(static_cast<int>(equation_.output.size()));
  }

  const ir::OpCall& call_;
  std::vector<Term> terms_;
  std::string letters_;   // of all inputs
  std::string distinct_;  // each once
  int wide_ = 0;          // axes of the widest ellipsis
  Equation equation_;
};

}  // namespace

std::vector<int> Equation::Summed() const {
  std::vector<int> summed;
  for (int index = 0; index < static_cast<int>(sizes.size()); ++index) {
    if (std::ranges::count(output, index) == 0) summed.push_back(index);
  }
  return summed;
}

bool Equation::IsDiagonal(int index) const {
  return std::ranges::any_of(
      inputs, [&](const std::vector<int>& axes) { return std::ranges::count(axes, index) > 1; });
}

Expected<Equation> ReadEquation(const ir::OpCall& call) { return Reader(call).Read(); }

Expected<ir::Axes> EinsumAxes(const ir::OpCall& call) {
  RML_ASSIGN(const Equation equation, ReadEquation(call));
  const auto place = [](const std::vector<int>& axes, int index) {
    const auto at = std::ranges::find(axes, index);
    return at == axes.end() ? -1 : static_cast<int>(at - axes.begin());
  };
  ir::Axes axes;
  for (int index = 0; index < static_cast<int>(equation.sizes.size()); ++index) {
    if (equation.IsDiagonal(index)) continue;
    ir::NamedAxis& axis = axes.emplace_back(FreeAxis(index, {}, {place(equation.output, index)}));
    if (axis.outputs[0] < 0) axis.role = ir::AxisRole::kReduced;
    for (const std::vector<int>& input : equation.inputs)
      axis.inputs.push_back(place(input, index));
  }
  return axes;
}

char IndexLetter(int index) {
  RML_CHECK(index >= 0 && index < kMostIndices);
  return kLetters[static_cast<size_t>(index)];
}

}  // namespace rml::ops
