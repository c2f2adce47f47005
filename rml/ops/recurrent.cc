#include "rml/ops/recurrent.h"

#include "rml/core/error.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/registry.h"

namespace rml::ops {

using core::DType;
using core::Status;
using ir::Dim;
using ir::Dims;
using ir::OpCall;
using ir::Type;
using ir::Types;
using ir::Value;
using ir::Values;

namespace {

enum { kX, kW, kR, kBias, kLengths, kStates };

Value NarrowAxis(const Emit& e, const Value& x, int axis, Dim start, Dim size) {
  return e.one("narrow", {x}, {{"axis", axis}, {"start", Dims{start}}, {"size", Dims{size}}});
}

}  // namespace

Value Step::Gate(const Value& gates, int g, int count) const {
  const Dim hidden = states[0].dim(-1);
  return NarrowAxis(e, gates, -1, hidden * g, hidden * count);
}

Value Step::Rows(const Value& weights, int g, int count) const {
  const Dim hidden = states[0].dim(-1);
  return NarrowAxis(e, weights, 0, hidden * g, hidden * count);
}

Value Step::Recur(const Value& state, int g, int count) const {
  const Value product = e.matmul(state, e.swap_last(Rows(r, g, count)));
  return r_bias.defined() ? e.add(product, Gate(r_bias, g, count)) : product;
}

namespace {

core::Expected<int> Directions(const OpCall& call) {
  const std::string& direction = call.text("direction");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return core::InvalidArgument("direction is \"", direction,
                               "\", expected forward, reverse or bidirectional");
}

Status Infer(const Recurrent& form, const OpCall& call, Types* outputs) {
  RML_ASSIGN(const int directions, Directions(call));
  for (const int i : {kX, kW, kR}) {
    if (call.rank(i) != 3)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected 3");
  }
  const Dim length = call.dim(kX, 0);
  const Dim batch = call.dim(kX, 1);
  const Dim hidden = call.dim(kR, 2);
  const Dim gates = hidden * form.gates;
  const auto expect = [&](int i, const Dims& dims) -> Status {
    if (!call.has(i) || call.input(i).dims == dims) return {};
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", expected ", dims.ToString());
  };
  RML_TRY(expect(kW, {directions, gates, call.dim(kX, 2)}));
  RML_TRY(expect(kR, {directions, gates, hidden}));
  RML_TRY(expect(kBias, {directions, gates * 2}));
  RML_TRY(expect(kLengths, {batch}));
  for (int i = 0; i < form.states; ++i) RML_TRY(expect(kStates + i, {directions, batch, hidden}));
  if (form.extra > 0) RML_TRY(expect(kStates + form.states, {directions, hidden * form.extra}));
  outputs->push_back({call.dtype(kX), {length, directions, batch, hidden}});
  for (int i = 0; i < form.states; ++i)
    outputs->push_back({call.dtype(kX), {directions, batch, hidden}});
  return {};
}

// One direction of a call.
class Direction {
 public:
  Direction(const Recurrent& form, const ir::ExprCall& call, const Emit& e, int number)
      : form_(form), call_(call), e_(e), number_(number) {}

