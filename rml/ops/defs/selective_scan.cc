// The state-space recurrence of Mamba.
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

enum { kX, kDt, kA, kB, kC, kD, kState, kZ, kDtBias };

core::Status InferSelectiveScan(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(kX) != 3)
    return core::InvalidArgument("x has ", call.rank(kX), " dimensions, expected 3");
  if (call.rank(kA) != 2)
    return core::InvalidArgument("a has ", call.rank(kA), " dimensions, expected 2");
  const ir::Dims& x = call.input(kX).dims;
  const ir::Dim states = call.dim(kA, 1);
  const auto expect = [&](int i, const ir::Dims& dims) -> core::Status {
    if (!call.has(i) || call.input(i).dims == dims) return {};
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", expected ", dims.ToString());
  };
  RML_TRY(expect(kDt, x));
  for (const int i : {kB, kC}) {
    if (call.rank(i) == 4) {
      const ir::Dim groups = call.dim(i, 1);
      if (!ExactDiv(x[1], groups).is_integer()) {
        return core::InvalidArgument(x[1].ToString(), " channels are no multiple of ",
                                     groups.ToString(), " groups of ", call.input_name(i));
      }
      RML_TRY(expect(i, {x[0], groups, states, x[2]}));
    } else if (call.rank(i) == 2) {
      RML_TRY(expect(i, {x[1], states}));
    } else {
      RML_TRY(expect(i, {x[0], states, x[2]}));
    }
  }
  const ir::Dims state = {x[0], x[1], states};
  RML_TRY(expect(kD, {x[1]}));
  RML_TRY(expect(kState, state));
  RML_TRY(expect(kZ, x));
  RML_TRY(expect(kDtBias, {x[1]}));
  outputs->push_back(call.input(kX));
  outputs->push_back({call.dtype(kX), state});
  return {};
}

// Over [batch, channels, states, 1 + length]: the first place holds the state before.
ir::Values DecomposeSelectiveScan(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Type x = call.in(kX).type();
  const ir::Dim batch = x.dims[0];
  const ir::Dim channels = x.dims[1];
  const ir::Dim length = x.dims[2];
  const ir::Dim states = call.in(kA).dim(1);
  const ir::Dims full = {batch, channels, states, length};
  const auto per_channel = [&](const ir::Value& value) {
    return e.reshape(value, {batch, channels, 1, length});
  };
  // b or c: constant, of all channels, or of groups of them.
  const auto per_state = [&](const ir::Value& value) {
    if (value.rank() == 2) return e.reshape(value, {1, channels, states, 1});
    if (value.rank() == 3) return e.reshape(value, {batch, 1, states, length});
    return e.one("repeat", {value},
                 {{"axis", 1}, {"repeats", ExactDiv(channels, value.dim(1)).value()}});
  };
  const auto narrow = [&](const ir::Value& value, ir::Dim start, ir::Dim size) {
    return e.one("narrow", {value},
                 {{"axis", -1}, {"start", ir::Dims{start}}, {"size", ir::Dims{size}}});
  };
  ir::Value step = call.in(kDt);
  if (call.in(kDtBias).defined()) step = e.add(step, e.reshape(call.in(kDtBias), {channels, 1}));
  if (call.call().flag("dt_softplus")) step = e.one("softplus", {step});
  const ir::Value dt = per_channel(step);
  const ir::Value decay = e.exp(e.mul(dt, e.reshape(call.in(kA), {1, channels, states, 1})));
  const ir::Value input =
      e.broadcast(e.mul(e.mul(dt, per_channel(call.in(kX))), per_state(call.in(kB))), full);
  const ir::Dims before = {batch, channels, states, 1};
  const ir::Value none = e.full(0, {x.dtype, before});
  const ir::Value state = call.in(kState).defined() ? e.reshape(call.in(kState), before) : none;
  const ir::Value all = e.one("linear_scan",
                              {e.one("concat", {none, decay}, {{"axis", -1}}),
                               e.one("concat", {state, input}, {{"axis", -1}})},
                              {{"axis", -1}});
  ir::Value y = e.sum(e.mul(narrow(all, 1, length), per_state(call.in(kC))), {2});
  if (call.in(kD).defined())
    y = e.add(y, e.mul(call.in(kX), e.reshape(call.in(kD), {channels, 1})));
  if (call.in(kZ).defined()) y = e.mul(y, e.one("silu", {call.in(kZ)}));
  return {y, e.reshape(narrow(all, length, 1), {batch, channels, states})};
}

