// Gated recurrent unit along a sequence.
#include "rml/ops/recurrent.h"

namespace rml::ops {
namespace {

ir::Values GruCell(const ir::OpCall& call, const Step& s) {
  const Emit& e = s.e;
  const ir::Value& h = s.states[0];
  const ir::Value gates = s.Activated(0, e.add(s.Gate(s.projected, 0, 2), s.Recur(h, 0, 2)));
  const ir::Value z = s.Gate(gates, 0);
  const ir::Value r = s.Gate(gates, 1);
  const ir::Value recurred =
      call.flag("linear_before_reset") ? e.mul(r, s.Recur(h, 2, 1)) : s.Recur(e.mul(r, h), 2, 1);
  const ir::Value fresh = s.Activated(1, e.add(s.Gate(s.projected, 2), recurred));
  return {e.add(fresh, e.mul(z, e.sub(h, fresh)))};
}

}  // namespace

ir::OpDef Gru() {
  ir::OpDef op =
      RecurrentOp({.gates = 3, .activations = {.standard = "sigmoid, tanh"}, .cell = GruCell});
  op.name = "gru";
  op.doc =
      "Gated recurrent unit (Cho et al. 2014), as ONNX's GRU, with gates z, r, h in this order: "
      "`h = (1 - z) ⊙ tanh(wₕ · x + rₕ · (r ⊙ h)) + z ⊙ h`. With `linear_before_reset` r "
      "multiplies rₕ · h and its bias instead (PyTorch, cuDNN). `activations` are those of gates "
      "and of the fresh state. The rest is that of `rnn`.";
  op.attributes.push_back({"linear_before_reset", false});
  op.samples = [samples = op.samples] {
    std::vector<ir::Sample> all = samples();
    ir::Sample& sample = all.emplace_back(all[2]);
    sample.attributes.push_back({"linear_before_reset", true});
    return all;
  };
  return op;
}

}  // namespace rml::ops
