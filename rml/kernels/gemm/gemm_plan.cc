// How a product is cut into chunks, and b into blocks, for the caches of this machine.
#include <algorithm>

#include "rml/core/carver.h"
#include "rml/core/check.h"
#include "rml/core/half.h"
#include "rml/kernels/caches.h"
#include "rml/kernels/float_gemm.h"
#include "rml/kernels/gemm/gemm_target.h"

namespace rml::kernels {

using core::DType;

namespace {

int64_t Blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }
int64_t RoundUp(int64_t count, int64_t step) { return Blocks(count, step) * step; }
// Steps of equal size, multiples of `step`, none above `most`.
int64_t EvenBlock(int64_t count, int64_t most, int64_t step) {
  most = std::max(most / step, int64_t{1}) * step;
  return RoundUp(Blocks(count, Blocks(count, most)), step);
}

// Values of k in a block: a panel of a takes three eighths of first-level cache, and b streams
// through the rest.
int64_t DepthOf(const GemmTarget& target, int64_t k) {
  const int64_t most = MachineCaches().l1 * 3 / 8 / 4 / target.tile_rows;
  return EvenBlock(target.Words(k), std::clamp(most, int64_t{128}, kMostGemmDepth), 8) *
         target.word_values;
}

const GemmTarget& TargetOf(DType dtype) {
  const GemmTarget* const target = GemmTargetFor(dtype);
  RML_CHECK(target != nullptr);
  return *target;
}

}  // namespace

bool HasGemm(DType dtype) { return GemmTargetFor(dtype) != nullptr; }

GemmPlan::GemmPlan(DType dtype, const GemmSizes& s, const PackedMatrix* packed, int threads)
    : target_(packed != nullptr ? &packed->target() : &TargetOf(dtype)) {
  constexpr double kChunkFlops = 1e6;  // 10 us of one core: what makes a chunk worth its hand-over
  constexpr int64_t kChunksOfThread = 4;  // for threads that come late
  depth_ = DepthOf(*target_, s.k);
  const int64_t width = target_->panel_width;
  const bool few = s.m <= kFewGemmRows && packed == nullptr;  // b is read along its rows
  const int64_t widest = few ? int64_t{2048} : MachineCaches().l2 / 2 / 4 / target_->Words(depth_);
  const double flops =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  const int64_t most = threads == 1 ? 1 : threads * (few ? 1 : kChunksOfThread);
  const auto wanted =
      static_cast<int64_t>(std::clamp(flops / kChunkFlops, 1.0, static_cast<double>(most)));

  columns_ = EvenBlock(s.n, widest, width);
  rows_ = s.m;
  // Each chunk packs its block of b anew, which is paid by many rows, and each tile of its rows
  // their part of a, which is paid by many columns.
  const int64_t fewest_rows = packed != nullptr ? 48 : 128;
  if (const int64_t parts = Blocks(wanted, Blocks(s.n, columns_)); parts > 1)
    rows_ = EvenBlock(s.m, std::max(s.m / parts, fewest_rows), target_->tile_rows);
  rows_ = std::min(rows_, s.m);
  if (const int64_t parts = Blocks(wanted, Blocks(s.m, rows_)); parts > Blocks(s.n, columns_)) {
    const int64_t fewest_columns = std::min(4 * width, columns_);
    columns_ = EvenBlock(s.n, std::max(s.n / parts, fewest_columns), width);
  }
  // A deep product of few rows and columns: better to pack twice than to leave cores idle.
  const int64_t missing = Blocks(std::min<int64_t>(wanted, threads * 2), Blocks(s.n, columns_));
  if (missing > Blocks(s.m, rows_))
    rows_ = EvenBlock(s.m, std::max(s.m / missing, target_->tile_rows), target_->tile_rows);
  row_blocks_ = Blocks(s.m, rows_);
  column_blocks_ = Blocks(s.n, columns_);

  core::Carver counter;
  counter.Take<float>(target_->tile_rows * kGemmPanelStride);
  if (packed == nullptr) counter.Take<float>(BlockWords(std::min(columns_, s.n)));
  scratch_bytes_ = counter.used() + core::Carver::kAlign;
}

int64_t GemmPlan::BlockWords(int64_t columns) const {
  const int64_t rows = std::max(target_->Words(depth_) + target_->header, kFewGemmRows);
  return rows * target_->PaddedColumns(columns);
}

