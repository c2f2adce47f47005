// What rnn, gru and lstm share: ONNX's inputs, directions and activations, and their decomposition
// into a scan over the sequence.
//
// x: [length, batch, input], w: [directions, gates · hidden, input], r: [directions, gates ·
// hidden, hidden], bias: [directions, 2 · gates · hidden], that of w, then that of r; lengths:
// [batch]; states: [directions, batch, hidden]. y: [length, directions, batch, hidden]. With
// `layout` 1 x is [batch, length, input], y [batch, length, directions, hidden], and states are
// [batch, directions, hidden].
#pragma once

#include <functional>
#include <vector>

#include "rml/ir/expr_call.h"
#include "rml/ir/op_def.h"
#include "rml/ops/expr.h"
#include "rml/ops/recurrent_activation.h"

namespace rml::ops {

// One step of one direction. `projected` [batch, gates · hidden] is x · wᵀ with its bias; `extra`
// are the weights of this direction behind the states.
struct Step {
  const Emit& e;
  const std::vector<Activation>& activations;
  double clip = 0;  // of what activations get; 0: nothing is cut
  ir::Value projected;
  ir::Values states;  // [batch, hidden] each; the first is what y shows
  ir::Value r;        // [gates · hidden, hidden]
  ir::Value r_bias;   // [gates · hidden]; undefined where there is no bias
  ir::Value extra;    // undefined where it is left out

  // Gate g of [batch, gates · hidden] or [gates · hidden], and rows g, g + 1 … of r.
  ir::Value Gate(const ir::Value& gates, int g, int count = 1) const;
  ir::Value Rows(const ir::Value& weights, int g, int count = 1) const;
  // state · rᵀ + bias
  ir::Value Recur(const ir::Value& state, int g, int count) const;
  // Activation i of a gate's sum.
  ir::Value Activated(int i, const ir::Value& sum) const;
};
using Cell = std::function<ir::Values(const ir::OpCall& call, const Step& step)>;

struct Recurrent {
  int gates = 1;
  int states = 1;
  // Rows of `hidden` numbers in an optional last input [directions, extra · hidden]; 0: none.
  int extra = 0;
  RecurrentActivations activations;
  Cell cell;
};

// The places of inputs; the extra one lies behind the states.
namespace rnn {
enum Input : int { kX, kW, kR, kBias, kLengths, kStates };
}  // namespace rnn

// A definition of everything but name, doc and the cell's own attributes.
ir::OpDef RecurrentOp(const Recurrent& form);

// 1 or 2, by the attribute `direction`.
core::Expected<int> RecurrentDirections(const ir::OpCall& call);

ir::Values DecomposeRecurrent(const Recurrent& form, const ir::ExprCall& call);

}  // namespace rml::ops
