// Matrix products of floats and bytes, batched and broadcast, by the GEMM of rml/kernels/gemm.
// Operands keep their strides. A b that is known beforehand is packed once.
#include <algorithm>
#include <vector>

#include "rml/core/carver.h"
#include "rml/kernels/convert.h"
#include "rml/kernels/gemm/gemm.h"
#include "rml/ops/host_data.h"
#include "rml/providers/cpu/kernel_lists.h"

namespace rml::providers::cpu {
namespace {

using core::DType;
using core::Tensor;
using kernels::GemmCall;
using kernels::GemmMatrix;
using kernels::GemmPlan;
using kernels::GemmSizes;
using kernels::PackedMatrix;

GemmSizes SizesOf(const ir::OpCall& call) {
  return {.m = call.dim(0, -2).value(), .n = call.dim(1, -1).value(), .k = call.dim(0, -1).value()};
}

ops::Kernel::Refusal Accepts(const ir::OpCall& call) {
  if (auto refusal = ops::WantsOneOf(
          call, 0, {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kU8}))
    return refusal;
  if (!kernels::HasGemm(call.dtype(0))) return "for integers it needs a CPU with AVX512-VNNI";
  return ops::WantsKnownSizes(call);
}

// The matrix at `place` of the axes before the last two.
GemmMatrix MatrixAt(const Tensor& tensor, int64_t place) {
  const int rank = tensor.rank();
  int64_t offset = 0;
  for (int axis = rank - 3; axis >= 0; --axis) {
    offset += place % tensor.dim(axis) * tensor.strides()[static_cast<size_t>(axis)];
    place /= tensor.dim(axis);
  }
  const auto strides = tensor.strides().last(2);
  return {.dtype = tensor.dtype(),
          .data = ops::Data<std::byte>(tensor) + offset * core::Info(tensor.dtype()).block_bytes,
          .row_stride = strides[0],
          .column_stride = strides[1]};
}

// How many matrices the tensor holds.
int64_t MatricesOf(const core::Shape& shape) {
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) count *= shape[axis];
  return count;
}

// Which matrix of an input belongs to matrix `place` of the output; its axes may broadcast.
int64_t PlaceIn(const core::Shape& input, const core::Shape& output, int64_t place) {
  int64_t at = 0;
  int64_t step = 1;
  for (int axis = output.rank() - 3; axis >= 0; --axis) {
    const int64_t coordinate = place % output[axis];
    place /= output[axis];
    const int own = axis - (output.rank() - input.rank());
    if (own < 0) break;
    if (input[own] > 1) at += coordinate * step;
    step *= input[own];
  }
  return at;
}

struct PackedB : ops::Prepared {
  core::Reservation reservation;
  std::vector<std::byte> bytes;
  std::vector<PackedMatrix> matrices;  // one for each matrix of b
};

const PackedMatrix* PackedAt(const ops::Prepared* prepared, int64_t place) {
  if (prepared == nullptr) return nullptr;
  return &static_cast<const PackedB*>(prepared)->matrices[static_cast<size_t>(place)];
}

core::Expected<std::shared_ptr<const ops::Prepared>> Prepare(const ir::OpCall& call,
                                                             const core::RunContext& context) {
  const std::shared_ptr<const ops::Prepared> nothing;
  const Tensor* const b = call.all_inputs()[1].constant;
  const GemmSizes s = SizesOf(call);
  if (b == nullptr || s.m < 1 || s.n < 1 || s.k < 1) return nothing;
  const int64_t count = MatricesOf(b->shape());
  if (count < 1 || GemmPlan::ReadsInPlace(s, MatrixAt(*b, 0))) return nothing;
  const int64_t each = PackedMatrix::PackedBytes(b->dtype(), s.k, s.n);
  auto packed = std::make_shared<PackedB>();
  auto reservation = context.Reserve(each * count, "packed weights");
  if (!reservation.ok()) return nothing;  // slower, but it runs
  packed->reservation = *std::move(reservation);
  packed->bytes.resize(static_cast<size_t>(each * count));
  for (int64_t i = 0; i < count; ++i) {
    const std::span space = std::span(packed->bytes).subspan(static_cast<size_t>(i * each));
    packed->matrices.emplace_back(MatrixAt(*b, i), s.k, s.n, space);
  }
  return std::shared_ptr<const ops::Prepared>(std::move(packed));
}

// What a run lays out: scratch for each thread, and the product in f32 where the result is
// narrower.
struct Layout {
  float* wide;
  std::byte* scratch;
  int64_t scratch_bytes;

