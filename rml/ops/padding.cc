#include "rml/ops/padding.h"

#include <algorithm>

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::Dim;
using ir::Dims;
using ir::Ints;

Status CheckPadMode(std::string_view mode) {
  for (const std::string_view known : {"constant", "reflect", "edge", "wrap"}) {
    if (mode == known) return {};
  }
  return core::InvalidArgument("mode is \"", mode, "\", expected constant, reflect, edge or wrap");
}

Expected<Dims> PaddedDims(const ir::OpCall& call, const Dims& dims) {
  const Ints& pads = call.ints("pads");
  RML_TRY(CheckPadMode(call.text("mode")));
  if (pads.size() != 2 * static_cast<size_t>(dims.rank())) {
    return core::InvalidArgument("pads has ", pads.size(), " elements, expected 2 for each of ",
                                 dims.rank(), " axes");
  }
  // Beyond this, no value has so many elements; within it, sums do not overflow.
  constexpr int64_t kLimit = int64_t{1} << 60;
  Dims result = dims;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const int64_t before = pads[2 * static_cast<size_t>(axis)];
    const int64_t after = pads[2 * static_cast<size_t>(axis) + 1];
    if (std::max(before, after) > kLimit || std::min(before, after) < -kLimit)
      return core::InvalidArgument("pads ", before, " and ", after, " are too large");
    const int64_t sum = before + after;
    const Dim dim = dims[axis];
    result[axis] = sum < 0 ? dim - Dim(-sum) : dim + Dim(sum);
    if (!result[axis].valid()) {
      return core::InvalidArgument("pads ", before, " and ", after, " leave nothing of axis ", axis,
                                   ", which is ", dim.ToString());
    }
    const bool shows_more = std::max(before, after) > 0;
    if (dim == Dim(0) && shows_more && call.text("mode") != "constant")
      return core::InvalidArgument("axis ", axis, " is empty, and has nothing to repeat");
  }
  return result;
}

ir::Axes PadAxes(const ir::OpCall& call) {
  const Ints& pads = call.ints("pads");
  Ints whole;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] != 0) whole.push_back(static_cast<int64_t>(i / 2));
  }
  return SameAxes(call, 1, whole);
}

PadSource::PadSource(const ir::OpCall& call, const core::Shape& x)
    : pads_(call.ints("pads")), mode_(call.text("mode")), x_(x) {}

bool PadSource::operator()(Coordinates& at) const {
  for (int axis = 0; axis < x_.rank(); ++axis) {
    const int64_t size = x_[axis];
    int64_t& place = at[static_cast<size_t>(axis)];
    place -= pads_[2 * static_cast<size_t>(axis)];
    if (place >= 0 && place < size) continue;
    if (mode_ == "constant") return false;
    if (mode_ == "edge") {
      place = std::clamp<int64_t>(place, 0, size - 1);
    } else if (mode_ == "wrap") {
      place = Wrapped(place, size);
    } else {
      // There and back again, without the last elements twice: 0 1 2 1 0 1 2 …
      const int64_t period = std::max<int64_t>(2 * (size - 1), 1);
      place = Wrapped(place, period);
      if (place >= size) place = period - place;
    }
  }
  return true;
}

std::vector<PadCase> PadCases() {
  std::vector<PadCase> cases = {
      {{}, {}, {{"pads", Ints()}}},
      {{0, 2}, {3, 2}, {{"pads", Ints{1, 2, 0, 0}}}},
      {{7}, {4}, {{"pads", Ints{-5, 2}}}},
      {{3}, {5}, {{"pads", Ints{6, -4}}}},
  };
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    cases.push_back({{5}, {10}, {{"pads", Ints{2, 3}}, {"mode", mode}}});
    cases.push_back({{3, 4}, {3, 17}, {{"pads", Ints{0, 0, 9, 4}}, {"mode", mode}}});
    cases.push_back({{2, 3, 1}, {3, 1, 3}, {{"pads", Ints{1, 0, -1, -1, 1, 1}}, {"mode", mode}}});
  }
  return cases;
}

}  // namespace rml::ops
