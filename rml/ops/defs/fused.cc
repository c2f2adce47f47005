// A graph as one operator.
#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ops/control.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/graph_samples.h"

namespace rml::ops {
namespace {

core::Status InferFused(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Graph* const body, GraphOf(call, "body"));
  ir::Types given;
  for (int i = 0; i < call.inputs(); ++i) given.push_back(call.input(i));
  return InferThrough(*body, "body", given, outputs);
}

ir::Values VjpFused(ir::ExprCall& call) {
  const ir::Graph& body = *call.call().attr<ir::GraphRef>("body");
  const auto values = ir::InterpretAll(call.b(), body, {.inputs = call.all_inputs()});
  if (!values.ok()) throw Error(values.status());
  auto grads = ir::GraphBackward(call.b(), body, *values, call.all_grads(), body.inputs());
  if (!grads.ok()) throw Error(grads.status());
  return *std::move(grads);
}

}  // namespace

ir::OpDef Fused() {
  ir::OpDef op;
  op.name = "fused";
  op.doc =
      "The graph `body`, as one operator: what a kernel may compute in one go. It means what its "
      "body means.";
  op.inputs = {{"inputs", "*", ir::Arity::kMany}};
  op.outputs = {{"outputs", "*", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {};
  op.attributes = {{"body", ir::RequiredAttr{ir::GraphRef()}}};
  op.infer = InferFused;
  op.decompose = [](ir::ExprCall& call) -> ir::Values {
    auto values =
        ir::Interpret(call.b(), *call.call().attr<ir::GraphRef>("body"), call.all_inputs());
    if (!values.ok()) throw Error(values.status());
    return *std::move(values);
  };
  op.vjp = VjpFused;
  op.cost = [](const ir::OpCall& call) {
    return CostOfBody(call, *call.attr<ir::GraphRef>("body"));
  };
  op.samples = [] { return FusedSamples(); };
  return op;
}

}  // namespace rml::ops
