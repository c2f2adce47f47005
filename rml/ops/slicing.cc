#include "rml/ops/slicing.h"

#include <algorithm>
#include <limits>

#include "rml/ops/shape_ops.h"

namespace rml::ops {

using core::Expected;
using ir::Dim;
using ir::Dims;
using ir::Ints;

namespace {

struct Cut {
  int axis;
  int64_t start;
  int64_t end;
  int64_t step;
};

Expected<std::vector<Cut>> CutsOf(const ir::OpCall& call, int rank) {
  const Ints& starts = call.ints("starts");
  const Ints& ends = call.ints("ends");
  const Ints& steps = call.ints("steps");
  RML_ASSIGN(Ints axes, AxesInOrder(call, "axes", rank));
  if (axes.empty()) {
    if (starts.size() > static_cast<size_t>(rank)) {
      return core::InvalidArgument("starts has ", starts.size(), " elements, and x ", rank,
                                   " dimensions");
    }
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      (!steps.empty() && steps.size() != starts.size())) {
    return core::InvalidArgument("there are ", starts.size(), " starts, ", ends.size(), " ends, ",
                                 axes.size(), " axes and ", steps.size(), " steps");
  }
  std::vector<Cut> cuts;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0) return core::InvalidArgument("the step of axis ", axes[i], " is 0");
    cuts.push_back({static_cast<int>(axes[i]), starts[i], ends[i], step});
  }
  return cuts;
}

uint64_t Magnitude(int64_t step) {
  return step < 0 ? uint64_t{0} - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
}

SliceRange RangeOf(const Cut& cut, int64_t size) {
  SliceRange range = {0, cut.step, 0};
  if (size == 0) return range;
  const auto place = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  int64_t length = 0;  // that the steps go over
  if (cut.step > 0) {
    range.first = place(cut.start, 0, size);
    length = place(cut.end, 0, size) - range.first;
  } else {
    range.first = place(cut.start, 0, size - 1);
    length = range.first - place(cut.end, -1, size - 1);
  }
  if (length > 0)
    range.count =
        static_cast<int64_t>((static_cast<uint64_t>(length) - 1) / Magnitude(cut.step)) + 1;
  return range;
}

// A place on an axis of `dim` elements: offset, or offset + dim.
struct Place {
  bool from_end;
  int64_t offset;
};

// clamp(at, low, dim) with `at` counted from the end where it is negative, if that is one Place for
// every size. `low` is 0, or 1 for an axis that is never empty.
std::optional<Place> PlaceOf(int64_t at, bool from_end, int64_t low, Dim dim) {
  if (from_end) {
    if (at == 0) return Place{true, 0};
    if (at + dim.min() >= low) return Place{true, at};
    if (at + dim.max() <= low && dim.min() >= low) return Place{false, low};
    return std::nullopt;
  }
  if (at <= dim.min()) return Place{false, at};
  if (at >= dim.max()) return Place{true, 0};
  return std::nullopt;
}

