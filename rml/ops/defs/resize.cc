// An image, or a line or a volume, at another resolution.
#include "rml/ops/resample.h"

namespace rml::ops {

ir::OpDef Resize() {
  ir::OpDef op = ResamplingForward(ResizeForm());
  op.name = "resize";
  op.doc =
      "`x` [batch, channels, place…] with `sizes` places along its spatial axes, as ONNX's "
      "Resize. `mode`: nearest, linear (bilinear, trilinear) or cubic (with `cubic_coeff_a`); the "
      "border repeats outside, or with `exclude_outside` the weights of what is there are scaled "
      "to sum to one. `coordinates` of place i of n, in x: half_pixel, (i + ½) · size / n - ½; "
      "pytorch_half_pixel, the same but 0 where n is 1; half_pixel_symmetric, the same about the "
      "middle of what `scales` make; asymmetric, i · size / n; align_corners, i · (size - 1) / (n "
      "- 1); tf_crop_and_resize, align_corners within `roi`, [start…, end…] of the spatial axes "
      "in parts of size - 1, and `extrapolation_value` outside x. `scales`, if given, are used "
      "for n / size, as ONNX does where n was rounded. `antialias` widens the windows of linear "
      "and cubic where there are fewer places than before. `rounding` of nearest: prefer_floor, "
      "prefer_ceil (of halves), floor or ceil. PyTorch's nearest is asymmetric with floor; its "
      "antialias excludes what is outside, with a cubic coefficient of -0.5.";
  return op;
}

}  // namespace rml::ops
