// Repeats a graph along sequences, carrying a state.
#include <algorithm>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/control.h"
#include "rml/ops/elementwise.h"
#include "rml/ops/graph_samples.h"
#include "rml/ops/registry.h"

namespace rml::ops {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Type;
using ir::Types;
using ir::Value;
using ir::Values;

// How the inputs are divided: carries, sequences, and constants that every step gets.
struct Layout {
  size_t carries = 0;
  size_t xs = 0;
  size_t constants = 0;
  Dim length;

  size_t inputs() const { return carries + xs + constants; }
};

core::Expected<Layout> LayoutOf(const ir::OpCall& call) {
  Layout layout;
  const int64_t carries = call.integer("carries");
  const int64_t xs = call.integer("xs");
  const int64_t inputs = call.inputs();
  if (carries < 0 || xs < 0 || carries > inputs || xs > inputs - carries) {
    return core::InvalidArgument("there are ", inputs, " inputs, expected ", carries,
                                 " states and ", xs, " sequences");
  }
  layout.carries = static_cast<size_t>(carries);
  layout.xs = static_cast<size_t>(xs);
  layout.constants = static_cast<size_t>(inputs - carries - xs);
  const Dims& given = call.attr<Dims>("length");
  if (given.rank() > 1 || (given.rank() == 0 && xs == 0))
    return core::InvalidArgument("length has ", given.rank(), " numbers, expected 1");
  for (int64_t i = carries; i < carries + xs; ++i) {
    const auto at = static_cast<int>(i);
    if (call.rank(at) == 0)
      return core::InvalidArgument(call.input_name(at), " has no axis to go along");
    const Dim first = given.rank() == 1 ? given[0] : call.dim(static_cast<int>(carries), 0);
    if (!(call.dim(at, 0) == first))
      return core::InvalidArgument(call.input_name(at), " has ", call.dim(at, 0).ToString(),
                                   " steps, expected ", first.ToString());
  }
  layout.length = given.rank() == 1 ? given[0] : call.dim(static_cast<int>(carries), 0);
  return layout;
}

// The types of the body's inputs: sequences without their first axis.
Types StepTypes(const Layout& layout, const ir::OpCall& call) {
  Types types;
  for (int i = 0; i < call.inputs(); ++i) {
    types.push_back(call.input(i));
    const auto at = static_cast<size_t>(i);
    if (at >= layout.carries && at < layout.carries + layout.xs) types[at].dims.Erase(0);
  }
  return types;
}

core::Status InferScan(const ir::OpCall& call, Types* outputs) {
  RML_ASSIGN(const Layout layout, LayoutOf(call));
  RML_ASSIGN(const ir::Graph* const body, GraphOf(call, "body"));
  const Types inputs = StepTypes(layout, call);
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
    type.dims.Insert(0, layout.length);
  }
  return {};
}

template <typename T>
T OrThrow(core::Expected<T> expected) {
  if (!expected.ok()) throw Error(expected.status());
  return *std::move(expected);
}

