// Matrix products, f32, through dnnl_sgemm: the same code that the library's matmul primitive runs
// for f32 below AVX-512 (in 2.6 it is "gemm:jit"), but transposed and strided matrices, of which a
// signature knows nothing, are arguments here and not a primitive each.
#include <algorithm>
#include <atomic>

#include "rml/core/carver.h"
#include "rml/ops/broadcast.h"
#include "rml/ops/host_data.h"
#include "rml/providers/onednn/internal/library.h"
#include "rml/providers/onednn/kernel_lists.h"

namespace rml::providers::onednn {
namespace {

// A tile of y: as many rows as fill the library's own blocks, so that a larger one would gain
// little, and columns where there are few rows.
constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 1024;

// Lines of b that are a multiple of this apart share few sets of the cache, and the library, where
// it reads b in place, loses half its speed (AVX2, 1024 x 1024). So such a b is copied to lines
// kLineGap further apart, where as many rows of a as these pay for it.
constexpr int64_t kBadLine = 256;
constexpr int64_t kLineGap = 16;
constexpr int64_t kRowsWorthACopy = 64;
constexpr int64_t kLinesPerChunk = 64;

// A stack of matrices as sgemm takes them: one of the two last axes without gaps.
struct Matrices {
  const float* data = nullptr;
  char transposed = 'N';
  int64_t leading = 0;  // elements from row to row, or of a transposed one from column to column
  std::array<int64_t, core::kMaxRank> batch_strides = {};  // along y's batch axes