bool GemmPlan::ReadsInPlace(const GemmSizes& s, const GemmMatrix& b) {
  return s.m <= kFloatGemvMaxM && b.row_stride == 1 && (b.column_stride == s.k || s.n == 1) &&
         b.dtype == DType::kF32;
}

void GemmPlan::Run(const GemmCall& call, int64_t chunk, std::span<std::byte> scratch) const {
  RML_CHECK(scratch.size() >= scratch_bytes_);
  core::Carver carver(scratch);
  GemmChunk part;
  // Chunks that follow one another share a block of b.
  part.row = chunk % row_blocks_ * rows_;
  part.row_end = std::min(call.sizes.m, part.row + rows_);
  part.column = chunk / row_blocks_ * columns_;
  part.column_end = std::min(call.sizes.n, part.column + columns_);
  if (call.packed == nullptr && ReadsInPlace(call.sizes, call.b) && call.a.dtype == DType::kF32 &&
      call.a.column_stride == 1 && part.row == 0 && part.row_end == call.sizes.m) {
    FloatGemmRange(DType::kF32, call.b.data, part.column, part.column_end, call.sizes.k,
                   static_cast<const float*>(call.a.data), call.a.row_stride, call.sizes.m, call.c,
                   call.ldc, call.accumulate, {});
    if (call.epilogue.apply != nullptr) {
      call.epilogue.apply(call.epilogue.context, call.c + part.column, call.ldc, 0, part.column,
                          call.sizes.m, part.column_end - part.column);
    }
    return;
  }
  part.depth = depth_;
  part.a_panel = carver.Take<float>(target_->tile_rows * kGemmPanelStride);
  part.b_block = nullptr;
  if (call.packed == nullptr)
    part.b_block = carver.Take<float>(BlockWords(part.column_end - part.column));
  RunGemmChunk(*target_, call, part);
}

namespace {

int64_t PackedWords(const GemmTarget& target, int64_t k, int64_t n) {
  const int64_t blocks = Blocks(k, DepthOf(target, k));
  return target.PaddedColumns(n) * (target.Words(k) + blocks * target.header);
}

}  // namespace

int64_t PackedMatrix::PackedBytes(DType dtype, int64_t k, int64_t n) {
  return PackedWords(TargetOf(dtype), k, n) * static_cast<int64_t>(sizeof(float)) +
         static_cast<int64_t>(core::Carver::kAlign);
}

PackedMatrix::PackedMatrix(const GemmMatrix& b, int64_t k, int64_t n, std::span<std::byte> space)
    : target_(&TargetOf(b.dtype)) {
  core::Carver carver(space);
  auto* out = carver.Take<float>(PackedWords(*target_, k, n));
  words_ = out;
  const int64_t step = DepthOf(*target_, k);
  for (int64_t first = 0; first < k; first += step) {
    const int64_t depth = std::min(step, k - first);
    target_->pack_b(b, first, depth, 0, n, out);
    out += target_->BlockWords(n, target_->Words(depth));
  }
}

namespace {

double ElementOf(const GemmMatrix& matrix, int64_t i, int64_t j) {
  const int64_t at = i * matrix.row_stride + j * matrix.column_stride;
  if (matrix.dtype == DType::kF32) return static_cast<const float*>(matrix.data)[at];
  if (matrix.dtype == DType::kI8) return static_cast<const int8_t*>(matrix.data)[at];
  if (matrix.dtype == DType::kU8) return static_cast<const uint8_t*>(matrix.data)[at];
  const uint16_t bits = static_cast<const uint16_t*>(matrix.data)[at];
  return matrix.dtype == DType::kF16 ? core::F16ToF32(bits) : core::BF16ToF32(bits);
}

}  // namespace

void GemmReference(const GemmCall& call) {
  const GemmSizes& s = call.sizes;
  const bool bytes = call.b.dtype == DType::kI8 || call.b.dtype == DType::kU8;
  auto* const integers = reinterpret_cast<int32_t*>(call.c);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      const int64_t at = i * call.ldc + j;
      double sum = 0;
      if (call.accumulate) sum = bytes ? integers[at] : call.c[at];
      for (int64_t p = 0; p < s.k; ++p) sum += ElementOf(call.a, i, p) * ElementOf(call.b, p, j);
      if (bytes) {
        integers[at] = static_cast<int32_t>(static_cast<int64_t>(sum));
      } else {
        call.c[at] = static_cast<float>(sum);
      }
    }
  }
  if (call.epilogue.apply != nullptr)
    call.epilogue.apply(call.epilogue.context, call.c, call.ldc, 0, 0, s.m, s.n);
}

}  // namespace rml::kernels
