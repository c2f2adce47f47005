// Repeats a graph while another says so.
#include "rml/core/error.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ops/control.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/graph_samples.h"

namespace rml::ops {
namespace {

core::Status InferWhile(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Graph* const condition, GraphOf(call, "condition"));
  RML_ASSIGN(const ir::Graph* const body, GraphOf(call, "body"));
  ir::Types states;
  for (int i = 0; i < call.inputs(); ++i) states.push_back(call.input(i));
  const ir::Type flag = {core::DType::kBool, {}};
  RML_TRY(CheckSignature(*condition, "condition", states, std::span(&flag, 1)));
  RML_TRY(CheckSignature(*body, "body", states, states));
  *outputs = states;
  return {};
}

}  // namespace

ir::OpDef While() {
  ir::OpDef op;
  op.name = "while";
  op.doc =
      "Starting with `state`, replaces the state by `body(state)` while `condition(state)` is "
      "true. Both are graphs; the state keeps its types. How often it runs is known only then, so "
      "it has no reverse gradient: scan has.";
  op.inputs = {{"state", "*", ir::Arity::kMany}};
  op.outputs = {{"state", "*", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {};
  op.attributes = {{"condition", ir::RequiredAttr{ir::GraphRef()}},
                   {"body", ir::RequiredAttr{ir::GraphRef()}}};
  op.infer = InferWhile;
  op.decompose = [](ir::ExprCall& call) -> ir::Values {
    const auto run = [&](std::string_view name, const ir::Values& state) {
      auto values = ir::Interpret(call.b(), *call.call().attr<ir::GraphRef>(name), state);
      if (!values.ok()) throw Error(values.status());
      return *std::move(values);
    };
    ir::Values state(call.all_inputs());
    for (;;) {
      const ir::Values flag = run("condition", state);
      if (!flag[0].concrete())
        throw Error(core::Unsupported(
            "a while loop has no form without it: its condition is known only when it runs"));
      const auto go_on = flag[0].tensor().HostData<uint8_t>();
      if (!go_on.ok()) throw Error(go_on.status());
      if ((*go_on)[0] == 0) return state;
      state = run("body", state);
    }
  };
  op.vjp = [](ir::ExprCall&) -> ir::Values {
    throw Error(core::Unsupported("while has no reverse gradient; use scan"));
  };
  op.samples = [] { return WhileSamples(); };
  return op;
}

}  // namespace rml::ops