  // y [length, batch, hidden], then the last states [batch, hidden].
  Values Run() const {
    const Type x = call_.in(kX).type();
    const Dim length = x.dims[0];
    const Dim batch = x.dims[1];
    const Value w = Pick(kW);
    const Value r = Pick(kR);
    const Dim gates = w.dim(0);
    const Dim hidden = r.dim(1);
    const bool masked = call_.in(kLengths).defined();

    // All steps in one product.
    Value projected =
        e_.matmul(e_.reshape(call_.in(kX), {length * batch, x.dims[2]}), e_.swap_last(w));
    Value r_bias;
    if (call_.in(kBias).defined()) {
      const Value bias = Pick(kBias);
      projected = e_.add(projected, NarrowAxis(e_, bias, 0, 0, gates));
      r_bias = NarrowAxis(e_, bias, 0, gates, gates);
    }
    Values inputs;
    for (int i = 0; i < form_.states; ++i) {
      const bool given = call_.in(kStates + i).defined();
      inputs.push_back(given ? Pick(kStates + i) : e_.full(0, {x.dtype, {batch, hidden}}));
    }
    inputs.push_back(e_.reshape(projected, {length, batch, gates}));
    if (masked) {
      inputs.push_back(e_.one("iota", {}, {{"shape", Dims{length}}}));
      inputs.push_back(e_.reshape(e_.cast(call_.in(kLengths), DType::kI64), {batch, 1}));
    }
    inputs.push_back(r);
    if (r_bias.defined()) inputs.push_back(r_bias);
    const bool extra = form_.extra > 0 && call_.in(kStates + form_.states).defined();
    if (extra) inputs.push_back(Pick(kStates + form_.states));

    const std::string& direction = call_.call().text("direction");
    Values outputs = e_.call("scan", std::span(inputs.begin(), inputs.size()),
                             {{"body", Body(inputs, masked, r_bias.defined(), extra)},
                              {"carries", form_.states},
                              {"xs", masked ? 2 : 1},
                              {"reverse", direction == "reverse" || number_ == 1}});
    Values result = {outputs[static_cast<size_t>(form_.states)]};
    for (int i = 0; i < form_.states; ++i) result.push_back(outputs[static_cast<size_t>(i)]);
    return result;
  }

 private:
  Value Pick(int i) const {
    Dims dims = call_.in(i).type().dims;
    dims.Erase(0);
    return e_.reshape(NarrowAxis(e_, call_.in(i), 0, number_, 1), dims);
  }

  // The step as a graph, of inputs like those of the scan.
  ir::GraphRef Body(const Values& inputs, bool masked, bool biased, bool extra) const {
    auto graph = std::make_shared<ir::Graph>();
    ir::TraceBuilder trace(*graph, BuiltinOps(), e_.builder().allocator());
    const Emit t(trace);
    Values values;
    const auto scanned = static_cast<size_t>(form_.states);
    for (size_t i = 0; i < inputs.size(); ++i) {
      Type type = inputs[i].type();
      if (i == scanned || (masked && i == scanned + 1)) type.dims.Erase(0);
      values.push_back(trace.Input(type));
    }
    Step step{.e = t, .projected = {}, .states = {}, .r = {}, .r_bias = {}, .extra = {}};
    size_t next = 0;
    for (int i = 0; i < form_.states; ++i) step.states.push_back(values[next++]);
    step.projected = values[next++];
    Value inside;
    if (masked) {
      inside = t.one("less", {values[next], values[next + 1]});
      next += 2;
    }
    step.r = values[next++];
    if (biased) step.r_bias = values[next++];
    if (extra) step.extra = values[next++];
    Values states = form_.cell(call_.call(), step);
    Value y = states[0];
    if (masked) {
      // Behind a sequence's end states stay, and y is zero.
      y = t.where(inside, y, t.like(y, 0));
      for (size_t i = 0; i < states.size(); ++i)
        states[i] = t.where(inside, states[i], step.states[i]);
    }
    for (const Value& state : states) graph->AddOutput(state.id());
    graph->AddOutput(y.id());
    return graph;
  }