core::Expected<ir::Axes> ResolveSelectiveScan(const ir::OpCall& call) {
  ir::NamedAxis batch = {"batch", ir::AxisRole::kFree, ir::Combine::kSum, {}, {0, 0}};
  ir::NamedAxis channels = {"channels", ir::AxisRole::kFree, ir::Combine::kSum, {}, {1, 1}};
  constexpr int kBatch[] = {0, 0, -1, 0, 0, -1, 0, 0, -1};
  constexpr int kChannels[] = {1, 1, 0, -1, -1, 0, 1, 1, 0};
  for (int i = 0; i < call.inputs(); ++i) {
    const bool constant = (i == kB || i == kC) && call.rank(i) == 2;
    batch.inputs.push_back(!call.has(i) || constant ? -1 : kBatch[i]);
    channels.inputs.push_back(!call.has(i) ? -1 : constant ? 0 : kChannels[i]);
    // A piece of the channels would need the groups that they belong to.
    const bool grouped = (i == kB || i == kC) && call.rank(i) == 4;
    if (grouped && !(call.dim(i, 1) == ir::Dim(1))) channels.role = ir::AxisRole::kWhole;
  }
  return ir::Axes{batch, channels};
}

}  // namespace

ir::OpDef SelectiveScan() {
  ir::OpDef op;
  op.name = "selective_scan";
  op.doc =
      "The recurrence of Mamba (Gu and Dao 2023): `s[t] = exp(dt[t] · a) ⊙ s[t - 1] + dt[t] · "
      "x[t] · b[t]`, `y[t] = c[t] · s[t] + d · x[t]`, for x and dt [batch, channels, length], a "
      "[channels, states], b and c [batch, states, length], d [channels]. `state` [batch, "
      "channels, states] is that before the first step (none: zeros), and `last` that after the "
      "last. As in Mamba's reference, `dt_bias` [channels] is added to dt, of which `dt_softplus` "
      "then takes the softplus; `z` [batch, channels, length] multiplies y by its silu; b and c "
      "may be constant, [channels, states], or of groups of channels, [batch, groups, states, "
      "length].";
  op.inputs = {{"x"},
               {"dt"},
               {"a"},
               {"b"},
               {"c"},
               {"d", "T", ir::Arity::kOptional},
               {"state", "T", ir::Arity::kOptional},
               {"z", "T", ir::Arity::kOptional},
               {"dt_bias", "T", ir::Arity::kOptional}};
  op.attributes = {{"dt_softplus", false}};
  op.outputs = {{"y"}, {"last"}};
  op.axes = ir::AxesRule(ResolveSelectiveScan);
  op.infer = InferSelectiveScan;
  op.decompose = DecomposeSelectiveScan;
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(kX).dims.elements().max());
    const double bytes = core::Info(call.dtype(kX)).block_bytes;
    double read = 0;
    for (const ir::OpCall::Input& input : call.all_inputs()) {
      if (input.given) read += bytes * static_cast<double>(input.type.dims.elements().max());
    }
    return ir::Cost{7 * elements * static_cast<double>(call.dim(kA, 1).max()), read,
                    bytes * elements};
  };
  op.samples = [] {
    const ir::Fill steps = ir::Fill::Uniform(0.05, 1);
    const ir::Fill decays = ir::Fill::Uniform(-2, -0.1);
    const ir::SampleInput none = {{}, ir::Fill::None()};
    return std::vector<ir::Sample>{
        {{{{1, 1, 1}}, {{1, 1, 1}, steps}, {{1, 1}, decays}, {{1, 1, 1}}, {{1, 1, 1}}}},
        {{{{2, 3, 5}},
          {{2, 3, 5}, steps},
          {{3, 4}, decays},
          {{2, 4, 5}},
          {{2, 4, 5}},
          {{3}},
          {{2, 3, 4}}}},
        {{{{1, 2, 7}},
          {{1, 2, 7}, steps},
          {{2, 3}, decays},
          {{1, 3, 7}},
          {{1, 3, 7}},
          none,
          {{1, 2, 3}}}},
        {{{{2, 3, 4}},
          {{2, 3, 4}},
          {{3, 2}, decays},
          {{2, 2, 4}},
          {{3, 2}},
          {{3}},
          none,
          {{2, 3, 4}},
          {{3}}},
         {{"dt_softplus", true}}},
        {{{{2, 4, 3}},
          {{2, 4, 3}, steps},
          {{4, 2}, decays},
          {{2, 2, 2, 3}},
          {{2, 1, 2, 3}},
          none,
          none,
          {{2, 4, 3}}}},
        {{{{2, 2, 0}}, {{2, 2, 0}}, {{2, 3}}, {{2, 3, 0}}, {{2, 3, 0}}, none, {{2, 2, 3}}}},
    };
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