Expected<Dim> SizeOf(const Cut& cut, Dim dim) {
  if (dim.is_integer()) return Dim(RangeOf(cut, dim.value()).count);
  // Backwards, places are counted one further: they then lie between 0 and dim as well.
  const bool back = cut.step < 0;
  const auto shifted = [&](int64_t at) {
    return back && at < std::numeric_limits<int64_t>::max() ? at + 1 : at;
  };
  const auto start = PlaceOf(shifted(cut.start), cut.start < 0, back ? 1 : 0, dim);
  const auto end = PlaceOf(shifted(cut.end), cut.end < 0, 0, dim);
  if (!start || !end) {
    return core::Unsupported("whether ", cut.start, " to ", cut.end, " is cut off by axis ",
                             cut.axis, " depends on its size ", dim.ToString());
  }
  const Place& high = back ? *start : *end;
  const Place& low = back ? *end : *start;
  const int slope = (high.from_end ? 1 : 0) - (low.from_end ? 1 : 0);
  const int64_t offset = high.offset - low.offset;
  const int64_t at_min = slope * dim.min() + offset;
  const int64_t at_max = slope * dim.max() + offset;
  if (std::max(at_min, at_max) <= 0) return Dim(0);
  if (std::min(at_min, at_max) < 0) {
    return core::Unsupported("whether ", cut.start, " to ", cut.end, " of axis ", cut.axis,
                             " is empty depends on its size ", dim.ToString());
  }
  // Forwards of dim: offset <= 0, for the low place is not before the first element.
  const Dim length = slope == 0 ? Dim(offset) : slope > 0 ? dim - Dim(-offset) : Dim(offset) - dim;
  const uint64_t magnitude = Magnitude(cut.step);
  if (magnitude == 1) return length;
  const auto step = static_cast<int64_t>(
      std::min<uint64_t>(magnitude, uint64_t{std::numeric_limits<int64_t>::max()}));
  return FloorDiv(length + Dim(step - 1), step);
}

}  // namespace

std::vector<ir::AttrDef> SliceAttributes() {
  return {{"starts", ir::RequiredAttr{Ints()}},
          {"ends", ir::RequiredAttr{Ints()}},
          {"axes", Ints()},
          {"steps", Ints()}};
}

Expected<Dims> SliceDims(const ir::OpCall& call, const Dims& dims) {
  RML_ASSIGN(const std::vector<Cut> cuts, CutsOf(call, dims.rank()));
  Dims result = dims;
  for (const Cut& cut : cuts) {
    RML_ASSIGN(result[cut.axis], SizeOf(cut, dims[cut.axis]));
  }
  return result;
}

Expected<std::vector<SliceRange>> SliceRanges(const ir::OpCall& call, const core::Shape& shape) {
  RML_ASSIGN(const std::vector<Cut> cuts, CutsOf(call, shape.rank()));
  std::vector<SliceRange> ranges;
  for (const int64_t size : shape.dims()) ranges.push_back({0, 1, size});
  for (const Cut& cut : cuts) ranges[static_cast<size_t>(cut.axis)] = RangeOf(cut, shape[cut.axis]);
  return ranges;
}

Expected<ir::Axes> SliceAxes(const ir::OpCall& call) {
  RML_ASSIGN(const std::vector<Cut> cuts, CutsOf(call, call.rank(0)));
  Ints whole;
  for (const Cut& cut : cuts) whole.push_back(cut.axis);
  return SameAxes(call, 1, whole);
}

ir::AttrList SameSlice(const ir::OpCall& call) {
  return {{"starts", call.ints("starts")},
          {"ends", call.ints("ends")},
          {"axes", call.ints("axes")},
          {"steps", call.ints("steps")}};
}

std::vector<std::pair<core::Shape, ir::AttrList>> SliceCases() {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const auto cut = [](Ints starts, Ints ends, Ints axes, Ints steps) {
    return ir::AttrList{{"starts", starts}, {"ends", ends}, {"axes", axes}, {"steps", steps}};
  };
  return {
      {{7}, cut({2}, {5}, {}, {})},
      {{7}, cut({-3}, {kMax}, {0}, {1})},
      {{7}, cut({-1}, {kMin}, {0}, {-1})},
      {{7}, cut({kMax}, {kMin}, {0}, {-3})},
      {{7}, cut({-100}, {-100}, {0}, {-1})},
      {{4, 17}, cut({1, 0}, {3, kMax}, {0, 1}, {1, 4})},
      {{2, 3, 5}, cut({3}, {0}, {-1}, {-2})},
      {{3, 4}, cut({2}, {2}, {1}, {})},
      {{0, 3}, cut({0, 2}, {kMax, kMin}, {0, 1}, {-1, -1})},
      {{}, cut({}, {}, {}, {})},
      {{2, 3}, cut({kMin}, {kMax}, {1}, {kMax})},
  };
}

}  // namespace rml::ops