  const Recurrent& form_;
  const ir::ExprCall& call_;
  const Emit& e_;
  const int number_;
};

Values Decompose(const Recurrent& form, const ir::ExprCall& call) {
  const Emit e(call.b());
  const auto directions = Directions(call.call());
  if (!directions.ok()) throw Error(directions.status());
  std::vector<Values> each(static_cast<size_t>(form.states) + 1);
  for (int d = 0; d < *directions; ++d) {
    const Values one = Direction(form, call, e, d).Run();
    for (size_t i = 0; i < one.size(); ++i) each[i].push_back(one[i]);
  }
  Values outputs;
  for (size_t i = 0; i < each.size(); ++i)
    outputs.push_back(
        e.call("stack", std::span(each[i].begin(), each[i].size()), {{"axis", i == 0 ? 1 : 0}})[0]);
  return outputs;
}

std::vector<ir::Sample> Samples(const Recurrent& form) {
  const ir::SampleInput none = {{}, ir::Fill::None()};
  const ir::Fill weights = ir::Fill::Normal(0, 0.5);
  std::vector<ir::Sample> samples;
  const auto add = [&](std::string_view direction, int64_t length, int64_t batch, int64_t input,
                       int64_t hidden, bool all) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    ir::Sample& sample = samples.emplace_back();
    sample.inputs = {{{length, batch, input}},
                     {{directions, form.gates * hidden, input}, weights},
                     {{directions, form.gates * hidden, hidden}, weights}};
    sample.attributes = {{"direction", direction}};
    if (!all) return;
    sample.inputs.push_back({{directions, 2 * form.gates * hidden}, weights});
    sample.inputs.push_back({{batch}, ir::Fill::Uniform(0, static_cast<double>(length))});
    for (int i = 0; i < form.states; ++i) sample.inputs.push_back({{directions, batch, hidden}});
    if (form.extra > 0) sample.inputs.push_back({{directions, form.extra * hidden}, weights});
  };
  add("forward", 1, 1, 1, 1, false);
  add("forward", 3, 2, 3, 2, false);
  add("reverse", 3, 2, 2, 3, true);
  add("bidirectional", 4, 3, 2, 2, true);
  add("forward", 0, 2, 2, 2, false);
  return samples;
}

}  // namespace

ir::OpDef RecurrentOp(const Recurrent& form) {
  ir::OpDef op;
  op.inputs = {{"x"},
               {"w"},
               {"r"},
               {"bias", "T", ir::Arity::kOptional},
               {"lengths", "I", ir::Arity::kOptional},
               {"initial_h", "T", ir::Arity::kOptional}};
  op.outputs = {{"y"}, {"y_h"}};
  if (form.states > 1) {
    op.inputs.push_back({"initial_c", "T", ir::Arity::kOptional});
    op.outputs.push_back({"y_c"});
  }
  if (form.extra > 0) op.inputs.push_back({"peepholes", "T", ir::Arity::kOptional});
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.attributes = {{"direction", "forward"}};
  op.axes = ir::AxesRule([form](const OpCall& call) -> core::Expected<ir::Axes> {
    ir::NamedAxis batch = {"batch",
                           ir::AxisRole::kFree,
                           ir::Combine::kSum,
                           std::vector<int>(static_cast<size_t>(call.inputs()), -1),
                           {2}};
    batch.inputs[kX] = 1;
    if (call.has(kLengths)) batch.inputs[kLengths] = 0;
    for (int i = 0; i < form.states; ++i) {
      if (call.has(kStates + i)) batch.inputs[static_cast<size_t>(kStates + i)] = 1;
      batch.outputs.push_back(1);
    }
    return ir::Axes{batch};
  });
  op.infer = [form](const OpCall& call, Types* outputs) { return Infer(form, call, outputs); };
  op.decompose = [form](ir::ExprCall& call) { return Decompose(form, call); };
  op.cost = [](const OpCall& call) {
    const auto size = [&](int i) {
      return static_cast<double>(call.input(i).dims.elements().max());
    };
    const double steps = static_cast<double>((call.dim(kX, 0) * call.dim(kX, 1)).max());
    const double bytes = core::Info(call.dtype(kX)).block_bytes;
    return ir::Cost{2 * steps * (size(kW) + size(kR)), bytes * (size(kX) + size(kW) + size(kR)),
                    bytes * steps * static_cast<double>(call.dim(kR, 2).max())};
  };
  op.samples = [form] { return Samples(form); };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