  Layout(const ir::OpCall& call, int64_t outputs, const GemmPlan& plan, int threads,
         core::Carver* carver)
      : scratch_bytes(static_cast<int64_t>(plan.scratch_bytes())) {
    wide = carver->Take<float>(call.dtype(0) == DType::kF32 ? 0 : outputs);
    scratch = carver->Take<std::byte>(scratch_bytes * threads);
  }
};

int64_t OutputElements(const ir::OpCall& call) {
  const GemmSizes s = SizesOf(call);
  int64_t elements = s.m * s.n;
  for (int axis = 3; axis <= std::max(call.rank(0), call.rank(1)); ++axis) {
    const auto size = [&](int i) { return axis <= call.rank(i) ? call.dim(i, -axis).value() : 1; };
    elements *= size(0) == 1 ? size(1) : size(0);
  }
  return elements;
}

// Many products keep all threads busy without being cut.
GemmPlan PlanOf(const ir::OpCall& call, const ops::Prepared* prepared,
                const core::RunContext& context) {
  const GemmSizes s = SizesOf(call);
  const int64_t products = OutputElements(call) / (s.m * s.n);
  return GemmPlan(call.dtype(0), s, PackedAt(prepared, 0),
                  products >= 4 * context.threads() ? 1 : context.threads());
}

int64_t Workspace(const ir::OpCall& call, const ops::Prepared* prepared,
                  const core::RunContext& context) {
  const GemmSizes s = SizesOf(call);
  if (s.m < 1 || s.n < 1 || s.k < 1) return 0;
  core::Carver counter;
  const Layout layout(call, OutputElements(call), PlanOf(call, prepared, context),
                      context.threads(), &counter);
  (void)layout;
  return static_cast<int64_t>(counter.used()) + static_cast<int64_t>(core::Carver::kAlign);
}

// Narrows a part of the product to the result's dtype. Of sums of bytes the low ones stay, as the
// operator wants it.
struct Narrowing {
  DType dtype;
  std::byte* y;
  int64_t width;

  static void Apply(const void* context, float* c, int64_t ldc, int64_t row, int64_t column,
                    int64_t rows, int64_t columns) {
    const auto& self = *static_cast<const Narrowing*>(context);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = (row + i) * self.width + column;
      if (self.dtype == DType::kI8 || self.dtype == DType::kU8) {
        const auto* const sums = reinterpret_cast<const int32_t*>(c + i * ldc);
        for (int64_t j = 0; j < columns; ++j) self.y[at + j] = static_cast<std::byte>(sums[j]);
      } else {
        kernels::FromF32(self.dtype, c + i * ldc, columns, self.y + at * 2);
      }
    }
  }
};

core::Status Run(const ops::KernelArgs& args) noexcept {
  const core::RunContext& context = *args.context;
  const Tensor& y = args.outputs[0];
  if (y.elements() == 0) return {};
  const GemmSizes s = SizesOf(*args.call);
  if (s.k == 0) {
    std::fill_n(ops::MutableData<std::byte>(y), y.bytes(), std::byte{0});
    return {};
  }
  const DType dtype = y.dtype();
  const GemmPlan plan = PlanOf(*args.call, args.prepared, context);
  core::Carver carver(args.workspace);
  const Layout layout(*args.call, y.elements(), plan, context.threads(), &carver);

  // Small products go several to a chunk, so that handing them over costs little beside them.
  constexpr double kChunkFlops = 1e6;
  const double flops =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  const int64_t group = std::max<int64_t>(
      1, static_cast<int64_t>(kChunkFlops * static_cast<double>(plan.chunks()) / flops));
  const int64_t parts = MatricesOf(y.shape()) * plan.chunks();
  context.Run((parts + group - 1) / group, [&](int64_t chunk, int worker) {
    const std::span scratch(layout.scratch + worker * layout.scratch_bytes,
                            static_cast<size_t>(layout.scratch_bytes));
    for (int64_t part = chunk * group; part < std::min(parts, (chunk + 1) * group); ++part) {
      const int64_t place = part / plan.chunks();
      const int64_t b_place = PlaceIn(args.in(1).shape(), y.shape(), place);
      const int64_t at = place * s.m * s.n;
      GemmCall call;
      call.sizes = s;
      call.a = MatrixAt(args.in(0), PlaceIn(args.in(0).shape(), y.shape(), place));
      call.packed = PackedAt(args.prepared, b_place);
      if (call.packed == nullptr) call.b = MatrixAt(args.in(1), b_place);
      call.c = dtype == DType::kF32 ? ops::MutableData<float>(y) + at : layout.wide + at;
      call.ldc = s.n;
      const Narrowing narrowing{
          dtype, ops::MutableData<std::byte>(y) + at * core::Info(dtype).block_bytes, s.n};
      if (dtype != DType::kF32) call.epilogue = {Narrowing::Apply, &narrowing};
      plan.Run(call, part % plan.chunks(), scratch);
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
  kernel.prepare = Prepare;
  kernel.workspace = Workspace;
  kernel.run = Run;
  return {kernel};
}

}  // namespace rml::providers::cpu
