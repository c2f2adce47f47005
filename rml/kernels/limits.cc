#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/limits.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/float_simd-inl.h"
#include "rml/kernels/limits.h"
#include "rml/kernels/limits_loops.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

// Twelve chains of multiply-adds: latency times throughput of the widest cores, and AVX2's
// registers still hold them.
float MulAddTarget(int64_t steps, float factor, double* flops) {
  const DF d;
  const VF a = hn::Set(d, factor), x = a;
  // Each starts elsewhere: the compiler would make one of chains that are equal.
  const auto start = [&](float place) { return hn::Set(d, factor * place); };
  VF s0 = start(1), s1 = start(2), s2 = start(3), s3 = start(4), s4 = start(5), s5 = start(6),
     s6 = start(7), s7 = start(8), s8 = start(9), s9 = start(10), s10 = start(11), s11 = start(12);
  for (int64_t i = 0; i < steps; ++i) {
    s0 = hn::MulAdd(s0, x, a);
    s1 = hn::MulAdd(s1, x, a);
    s2 = hn::MulAdd(s2, x, a);
    s3 = hn::MulAdd(s3, x, a);
    s4 = hn::MulAdd(s4, x, a);
    s5 = hn::MulAdd(s5, x, a);
    s6 = hn::MulAdd(s6, x, a);
    s7 = hn::MulAdd(s7, x, a);
    s8 = hn::MulAdd(s8, x, a);
    s9 = hn::MulAdd(s9, x, a);
    s10 = hn::MulAdd(s10, x, a);
    s11 = hn::MulAdd(s11, x, a);
  }
  *flops = 2.0 * 12.0 * static_cast<double>(kLanes) * static_cast<double>(steps);
  const VF all = hn::Add(
      hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7))),
      hn::Add(hn::Add(s8, s9), hn::Add(s10, s11)));
  return hn::GetLane(hn::SumOfLanes(d, all));
}

// `bytes` is a multiple of 1024.
uint32_t ReadRangeTarget(const uint8_t* p, size_t bytes) {
  const DU d;
  constexpr size_t kVector = sizeof(uint32_t) * static_cast<size_t>(kLanes);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t i = 0; i < bytes; i += 4 * kVector) {
    const auto* const from = reinterpret_cast<const uint32_t*>(p + i);
    s0 = hn::Xor(s0, hn::LoadU(d, from));
    s1 = hn::Xor(s1, hn::LoadU(d, from + kLanes));
    s2 = hn::Xor(s2, hn::LoadU(d, from + 2 * kLanes));
    s3 = hn::Xor(s3, hn::LoadU(d, from + 3 * kLanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Xor(hn::Xor(s0, s1), hn::Xor(s2, s3))));
}

// Past the caches, which would read each line before it is overwritten.
void WriteRangeTarget(uint8_t* p, size_t bytes) {
  const DU d;
  const auto value = hn::Set(d, 1u);
  for (size_t i = 0; i < bytes; i += sizeof(uint32_t) * static_cast<size_t>(kLanes))
    hn::Stream(value, d, reinterpret_cast<uint32_t*>(p + i));
}

void CopyRangeTarget(const uint8_t* from, uint8_t* to, size_t bytes) {
  const DU d;
  for (size_t i = 0; i < bytes; i += sizeof(uint32_t) * static_cast<size_t>(kLanes)) {
    hn::Stream(hn::Load(d, reinterpret_cast<const uint32_t*>(from + i)), d,
               reinterpret_cast<uint32_t*>(to + i));
  }
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

#include "rml/core/function_ref.h"
#include "rml/kernels/bandwidth.h"
#include "rml/kernels/caches.h"
#include "rml/kernels/isa.h"

namespace rml::kernels {

HWY_EXPORT(MulAddTarget);
HWY_EXPORT(ReadRangeTarget);
HWY_EXPORT(WriteRangeTarget);
HWY_EXPORT(CopyRangeTarget);

namespace {

// Zeroed pages that are given back at the end.
class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ok()) madvise(data_, bytes, MADV_HUGEPAGE);
  }
  ~Pages() {
    if (ok()) munmap(data_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  bool ok() const { return data_ != MAP_FAILED; }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_;
  size_t bytes_;
};

// The best rate of the passes that fit in the time. `body` does one thread's part and says how much
// that was.
double BestRate(core::ThreadPool& pool, double seconds,
                core::FunctionRef<double(size_t thread)> body) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (double spent = 0; spent < seconds;) {
    std::atomic<double> done{0};
    const auto start = Clock::now();
    pool.Run(pool.threads(), [&](int64_t part, int) { done += body(static_cast<size_t>(part)); });
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    spent += std::max(took, 1e-7);
    if (took > 0) best = std::max(best, done.load() / took);
  }
  return best;
}

}  // namespace

