// layer_norm, f32, over any number of trailing axes: rows of [rows, width].
#include "rml/ops/norm.h"

#include <cmath>

#include "rml/ops/host_data.h"
#include "rml/providers/onednn/internal/tiled.h"
#include "rml/providers/onednn/kernel_lists.h"

namespace rml::providers::onednn {
namespace {

using dnnl::memory;

constexpr int64_t kElementsPerRun = int64_t{1} << 17;  // of x, in one tile

core::Expected<std::shared_ptr<const ops::Prepared>> PrepareLayerNorm(const ir::OpCall& call,
                                                                      const core::RunContext&) {
  int64_t width = 1;
  for (const int64_t axis : ops::NormalisedAxes(call))
    width *= call.dim(0, static_cast<int>(axis)).value();
  const int64_t rows = call.input(0).dims.elements().value() / width;
  auto flags = dnnl::normalization_flags::none;
  if (call.has(1)) flags |= dnnl::normalization_flags::use_scale;
  if (call.has(2)) flags |= dnnl::normalization_flags::use_shift;
  const auto eps = static_cast<float>(call.number("eps"));

  const Grid grid = {.first = rows,
                     .per_tile = std::clamp<int64_t>(kElementsPerRun / width, 1, rows)};
  return Tiled::Make(grid, [&](int64_t count) -> TileDescription {
    const auto f32 = memory::data_type::f32;
    const memory::desc x({count, width}, f32, memory::format_tag::ab);
    const memory::desc statistic({count}, f32, memory::format_tag::a);
    const memory::desc scale({width}, f32, memory::format_tag::a);
    TileDescription tile = {
        dnnl::layer_normalization_forward::primitive_desc(
            {dnnl::prop_kind::forward_training, x, statistic, eps, flags}, UserScratch(),
            CpuEngine()),
        {{.id = DNNL_ARG_SRC, .tensor = 0, .layout = x, .along_first = width},
         {.id = DNNL_ARG_DST, .output = true, .tensor = 0, .layout = x, .along_first = width},
         {.id = DNNL_ARG_MEAN, .output = true, .tensor = 1, .layout = statistic, .along_first = 1},
         // Where the reciprocal deviation goes when the rows are done.
         {.id = DNNL_ARG_VARIANCE,
          .output = true,
          .tensor = 2,
          .layout = statistic,
          .along_first = 1}}};
    if (call.has(1)) tile.operands.push_back({.id = DNNL_ARG_SCALE, .tensor = 1, .layout = scale});
    if (call.has(2)) tile.operands.push_back({.id = DNNL_ARG_SHIFT, .tensor = 2, .layout = scale});
    return tile;
  });
}

core::Status RunLayerNorm(const ops::KernelArgs& args) noexcept {
  RML_TRY(Tiled::Run(args));
  const auto eps = static_cast<float>(args.call->number("eps"));
  const core::Tensor& rstd = args.outputs[2];
  float* const statistic = ops::MutableData<float>(rstd);
  for (int64_t i = 0; i < rstd.elements(); ++i) statistic[i] = 1 / std::sqrt(statistic[i] + eps);
  return {};
}

}  // namespace

std::vector<ops::Kernel> LayerNormKernels() {
  ops::Kernel kernel;
  kernel.op = "layer_norm";
  kernel.name = "rows";
  kernel.accepts = WantsWholeF32;
  kernel.prepare = PrepareLayerNorm;
  kernel.workspace = Tiled::Workspace;
  kernel.run = RunLayerNorm;
  return {kernel};
}

}  // namespace rml::providers::onednn
