// Quantised matrix products beside what this machine could do: bytes per second of weights for one
// row of activations (share of the read bandwidth), operations per second for 512 (share of the
// peak of the multiply instruction). Both limits are measured in the same run, on the same threads.
//
//   matmul_bench --benchmark_filter='q4_K/.*m:1/'
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rml/core/thread_pool.h"
#include "rml/kernels/isa.h"
#include "rml/kernels/matmul.h"
#include "rml/quant/quantize.h"

namespace {

using rml::core::DType;
using rml::core::ThreadPool;
using rml::kernels::WeightMatrix;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs a piece of work on every thread of a pool, some times, and returns the best total rate.
template <typename Work>
double BestRate(int threads, double amount_per_thread, Work work) {
  ThreadPool pool(threads);
  double best = 0;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const double start = Seconds();
    pool.Run(threads, [&](int64_t chunk, int) { work(chunk); });
    best = std::max(best, amount_per_thread * threads / (Seconds() - start));
  }
  return best;
}

// Bytes per second that `threads` threads read together from memory.
double ReadBandwidth(int threads) {
  static std::map<int, double> known;
  if (const auto found = known.find(threads); found != known.end()) return found->second;
  constexpr size_t kWords = size_t{1} << 24;  // 128 MiB each
  std::vector<uint64_t> data(kWords * static_cast<size_t>(threads), 1);
  std::vector<uint64_t> sums(static_cast<size_t>(threads) * 8);
  return known[threads] = BestRate(threads, kWords * 8.0, [&](int64_t chunk) {
           const uint64_t* p = data.data() + static_cast<size_t>(chunk) * kWords;
           uint64_t sum[4] = {};
           for (size_t i = 0; i < kWords; i += 4) {
             for (size_t j = 0; j < 4; ++j) sum[j] += p[i + j];
           }
           sums[static_cast<size_t>(chunk) * 8] = sum[0] + sum[1] + sum[2] + sum[3];
           benchmark::DoNotOptimize(sums.data());
         });
}

#if defined(__x86_64__)
// 8-bit multiply-adds of vpmaddubsw and the add that must follow, twelve independent sums.
__attribute__((target("avx2"))) void MultiplyBytes(int64_t steps) {
  __m256i sum[12];
  for (auto& s : sum) s = _mm256_set1_epi8(1);
  __m256i a = _mm256_set1_epi8(3);
  const __m256i b = _mm256_set1_epi8(-2);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (auto& s : sum) s = _mm256_add_epi16(s, _mm256_maddubs_epi16(a, b));
    benchmark::DoNotOptimize(a);
  }
  for (auto& s : sum) benchmark::DoNotOptimize(s);
}
#endif

// Multiplications and additions per second of the 8-bit multiply of AVX2 (0 where there is none).
double MultiplyPeak(int threads) {
#if defined(__x86_64__)
  static std::map<int, double> known;
  if (const auto found = known.find(threads); found != known.end()) return found->second;
  if (!rml::kernels::IsSupported(rml::kernels::Isa::kAvx2)) return 0;
  constexpr int64_t kSteps = 3'000'000;
  return known[threads] =
             BestRate(threads, kSteps * 12.0 * 64, [](int64_t) { MultiplyBytes(kSteps); });
#else
  static_cast<void>(threads);
  return 0;
#endif
}

struct Shape {
  DType dtype;
  int64_t rows, cols;
};

// Enough copies of the matrix that it comes from memory each time, as in a decoder.
struct Copies {
  std::vector<std::unique_ptr<std::byte[]>> storage;
  std::vector<WeightMatrix> matrices;
};

