#include "rml/core/cpu_affinity.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <thread>

#include "rml/core/cpu_quota.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace rml::core {

namespace {

#if defined(__linux__)

// A kernel with more cores than a mask holds answers EINVAL: ask again with a larger one.
constexpr int kFirstMaskCores = 1024;
constexpr int kLastMaskCores = 1 << 16;

class CpuMask {
 public:
  explicit CpuMask(int cores) : bytes_(CPU_ALLOC_SIZE(cores)), set_(CPU_ALLOC(cores)) {
    CPU_ZERO_S(bytes_, set_);
  }
  ~CpuMask() { CPU_FREE(set_); }
  CpuMask(const CpuMask&) = delete;
  CpuMask& operator=(const CpuMask&) = delete;

  cpu_set_t* set() { return set_; }
  size_t bytes() const { return bytes_; }
  void Add(int core) { CPU_SET_S(static_cast<size_t>(core), bytes_, set_); }
  bool Has(int core) const { return CPU_ISSET_S(static_cast<size_t>(core), bytes_, set_); }

 private:
  size_t bytes_;
  cpu_set_t* set_;
};

#endif

std::vector<int> AllCores() {
  const unsigned count = std::thread::hardware_concurrency();
  std::vector<int> cores(count == 0 ? 1 : count);
  for (size_t i = 0; i < cores.size(); ++i) cores[i] = static_cast<int>(i);
  return cores;
}

}  // namespace

std::vector<int> UsableCoreIds() {
#if defined(__linux__)
  for (int size = kFirstMaskCores; size <= kLastMaskCores; size *= 2) {
    CpuMask mask(size);
    if (sched_getaffinity(0, mask.bytes(), mask.set()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> cores;
    for (int core = 0; core < size; ++core) {
      if (mask.Has(core)) cores.push_back(core);
    }
    if (!cores.empty()) return cores;
    break;
  }
#endif
  return AllCores();
}

int UsableCores() {
  const auto cores = static_cast<double>(UsableCoreIds().size());
  // Half a core still runs a thread.
  const double granted = std::ceil(CpuQuota().value_or(cores));
  return std::max(1, static_cast<int>(std::min(cores, granted)));
}

Status PinThisThread(std::span<const int> cores) {
  if (cores.empty()) return InvalidArgument("a thread cannot be pinned to an empty list of cores");
#if defined(__linux__)
  CpuMask mask(kLastMaskCores);
  for (const int core : cores) {
    if (core < 0 || core >= kLastMaskCores) {
      return InvalidArgument("core ", core, " does not exist: give cores from 0 to ",
                             kLastMaskCores - 1);
    }
    mask.Add(core);
  }
  if (sched_setaffinity(0, mask.bytes(), mask.set()) != 0) {
    return IoError(
        StrCat("cannot pin a thread to core ", cores[0], cores.size() > 1 ? " (and others)" : ""),
        errno);
  }
  return {};
#else
  return Unsupported("this system does not let a program pin its threads to cores");
#endif
}

}  // namespace rml::core
