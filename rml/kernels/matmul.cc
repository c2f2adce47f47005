#include "rml/kernels/matmul.h"

#include <algorithm>

#include "rml/core/carver.h"
#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/kernels/float_gemm.h"
#include "rml/kernels/qgemm_kernels.h"

namespace rml::kernels {

namespace {

using core::DType;

constexpr int64_t kAlign = core::Carver::kAlign;
// Rows of x that one pass takes: its codes of 512 columns stay in the second-level cache.
constexpr int64_t kMaxPassRows = 512;

// Up to this many rows of x the stored weights are read once for each row: unpacking them would
// cost more, most of all for the types with integer scales.
constexpr int64_t kMaxStreamed32 = 1;
constexpr int64_t kMaxStreamed256 = 2;

bool Streams(DType dtype, int64_t m) {
  return m <= (core::Info(dtype).block_elements == 256 ? kMaxStreamed256 : kMaxStreamed32);
}

// A piece of work should take some 20 µs: short against a matrix, long against handing it out.
constexpr int64_t kChunkBytes = 48 << 10;    // of weights, for a row or two of x
constexpr int64_t kChunkProducts = 1 << 20;  // multiplications, for many
constexpr int64_t kUnpackCost = 10;          // unpacking a weight costs as much as this many

constexpr size_t kPanelBytes = size_t{kPanelCols} * kPanelRows * 2;  // two planes at most
constexpr size_t kPanelScaleBytes = size_t{kPanelBlocks} * kPanelRows * sizeof(float);
constexpr size_t kPanelGroupBytes =
    size_t{kPanelSuperBlocks} * 16 * kPanelRows * 2 * sizeof(int16_t);

size_t ScratchBytesPerThread(int64_t pass_rows) {
  const size_t acc = static_cast<size_t>(pass_rows) * kPanelRows * sizeof(float);
  const size_t quantized = kPanelBytes + 2 * kPanelScaleBytes + 2 * kPanelGroupBytes + acc;
  return core::RoundUp<size_t>(std::max(quantized, kFloatGemmScratchBytes), kAlign) + kAlign;
}

Activations32 Take32(int64_t m, int64_t cols, core::Carver* carver) {
  return {.codes = carver->Take<int8_t>(m * cols),
          .scales = carver->Take<float>(m * (cols / 32)),
          .sums = carver->Take<float>(m * (cols / 32))};
}

Activations256 Take256(int64_t m, int64_t cols, core::Carver* carver) {
  return {.codes = carver->Take<int8_t>(m * cols),
          .scales = carver->Take<float>(m * (cols / 256)),
          .sums16 = carver->Take<int16_t>(m * (cols / 256) * 16),
          .sums32 = carver->Take<int16_t>(m * (cols / 256) * 8)};
}

size_t ActivationBytes(int64_t m, int64_t cols) {
  const int64_t small = m * cols + 2 * m * (cols / 32) * 4;
  const int64_t super = m * cols + m * (cols / 256) * (4 + 32 + 16);
  return static_cast<size_t>(small + super + 8 * kAlign);
}

// How a task's rows are cut into pieces of work: by its shape alone.
struct Pieces {
  int64_t rows_each = 0;
  int64_t count = 0;
};

Pieces CutRows(const WeightMatrix& w, int64_t m) {
  if (w.rows() == 0) return {};
  int64_t rows_each = 0;
  if (Streams(w.dtype(), m)) {
    rows_each = kChunkBytes / std::max<int64_t>(1, w.row_bytes());
  } else {
    rows_each = kChunkProducts / std::max<int64_t>(1, w.cols() * (m + kUnpackCost));
  }
  // At least eight pieces of a matrix that is large enough to have them.
  rows_each = std::min(rows_each, w.rows() / 8);
  rows_each = core::RoundUp<int64_t>(std::max<int64_t>(rows_each, 1), kPanelRows);
  return {rows_each, core::CeilDiv(w.rows(), rows_each)};
}

// One call of MatMul, on at most kMaxPassRows rows of x.
struct Pass {
  std::span<const MatMulTask> tasks;
  const QuantKernels* kernels = nullptr;
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t m = 0;
  int64_t cols = 0;
  int64_t y_offset = 0;  // first row of this pass
  Activations32 x32 = {};
  Activations256 x256 = {};
  bool need32 = false;
  bool need256 = false;
  std::span<std::byte> scratch;  // per thread
  size_t scratch_each = 0;

