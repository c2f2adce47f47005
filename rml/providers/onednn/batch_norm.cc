// batch_norm, f32, any number of spatial axes. In evaluation images are normalised one by one; in
// training statistics go over all of them, and the whole call is one tile on one thread.
#include <algorithm>
#include <cmath>

#include "rml/ops/host_data.h"
#include "rml/providers/onednn/internal/tiled.h"
#include "rml/providers/onednn/kernel_lists.h"

namespace rml::providers::onednn {
namespace {

using dnnl::memory;

constexpr int64_t kElementsPerImages = int64_t{1} << 17;  // of x, in one tile

// The operator's inputs and outputs.
enum BatchNormInput { kX, kWeight, kBias, kMean, kVar };
enum BatchNormOutput { kY, kNewMean, kNewVar, kBatchMean, kBatchRstd };

core::Expected<std::shared_ptr<const ops::Prepared>> PrepareBatchNorm(const ir::OpCall& call,
                                                                      const core::RunContext&) {
  const bool training = call.flag("training");
  const int64_t images = call.dim(kX, 0).value();
  const int64_t channels = call.dim(kX, 1).value();
  const int64_t image = call.input(kX).dims.elements().value() / images;
  auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  if (!training) flags |= dnnl::normalization_flags::use_global_stats;
  const auto kind =
      training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto eps = static_cast<float>(call.number("eps"));

  Grid grid = {.first = images, .per_tile = images};
  if (!training) grid.per_tile = std::clamp<int64_t>(kElementsPerImages / image, 1, images);
  return Tiled::Make(grid, [&](int64_t count) -> TileDescription {
    const auto f32 = memory::data_type::f32;
    // Always two spatial axes: for one the library has nothing but its reference.
    const memory::desc x({count, channels, 1, image / channels}, f32, memory::format_tag::abcd);
    const memory::desc channel({channels}, f32, memory::format_tag::a);
    const auto statistic = [&](int id, int input, int output) {
      return Operand{
          .id = id, .output = training, .tensor = training ? output : input, .layout = channel};
    };
    return {dnnl::batch_normalization_forward::primitive_desc({kind, x, eps, flags}, UserScratch(),
                                                              CpuEngine()),
            {{.id = DNNL_ARG_SRC, .tensor = kX, .layout = x, .along_first = image},
             {.id = DNNL_ARG_DST, .output = true, .tensor = kY, .layout = x, .along_first = image},
             {.id = DNNL_ARG_SCALE, .tensor = kWeight, .layout = channel},
             {.id = DNNL_ARG_SHIFT, .tensor = kBias, .layout = channel},
             statistic(DNNL_ARG_MEAN, kMean, kBatchMean),
             // In training the reciprocal deviation goes there when the tiles are done.
             statistic(DNNL_ARG_VARIANCE, kVar, kBatchRstd)}};
  });
}

core::Status RunBatchNorm(const ops::KernelArgs& args) noexcept {
  RML_TRY(Tiled::Run(args));
  const auto eps = static_cast<float>(args.call->number("eps"));
  const core::Tensor& batch_mean = args.outputs[kBatchMean];
  float* const mean = ops::MutableData<float>(batch_mean);
  float* const rstd = ops::MutableData<float>(args.outputs[kBatchRstd]);
  // The running statistics: aliases, which hold their inputs already.
  float* const new_mean = ops::MutableData<float>(args.outputs[kNewMean]);
  float* const new_var = ops::MutableData<float>(args.outputs[kNewVar]);
  const int64_t channels = batch_mean.elements();
  if (!args.call->flag("training")) {
    for (int64_t c = 0; c < channels; ++c) {
      mean[c] = new_mean[c];
      rstd[c] = 1 / std::sqrt(new_var[c] + eps);
    }
    return {};
  }
  const auto momentum = static_cast<float>(args.call->number("momentum"));
  const auto count = static_cast<float>(args.in(kX).elements() / channels);
  for (int64_t c = 0; c < channels; ++c) {
    const float var = rstd[c];
    new_mean[c] = (1 - momentum) * new_mean[c] + momentum * mean[c];
    new_var[c] = (1 - momentum) * new_var[c] + momentum * (var * count / (count - 1));
    rstd[c] = 1 / std::sqrt(var + eps);
  }
  return {};
}

}  // namespace

std::vector<ops::Kernel> BatchNormKernels() {
  ops::Kernel kernel;
  kernel.op = "batch_norm";
  kernel.name = "channels";
  kernel.accepts = WantsWholeF32;
  kernel.prepare = PrepareBatchNorm;
  kernel.workspace = Tiled::Workspace;
  kernel.run = RunBatchNorm;
  return {kernel};
}

}  // namespace rml::providers::onednn
