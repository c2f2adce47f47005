// Float kernels: GEMM and GEMV, attention, norms, softmax, gates, RoPE, conversions. Counters give
// the share of this machine's limit, measured at the start of the same run: FMA peak (fma_share)
// for what computes, read bandwidth (bandwidth_share) for what streams.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

#include "rml/core/half.h"
#include "rml/core/thread_pool.h"
#include "rml/kernels/attention.h"
#include "rml/kernels/bandwidth.h"
#include "rml/kernels/convert.h"
#include "rml/kernels/elementwise.h"
#include "rml/kernels/float_gemm.h"
#include "rml/kernels/gates.h"
#include "rml/kernels/isa.h"
#include "rml/kernels/rms_norm.h"
#include "rml/kernels/rope.h"
#include "rml/kernels/sampling_ops.h"
#include "rml/kernels/softmax.h"

namespace rml::kernels {
namespace {

using core::DType;

std::vector<float> Values(size_t n, float scale = 1.0f) {
  std::vector<float> values(n);
  uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * scale;
  }
  return values;
}

std::vector<std::byte> Weights(DType dtype, int64_t count) {
  const std::vector<float> values = Values(static_cast<size_t>(count));
  std::vector<std::byte> bytes(static_cast<size_t>(count) * (dtype == DType::kF32 ? 4 : 2));
  FromF32(dtype, values.data(), count, bytes.data());
  return bytes;
}

// Processor time of this thread: on a machine with other work, the clock on the wall measures that.
double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Fused multiply-adds on twelve independent registers: FLOP/s of one thread, the best of many short
// tries.
#if defined(__x86_64__)
typedef float Vector8 __attribute__((vector_size(32)));

__attribute__((target("avx2,fma"), noinline)) float RunFmas(int64_t rounds) {
  Vector8 s0 = Vector8{} + 1.0f, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0;
  Vector8 s6 = s0, s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0;
  const Vector8 factor = Vector8{} + 0.999f;
  const Vector8 term = Vector8{} + 0.001f;
#define RML_FMA(s) asm volatile("vfmadd213ps %2, %1, %0" : "+x"(s) : "x"(factor), "x"(term))
  for (int64_t i = 0; i < rounds; ++i) {
    RML_FMA(s0);
    RML_FMA(s1);
    RML_FMA(s2);
    RML_FMA(s3);
    RML_FMA(s4);
    RML_FMA(s5);
    RML_FMA(s6);
    RML_FMA(s7);
    RML_FMA(s8);
    RML_FMA(s9);
    RML_FMA(s10);
    RML_FMA(s11);
  }
#undef RML_FMA
  return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)[0];
}

double FmaFlopsPerSecond() {
  constexpr int64_t kRounds = 100'000;
  double best = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const double start = ThreadSeconds();
    benchmark::DoNotOptimize(RunFmas(kRounds));
    best = std::max(best, 2.0 * 8 * 12 * kRounds / (ThreadSeconds() - start));
  }
  return best;
}
#else
double FmaFlopsPerSecond() { return 0; }
#endif

double FmaPeak() {
  static const double peak = FmaFlopsPerSecond();
  return peak;
}

double Bandwidth(int threads) {
  static double measured[3] = {};
  double& value = measured[threads];
  if (value == 0) {
    core::ThreadPool pool(threads);
    const auto result = MeasureReadBandwidth(pool);
    value = result.ok() ? *result : 1;
  }
  return value;
}

void ReportFlops(benchmark::State& state, double flops, int threads = 1) {
  const double rate = flops * static_cast<double>(state.iterations());
  state.counters["GFLOPS"] = benchmark::Counter(rate / 1e9, benchmark::Counter::kIsRate);
  if (FmaPeak() > 0) {
    state.counters["fma_share"] =
        benchmark::Counter(rate / FmaPeak() / threads, benchmark::Counter::kIsRate);
  }
}

void ReportBytes(benchmark::State& state, double bytes, int threads = 1) {
  const double rate = bytes * static_cast<double>(state.iterations());
  state.counters["GBs"] = benchmark::Counter(rate / 1e9, benchmark::Counter::kIsRate);
  state.counters["bandwidth_share"] =
      benchmark::Counter(rate / Bandwidth(threads), benchmark::Counter::kIsRate);
}

DType DTypeOf(int64_t index) {
  return index == 0 ? DType::kF32 : index == 1 ? DType::kF16 : DType::kBF16;
}

