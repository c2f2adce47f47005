#include "rml/ops/sequence_scan.h"

#include <algorithm>
#include <numeric>

#include "rml/ir/graph.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::Dims;
using ir::Ints;
using ir::Value;

bool ScanLayout::plain() const {
  return std::ranges::all_of(x, &ScanSequence::plain) &&
         std::ranges::all_of(y, &ScanSequence::plain);
}

std::vector<ir::AttrDef> ScanSequenceAttributes() {
  return {{"scan_input_axes", Ints()},
          {"scan_input_directions", Ints()},
          {"scan_output_axes", Ints()},
          {"scan_output_directions", Ints()}};
}

namespace {

Expected<std::vector<ScanSequence>> SequencesOf(const ir::OpCall& call, size_t count,
                                                std::string_view axes_name,
                                                std::string_view directions_name) {
  std::vector<ScanSequence> sequences(count);
  const auto check = [&](std::string_view name) -> Status {
    const size_t given = call.ints(name).size();
    if (given == 0 || given == count) return {};
    return core::InvalidArgument(name, " has ", given, " numbers, expected ", count);
  };
  RML_TRY(check(axes_name));
  RML_TRY(check(directions_name));
  const Ints& axes = call.ints(axes_name);
  const Ints& directions = call.ints(directions_name);
  for (size_t i = 0; i < axes.size(); ++i) sequences[i].axis = axes[i];
  for (size_t i = 0; i < directions.size(); ++i) {
    if (directions[i] != 0 && directions[i] != 1)
      return core::InvalidArgument(directions_name, " has ", directions[i], ", expected 0 or 1");
    sequences[i].backward = directions[i] == 1;
  }
  return sequences;
}

}  // namespace

Expected<ScanLayout> ScanLayoutOf(const ir::OpCall& call) {
  ScanLayout layout;
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
  RML_ASSIGN(layout.x, SequencesOf(call, layout.xs, "scan_input_axes", "scan_input_directions"));
  const ir::GraphRef& body = call.attr<ir::GraphRef>("body");
  const size_t made = body == nullptr ? 0 : body->outputs().size();
  RML_ASSIGN(layout.y, SequencesOf(call, made - std::min(made, layout.carries), "scan_output_axes",
                                   "scan_output_directions"));
  const Dims& given = call.attr<Dims>("length");
  if (given.rank() > 1 || (given.rank() == 0 && xs == 0))
    return core::InvalidArgument("length has ", given.rank(), " numbers, expected 1");
  for (size_t k = 0; k < layout.xs; ++k) {
    const auto at = static_cast<int>(carries) + static_cast<int>(k);
    if (call.rank(at) == 0)
      return core::InvalidArgument(call.input_name(at), " has no axis to go along");
    RML_ASSIGN(const int axis, ir::NormalizeAxis(layout.x[k].axis, call.rank(at)));
    layout.x[k].axis = axis;
    const ir::Dim steps = call.dim(at, axis);
    if (k == 0) layout.length = given.rank() == 1 ? given[0] : steps;
    if (!(steps == layout.length))
      return core::InvalidArgument(call.input_name(at), " has ", steps.ToString(),
                                   " steps, expected ", layout.length.ToString());
  }
  if (xs == 0) layout.length = given[0];
  return layout;
}

ir::Types ScanStepTypes(const ScanLayout& layout, const ir::OpCall& call) {
  ir::Types types;
  for (int i = 0; i < call.inputs(); ++i) {
    types.push_back(call.input(i));
    const size_t k = static_cast<size_t>(i) - layout.carries;
    if (k < layout.xs) types.back().dims.Erase(static_cast<int>(layout.x[k].axis));
  }
  return types;
}

namespace {

Value FlipSteps(const Emit& e, const Value& value) {
  return e.one("flip", {value}, {{"axes", Ints{0}}});
}

}  // namespace

Value ToPlainSequence(const Emit& e, const Value& value, const ScanSequence& sequence) {
  const int64_t axis = sequence.axis < 0 ? sequence.axis + value.rank() : sequence.axis;
  Value plain = value;
  if (axis != 0) {
    Ints order(static_cast<size_t>(value.rank()));
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
    plain = e.transpose(value, order);
  }
  return sequence.backward ? FlipSteps(e, plain) : plain;
}

Value FromPlainSequence(const Emit& e, const Value& value, const ScanSequence& sequence) {
  const int64_t axis = sequence.axis < 0 ? sequence.axis + value.rank() : sequence.axis;
  const Value turned = sequence.backward ? FlipSteps(e, value) : value;
  if (axis == 0) return turned;
  Ints order(static_cast<size_t>(value.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
  return e.transpose(turned, order);
}

}  // namespace rml::ops