Copies MakeCopies(const Shape& shape, bool from_memory) {
  const auto bytes =
      static_cast<size_t>(*rml::core::StorageBytes(shape.dtype, shape.rows * shape.cols));
  std::vector<float> row(static_cast<size_t>(shape.cols));
  std::vector<char> stored(bytes);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  const size_t row_bytes = bytes / static_cast<size_t>(shape.rows);
  for (size_t r = 0; r < 16 && r < static_cast<size_t>(shape.rows); ++r) {
    for (float& value : row) value = normal(generator);
    rml::quant::Quantize(shape.dtype, row.data(), shape.cols, stored.data() + r * row_bytes);
  }
  for (size_t r = 16; r < static_cast<size_t>(shape.rows); ++r) {
    std::memcpy(stored.data() + r * row_bytes, stored.data() + r % 16 * row_bytes, row_bytes);
  }
  Copies copies;
  const size_t count = from_memory ? 1 + (size_t{160} << 20) / bytes : 1;
  for (size_t i = 0; i < count; ++i) {
    copies.storage.push_back(std::make_unique<std::byte[]>(bytes + 64));
    std::memcpy(copies.storage.back().get(), stored.data(), bytes);
    copies.matrices.push_back(
        WeightMatrix::Make(shape.dtype, shape.rows, shape.cols, copies.storage.back().get())
            .value());
  }
  return copies;
}

void MatMulBench(benchmark::State& state, Shape shape, int64_t m, int threads) {
  ThreadPool pool(threads);
  const Copies copies = MakeCopies(shape, m == 1);
  std::vector<float> x(static_cast<size_t>(m * shape.cols));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 61) - 30.0f;
  std::vector<float> y(static_cast<size_t>(m * shape.rows));
  std::vector<std::byte> workspace(rml::kernels::MatMulWorkspaceBytes(m, shape.cols, threads));
  size_t next = 0;
  for (auto _ : state) {
    const rml::kernels::MatMulTask task = {
        .weight = &copies.matrices[next], .y = y.data(), .y_stride = shape.rows};
    rml::kernels::MatMul({&task, 1}, x.data(), shape.cols, m, workspace, pool);
    benchmark::DoNotOptimize(y.data());
    next = next + 1 < copies.matrices.size() ? next + 1 : 0;
  }
  const double products =
      static_cast<double>(shape.rows) * static_cast<double>(shape.cols) * static_cast<double>(m);
  using benchmark::Counter;
  constexpr auto kRate = Counter::kIsIterationInvariantRate;
  if (m == 1) {
    const auto bytes =
        static_cast<double>(*rml::core::StorageBytes(shape.dtype, shape.rows * shape.cols));
    state.counters["GB/s"] = Counter(bytes / 1e9, kRate);
    state.counters["bandwidth_share"] = Counter(bytes / ReadBandwidth(threads), kRate);
  } else {
    state.counters["GOP/s"] = Counter(2 * products / 1e9, kRate);
    const double peak = MultiplyPeak(threads);
    if (peak > 0) state.counters["maddubs_share"] = Counter(2 * products / peak, kRate);
  }
}

const bool kRegistered = [] {
  constexpr DType kDTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1,
                               DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K,
                               DType::kF16,  DType::kBF16, DType::kF32};
  // Feed-forward and attention matrices of the 1.24B, 270M and 135M shapes.
  constexpr std::pair<int64_t, int64_t> kShapes[] = {
      {8192, 2048}, {2048, 8192}, {2048, 640}, {576, 576}, {1536, 576}};
  for (const DType dtype : kDTypes) {
    for (const auto& [rows, cols] : kShapes) {
      if (!rml::core::StorageBytes(dtype, cols)) continue;
      for (const int64_t m : {1, 2, 4, 8, 16, 64, 512}) {
        for (const int threads : {1, 2}) {
          const std::string name = std::string(rml::core::Name(dtype)) + "/" +
                                   std::to_string(rows) + "x" + std::to_string(cols) +
                                   "/m:" + std::to_string(m) +
                                   "/threads:" + std::to_string(threads);
          benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
            MatMulBench(state, {dtype, rows, cols}, m, threads);
          })->UseRealTime();
        }
      }
    }
  }
  return true;
}();

}  // namespace
