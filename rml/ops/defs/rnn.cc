// h = f(w · x + r · h + bias), along a sequence
#include "rml/ops/recurrent.h"

namespace rml::ops {

ir::OpDef Rnn() {
  ir::OpDef op =
      RecurrentOp({.gates = 1,
                   .activations = {.attribute = "activation", .standard = "tanh"},
                   .cell = [](const ir::OpCall&, const Step& s) -> ir::Values {
                     return {s.Activated(0, s.e.add(s.projected, s.Recur(s.states[0], 0, 1)))};
                   }});
  op.name = "rnn";
  op.doc =
      "Recurrent network, as ONNX's RNN: `h = f(w · x + r · h + bias)` with `activation` f. x is "
      "[length, batch, input], w [directions, hidden, input], r [directions, hidden, hidden], "
      "bias [directions, 2 · hidden]: that of w, then that of r. `direction`: forward, reverse or "
      "bidirectional, the reverse one from each sequence's own end. Behind `lengths` y is zero "
      "and the state stays. y is [length, directions, batch, hidden], states [directions, batch, "
      "hidden]; with `layout` 1 the batch is the first axis of x, y ([batch, length, directions, "
      "hidden]) and states. `clip`, where it is not 0, cuts what activations get to ±clip. "
      "Activations are relu, tanh, sigmoid, affine (alpha · x + beta), leaky_relu, "
      "thresholded_relu (x where it is over alpha), scaled_tanh (alpha · tanh(beta · x)), "
      "hard_sigmoid, elu, softsign and softplus; a list for two directions has those of the "
      "forward one first, and `activation_alpha` and `activation_beta` hold the numbers of those "
      "that take some, in order.";
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    for (const char* f : {"relu", "sigmoid", "affine", "leaky_relu", "thresholded_relu",
                          "scaled_tanh", "softsign", "softplus"}) {
      ir::Sample& sample = all.emplace_back(all[1]);
      sample.attributes.push_back({"activation", f});
    }
    return all;
  };
  return op;
}

}  // namespace rml::ops
