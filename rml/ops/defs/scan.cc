// Repeats a graph along sequences, carrying a state.
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ops/control.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/graph_samples.h"
#include "rml/ops/sequence_scan.h"

namespace rml::ops {
namespace {

using ir::Dims;
using ir::Type;
using ir::Types;
using ir::Value;
using ir::Values;

core::Status InferScan(const ir::OpCall& call, Types* outputs) {
  RML_ASSIGN(const ScanLayout layout, ScanLayoutOf(call));
  RML_ASSIGN(const ir::Graph* const body, GraphOf(call, "body"));
  const Types inputs = ScanStepTypes(layout, call);
  RML_TRY(InferThrough(*body, "body", inputs, outputs));
  if (outputs->size() < layout.carries) {
    return core::InvalidArgument("body has ", outputs->size(), " outputs, and there are ",
                                 layout.carries, " states");
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    Type& type = (*outputs)[i];
    if (i < layout.carries) {
      if (type == inputs[i]) continue;
      return core::InvalidArgument("output ", i, " of body is ", type.ToString(),
                                   ", and the state is ", inputs[i].ToString());
    }
    if (type.dims.full())
      return core::InvalidArgument("output ", i, " of body has no room for another axis");
    RML_ASSIGN(const int axis,
               ir::NormalizeAxis(layout.y[i - layout.carries].axis, type.dims.rank() + 1));
    type.dims.Insert(axis, layout.length);
  }
  return {};
}

// The same scan of plain sequences.
ir::AttrList PlainAttributes(const ir::OpCall& call, const ScanLayout& layout) {
  return {{"body", call.attr<ir::GraphRef>("body")},
          {"carries", call.integer("carries")},
          {"xs", call.integer("xs")},
          {"length", Dims{layout.length}},
          {"reverse", call.flag("reverse")}};
}

Values PlainInputs(const Emit& e, const ScanLayout& layout, const ir::ExprCall& call) {
  Values inputs(call.all_inputs());
  for (size_t k = 0; k < layout.xs; ++k) {
    Value& x = inputs[layout.carries + k];
    x = ToPlainSequence(e, x, layout.x[k]);
  }
  return inputs;
}

// Step by step.
Values DecomposeScan(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ScanLayout layout = OrThrow(ScanLayoutOf(c));
  if (!layout.plain()) {
    const Values inputs = PlainInputs(e, layout, call);
    Values made =
        e.call("scan", std::span(inputs.begin(), inputs.size()), PlainAttributes(c, layout));
    for (size_t k = layout.carries; k < made.size(); ++k)
      made[k] = FromPlainSequence(e, made[k], layout.y[k - layout.carries]);
    return made;
  }
  const ir::Graph& body = *c.attr<ir::GraphRef>("body");
  if (!layout.length.is_integer())
    throw Error(
        core::Unsupported("a scan has no form without it where only the run knows its "
                          "length"));
  const int64_t length = layout.length.value();
  const Types types = ScanStepTypes(layout, c);
  Values step(call.all_inputs());
  std::vector<Values> rows(body.outputs().size() - layout.carries);
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = c.flag("reverse") ? length - 1 - i : i;
    for (size_t x = layout.carries; x < layout.carries + layout.xs; ++x) {
      const Value row = e.one("narrow", {call.in(static_cast<int>(x))},
                              {{"axis", 0}, {"start", Dims{at}}, {"size", Dims{1}}});
      step[x] = e.reshape(row, types[x].dims);
    }
    const Values made = OrThrow(ir::Interpret(call.b(), body, step));
    for (size_t k = 0; k < made.size(); ++k) {
      if (k < layout.carries) {
        step[k] = made[k];
      } else {
        rows[k - layout.carries].push_back(made[k]);
      }
    }
  }
  Values outputs;
  for (size_t k = 0; k < layout.carries; ++k) outputs.push_back(step[k]);
  if (length == 0) {
    Types made;
    if (const core::Status status = InferScan(c, &made); !status.ok()) throw Error(status);
    for (size_t k = layout.carries; k < made.size(); ++k) outputs.push_back(e.full(0, made[k]));
    return outputs;
  }
  for (Values& row : rows) {
    if (c.flag("reverse")) std::reverse(row.begin(), row.end());
    outputs.push_back(e.call("stack", std::span(row.begin(), row.size()), {{"axis", 0}})[0]);
  }
  return outputs;
}

// That of the same scan of plain sequences, between what makes them plain.
Values VjpScan(ir::ExprCall& call) {
  const ir::OpCall& c = call.call();
  const ScanLayout layout = OrThrow(ScanLayoutOf(c));
  if (layout.plain()) return PlainScanGradient(call);
  const Emit e(call.b());
  const Values inputs = PlainInputs(e, layout, call);
  std::vector<ir::OpCall::Input> known;
  core::InlineVector<bool, 8> needs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    known.push_back({.type = inputs[i].type()});
    needs.push_back(call.needs(static_cast<int>(i)));
  }
  Values grads(call.all_grads());
  for (size_t k = layout.carries; k < grads.size(); ++k) {
    if (grads[k].defined()) grads[k] = ToPlainSequence(e, grads[k], layout.y[k - layout.carries]);
  }
  const ir::Attributes attributes =
      OrThrow(ir::Attributes::Bind(c.op().attributes, PlainAttributes(c, layout)));
  const ir::OpCall plain(c.op(), known, attributes);
  ir::ExprCall expr(call.b(), plain, inputs, {}, grads, needs);
  Values found = PlainScanGradient(expr);
  for (size_t k = 0; k < layout.xs; ++k) {
    Value& dx = found[layout.carries + k];
    if (dx.defined()) dx = FromPlainSequence(e, dx, layout.x[k]);
  }
  return found;
}

}  // namespace

ir::OpDef Scan() {
  ir::OpDef op;
  op.name = "scan";
  op.doc =
      "Runs `body` for every step of sequences: `(state…, y…) = body(state…, x…, constant…)`, as "
      "ONNX's and JAX's scan. The inputs are `carries` states, `xs` sequences, whose steps lie "
      "along `scan_input_axes` (none: the first), and constants; the outputs the last states, and "
      "the y of all steps along a new axis each, `scan_output_axes`. `length` is needed where "
      "there is no sequence. `reverse` begins at the last step; y keep their places. "
      "`scan_input_directions` has a 1 for each x that begins at its other end, and "
      "`scan_output_directions` for each y that does.";
  op.inputs = {{"inputs", "*", ir::Arity::kMany}};
  op.outputs = {{"outputs", "*", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {};
  op.attributes = {{"body", ir::RequiredAttr{ir::GraphRef()}},
                   {"carries", 0},
                   {"xs", 0},
                   {"length", Dims()},
                   {"reverse", false}};
  for (ir::AttrDef& attribute : ScanSequenceAttributes())
    op.attributes.push_back(std::move(attribute));
  op.infer = InferScan;
  op.decompose = DecomposeScan;
  op.vjp = VjpScan;
  op.samples = [] { return ScanLoopSamples(); };
  return op;
}

}  // namespace rml::ops
