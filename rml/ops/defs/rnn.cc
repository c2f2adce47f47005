// h = f(w · x + r · h + bias), along a sequence
#include "rml/ops/recurrent.h"

namespace rml::ops {

ir::OpDef Rnn() {
  ir::OpDef op =
      RecurrentOp({.gates = 1, .cell = [](const ir::OpCall& call, const Step& s) -> ir::Values {
                     const ir::Value sum = s.e.add(s.projected, s.Recur(s.states[0], 0, 1));
                     return {s.e.one(call.text("activation"), {sum})};
                   }});
  op.name = "rnn";
  op.doc =
      "Recurrent network, as ONNX's RNN: `h = f(w · x + r · h + bias)` with `activation` f (tanh, "
      "relu or sigmoid). x is [length, batch, input], w [directions, hidden, input], r "
      "[directions, hidden, hidden], bias [directions, 2 · hidden]: that of w, then that of r. "
      "`direction`: forward, reverse or bidirectional, the reverse one from each sequence's own "
      "end. Behind `lengths` y is zero and the state stays. y is [length, directions, batch, "
      "hidden], states [directions, batch, hidden].";
  op.attributes.push_back({"activation", "tanh"});
  op.infer = [infer = op.infer](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const std::string& f = call.text("activation");
    if (f != "tanh" && f != "relu" && f != "sigmoid")
      return core::InvalidArgument("activation is \"", f, "\", expected tanh, relu or sigmoid");
    return infer(call, outputs);
  };
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    for (const char* f : {"relu", "sigmoid"}) {
      ir::Sample& sample = all.emplace_back(all[1]);
      sample.attributes.push_back({"activation", f});
    }
    return all;
  };
  return op;
}

}  // namespace rml::ops