// m, rows, cols, dtype (0 f32, 1 f16, 2 bf16).
void BM_FloatGemm(benchmark::State& state) {
  const int64_t m = state.range(0), rows = state.range(1), cols = state.range(2);
  const DType dtype = DTypeOf(state.range(3));
  const auto w = Weights(dtype, rows * cols);
  const auto x = Values(static_cast<size_t>(m * cols));
  std::vector<float> y(static_cast<size_t>(m * rows));
  std::vector<std::byte> scratch(kFloatGemmScratchBytes);
  for (auto _ : state) {
    FloatGemmRange(dtype, w.data(), 0, rows, cols, x.data(), cols, m, y.data(), rows, false,
                   scratch);
    benchmark::DoNotOptimize(y.data());
  }
  ReportFlops(state, 2.0 * static_cast<double>(m * rows * cols));
  if (m <= kFloatGemvMaxM) ReportBytes(state, static_cast<double>(w.size()));
  state.SetLabel(std::string(core::Name(dtype)));
}
BENCHMARK(BM_FloatGemm)
    ->ArgsProduct({{512}, {1536}, {576, 2048}, {0, 1, 2}})
    ->Args({64, 1536, 1536, 0})
    ->Args({16, 1536, 1536, 0})
    ->ArgsProduct({{4, 6, 8, 12}, {8192}, {2048}, {1}})
    ->ArgsProduct({{1}, {32768}, {2048}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond);

// heads, kv_heads, head_dim, queries, first position, threads.
void BM_Attention(benchmark::State& state) {
  const AttentionParams params = {.kv = {.dtype = DType::kF16,
                                         .kv_heads = static_cast<int>(state.range(1)),
                                         .head_dim = static_cast<int>(state.range(2))},
                                  .heads = static_cast<int>(state.range(0)),
                                  .scale = 0.125f};
  const int64_t queries = state.range(3), first = state.range(4), length = first + queries;
  const int threads = static_cast<int>(state.range(5));
  // Several layers' worth of pages, so that a decode finds its cache in memory, as in a model.
  const int64_t page_count = (length + kPageTokens - 1) / kPageTokens;
  const int64_t page_bytes = static_cast<int64_t>(params.kv.PageBytes());
  const int64_t layers =
      queries > 1 ? 1 : std::max<int64_t>(1, (int64_t{128} << 20) / (page_count * page_bytes));
  std::vector<std::byte> memory(static_cast<size_t>(page_bytes * page_count * layers));
  std::vector<void*> pages;
  for (int64_t i = 0; i < page_count * layers; ++i) pages.push_back(memory.data() + i * page_bytes);
  const int64_t width = params.kv.kv_heads * params.kv.head_dim;
  const auto kv = Values(static_cast<size_t>(length * width), 0.5f);
  for (int64_t layer = 0; layer < layers; ++layer) {
    StoreKv(params.kv, kv.data(), kv.data(), width, length, 0, pages.data() + layer * page_count);
  }
  const auto q = Values(static_cast<size_t>(queries * params.heads * params.kv.head_dim));
  std::vector<float> out(q.size());
  core::ThreadPool pool(threads);
  std::vector<std::byte> workspace(AttentionWorkspaceBytes(params, queries, length, threads));
  int64_t layer = 0;
  for (auto _ : state) {
    const AttentionSequence sequence = {0, queries, first, pages.data() + layer * page_count};
    Attention(params, {&sequence, 1}, q.data(), out.data(), workspace, pool);
    benchmark::DoNotOptimize(out.data());
    layer = (layer + 1) % layers;
  }
  double pairs = 0;  // of a query and a key, as the causal mask leaves them
  for (int64_t i = 0; i < queries; ++i) pairs += static_cast<double>(first + i + 1);
  ReportFlops(state, 4.0 * pairs * params.heads * params.kv.head_dim, threads);
  if (queries == 1) ReportBytes(state, static_cast<double>(4 * length * width), threads);
}
BENCHMARK(BM_Attention)
    ->ArgNames({"heads", "kv", "dim", "queries", "first", "threads"})
    ->ArgsProduct({{9}, {3}, {64}, {512}, {0, 3584}, {1}})
    ->ArgsProduct({{32}, {8}, {128}, {512}, {0}, {1}})
    ->ArgsProduct({{4}, {1}, {256}, {512}, {0}, {1}})
    ->ArgsProduct({{9}, {3}, {64}, {1}, {100, 500, 4000}, {1}})
    ->ArgsProduct({{32}, {8}, {64, 128}, {1}, {4000}, {1}})
    ->ArgsProduct({{4}, {1}, {256}, {1}, {4000}, {1}})
    ->ArgsProduct({{16}, {16}, {64}, {1}, {4000}, {1}})
    ->Unit(benchmark::kMicrosecond);
// Two threads: by the clock on the wall, so only a quiet machine tells the truth.
BENCHMARK(BM_Attention)
    ->ArgNames({"heads", "kv", "dim", "queries", "first", "threads"})
    ->ArgsProduct({{9}, {3}, {64}, {512}, {0, 3584}, {2}})
    ->ArgsProduct({{9, 32}, {1}, {64}, {1}, {100, 4000}, {2}})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

// Elements per nanosecond of kernels on arrays of 4096 floats (in the level-1 and level-2 caches).
template <typename Body>
void RunElements(benchmark::State& state, int64_t n, Body&& body) {
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  state.counters["per_ns"] = benchmark::Counter(static_cast<double>(n * state.iterations()) / 1e9,
                                                benchmark::Counter::kIsRate);
}

void BM_RmsNorm(benchmark::State& state) {
  const int64_t n = state.range(0);
  const auto x = Values(static_cast<size_t>(n));
  std::vector<float> y(x.size());
  RunElements(state, n, [&] { RmsNorm(x.data(), x.data(), 1e-5f, n, y.data()); });
}
BENCHMARK(BM_RmsNorm)->Arg(64)->Arg(576)->Arg(4096);

void BM_Softmax(benchmark::State& state) {
  const auto x = Values(4096, 8.0f);
  std::vector<float> y(x.size());
  RunElements(state, 4096, [&] { Softmax(x.data(), 4096, y.data()); });
}
BENCHMARK(BM_Softmax);

using Gate = void (*)(const float*, const float*, int64_t, float*);
void RunGate(benchmark::State& state, Gate gate) {
  const auto x = Values(1536, 4.0f);
  std::vector<float> y(x.size());
  RunElements(state, 1536, [&] { gate(x.data(), x.data(), 1536, y.data()); });
}
void BM_SiluMul(benchmark::State& state) { RunGate(state, SiluMul); }
void BM_GeluTanhMul(benchmark::State& state) { RunGate(state, GeluTanhMul); }
void BM_GeluErfMul(benchmark::State& state) { RunGate(state, GeluErfMul); }
void BM_Add(benchmark::State& state) { RunGate(state, Add); }
BENCHMARK(BM_SiluMul);
BENCHMARK(BM_GeluTanhMul);
BENCHMARK(BM_GeluErfMul);
BENCHMARK(BM_Add);

void BM_Rope(benchmark::State& state) {
  const auto layout = state.range(0) == 0 ? RopeLayout::kAdjacent : RopeLayout::kHalves;
  auto x = Values(576);
  const std::vector<float> cos(32, 0.6f), sin(32, 0.8f);
  RunElements(state, 576,
              [&] { ApplyRope(x.data(), 1, 9, 64, 64, 576, cos.data(), sin.data(), layout); });
}
BENCHMARK(BM_Rope)->Arg(0)->Arg(1);

void BM_Convert(benchmark::State& state) {
  const DType dtype = DTypeOf(state.range(0));
  const auto x = Values(4096);
  std::vector<uint16_t> narrow(x.size());
  std::vector<float> wide(x.size());
  RunElements(state, 4096, [&] {
    FromF32(dtype, x.data(), 4096, narrow.data());
    ToF32(dtype, narrow.data(), 4096, wide.data());
  });
}
BENCHMARK(BM_Convert)->Arg(1)->Arg(2);

void BM_Argmax(benchmark::State& state) {
  const auto x = Values(151936);
  RunElements(state, 151936, [&] { benchmark::DoNotOptimize(Argmax(x.data(), 151936)); });
}
void BM_LogSumExp(benchmark::State& state) {
  const auto x = Values(151936, 8.0f);
  RunElements(state, 151936, [&] { benchmark::DoNotOptimize(LogSumExp(x.data(), 151936)); });
}
BENCHMARK(BM_Argmax);
BENCHMARK(BM_LogSumExp);

}  // namespace
}  // namespace rml::kernels
