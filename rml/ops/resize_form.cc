// Where the elements of resize come from, and how much of each.
#include <algorithm>
#include <cmath>

#include "rml/ops/resample.h"

namespace rml::ops {

using core::Status;
using ir::Floats;

namespace {

// A window of an anti-aliased axis reaches over 4 / scale places.
constexpr double kSmallestAntialiasScale = 1.0 / 65536;

Status CheckResize(const ir::OpCall& call) {
  const auto one_of = [&](std::string_view name,
                          std::initializer_list<std::string_view> known) -> Status {
    const std::string& value = call.text(name);
    if (std::ranges::find(known, value) != known.end()) return {};
    std::string list;
    for (const std::string_view word : known) list += core::StrCat(list.empty() ? "" : ", ", word);
    return core::InvalidArgument(name, " is \"", value, "\", expected one of ", list);
  };
  RML_TRY(one_of("mode", {"nearest", "linear", "cubic"}));
  RML_TRY(one_of("coordinates", {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric",
                                 "asymmetric", "align_corners", "tf_crop_and_resize"}));
  RML_TRY(one_of("rounding", {"prefer_floor", "prefer_ceil", "floor", "ceil"}));
  const int spatial = call.rank(0) - 2;
  const auto& scales = call.attr<Floats>("scales");
  if (!scales.empty() && static_cast<int>(scales.size()) != spatial)
    return core::InvalidArgument("scales has ", scales.size(), " numbers, expected ", spatial);
  const double least = call.flag("antialias") ? kSmallestAntialiasScale : 0;
  for (const double scale : scales) {
    if (!(scale > 0 && scale >= least) || std::isinf(scale))
      return core::InvalidArgument("scales has ", scale, ", expected a positive number",
                                   least > 0 ? core::StrCat(", at least ", least) : "");
  }
  const auto& roi = call.attr<Floats>("roi");
  const bool crops = call.text("coordinates") == "tf_crop_and_resize";
  const size_t expected = crops ? 2 * static_cast<size_t>(spatial) : 0;
  if (roi.size() != expected)
    return core::InvalidArgument("roi has ", roi.size(), " numbers, expected ", expected, " for ",
                                 call.text("coordinates"));
  for (const double edge : roi) {
    if (!std::isfinite(edge)) return core::InvalidArgument("roi has ", edge);
  }
  if (!std::isfinite(call.number("cubic_coeff_a")))
    return core::InvalidArgument("cubic_coeff_a is ", call.number("cubic_coeff_a"));
  return {};
}

double Round(std::string_view how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  return how == "prefer_floor" ? std::ceil(x - 0.5) : std::floor(x + 0.5);
}

// One axis of a call.
class ResizeAxis {
 public:
  ResizeAxis(const ir::OpCall& call, int axis, int64_t in, int64_t out)
      : mode_(call.text("mode")),
        coordinates_(call.text("coordinates")),
        rounding_(call.text("rounding")),
        a_(call.number("cubic_coeff_a")),
        exclude_outside_(call.flag("exclude_outside")),
        antialias_(call.flag("antialias")),
        in_(in),
        size_(static_cast<double>(in)),
        rounded_(static_cast<double>(out)),
        scale_(rounded_ / size_) {
    const auto at = static_cast<size_t>(axis);
    const auto& scales = call.attr<Floats>("scales");
    if (!scales.empty()) scale_ = scales[at];
    resized_ = scales.empty() ? rounded_ : scale_ * size_;
    const auto& roi = call.attr<Floats>("roi");
    if (roi.empty()) return;
    crops_ = true;
    start_ = roi[at];
    end_ = roi[at + roi.size() / 2];
  }

  std::vector<Tap> Taps(int64_t place) const {
    double x = PlaceInX(static_cast<double>(place));
    if (crops_ && !(x >= 0 && x <= size_ - 1)) return {};
    if (mode_ == "nearest")
      return {{static_cast<int64_t>(std::clamp(Round(rounding_, x), 0.0, size_ - 1)), 1}};
    const double shrink = antialias_ ? std::min(scale_, 1.0) : 1;
    const double reach = (mode_ == "cubic" ? 2 : 1) / shrink;
    // Farther out there is the border alone.
    x = std::clamp(x, -reach - 1, size_ + reach);
    std::vector<Tap> taps;
    double sum = 0;
    for (double p = std::floor(x - reach) + 1; p < x + reach; ++p) {
      const bool outside = p < 0 || p >= size_;
      const double weight = Kernel((p - x) * shrink);
      if (weight == 0 || (outside && exclude_outside_)) continue;
      taps.push_back({static_cast<int64_t>(std::clamp(p, 0.0, size_ - 1)), weight});
      sum += weight;
    }
    if (taps.empty() || sum == 0) return {{x < 0 ? 0 : in_ - 1, 1}};
    if (antialias_ || exclude_outside_) {
      for (Tap& tap : taps) tap.weight /= sum;
    }
    return taps;
  }

