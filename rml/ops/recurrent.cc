#include "rml/ops/recurrent.h"

namespace rml::ops {

using core::Status;
using ir::Dim;
using ir::Dims;
using ir::OpCall;
using ir::Types;

core::Expected<int> RecurrentDirections(const OpCall& call) {
  const std::string& direction = call.text("direction");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return core::InvalidArgument("direction is \"", direction,
                               "\", expected forward, reverse or bidirectional");
}

namespace {

// Where the batch lies in x, and in states; directions lie at the other place of states.
struct RecurrentLayout {
  int x_batch, state_batch, y_batch;
};

RecurrentLayout RecurrentLayoutOf(const OpCall& call) {
  return call.integer("layout") == 0 ? RecurrentLayout{1, 1, 2} : RecurrentLayout{0, 0, 0};
}

Status InferRecurrent(const Recurrent& form, const OpCall& call, Types* outputs) {
  RML_ASSIGN(const int directions, RecurrentDirections(call));
  RML_TRY(ActivationsOf(form.activations, call, directions));
  if (const double clip = call.number("clip"); !(clip >= 0))
    return core::InvalidArgument("clip is ", clip, ", expected a positive number, or 0 for none");
  if (const int64_t layout = call.integer("layout"); layout != 0 && layout != 1)
    return core::InvalidArgument("layout is ", layout, ", expected 0 or 1");
  const RecurrentLayout at = RecurrentLayoutOf(call);
  for (const int i : {rnn::kX, rnn::kW, rnn::kR}) {
    if (call.rank(i) != 3)
      return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                   " dimensions, expected 3");
  }
  const Dim length = call.dim(rnn::kX, 1 - at.x_batch);
  const Dim batch = call.dim(rnn::kX, at.x_batch);
  const Dim hidden = call.dim(rnn::kR, 2);
  const Dim gates = hidden * form.gates;
  const auto expect = [&](int i, const Dims& dims) -> Status {
    if (!call.has(i) || call.input(i).dims == dims) return {};
    return core::InvalidArgument(call.input_name(i), " is ", call.input(i).dims.ToString(),
                                 ", expected ", dims.ToString());
  };
  RML_TRY(expect(rnn::kW, {directions, gates, call.dim(rnn::kX, 2)}));
  RML_TRY(expect(rnn::kR, {directions, gates, hidden}));
  RML_TRY(expect(rnn::kBias, {directions, gates * 2}));
  RML_TRY(expect(rnn::kLengths, {batch}));
  const Dims state =
      at.state_batch == 1 ? Dims{directions, batch, hidden} : Dims{batch, directions, hidden};
  for (int i = 0; i < form.states; ++i) RML_TRY(expect(rnn::kStates + i, state));
  if (form.extra > 0)
    RML_TRY(expect(rnn::kStates + form.states, {directions, hidden * form.extra}));
  outputs->push_back({call.dtype(rnn::kX), at.y_batch == 2
                                               ? Dims{length, directions, batch, hidden}
                                               : Dims{batch, length, directions, hidden}});
  for (int i = 0; i < form.states; ++i) outputs->push_back({call.dtype(rnn::kX), state});
  return {};
}

std::vector<ir::Sample> RecurrentSamples(const Recurrent& form) {
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
  // Batch first, cut, and with other activations in each direction.
  const auto names = [&](std::string_view gate, std::string_view other) {
    std::string list(gate);
    for (int i = 1; i < form.activations.count(); ++i) list += core::StrCat(", ", other);
    return list;
  };
  ir::Sample& sample = samples.emplace_back();
  sample.inputs = {{{3, 4, 2}},
                   {{2, form.gates * 2, 2}, weights},
                   {{2, form.gates * 2, 2}, weights},
                   {{2, 4 * form.gates}, weights},
                   {{3}, ir::Fill::Values({4, 0, 3})}};
  for (int i = 0; i < form.states; ++i) sample.inputs.push_back({{3, 2, 2}});
  sample.attributes = {{"direction", "bidirectional"},
                       {"layout", 1},
                       {"clip", 3.0},
                       {form.activations.attribute,
                        names("hard_sigmoid", "elu") + ", " + names("sigmoid", "scaled_tanh")},
                       {"activation_alpha", ir::Floats{0.25}},
                       {"activation_beta", ir::Floats{0.4}}};
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
  op.attributes = {{"direction", "forward"}, {"layout", 0}, {"clip", 0.0}};
  for (ir::AttrDef& attribute : ActivationAttributes(form.activations))
    op.attributes.push_back(std::move(attribute));
  op.axes = ir::AxesRule([form](const OpCall& call) -> core::Expected<ir::Axes> {
    const RecurrentLayout at = RecurrentLayoutOf(call);
    ir::NamedAxis batch = {"batch",
                           ir::AxisRole::kFree,
                           ir::Combine::kSum,
                           std::vector<int>(static_cast<size_t>(call.inputs()), -1),
                           {at.y_batch}};
    batch.inputs[rnn::kX] = at.x_batch;
    if (call.has(rnn::kLengths)) batch.inputs[rnn::kLengths] = 0;
    for (int i = 0; i < form.states; ++i) {
      if (call.has(rnn::kStates + i))
        batch.inputs[static_cast<size_t>(rnn::kStates + i)] = at.state_batch;
      batch.outputs.push_back(at.state_batch);
    }
    return ir::Axes{batch};
  });
  op.infer = [form](const OpCall& call, Types* outputs) {
    return InferRecurrent(form, call, outputs);
  };
  op.decompose = [form](ir::ExprCall& call) { return DecomposeRecurrent(form, call); };
  op.cost = [](const OpCall& call) {
    const auto size = [&](int i) {
      return static_cast<double>(call.input(i).dims.elements().max());
    };
    const double steps = static_cast<double>((call.dim(rnn::kX, 0) * call.dim(rnn::kX, 1)).max());
    const double bytes = core::Info(call.dtype(rnn::kX)).block_bytes;
    return ir::Cost{2 * steps * (size(rnn::kW) + size(rnn::kR)),
                    bytes * (size(rnn::kX) + size(rnn::kW) + size(rnn::kR)),
                    bytes * steps * static_cast<double>(call.dim(rnn::kR, 2).max())};
  };
  op.samples = [form] { return RecurrentSamples(form); };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
