#include "rml/ops/resample.h"

#include <algorithm>
#include <cmath>

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::Dims;

AxisTaps AdaptiveTaps(int64_t in, int64_t out) {
  AxisTaps taps(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    const int64_t begin = o * in / out;
    const int64_t end = ((o + 1) * in + out - 1) / out;
    for (int64_t i = begin; i < end; ++i)
      taps[static_cast<size_t>(o)].push_back({i, 1 / static_cast<double>(end - begin)});
  }
  return taps;
}

std::vector<ir::AttrDef> ResizeAttributes() {
  return {{"mode", "nearest"},
          {"coordinates", "half_pixel"},
          {"rounding", "prefer_floor"},
          {"scales", ir::Floats()}};
}

ir::AttrList ResizeAttributesOf(const ir::OpCall& call) {
  return {{"mode", call.text("mode")},
          {"coordinates", call.text("coordinates")},
          {"rounding", call.text("rounding")},
          {"scales", call.attr<ir::Floats>("scales")}};
}

Status CheckResize(const ir::OpCall& call) {
  const auto one_of = [&](std::string_view name,
                          std::initializer_list<std::string_view> known) -> Status {
    const std::string& value = call.text(name);
    if (std::ranges::find(known, value) != known.end()) return {};
    std::string list;
    for (const std::string_view word : known) list += core::StrCat(list.empty() ? "" : ", ", word);
    return core::InvalidArgument(name, " is \"", value, "\", expected one of ", list);
  };
  RML_TRY(one_of("mode", {"nearest", "linear"}));
  RML_TRY(one_of("coordinates", {"half_pixel", "asymmetric", "align_corners"}));
  RML_TRY(one_of("rounding", {"prefer_floor", "prefer_ceil", "floor", "ceil"}));
  const auto& scales = call.attr<ir::Floats>("scales");
  if (!scales.empty() && static_cast<int>(scales.size()) != call.rank(0) - 2)
    return core::InvalidArgument("scales has ", scales.size(), " numbers, expected ",
                                 call.rank(0) - 2);
  for (const double scale : scales) {
    if (!(scale > 0) || std::isinf(scale))
      return core::InvalidArgument("scales has ", scale, ", expected a positive number");
  }
  return {};
}

namespace {

double Round(std::string_view how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  return how == "prefer_floor" ? std::ceil(x - 0.5) : std::floor(x + 0.5);
}

}  // namespace

AxisTaps ResizeTaps(const ir::OpCall& call, int axis, int64_t in, int64_t out) {
  const std::string& coordinates = call.text("coordinates");
  const auto& scales = call.attr<ir::Floats>("scales");
  const auto from = static_cast<double>(in);
  const auto to = static_cast<double>(out);
  const double step = scales.empty() ? from / to : 1 / scales[static_cast<size_t>(axis)];
  AxisTaps taps(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    const auto place = static_cast<double>(o);
    double x = place * step;
    if (coordinates == "half_pixel") x = (place + 0.5) * step - 0.5;
    if (coordinates == "align_corners") x = out > 1 ? place * (from - 1) / (to - 1) : 0;
    std::vector<Tap>& here = taps[static_cast<size_t>(o)];
    if (call.text("mode") == "nearest") {
      const double nearest = std::clamp(Round(call.text("rounding"), x), 0.0, from - 1);
      here.push_back({static_cast<int64_t>(nearest), 1});
      continue;
    }
    x = std::clamp(x, 0.0, from - 1);
    const double low = std::floor(x);
    here.push_back({static_cast<int64_t>(low), 1 - (x - low)});
    if (x > low) here.push_back({static_cast<int64_t>(low) + 1, x - low});
  }
  return taps;
}

Expected<Dims> WithSizes(const Dims& dims, const Dims& sizes) {
  if (dims.rank() < 3)
    return core::InvalidArgument("there are ", dims.rank(), " dimensions, expected at least 3");
  if (sizes.rank() != dims.rank() - 2)
    return core::InvalidArgument("sizes has ", sizes.rank(), " numbers, expected ",
                                 dims.rank() - 2);
  Dims made = dims;
  for (int s = 0; s < sizes.rank(); ++s) made[s + 2] = sizes[s];
  return made;
}

Dims SizesOf(const Dims& dims) { return Dims(dims.span().subspan(2)); }

Status CheckNotEmpty(const Dims& from, const Dims& to) {
  for (int axis = 2; axis < from.rank(); ++axis) {
    if (from[axis] == ir::Dim(0) && !(to[axis] == ir::Dim(0)))
      return core::InvalidArgument("axis ", axis, " has no elements to make ", to[axis].ToString(),
                                   " of");
  }
  return {};
}

Expected<ir::Axes> ResampleAxes(const ir::OpCall&) {
  return ir::Axes{{"batch", ir::AxisRole::kFree, ir::Combine::kSum, {0}, {0}},
                  {"channels", ir::AxisRole::kFree, ir::Combine::kSum, {1}, {1}}};
}

}  // namespace rml::ops