 private:
  double PlaceInX(double place) const {
    const double last = size_ - 1;
    const double half_pixel = (place + 0.5) / scale_ - 0.5;
    if (coordinates_ == "asymmetric") return place / scale_;
    if (coordinates_ == "align_corners") return resized_ > 1 ? place * last / (resized_ - 1) : 0;
    if (coordinates_ == "pytorch_half_pixel") return resized_ > 1 ? half_pixel : 0;
    if (coordinates_ == "half_pixel_symmetric")
      return half_pixel + size_ / 2 * (1 - rounded_ / resized_);
    if (coordinates_ == "half_pixel") return half_pixel;
    return resized_ > 1 ? start_ * last + place * (end_ - start_) * last / (resized_ - 1)
                        : 0.5 * (start_ + end_) * last;
  }

  // Keys' kernel (1981), or a triangle.
  double Kernel(double t) const {
    t = std::abs(t);
    if (mode_ == "linear") return std::max(1 - t, 0.0);
    if (t <= 1) return ((a_ + 2) * t - (a_ + 3)) * t * t + 1;
    if (t < 2) return ((a_ * t - 5 * a_) * t + 8 * a_) * t - 4 * a_;
    return 0;
  }

  const std::string& mode_;
  const std::string& coordinates_;
  const std::string& rounding_;
  const double a_;
  const bool exclude_outside_;
  const bool antialias_;
  const int64_t in_;
  const double size_;     // of x
  const double rounded_;  // of y
  double scale_;
  double resized_ = 0;  // of y, before it was rounded
  bool crops_ = false;
  double start_ = 0;
  double end_ = 0;
};

std::vector<Resampling::Case> ResizeCases() {
  const std::vector<std::pair<core::Shape, core::Shape>> shapes = {
      {{1, 1, 1}, {1, 1, 3}},
      {{2, 3, 5}, {2, 3, 7}},
      {{1, 2, 4, 5}, {1, 2, 2, 10}},
      {{1, 1, 7}, {1, 1, 1}},
      {{1, 1, 2, 3, 2}, {1, 1, 3, 2, 4}},
      {{0, 2, 4}, {0, 2, 2}}};
  std::vector<Resampling::Case> cases;
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"}) {
      for (const auto& [x, y] : shapes)
        cases.push_back({x, y, {{"mode", mode}, {"coordinates", coordinates}}});
    }
  }
  for (const char* rounding : {"prefer_ceil", "floor", "ceil"})
    cases.push_back({{1, 1, 4}, {1, 1, 6}, {{"rounding", rounding}}});
  cases.push_back({{1, 1, 5}, {1, 1, 8}, {{"mode", "linear"}, {"scales", Floats{1.7}}}});
  for (const char* coordinates : {"pytorch_half_pixel", "half_pixel_symmetric"})
    cases.push_back({{1, 1, 7},
                     {1, 1, 4},
                     {{"mode", "linear"}, {"coordinates", coordinates}, {"scales", Floats{0.6}}}});
  for (const bool exclude : {false, true}) {
    cases.push_back({{1, 2, 4, 5},
                     {1, 2, 7, 3},
                     {{"mode", "cubic"}, {"cubic_coeff_a", -0.5}, {"exclude_outside", exclude}}});
    for (const char* mode : {"linear", "cubic"})
      cases.push_back({{1, 1, 9, 4},
                       {1, 1, 3, 6},
                       {{"mode", mode}, {"antialias", true}, {"exclude_outside", exclude}}});
  }
  for (const char* mode : {"nearest", "linear", "cubic"})
    cases.push_back({{1, 1, 5, 4},
                     {1, 1, 4, 3},
                     {{"mode", mode},
                      {"coordinates", "tf_crop_and_resize"},
                      {"roi", Floats{-0.2, 0.1, 0.7, 1.3}},
                      {"extrapolation_value", 2.5}}});
  return cases;
}

}  // namespace

Resampling ResizeForm() {
  return {.forward = "resize",
          .gradient = "resize_grad",
          .attributes = {{"mode", "nearest"},
                         {"coordinates", "half_pixel"},
                         {"rounding", "prefer_floor"},
                         {"scales", Floats()},
                         {"cubic_coeff_a", -0.75},
                         {"exclude_outside", false},
                         {"antialias", false},
                         {"roi", Floats()}},
          .check = CheckResize,
          .taps = [](const ir::OpCall& call, int axis, int64_t in, int64_t out) -> AxisTaps {
            const ResizeAxis resize(call, axis, in, out);
            AxisTaps taps;
            for (int64_t place = 0; place < out; ++place) taps.push_back(resize.Taps(place));
            return taps;
          },
          .empty = "extrapolation_value",
          .cases = ResizeCases()};
}

}  // namespace rml::ops
