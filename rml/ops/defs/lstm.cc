// Long short-term memory along a sequence.
#include "rml/ops/recurrent.h"

namespace rml::ops {
namespace {

// Gates i, o, f, c; peepholes i, o, f; activations of gates, of the fresh cell, of the cell.
ir::Values LstmCell(const ir::OpCall& call, const Step& s) {
  const Emit& e = s.e;
  const ir::Value& c = s.states[1];
  const ir::Value sums = e.add(s.projected, s.Recur(s.states[0], 0, 4));
  const auto gate = [&](int g, const ir::Value& seen) {
    ir::Value sum = s.Gate(sums, g);
    if (s.extra.defined()) sum = e.add(sum, e.mul(s.Gate(s.extra, g), seen));
    return s.Activated(0, sum);
  };
  const ir::Value in = gate(0, c);
  const ir::Value keep = call.flag("input_forget") ? e.sub(e.like(in, 1), in) : gate(2, c);
  const ir::Value next = e.add(e.mul(keep, c), e.mul(in, s.Activated(1, s.Gate(sums, 3))));
  return {e.mul(gate(1, next), Activate(e, s.activations[2], next)), next};
}

}  // namespace

ir::OpDef Lstm() {
  ir::OpDef op = RecurrentOp({.gates = 4,
                              .states = 2,
                              .extra = 3,
                              .activations = {.standard = "sigmoid, tanh, tanh"},
                              .cell = LstmCell});
  op.name = "lstm";
  op.doc =
      "Long short-term memory (Hochreiter and Schmidhuber 1997), as ONNX's LSTM, with gates i, o, "
      "f, c in this order: `c = f ⊙ c + i ⊙ tanh(…)`, `h = o ⊙ tanh(c)`. `peepholes` [directions, "
      "3 · hidden] let the gates i, o, f see the cell. `activations` are those of gates, of the "
      "fresh cell and of the cell that h shows, which `clip` leaves alone. `input_forget`: f = 1 "
      "- i. The rest is that of `rnn`. PyTorch's order of gates is i, f, c, o.";
  op.attributes.push_back({"input_forget", false});
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    ir::Sample& sample = all.emplace_back(all[2]);
    sample.attributes.push_back({"input_forget", true});
    return all;
  };
  return op;
}

}  // namespace rml::ops
