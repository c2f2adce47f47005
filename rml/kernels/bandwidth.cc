#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/bandwidth.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/bandwidth.h"
#include "rml/kernels/float_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// A checksum of `bytes` (a multiple of 512): every byte is read, little is computed.
uint32_t ReadAllTarget(const uint8_t* p, size_t bytes) {
  const DU d;
  hn::Vec<DU> sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (size_t i = 0; i < bytes; i += 4 * sizeof(uint32_t) * kLanes) {
    RML_UNROLL
    for (size_t s = 0; s < 4; ++s) {
      const auto* from = reinterpret_cast<const uint32_t*>(p + i + s * sizeof(uint32_t) * kLanes);
      sums[s] = hn::Xor(sums[s], hn::LoadU(d, from));
    }
  }
  const auto all = hn::Xor(hn::Xor(sums[0], sums[1]), hn::Xor(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, all));
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace rml::kernels {

HWY_EXPORT(ReadAllTarget);

core::Expected<double> MeasureReadBandwidth(core::ThreadPool& pool,
                                            const BandwidthOptions& options) {
  constexpr size_t kChunk = size_t{1} << 20;
  const size_t chunks = std::max<size_t>(1, options.bytes / kChunk);
  const size_t bytes = chunks * kChunk;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return core::IoError("cannot map a buffer to measure the memory's bandwidth with", errno);
  }
  madvise(memory, bytes, MADV_HUGEPAGE);  // as the kernel treats mapped weights; may be refused
  auto* data = static_cast<uint8_t*>(memory);
  std::atomic<uint32_t> checksum{0};  // keeps the reads alive
  const auto threads = static_cast<size_t>(pool.threads());
  // One part per thread: what a split of a weight matrix by rows looks like to the memory.
  const auto for_parts = [&](auto&& body) {
    pool.Run(static_cast<int64_t>(threads), [&](int64_t part, int) {
      const size_t begin = chunks * static_cast<size_t>(part) / threads;
      const size_t end = chunks * (static_cast<size_t>(part) + 1) / threads;
      if (begin < end) body(data + begin * kChunk, (end - begin) * kChunk);
    });
  };
  for_parts([](uint8_t* p, size_t n) { std::memset(p, 1, n); });

  using Clock = std::chrono::steady_clock;
  double best = 0;
  double spent = 0;
  while (spent < options.seconds) {
    const auto start = Clock::now();
    for_parts([&](const uint8_t* p, size_t n) {
      checksum.fetch_xor(RML_SIMD_CALL(ReadAllTarget)(p, n), std::memory_order_relaxed);
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    spent += seconds;
    if (seconds > 0) best = std::max(best, static_cast<double>(bytes) / seconds);
  }
  munmap(memory, bytes);
  return best;
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
