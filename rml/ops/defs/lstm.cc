// Long short-term memory along a sequence.
#include "rml/ops/recurrent.h"

namespace rml::ops {
namespace {

// Gates i, o, f, c; peepholes i, o, f.
ir::Values LstmCell(const ir::OpCall&, const Step& s) {
  const Emit& e = s.e;
  const ir::Value& c = s.states[1];
  const ir::Value sums = e.add(s.projected, s.Recur(s.states[0], 0, 4));
  const auto gate = [&](int g, const ir::Value& seen) {
    ir::Value sum = s.Gate(sums, g);
    if (s.extra.defined()) sum = e.add(sum, e.mul(s.Gate(s.extra, g), seen));
    return e.one("sigmoid", {sum});
  };
  const ir::Value fresh = e.one("tanh", {s.Gate(sums, 3)});
  const ir::Value next = e.add(e.mul(gate(2, c), c), e.mul(gate(0, c), fresh));
  return {e.mul(gate(1, next), e.one("tanh", {next})), next};
}

}  // namespace

ir::OpDef Lstm() {
  ir::OpDef op = RecurrentOp({.gates = 4, .states = 2, .extra = 3, .cell = LstmCell});
  op.name = "lstm";
  op.doc =
      "Long short-term memory (Hochreiter and Schmidhuber 1997), as ONNX's LSTM, with gates i, o, "
      "f, c in this order: `c = f ⊙ c + i ⊙ tanh(…)`, `h = o ⊙ tanh(c)`. `peepholes` [directions, "
      "3 · hidden] let the gates i, o, f see the cell. Shapes, directions and lengths are those of "
      "`rnn`. PyTorch's order of gates is i, f, c, o.";
  return op;
}

}  // namespace rml::ops
