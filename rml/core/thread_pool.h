// ThreadPool: the one set of threads that does rml's parallel work.
//
// Work is a range of fixed chunks, decided by the caller from shapes and never from the number of
// threads, so that results have the same bits for any pool. The caller takes part, and waits only
// for chunks that somebody has begun: a worker that the system does not schedule costs nothing.
// Workers spin briefly after work, then sleep. A call from inside a chunk runs serially on that
// worker. Several threads may call into one pool: while it is busy, the others run their chunks
// themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/function_ref.h"

namespace rml::core {

class ThreadPool {
 public:
  struct Options {
    int threads = 0;            // including the caller; 0: UsableCores()
    std::vector<int> affinity;  // worker i runs on core affinity[i % size]; empty: no pinning. The
                                // caller (worker 0) is never moved: see PinThisThread.
    int spin_microseconds = 100;  // how long an idle worker spins before it sleeps
  };

  static constexpr int kMaxThreads = 1024;

  // Fails on a count or a core that this process cannot have, or when threads cannot be started.
  static Expected<std::unique_ptr<ThreadPool>> Make(const Options& options);

  // Makes the best of what the system gives: fewer threads where it refuses some, no pinning where
  // it refuses that. threads() says what came of it.
  explicit ThreadPool(const Options& options);
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls body(chunk, worker) once for every chunk in [0, chunks), in any order, and returns when
  // all are done; what the bodies wrote is then visible to the caller. `worker` in [0, threads())
  // is unique among the bodies of *this call* that run at the same time: index scratch space that
  // belongs to the call with it, never a result, and nothing that two callers share. One chunk, or
  // a pool of one, runs on the caller. The body must not throw (the process would end).
  void Run(int64_t chunks, FunctionRef<void(int64_t chunk, int worker)> body);

  // Splits [0, count) into chunks of `grain` and calls body(begin, end, worker) for each.
  template <typename Body>
  void ParallelFor(int64_t count, int64_t grain, Body&& body) {
    if (count <= 0) return;
    const int64_t step = grain < 1 ? 1 : grain;
    Run((count - 1) / step + 1, [&](int64_t chunk, int worker) {
      const int64_t begin = chunk * step;
      body(begin, step < count - begin ? begin + step : count, worker);
    });
  }

  // A pool of ThreadsFromEnvironment() threads, made at first use. It lives until the process ends.
  static ThreadPool& Default();

  // RML_THREADS where it is set, else UsableCores(); an error when it is no number from 1 to
  // kMaxThreads (Default() then falls back to UsableCores()).
  static Expected<int> ThreadsFromEnvironment();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::core