core::Expected<MachineLimits> MeasureLimits(core::ThreadPool& pool, double seconds) {
  MachineLimits limits;
  std::atomic<int64_t> sink{0};  // keeps what was computed alive
  constexpr int64_t kSteps = 100'000;
  limits.f32_flops = BestRate(pool, seconds, [&](size_t) {
    double flops = 0;
    sink += RML_SIMD_CALL(MulAddTarget)(kSteps, 0.5f, &flops) > 0 ? 1 : 0;
    return flops;
  });
#if defined(__x86_64__)
  const double products = double{kDotSums} * kDotLanes * kSteps;
  if (ActiveIsa() == Isa::kAvx512Bf16) {
    limits.bf16_flops = BestRate(pool, seconds, [&](size_t) {
      sink += DotBf16Avx512(kSteps) > 0 ? 1 : 0;
      return 4 * products;
    });
  }
  if (ActiveIsa() == Isa::kAvx512Bf16 || ActiveIsa() == Isa::kAvx512Vnni) {
    limits.int8_ops = BestRate(pool, seconds, [&](size_t) {
      sink += DotInt8Avx512(kSteps);
      return 8 * products;
    });
  }
#endif

  constexpr size_t kMemory = size_t{128} << 20;  // of each of two buffers
  constexpr size_t kSlack = size_t{4096} * core::ThreadPool::kMaxThreads;
  const Pages from(kMemory + kSlack), to(kMemory + kSlack);
  if (!from.ok() || !to.ok())
    return core::IoError("cannot map buffers to measure the memory's bandwidth with", errno);
  const auto threads = static_cast<size_t>(pool.threads());
  const auto round = [](size_t bytes) { return std::max<size_t>(bytes & ~size_t{4095}, 4096); };
  const size_t used = round(kMemory / threads);
  pool.Run(static_cast<int64_t>(threads), [&](int64_t i, int) {
    std::memset(from.data() + static_cast<size_t>(i) * used, 1, used);
    std::memset(to.data() + static_cast<size_t>(i) * used, 1, used);
  });
  const auto read_rate = [&](size_t bytes) {
    const size_t each = std::min(round(bytes), used);
    constexpr size_t kPass = size_t{4} << 20;  // long enough that handing out does not count
    const size_t repeats = std::max<size_t>(1, kPass / each);
    return BestRate(pool, seconds, [&, each, repeats](size_t thread) {
      for (size_t r = 0; r < repeats; ++r)
        sink += RML_SIMD_CALL(ReadRangeTarget)(from.data() + thread * used, each);
      return static_cast<double>(each * repeats);
    });
  };
  const Caches& caches = MachineCaches();
  limits.l2_read = read_rate(static_cast<size_t>(caches.l2) / 2);
  limits.l3_read = read_rate(static_cast<size_t>(caches.l3) / 3 / threads);
  limits.write = BestRate(pool, seconds, [&](size_t thread) {
    RML_SIMD_CALL(WriteRangeTarget)(to.data() + thread * used, used);
    return static_cast<double>(used);
  });
  limits.copy = BestRate(pool, seconds, [&](size_t thread) {
    RML_SIMD_CALL(CopyRangeTarget)(from.data() + thread * used, to.data() + thread * used, used);
    return 2 * static_cast<double>(used);
  });
  RML_ASSIGN(limits.read, MeasureReadBandwidth(pool, {.seconds = seconds}));
  return limits;
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
