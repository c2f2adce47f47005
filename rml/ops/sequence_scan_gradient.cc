#include "rml/ir/backward.h"
#include "rml/ir/graph.h"
#include "rml/ir/interpret.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/registry.h"
#include "rml/ops/sequence_scan.h"

namespace rml::ops {

using ir::Dims;
using ir::Type;
using ir::Types;
using ir::Value;
using ir::Values;

namespace {

// The gradient is two scans more: one that keeps the states before each step, and one that goes
// back over them with the body's own gradient, and adds up those of the constants.
class ScanGradient {
 public:
  explicit ScanGradient(ir::ExprCall& call)
      : call_(call),
        e_(call.b()),
        layout_(OrThrow(ScanLayoutOf(call.call()))),
        body_(*call.call().attr<ir::GraphRef>("body")),
        types_(ScanStepTypes(layout_, call.call())) {
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
  const ScanLayout layout_;
  const ir::Graph& body_;
  const Types types_;
  std::vector<size_t> wanted_;  // inputs whose gradients are computed, in order
};

}  // namespace

Values PlainScanGradient(ir::ExprCall& call) { return ScanGradient(call).Run(); }

}  // namespace rml::ops
