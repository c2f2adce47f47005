// ThreadPool: the one set of threads that does rml's parallel work.
//
// Work is a range of fixed chunks, decided by the caller from shapes and never from the number of
// threads, so that results have the same bits for any pool. Workers spin briefly after work, then
// sleep. A call from inside a worker runs on that worker (nested calls are safe and serial). Several
// threads may call into one pool: the second runs its chunks itself while the pool is busy.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rml/core/function_ref.h"

namespace rml::core {

class ThreadPool {
 public:
  struct Options {
    int threads = 0;                 // including the caller; 0: the number of usable cores
    std::vector<int> affinity;       // cores to pin to, in order; empty: no pinning
    int spin_microseconds = 100;     // how long an idle worker spins before it sleeps
  };

  explicit ThreadPool(Options options);
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls body(chunk, worker) once for every chunk in [0, chunks), in any order, and returns when
  // all are done. `worker` in [0, threads()) names the running thread: use it for scratch space,
  // never for a result. One chunk, or a pool of one, runs on the caller. The body must not throw.
  void Run(int64_t chunks, FunctionRef<void(int64_t chunk, int worker)> body);

  // Splits [0, count) into chunks of `grain` and calls body(begin, end, worker) for each.
  template <typename Body>
  void ParallelFor(int64_t count, int64_t grain, Body&& body) {
    if (count <= 0) return;
    const int64_t step = grain < 1 ? 1 : grain;
    Run((count + step - 1) / step, [&](int64_t chunk, int worker) {
      const int64_t begin = chunk * step;
      body(begin, begin + step < count ? begin + step : count, worker);
    });
  }

  // A pool as wide as the machine, made at first use.
  static ThreadPool& Default();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::core
