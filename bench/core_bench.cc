// What the parts of rml/core cost: a parallel region, an allocation, copies and conversions.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "rml/core/allocator.h"
#include "rml/core/convert.h"
#include "rml/core/device.h"
#include "rml/core/half.h"
#include "rml/core/tensor.h"
#include "rml/core/thread_pool.h"

namespace rml::core {
namespace {

// A dependent chain that no compiler shortens: `steps` multiplications, about 1 ns each.
double Spin(int64_t steps) {
  double x = 1.0;
  for (int64_t i = 0; i < steps; ++i) {
    x *= 1.0000001;
    benchmark::DoNotOptimize(x);
  }
  return x;
}

// Arguments: threads, chunks. The floor of a region: its bodies do next to nothing.
void BM_EmptyRegion(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    pool.Run(state.range(1), [](int64_t chunk, int) { benchmark::DoNotOptimize(chunk); });
  }
}
BENCHMARK(BM_EmptyRegion)->ArgsProduct({{1, 2}, {1, 2, 16, 64}})->UseRealTime();

// Arguments: threads, chunks of a fixed amount of work. Compare the rows of one and of two threads.
void BM_WorkingRegion(benchmark::State& state) {
  constexpr int64_t kSteps = 32768;
  ThreadPool pool(static_cast<int>(state.range(0)));
  const int64_t chunks = state.range(1);
  for (auto _ : state) {
    pool.Run(chunks, [=](int64_t, int) { Spin(kSteps / chunks); });
  }
}
BENCHMARK(BM_WorkingRegion)->ArgsProduct({{1, 2}, {2, 4, 16, 64}})->UseRealTime();

// The first region after the workers have gone to sleep.
void BM_RegionAfterSleep(benchmark::State& state) {
  ThreadPool pool(ThreadPool::Options{.threads = 2, .affinity = {}, .spin_microseconds = 0});
  for (auto _ : state) {
    state.PauseTiming();
    Spin(200000);
    state.ResumeTiming();
    pool.Run(2, [](int64_t chunk, int) { benchmark::DoNotOptimize(chunk); });
  }
}
BENCHMARK(BM_RegionAfterSleep)->UseRealTime();

void BM_Allocate(benchmark::State& state) {
  for (auto _ : state) {
    const MemoryHandle block = *Cpu().Allocate(state.range(0));
    benchmark::DoNotOptimize(block);
    Cpu().Free(block, state.range(0));
  }
}
BENCHMARK(BM_Allocate)->Arg(1 << 10)->Arg(1 << 16)->Arg(8 << 20);

void BM_AllocateFromPool(benchmark::State& state) {
  PoolAllocator pool(Cpu(), int64_t{1} << 30);
  for (auto _ : state) {
    const MemoryHandle block = *pool.Allocate(state.range(0));
    benchmark::DoNotOptimize(block);
    pool.Free(block, state.range(0));
  }
}
BENCHMARK(BM_AllocateFromPool)->Arg(1 << 10)->Arg(1 << 16)->Arg(8 << 20);

constexpr int64_t kSide = 1024;

void BM_CopyTransposed(benchmark::State& state) {
  const Tensor from = *Tensor::Zeros(DType::kF32, {kSide, kSide}, Cpu())->Transpose(0, 1);
  const Tensor to = *Tensor::Zeros(DType::kF32, {kSide, kSide}, Cpu());
  for (auto _ : state) benchmark::DoNotOptimize(from.CopyTo(to).ok());
  state.SetItemsProcessed(state.iterations() * kSide * kSide);
}
BENCHMARK(BM_CopyTransposed);

// Arguments: the dtypes from and to.
void BM_Convert(benchmark::State& state) {
  const auto from_dtype = static_cast<DType>(state.range(0));
  const auto to_dtype = static_cast<DType>(state.range(1));
  const Tensor from = *Tensor::Zeros(from_dtype, {kSide, kSide}, Cpu());
  const Tensor to = *Tensor::Zeros(to_dtype, {kSide, kSide}, Cpu());
  for (auto _ : state) benchmark::DoNotOptimize(ConvertTo(from, to).ok());
  state.SetItemsProcessed(state.iterations() * kSide * kSide);
  state.SetLabel(StrCat(Name(from_dtype), " to ", Name(to_dtype)));
}
void ConvertPairs(benchmark::internal::Benchmark* bench) {
  const std::pair<DType, DType> pairs[] = {{DType::kF32, DType::kF16},  {DType::kF16, DType::kF32},
                                           {DType::kF32, DType::kBF16}, {DType::kBF16, DType::kF32},
                                           {DType::kF32, DType::kI8},   {DType::kF64, DType::kF16}};
  for (const auto& [from, to] : pairs) bench->Args({static_cast<int>(from), static_cast<int>(to)});
}
BENCHMARK(BM_Convert)->Apply(ConvertPairs);

}  // namespace
}  // namespace rml::core