// Step by step.
Values DecomposeScan(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const Layout layout = OrThrow(LayoutOf(c));
  const ir::Graph& body = *c.attr<ir::GraphRef>("body");
  if (!layout.length.is_integer())
    throw Error(
        core::Unsupported("a scan has no form without it where only the run knows its "
                          "length"));
  const int64_t length = layout.length.value();
  const Types types = StepTypes(layout, c);
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

// The gradient is two scans more: one that keeps the states before each step, and one that goes
// back over them with the body's own gradient, and adds up those of the constants.
class ScanGradient {
 public:
  explicit ScanGradient(ir::ExprCall& call)
      : call_(call),
        e_(call.b()),
        layout_(OrThrow(LayoutOf(call.call()))),
        body_(*call.call().attr<ir::GraphRef>("body")),
        types_(StepTypes(layout_, call.call())) {
    for (size_t i = 0; i < layout_.inputs(); ++i) {
      if (!ir::CarriesGradient(types_[i].dtype)) continue;
      // A state's gradient is needed on the way back, whether or not it is wanted.
      if (i < layout_.carries || call.needs(static_cast<int>(i))) wanted_.push_back(i);
    }
  }

  Values Run() {
    // Inputs of the way back: gradients of states, those of constants; states, x, dy; constants.
    Values inputs;
    for (const size_t i : wanted_) {
      const Value grad = IsCarry(i) ? call_.grad(static_cast<int>(i)) : Value();
      if (!IsX(i)) inputs.push_back(grad.defined() ? grad : e_.full(0, types_[i]));
    }
    const size_t carried = inputs.size();
    for (const Value& state : States()) inputs.push_back(state);
    for (size_t i = layout_.carries; i < layout_.carries + layout_.xs; ++i)
      inputs.push_back(call_.in(static_cast<int>(i)));
    for (size_t i = layout_.carries; i < call_.all_grads().size(); ++i) {
      const Value& dy = call_.grad(static_cast<int>(i));
      if (dy.defined()) inputs.push_back(dy);
    }
    const size_t scanned = inputs.size() - carried;
    for (size_t i = layout_.carries + layout_.xs; i < layout_.inputs(); ++i)
      inputs.push_back(call_.in(static_cast<int>(i)));

    const Values found = e_.call("scan", std::span(inputs.begin(), inputs.size()),
                                 {{"body", StepBack(inputs, carried, scanned)},
                                  {"carries", static_cast<int64_t>(carried)},
                                  {"xs", static_cast<int64_t>(scanned)},
                                  {"reverse", !call_.call().flag("reverse")},
                                  {"length", Dims{layout_.length}}});
    Values grads(layout_.inputs());
    size_t next_carry = 0;
    size_t next_row = carried;
    for (const size_t i : wanted_) grads[i] = found[IsX(i) ? next_row++ : next_carry++];
    return grads;
  }

 private:
  bool IsCarry(size_t i) const { return i < layout_.carries; }
  bool IsX(size_t i) const { return i >= layout_.carries && i < layout_.carries + layout_.xs; }

  // The states before each step.
  Values States() const {
    if (layout_.carries == 0) return {};
    auto graph = std::make_shared<ir::Graph>();
    ir::TraceBuilder trace(*graph, BuiltinOps(), e_.builder().allocator());
    Values inputs;
    for (const Type& type : types_) inputs.push_back(trace.Input(type));
    const Values made = OrThrow(ir::Interpret(trace, body_, inputs));
    for (size_t i = 0; i < layout_.carries; ++i) graph->AddOutput(made[i].id());
    for (size_t i = 0; i < layout_.carries; ++i) graph->AddOutput(inputs[i].id());
    const Values outputs = e_.call("scan", call_.all_inputs(),
                                   {{"body", ir::GraphRef(graph)},
                                    {"carries", static_cast<int64_t>(layout_.carries)},
                                    {"xs", static_cast<int64_t>(layout_.xs)},
                                    {"reverse", call_.call().flag("reverse")},
                                    {"length", Dims{layout_.length}}});
    Values states;
    for (size_t i = layout_.carries; i < outputs.size(); ++i) states.push_back(outputs[i]);
    return states;
  }

  ir::GraphRef StepBack(const Values& given, size_t carried, size_t scanned) const {
    auto graph = std::make_shared<ir::Graph>();
    ir::TraceBuilder trace(*graph, BuiltinOps(), e_.builder().allocator());
    const Emit t(trace);
    Values inputs;
    for (size_t i = 0; i < given.size(); ++i) {
      Type type = given[i].type();
      if (i >= carried && i < carried + scanned) type.dims.Erase(0);
      inputs.push_back(trace.Input(type));
    }
    // The body's own inputs among them, and the gradients of its outputs.
    Values step;
    for (size_t i = 0; i < layout_.carries + layout_.xs; ++i) step.push_back(inputs[carried + i]);
    for (size_t i = carried + scanned; i < inputs.size(); ++i) step.push_back(inputs[i]);
    Values grads(body_.outputs().size());
    size_t next = 0;
    for (const size_t i : wanted_) {
      if (IsCarry(i)) grads[i] = inputs[next++];
    }
    next = carried + layout_.carries + layout_.xs;
    for (size_t i = layout_.carries; i < grads.size(); ++i) {
      if (call_.grad(static_cast<int>(i)).defined()) grads[i] = inputs[next++];
    }
    const std::vector<Value> values = OrThrow(ir::InterpretAll(trace, body_, {.inputs = step}));
    std::vector<ir::ValueId> ids;
    for (const size_t i : wanted_) ids.push_back(body_.inputs()[i]);
    const Values found = OrThrow(ir::GraphBackward(trace, body_, values, grads, ids));
    Values rows;
    next = 0;
    for (size_t k = 0; k < wanted_.size(); ++k) {
      const size_t i = wanted_[k];
      const Value here = found[k].defined() ? found[k] : t.full(0, types_[i]);
      if (IsX(i)) {
        rows.push_back(here);
        continue;
      }
      graph->AddOutput((IsCarry(i) ? here : t.add(inputs[next], here)).id());
      ++next;
    }
    for (const Value& row : rows) graph->AddOutput(row.id());
    return graph;
  }

  ir::ExprCall& call_;
  const Emit e_;
  const Layout layout_;
  const ir::Graph& body_;
  const Types types_;
  std::vector<size_t> wanted_;  // inputs whose gradients are computed, in order
};

}  // namespace

ir::OpDef Scan() {
  ir::OpDef op;
  op.name = "scan";
  op.doc =
      "Runs `body` for every step of sequences: `(state…, y…) = body(state…, x…, constant…)`, as "
      "ONNX's and JAX's scan. The inputs are `carries` states, `xs` sequences, whose first axis is "
      "the steps, and constants; the outputs the last states, and the y of all steps along a new "
      "first axis. `length` is needed where there is no sequence. `reverse` begins at the last "
      "step; y keep their places.";
  op.inputs = {{"inputs", "*", ir::Arity::kMany}};
  op.outputs = {{"outputs", "*", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {};
  op.attributes = {{"body", ir::RequiredAttr{ir::GraphRef()}},
                   {"carries", 0},
                   {"xs", 0},
                   {"length", Dims()},
                   {"reverse", false}};
  op.infer = InferScan;
  op.decompose = DecomposeScan;
  op.vjp = [](ir::ExprCall& call) { return ScanGradient(call).Run(); };
  op.samples = [] { return ScanLoopSamples(); };
  return op;
}

}  // namespace rml::ops