  const float* At(int64_t batch, int64_t row, int64_t column) const {
    return data + batch + (transposed == 'N' ? row * leading + column : column * leading + row);
  }
};

core::Shape BatchShape(const core::Shape& shape) {
  return *core::Shape::Make(shape.dims().first(static_cast<size_t>(shape.rank() - 2)));
}

// Where the tensor is, or a copy in `space` where neither of its last axes is without gaps. An axis
// of one element may have any stride.
core::Expected<Matrices> MatricesOf(const core::Tensor& tensor, const core::Shape& batch,
                                    float* space) {
  Matrices m;
  const int64_t rows = tensor.dim(-2);
  const int64_t columns = tensor.dim(-1);
  const auto rank = static_cast<size_t>(tensor.rank());
  const int64_t down = rows == 1 ? columns : tensor.strides()[rank - 2];
  const int64_t across = columns == 1 ? rows : tensor.strides()[rank - 1];
  const bool by_rows = (columns == 1 || across == 1) && down >= columns;
  const bool by_columns = (rows == 1 || down == 1) && across >= rows;
  if (by_rows || by_columns) {
    m.data = ops::Data<float>(tensor);
    m.transposed = by_rows ? 'N' : 'T';
    m.leading = by_rows ? down : across;
    for (size_t axis = 0; axis + 2 < rank; ++axis) {
      const size_t place = axis + static_cast<size_t>(batch.rank()) + 2 - rank;
      const bool repeated = tensor.shape()[static_cast<int>(axis)] == 1;
      m.batch_strides[place] = repeated ? 0 : tensor.strides()[axis];
    }
    return m;
  }
  RML_ASSIGN(m.data, ops::Dense(tensor, space));
  m.leading = columns;
  m.batch_strides = ops::BroadcastStrides(BatchShape(tensor.shape()), batch);
  for (int64_t& stride : m.batch_strides) stride *= rows * columns;
  return m;
}

// Moves the lines of one matrix apart; `space` holds them and their gaps.
void Spread(Matrices* m, int64_t lines, int64_t width, float* space,
            const core::RunContext& context) {
  context.Run((lines + kLinesPerChunk - 1) / kLinesPerChunk, [&](int64_t chunk, int) {
    const int64_t end = std::min(lines, (chunk + 1) * kLinesPerChunk);
    for (int64_t i = chunk * kLinesPerChunk; i < end; ++i)
      std::copy_n(m->data + i * m->leading, width, space + i * (width + kLineGap));
  });
  m->data = space;
  m->leading = width + kLineGap;
}

struct Copies {
  float* a;
  float* b;
  Copies(const ir::OpCall& call, core::Carver* carver) {
    const int64_t lines = std::max(call.dim(1, -2).value(), call.dim(1, -1).value());
    a = carver->Take<float>(call.input(0).dims.elements().value());
    b = carver->Take<float>(call.input(1).dims.elements().value() + lines * kLineGap);
  }
};

int64_t MatmulWorkspace(const ir::OpCall& call, const ops::Prepared*, const core::RunContext&) {
  core::Carver counter;
  const Copies copies(call, &counter);
  (void)copies;
  return static_cast<int64_t>(counter.used()) + static_cast<int64_t>(core::Carver::kAlign);
}

core::Status RunMatmul(const ops::KernelArgs& args) noexcept {
  const core::Tensor& y = args.outputs[0];
  const core::Shape batch = BatchShape(y.shape());
  core::Carver carver(args.workspace);
  const Copies copies(*args.call, &carver);
  RML_ASSIGN(const Matrices a, MatricesOf(args.in(0), batch, copies.a));
  RML_ASSIGN(Matrices b, MatricesOf(args.in(1), batch, copies.b));
  float* const out = ops::MutableData<float>(y);
  const int64_t m = y.dim(-2), n = y.dim(-1), k = args.in(0).dim(-1);
  const int64_t matrices = batch.elements();
  if (args.in(1).elements() == k * n && b.leading % kBadLine == 0 && b.data != copies.b &&
      m * matrices >= kRowsWorthACopy) {
    const bool by_rows = b.transposed == 'N';
    Spread(&b, by_rows ? k : n, by_rows ? n : k, copies.b, *args.context);
  }

  // A task is a tile of one matrix, or several matrices of one tile.
  const int64_t across = (n + kTileColumns - 1) / kTileColumns;
  const int64_t tiles = (m + kTileRows - 1) / kTileRows * across;
  const int64_t each =
      tiles > 1 ? 1 : std::clamp<int64_t>(kOperationsPerTile / (2 * m * n * k), 1, matrices);
  std::atomic<int> failure = dnnl_success;
  const auto multiply = [&](int64_t matrix, int64_t row, int64_t column) {
    int64_t at_a = 0, at_b = 0, rest = matrix;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      const auto i = static_cast<size_t>(axis);
      at_a += rest % batch[axis] * a.batch_strides[i];
      at_b += rest % batch[axis] * b.batch_strides[i];
      rest /= batch[axis];
    }
    const OnThisThread alone;
    const dnnl_status_t status = dnnl_sgemm(
        a.transposed, b.transposed, std::min(kTileRows, m - row),
        std::min(kTileColumns, n - column), k, 1.0f, a.At(at_a, row, 0), a.leading,
        b.At(at_b, 0, column), b.leading, 0.0f, out + (matrix * m + row) * n + column, n);
    if (status != dnnl_success) failure.store(status);
  };
  args.context->Run((matrices + each - 1) / each * tiles, [&](int64_t task, int) {
    const int64_t first = task / tiles * each;
    const int64_t tile = task % tiles;
    for (int64_t i = first; i < std::min(matrices, first + each); ++i)
      multiply(i, tile / across * kTileRows, tile % across * kTileColumns);
  });
  return ToStatus(static_cast<dnnl_status_t>(failure.load()));
}

}  // namespace

std::vector<ops::Kernel> MatmulKernels() {
  ops::Kernel kernel;
  kernel.op = "matmul";
  kernel.name = "sgemm";
  kernel.accepts = WantsWholeF32;
  kernel.workspace = MatmulWorkspace;
  kernel.run = RunMatmul;
  return {kernel};
}

}  // namespace rml::providers::onednn