  // Where rows are streamed, each row of x is laid out as the only one.
  Activations32 Only32(int64_t i) const {
    const int64_t blocks = cols / 32;
    return {x32.codes + i * cols, x32.scales + i * blocks, x32.sums + i * blocks};
  }
  Activations256 Only256(int64_t i) const {
    const int64_t blocks = cols / 256;
    return {x256.codes + i * cols, x256.scales + i * blocks, x256.sums16 + i * blocks * 16,
            x256.sums32 + i * blocks * 8};
  }

  void QuantizeRows(int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i) {
      const float* row = x + i * x_stride;
      if (need32 && m <= kMaxStreamed32) {
        kernels->quantize32(row, cols, 0, 1, Only32(i));
      } else if (need32) {
        kernels->quantize32(row, cols, i, m, x32);
      }
      if (need256 && m <= kMaxStreamed256) {
        kernels->quantize256(row, cols, 0, 1, Only256(i));
      } else if (need256) {
        kernels->quantize256(row, cols, i, m, x256);
      }
    }
  }

  std::span<std::byte> ScratchOf(int worker) const {
    return scratch.subspan(static_cast<size_t>(worker) * scratch_each, scratch_each);
  }

  void Rows(const MatMulTask& task, int64_t begin, int64_t end, int worker) const;
  void Panel(const MatMulTask& task, int64_t begin, int worker) const;
};

// Rows [begin, end) of one task.
void Pass::Rows(const MatMulTask& task, int64_t begin, int64_t end, int worker) const {
  const WeightMatrix& w = *task.weight;
  float* y = task.y + y_offset * task.y_stride;
  if (!core::IsQuantized(w.dtype())) {
    FloatGemmRange(w.dtype(), w.data(), begin, end, cols, x, x_stride, m, y, task.y_stride,
                   task.accumulate, ScratchOf(worker));
    return;
  }
  if (!Streams(w.dtype(), m)) {
    for (int64_t r = begin; r < end; r += kPanelRows) Panel(task, r, worker);
    return;
  }
  const auto* data = static_cast<const uint8_t*>(w.data()) + begin * w.row_bytes();
  const Kernels32* k32 = Find32(*kernels, w.dtype());
  const Kernels256* k256 = Find256(*kernels, w.dtype());
  for (int64_t i = 0; i < m; ++i) {
    float* out = y + i * task.y_stride + begin;
    if (k32 != nullptr) {
      k32->gemv(data, w.row_bytes(), end - begin, cols / 32, Only32(i), out, task.accumulate);
    } else {
      k256->gemv(data, w.row_bytes(), end - begin, cols / 256, Only256(i), out, task.accumulate);
    }
  }
}

// 16 rows of one task against all rows of x: unpack a few hundred columns, multiply, go on.
void Pass::Panel(const MatMulTask& task, int64_t begin, int worker) const {
  const WeightMatrix& w = *task.weight;
  const int64_t valid = std::min<int64_t>(kPanelRows, w.rows() - begin);
  const core::DTypeInfo& info = core::Info(w.dtype());
  const auto* data = static_cast<const uint8_t*>(w.data());

  core::Carver carver(ScratchOf(worker));
  auto* codes = carver.Take<uint8_t>(kPanelBytes);
  auto* d = carver.Take<float>(kPanelBlocks * kPanelRows);
  auto* m_or_dmin = carver.Take<float>(kPanelBlocks * kPanelRows);
  auto* scales = carver.Take<int16_t>(kPanelSuperBlocks * 16 * kPanelRows * 2);
  auto* mins = carver.Take<int16_t>(kPanelSuperBlocks * 16 * kPanelRows);
  auto* acc = carver.Take<float>(m * kPanelRows);

  const Kernels32* k32 = Find32(*kernels, w.dtype());
  const int64_t total_blocks = cols / info.block_elements;
  const int64_t blocks_each = kPanelCols / info.block_elements;
  for (int64_t b = 0; b < total_blocks; b += blocks_each) {
    PanelSource source;
    source.blocks = std::min(blocks_each, total_blocks - b);
    for (int r = 0; r < kPanelRows; ++r) {
      source.rows[r] =
          data + (begin + std::min<int64_t>(r, valid - 1)) * w.row_bytes() + b * info.block_bytes;
    }
    if (k32 != nullptr) {
      const Panel32 panel = {codes, d, m_or_dmin};
      k32->unpack(source, panel);
      k32->gemm(panel, b, source.blocks, total_blocks, x32, m, acc, b == 0);
    } else {
      const Kernels256* k256 = Find256(*kernels, w.dtype());
      const Panel256 panel = {codes, scales, mins, d, m_or_dmin};
      k256->unpack(source, panel);
      k256->gemm(panel, b, source.blocks, x256, m, acc, b == 0);
    }
  }

  float* y = task.y + y_offset * task.y_stride + begin;
  for (int64_t i = 0; i < m; ++i) {
    const float* from = acc + i * kPanelRows;
    float* to = y + i * task.y_stride;
    for (int64_t r = 0; r < valid; ++r) to[r] = task.accumulate ? to[r] + from[r] : from[r];
  }
}

void RunPass(Pass& pass, std::span<std::byte> workspace, core::ThreadPool& pool) {
  core::Carver carver(workspace);
  for (const MatMulTask& task : pass.tasks) {
    pass.need32 |= Find32(*pass.kernels, task.weight->dtype()) != nullptr;
    pass.need256 |= Find256(*pass.kernels, task.weight->dtype()) != nullptr;
  }
  if (pass.need32) pass.x32 = Take32(pass.m, pass.cols, &carver);
  if (pass.need256) pass.x256 = Take256(pass.m, pass.cols, &carver);
  pass.scratch = carver.Rest();
  pass.scratch_each = ScratchBytesPerThread(pass.m);
  RML_CHECK(pass.scratch.size() >= pass.scratch_each * static_cast<size_t>(pool.threads()));

  if (pass.need32 || pass.need256) {
    constexpr int64_t kRoundedAtOnce = 1 << 15;  // elements of x: a few µs
    pool.ParallelFor(pass.m, std::max<int64_t>(1, kRoundedAtOnce / pass.cols),
                     [&](int64_t begin, int64_t end, int) { pass.QuantizeRows(begin, end); });
  }

  int64_t total = 0;
  for (const MatMulTask& task : pass.tasks) total += CutRows(*task.weight, pass.m).count;
  pool.Run(total, [&](int64_t piece, int worker) {
    for (const MatMulTask& task : pass.tasks) {
      const Pieces cut = CutRows(*task.weight, pass.m);
      if (piece < cut.count) {
        const int64_t begin = piece * cut.rows_each;
        pass.Rows(task, begin, std::min(begin + cut.rows_each, task.weight->rows()), worker);
        return;
      }
      piece -= cut.count;
    }
  });
}

// Sums of no products.
void EmptyProducts(std::span<const MatMulTask> tasks, int64_t m) {
  for (const MatMulTask& task : tasks) {
    if (task.accumulate) continue;
    for (int64_t i = 0; i < m; ++i) {
      std::fill_n(task.y + i * task.y_stride, task.weight->rows(), 0.0f);
    }
  }
}

}  // namespace

size_t MatMulWorkspaceBytes(int64_t max_m, int64_t max_cols, int threads) {
  const int64_t m = std::min(max_m, kMaxPassRows);
  return ActivationBytes(m, max_cols) + static_cast<size_t>(kAlign) +
         static_cast<size_t>(threads) * ScratchBytesPerThread(m);
}

void MatMul(std::span<const MatMulTask> tasks, const float* x, int64_t x_stride, int64_t m,
            std::span<std::byte> workspace, core::ThreadPool& pool) {
  if (tasks.empty() || m <= 0) return;
  const int64_t cols = tasks[0].weight->cols();
  for (const MatMulTask& task : tasks) RML_CHECK(task.weight->cols() == cols);
  if (cols == 0) return EmptyProducts(tasks, m);
  for (int64_t done = 0; done < m; done += kMaxPassRows) {
    Pass pass;
    pass.tasks = tasks;
    pass.kernels = &QuantKernelsFor(ActiveIsa());
    pass.x = x + done * x_stride;
    pass.x_stride = x_stride;
    pass.m = std::min(kMaxPassRows, m - done);
    pass.cols = cols;
    pass.y_offset = done;
    RunPass(pass, workspace, pool);
  }
}

}  // namespace rml::kernels
