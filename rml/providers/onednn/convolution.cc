// Convolution and its two gradients, f32, 1 to 3 spatial axes. The library's direct kernels want
// layouts of their own (on AVX2 blocks of 8 channels): rearranging costs a few per cent of a 3x3
// convolution, and the kernels that take plain layouts half the speed.
#include "rml/ops/convolution.h"

#include <numeric>

#include "rml/providers/onednn/internal/tiled.h"
#include "rml/providers/onednn/kernel_lists.h"

namespace rml::providers::onednn {
namespace {

using dnnl::memory;

// What the call makes of the other two.
enum class Made { kY, kX, kW };

struct Convolution {
  ops::ConvGeometry g;
  memory::dims x, w, y;
};

memory::dims DimsOf(const ir::Dims& dims) {
  memory::dims out;
  for (const ir::Dim dim : dims) out.push_back(dim.value());
  return out;
}

int64_t Product(const memory::dims& dims, size_t first) {
  return std::accumulate(dims.begin() + static_cast<ptrdiff_t>(first), dims.end(), int64_t{1},
                         std::multiplies<>());
}

template <Made kMade>
core::Expected<Convolution> ConvolutionOf(const ir::OpCall& call) {
  Convolution c;
  RML_ASSIGN(c.g, ops::GeometryOf(call, call.rank(0) - 2));
  ir::Types outputs;
  RML_TRY(ir::InferTypes(call, &outputs));
  const memory::dims made = DimsOf(outputs[0].dims);
  const memory::dims in0 = DimsOf(call.input(0).dims);
  const memory::dims in1 = DimsOf(call.input(1).dims);
  c.x = kMade == Made::kX ? made : in0;
  c.w = kMade == Made::kW ? made : in1;
  c.y = kMade == Made::kY ? made : kMade == Made::kX ? in0 : in1;
  return c;
}

// A part of a row-major tensor, from the first axis on; `full` are the sizes of all of it.
memory::desc PartOf(const memory::dims& part, const memory::dims& full) {
  memory::dims strides(full.size());
  for (size_t axis = 0; axis < full.size(); ++axis) strides[axis] = Product(full, axis + 1);
  // Of one element any stride will do, and this one makes equal what is equal.
  if (part[0] == 1) strides[0] = part[1] * strides[1];
  return {part, memory::data_type::f32, strides};
}

memory::desc Chosen(const memory::dims& dims) {  // by the library
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

// How a call is cut: its images, and the channels that a tile makes (of x for x's gradient, else of
// y) or, where there are several, its groups.
template <Made kMade>
struct Cut {
  explicit Cut(const Convolution& c) {
    const int64_t images = c.x[0];
    const int64_t operations =
        2 * Product(c.w, 0) * Product(c.y, 2) * (kMade == Made::kW ? images : 1);
    // Halves, as long as they are worth a thread and fill the library's blocks.
    const int64_t group_outputs = c.w[0] / c.g.groups;
    const int64_t narrow = std::min(group_outputs, c.w[1]);
    size = c.g.groups > 1 ? c.g.groups : kMade == Made::kX ? c.w[1] : c.w[0];
    const int64_t multiple = c.g.groups == 1 ? 32 : 8 / std::gcd(narrow, int64_t{8});
    while (size % (2 * multiple) == 0 && operations / grid.blocks > 2 * kOperationsPerTile) {
      size /= 2;
      grid.blocks *= 2;
    }
    if (kMade == Made::kW) return;  // a sum over images, which are not cut
    grid.first = images;
    grid.per_tile = std::clamp<int64_t>(kOperationsPerTile * grid.blocks / operations, 1, images);
    while (images % grid.per_tile != 0) --grid.per_tile;  // no shorter last tile: see Tiled
  }

  Grid grid;
  int64_t size = 1;  // channels or groups of a block
};

template <Made kMade>
TileDescription Describe(const Convolution& c, const Cut<kMade>& cut, int64_t images) {
  const bool grouped = c.g.groups > 1;
  if (kMade == Made::kW) images = c.x[0];
  // Channels of a block, and w with its groups as an axis of their own.
  memory::dims x = c.x, w = c.w, y = c.y, full_w = c.w;
  x[0] = y[0] = images;
  const int64_t x_channels = c.x[1] / c.g.groups;
  const int64_t y_channels = c.y[1] / c.g.groups;
  if (grouped) {
    full_w[0] = y_channels;
    full_w.insert(full_w.begin(), c.g.groups);
    w = full_w;
    w[0] = cut.size;
    x[1] = cut.size * x_channels;
    y[1] = cut.size * y_channels;
  } else if (kMade == Made::kX) {
    x[1] = w[1] = cut.size;
  } else {
    y[1] = w[0] = cut.size;
  }
  const bool cuts_x = grouped || kMade == Made::kX;
  const bool cuts_y = grouped || kMade != Made::kX;
  const int64_t by_images = kMade == Made::kW ? 0 : 1;

  Operand at_x = {.layout = PartOf(x, c.x)};
  at_x.along_first = by_images * Product(c.x, 1);
  at_x.along_blocks = cuts_x ? x[1] * Product(c.x, 2) : 0;
  Operand at_w = {.layout = PartOf(w, full_w)};
  at_w.along_blocks = cut.size * Product(full_w, grouped || kMade != Made::kX ? 1 : 2);
  Operand at_y = {.layout = PartOf(y, c.y)};
  at_y.along_first = by_images * Product(c.y, 1);
  at_y.along_blocks = cuts_y ? y[1] * Product(c.y, 2) : 0;

  memory::dims dilation, before, after;
  for (size_t i = 0; i < c.g.dilation.size(); ++i) {
    dilation.push_back(c.g.dilation[i] - 1);
    before.push_back(c.g.pads[2 * i]);
    after.push_back(c.g.pads[2 * i + 1]);
  }
  const memory::dims strides(c.g.strides.begin(), c.g.strides.end());
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::engine& engine = CpuEngine();
  const auto forward = [&](dnnl::prop_kind kind) {
    return dnnl::convolution_forward::primitive_desc(
        {kind, direct, Chosen(x), Chosen(w), Chosen(y), strides, dilation, before, after},
        UserScratch(), engine);
  };
  const auto operand = [](Operand o, int id, bool output, int tensor) {
    o.id = id;
    o.output = output;
    o.tensor = tensor;
    return o;
  };
  if constexpr (kMade == Made::kY) {
    return {forward(dnnl::prop_kind::forward_inference),
            {operand(at_x, DNNL_ARG_SRC, false, 0), operand(at_w, DNNL_ARG_WEIGHTS, false, 1),
             operand(at_y, DNNL_ARG_DST, true, 0)}};
  } else if constexpr (kMade == Made::kX) {
    return {dnnl::convolution_backward_data::primitive_desc(
                {direct, Chosen(x), Chosen(w), Chosen(y), strides, dilation, before, after},
                UserScratch(), engine, forward(dnnl::prop_kind::forward_training)),
            {operand(at_y, DNNL_ARG_DIFF_DST, false, 0), operand(at_w, DNNL_ARG_WEIGHTS, false, 1),
             operand(at_x, DNNL_ARG_DIFF_SRC, true, 0)}};
  } else {
    return {dnnl::convolution_backward_weights::primitive_desc(
                {direct, Chosen(x), Chosen(w), Chosen(y), strides, dilation, before, after},
                UserScratch(), engine, forward(dnnl::prop_kind::forward_training)),
            {operand(at_x, DNNL_ARG_SRC, false, 0), operand(at_y, DNNL_ARG_DIFF_DST, false, 1),
             operand(at_w, DNNL_ARG_DIFF_WEIGHTS, true, 0)}};
  }
}

template <Made kMade>
core::Expected<std::shared_ptr<const ops::Prepared>> PrepareConvolution(const ir::OpCall& call,
                                                                        const core::RunContext&) {
  RML_ASSIGN(const Convolution c, ConvolutionOf<kMade>(call));
  const Cut<kMade> cut(c);
  return Tiled::Make(cut.grid, [&](int64_t images) { return Describe(c, cut, images); });
}

ops::Kernel::Refusal AcceptsConvolution(const ir::OpCall& call) {
  if (const int spatial = call.rank(0) - 2; spatial > 3)
    return core::StrCat("it takes 1 to 3 spatial axes, not ", spatial);
  return WantsWholeF32(call);
}

template <Made kMade>
ops::Kernel MakeKernel(std::string_view op) {
  ops::Kernel kernel;
  kernel.op = op;
  kernel.name = "direct";
  kernel.accepts = AcceptsConvolution;
  kernel.prepare = PrepareConvolution<kMade>;
  kernel.workspace = Tiled::Workspace;
  kernel.run = Tiled::Run;
  return kernel;
}

}  // namespace

std::vector<ops::Kernel> ConvolutionKernels() {
  return {MakeKernel<Made::kY>("convolution"), MakeKernel<Made::kX>("convolution_input_grad"),
          MakeKernel<Made::kW>("convolution_weight_grad")};
}

}  // namespace rml::providers::onednn
