// Axes: which axes of an operator's inputs and outputs are the same, and what may be done to each.
// Shape checks, the partitioner and split checks follow from it.
//
// As text, for operators whose ranks are known but for leading ones: "*b d!, d! -> *b d!, *b". One
// list of axes for each input and output; `*b` stands for any number of axes (the same ones
// wherever it is named); `!` says that the axis must be whole on a device; `1` is an axis of one
// element. An axis that no output has is reduced by a sum, unless it says `^max`, `^min`, `^prod`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/ir/type.h"

namespace rml::ir {

class OpCall;
struct OpDef;

enum class AxisRole : uint8_t {
  kFree,     // pieces are computed apart; an output without the axis is the same in each
  kReduced,  // outputs without the axis are partial results, which are combined
  kWhole,
};

enum class Combine : uint8_t { kSum, kMax, kMin, kProd };

// Outputs that have the axis are joined along it, whatever its role.
struct NamedAxis {
  std::string name;
  AxisRole role = AxisRole::kWhole;
  Combine combine = Combine::kSum;
  // Its place in each input and output; -1 where it is absent (an input is then used whole, also
  // one that is broadcast along it).
  std::vector<int> inputs;
  std::vector<int> outputs;
};

using Axes = std::vector<NamedAxis>;

// One of the pieces into which an axis is split.
struct AxisPiece {
  std::string_view axis;
  int64_t begin = 0;
  int64_t size = 0;
};

class AxesRule {
 public:
  using Function = std::function<core::Expected<Axes>(const OpCall& call)>;

  AxesRule() = default;  // every axis is whole
  AxesRule(const char* text) : text_(text) {}
  AxesRule(Function function) : function_(std::move(function)) {}

  std::string_view text() const { return text_; }  // empty where there is none
  const Function& function() const { return function_; }
  bool empty() const { return text_.empty() && !function_; }

 private:
  std::string_view text_;
  Function function_;
};

// A rule's text, taken apart. Fails on what the grammar above does not know.
struct AxesText {
  struct Name {
    std::string name;  // "1": one element
    bool many = false;
    bool whole = false;
    Combine combine = Combine::kSum;
  };
  std::vector<std::vector<Name>> inputs;
  std::vector<std::vector<Name>> outputs;
};
core::Expected<AxesText> ParseAxes(std::string_view text);

// The axes of a call. With a text, the dimensions of the inputs are checked against it. Outputs are
// placed for all declared outputs.
core::Expected<Axes> ResolveAxes(const OpCall& call);

// The dimensions of the outputs as the text has them, once the inputs have been checked.
core::Expected<std::vector<Dims>> OutputDims(const OpCall& call);

}  // namespace rml::ir
