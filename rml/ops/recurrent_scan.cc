#include "rml/ir/trace_builder.h"
#include "rml/ops/recurrent.h"
#include "rml/ops/registry.h"

namespace rml::ops {

using core::DType;
using ir::Dim;
using ir::Dims;
using ir::Type;
using ir::Value;
using ir::Values;

namespace {

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

Value Step::Activated(int i, const Value& sum) const {
  const Value cut = clip > 0 ? e.one("clamp", {sum, e.like(sum, -clip), e.like(sum, clip)}) : sum;
  return Activate(e, activations[static_cast<size_t>(i)], cut);
}

namespace {

// One direction of a call.
class Direction {
 public:
  Direction(const Recurrent& form, const ir::ExprCall& call, const Emit& e, int number,
            std::vector<Activation> activations)
      : form_(form),
        call_(call),
        e_(e),
        number_(number),
        layout_(static_cast<int>(call.call().integer("layout"))),
        activations_(std::move(activations)) {}

  // y [length, batch, hidden], then the last states [batch, hidden].
  Values Run() const {
    const Value sequence =
        layout_ == 0 ? call_.in(rnn::kX) : e_.transpose(call_.in(rnn::kX), {1, 0, 2});
    const Type x = sequence.type();
    const Dim length = x.dims[0];
    const Dim batch = x.dims[1];
    const Value w = Pick(rnn::kW);
    const Value r = Pick(rnn::kR);
    const Dim gates = w.dim(0);
    const Dim hidden = r.dim(1);
    const bool masked = call_.in(rnn::kLengths).defined();

    // All steps in one product.
    Value projected = e_.matmul(e_.reshape(sequence, {length * batch, x.dims[2]}), e_.swap_last(w));
    Value r_bias;
    if (call_.in(rnn::kBias).defined()) {
      const Value bias = Pick(rnn::kBias);
      projected = e_.add(projected, NarrowAxis(e_, bias, 0, 0, gates));
      r_bias = NarrowAxis(e_, bias, 0, gates, gates);
    }
    Values inputs;
    for (int i = 0; i < form_.states; ++i) {
      const bool given = call_.in(rnn::kStates + i).defined();
      inputs.push_back(given ? Pick(rnn::kStates + i, layout_)
                             : e_.full(0, {x.dtype, {batch, hidden}}));
    }
    inputs.push_back(e_.reshape(projected, {length, batch, gates}));
    if (masked) {
      inputs.push_back(e_.one("iota", {}, {{"shape", Dims{length}}}));
      inputs.push_back(e_.reshape(e_.cast(call_.in(rnn::kLengths), DType::kI64), {batch, 1}));
    }
    inputs.push_back(r);
    if (r_bias.defined()) inputs.push_back(r_bias);
    const bool extra = form_.extra > 0 && call_.in(rnn::kStates + form_.states).defined();
    if (extra) inputs.push_back(Pick(rnn::kStates + form_.states));

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
  // This direction's part of an input, whose directions lie along `axis`.
  Value Pick(int i, int axis = 0) const {
    Dims dims = call_.in(i).type().dims;
    dims.Erase(axis);
    return e_.reshape(NarrowAxis(e_, call_.in(i), axis, number_, 1), dims);
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
    Step step{.e = t,
              .activations = activations_,
              .clip = call_.call().number("clip"),
              .projected = {},
              .states = {},
              .r = {},
              .r_bias = {},
              .extra = {}};
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
  const int layout_;
  const std::vector<Activation> activations_;
};

}  // namespace

Values DecomposeRecurrent(const Recurrent& form, const ir::ExprCall& call) {
  const Emit e(call.b());
  const int directions = OrThrow(RecurrentDirections(call.call()));
  const std::vector<Activation> activations =
      OrThrow(ActivationsOf(form.activations, call.call(), directions));
  const auto each = static_cast<ptrdiff_t>(activations.size()) / directions;
  const int layout = static_cast<int>(call.call().integer("layout"));
  std::vector<Values> parts(static_cast<size_t>(form.states) + 1);
  for (int d = 0; d < directions; ++d) {
    const auto first = activations.begin() + d * each;
    Values one = Direction(form, call, e, d, {first, first + each}).Run();
    if (layout == 1) one[0] = e.transpose(one[0], {1, 0, 2});
    for (size_t i = 0; i < one.size(); ++i) parts[i].push_back(one[i]);
  }
  Values outputs;
  for (size_t i = 0; i < parts.size(); ++i) {
    // y [length, directions, batch, hidden], or [batch, length, directions, hidden].
    const int axis = i == 0 ? 1 + layout : layout;
    outputs.push_back(
        e.call("stack", std::span(parts[i].begin(), parts[i].size()), {{"axis", axis}})[0]);
  }
  return outputs;
}

}  // namespace rml::ops
