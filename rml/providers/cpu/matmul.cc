// Matrix products in f32: b is transposed once, and the GEMM of rml/kernels multiplies.
#include <algorithm>

#include "rml/core/carver.h"
#include "rml/kernels/float_gemm.h"
#include "rml/ops/broadcast.h"
#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

constexpr int64_t kRowsPerChunk = 64;  // of bᵀ
constexpr int64_t kTile = 32;  // of the transposition: two tiles stay in the first-level cache

struct Sizes {
  int64_t m, k, n, batch;
};

Sizes SizesOf(const ir::OpCall& call) {
  const auto batch = [&](int i) {
    int64_t product = 1;
    for (int axis = 0; axis < call.rank(i) - 2; ++axis) product *= call.dim(i, axis).value();
    return product;
  };
  return {call.dim(0, -2).value(), call.dim(0, -1).value(), call.dim(1, -1).value(),
          std::max(batch(0), batch(1))};
}

// What a call lays out: bᵀ, both inputs again where they have gaps, and scratch for each thread.
struct Layout {
  float* b_transposed;
  float* a;
  float* b;
  std::byte* scratch;

  Layout(const ir::OpCall& call, int threads, core::Carver* carver) {
    const Sizes s = SizesOf(call);
    b_transposed = carver->Take<float>(s.k * s.n);
    a = carver->Take<float>(call.input(0).dims.elements().value());
    b = carver->Take<float>(call.input(1).dims.elements().value());
    scratch =
        carver->Take<std::byte>(static_cast<int64_t>(kernels::kFloatGemmScratchBytes) * threads);
  }
};

ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  if (auto refusal = ops::WantsDType(call, 0, core::DType::kF32)) return refusal;
  return ops::WantsKnownSizes(call);
}

int64_t Workspace(const ir::OpCall& call, const ops::Prepared*, const core::RunContext& context) {
  core::Carver counter;
  const Layout layout(call, context.threads(), &counter);
  (void)layout;
  return static_cast<int64_t>(counter.used()) + static_cast<int64_t>(core::Carver::kAlign);
}

void TransposeInto(const float* b, int64_t k, int64_t n, float* out,
                   const core::RunContext& context) {
  context.Run((n + kTile - 1) / kTile, [&](int64_t tile, int) {
    const int64_t end = std::min(n, (tile + 1) * kTile);
    for (int64_t l = 0; l < k; l += kTile) {
      for (int64_t j = tile * kTile; j < end; ++j) {
        for (int64_t i = l; i < std::min(k, l + kTile); ++i) out[j * k + i] = b[i * n + j];
      }
    }
  });
}

core::Status Run(const ops::KernelArgs& args) noexcept {
  const core::RunContext& context = *args.context;
  const core::Tensor& y = args.outputs[0];
  if (y.elements() == 0) return {};
  const Sizes s = SizesOf(*args.call);
  float* const out = ops::MutableData<float>(y);
  if (s.k == 0) {
    std::fill_n(out, y.elements(), 0.0f);
    return {};
  }
  core::Carver carver(args.workspace);
  const Layout layout(*args.call, context.threads(), &carver);
  RML_ASSIGN(const float* const a, ops::Dense(args.in(0), layout.a));
  RML_ASSIGN(const float* const b, ops::Dense(args.in(1), layout.b));

  // Which matrix of each input belongs to each of the output.
  const auto batch_shape = [](const core::Shape& shape) {
    return *core::Shape::Make(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
  };
  const core::Shape batch = batch_shape(y.shape());
  const auto a_strides = ops::BroadcastStrides(batch_shape(args.in(0).shape()), batch);
  const auto b_strides = ops::BroadcastStrides(batch_shape(args.in(1).shape()), batch);
  const auto rank = static_cast<size_t>(batch.rank());
  const core::StridedLoop<2> loop(
      batch, {std::span(a_strides).first(rank), std::span(b_strides).first(rank)});
  int64_t at = 0;
  int64_t transposed = -1;
  loop.ForEachRow([&](const std::array<int64_t, 2>& begin) {
    for (int64_t step = 0; step < loop.row_elements(); ++step, ++at) {
      const int64_t which_a = begin[0] + step * loop.row_strides()[0];
      const int64_t which_b = begin[1] + step * loop.row_strides()[1];
      if (which_b != transposed)
        TransposeInto(b + which_b * s.k * s.n, s.k, s.n, layout.b_transposed, context);
      transposed = which_b;
      context.Run((s.n + kRowsPerChunk - 1) / kRowsPerChunk, [&](int64_t chunk, int worker) {
        const std::span scratch(
            layout.scratch + static_cast<size_t>(worker) * kernels::kFloatGemmScratchBytes,
            kernels::kFloatGemmScratchBytes);
        kernels::FloatGemmRange(core::DType::kF32, layout.b_transposed, chunk * kRowsPerChunk,
                                std::min(s.n, (chunk + 1) * kRowsPerChunk), s.k,
                                a + which_a * s.m * s.k, s.k, s.m, out + at * s.m * s.n, s.n, false,
                                scratch);
      });
    }
  });
  return {};
}

}  // namespace

std::vector<ops::Kernel> MatmulKernels() {
  ops::Kernel kernel;
  kernel.op = "matmul";
  kernel.name = "gemm";
  kernel.accepts = Accepts;
  kernel.workspace = Workspace;
  kernel.run = Run;
  return {kernel};
}

}  // namespace rml::providers::cpu
