// How a call becomes work. The caller writes the job (body, total) and publishes it by storing
// `unclaimed` = total. Whoever wants n chunks subtracts n from `unclaimed`; a positive old value is
// a claim on the chunks from total - old on, as many as there are up to n. Only a claim gives the
// right to read the job, and the caller cannot return, nor the next job be written, before every
// claimed chunk has been subtracted from `unfinished`. So a worker that wakes late finds nothing to
// claim and touches nothing, and a stale look at `unclaimed` can never pair an old body with a new
// chunk: no generations are needed.
#include "rml/core/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "rml/core/cpu_affinity.h"
#include "rml/core/log.h"

namespace rml::core {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCacheLine = 64;
// Spinning stays off the system for this long; later rounds yield, for the sake of whoever shares
// the core.
constexpr std::chrono::microseconds kPureSpin(20);
constexpr int kPausesPerClockRead = 16;
// 64 chunks of 0.5 us on 2 threads: 29 us when claimed one by one, 20 us with this.
constexpr int64_t kClaimsPerThread = 8;

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // a real delay; `yield` is a no-op on most cores
#else
  std::this_thread::yield();
#endif
}

// Waits until done() or until `limit` has passed; says whether done() came true.
template <typename Done>
bool SpinUntil(std::chrono::microseconds limit, Done done) {
  if (done()) return true;
  const Clock::time_point start = Clock::now();
  for (;;) {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      Pause();
      if (done()) return true;
    }
    const auto waited = Clock::now() - start;
    if (waited >= limit) return false;
    if (waited >= kPureSpin) std::this_thread::yield();
  }
}

// Threads that are started meanwhile leave the process's signals to the program's own threads: one
// that waits for Ctrl-C would else not be woken by it. A fault of their own still reaches them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF})
      sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

int ClampThreads(int threads) {
  return std::clamp(threads == 0 ? UsableCores() : threads, 1, ThreadPool::kMaxThreads);
}

}  // namespace

struct ThreadPool::Impl {
  using Body = FunctionRef<void(int64_t, int)>;

  Impl(const Options& options, int threads)
      : spin(std::max(0, options.spin_microseconds)), affinity(options.affinity) {
    workers.reserve(static_cast<size_t>(threads - 1));
    const SignalsBlocked blocked;
    try {
      for (int i = 1; i < threads; ++i) workers.emplace_back([this, i] { WorkerMain(i); });
    } catch (const std::system_error& refusal) {
      start_error = refusal.code().value();
    }
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopping.store(true, std::memory_order_seq_cst);
    }
    work_ready.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void Run(int64_t chunks, Body body_of_call);
  int64_t TakeChunks(int worker);
  void WorkerMain(int worker) noexcept;
  void Sleep();
  void Wake(int64_t count);
  void AwaitOthers();

  // The job: read only by holders of a claim, so it shares the line that the claim fetched.
  alignas(kCacheLine) std::atomic<int64_t> unclaimed{0};
  int64_t total = 0;
  const Body* body = nullptr;

  alignas(kCacheLine) std::atomic<int64_t> unfinished{0};
  std::atomic<bool> caller_sleeps{false};

  alignas(kCacheLine) std::atomic<bool> busy{false};

  alignas(kCacheLine) std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  uint64_t wake_count = 0;  // under mutex
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;

  const std::chrono::microseconds spin;
  const std::vector<int> affinity;
  int start_error = 0;
  std::vector<std::thread> workers;
};

namespace {

// The innermost pool whose chunk this thread is running, for nested calls.
struct Running {
  const void* pool = nullptr;
  int worker = 0;
};
thread_local Running running;

}  // namespace

// Far from the end several chunks are claimed at once, so that many small chunks do not fight over
// one cache line; towards the end single ones, so that all finish together and a thread that loses
// its core holds little.
int64_t ThreadPool::Impl::TakeChunks(int worker) {
  int64_t batch = 1;
  int64_t left = unclaimed.fetch_sub(batch, std::memory_order_acq_rel);
  if (left <= 0) return 0;
  // Until this thread subtracts from `unfinished` the job cannot change: read it once.
  const Body& run = *body;
  const int64_t end = total;
  const int64_t share = kClaimsPerThread * (static_cast<int64_t>(workers.size()) + 1);
  int64_t taken = 0;
  do {
    const int64_t first = end - left;
    const int64_t count = std::min(batch, left);
    for (int64_t i = 0; i < count; ++i) run(first + i, worker);
    taken += count;
    batch = std::max<int64_t>(1, (left - batch) / share);
    left = unclaimed.fetch_sub(batch, std::memory_order_acq_rel);
  } while (left > 0);
  return taken;
}

void ThreadPool::Impl::WorkerMain(int worker) noexcept {
  if (!affinity.empty()) {
    const int core = affinity[static_cast<size_t>(worker) % affinity.size()];
    // Make() has looked at the list; a core that has gone since is no reason to stop working.
    static_cast<void>(PinThisThread({&core, 1}));
  }
  running = {this, worker};
  const auto something_to_do = [this] {
    return unclaimed.load(std::memory_order_relaxed) > 0 ||
           stopping.load(std::memory_order_relaxed);
  };
  for (;;) {
    if (!SpinUntil(spin, something_to_do)) Sleep();
    if (stopping.load(std::memory_order_relaxed)) return;
    const int64_t taken = TakeChunks(worker);
    // Until this subtraction the job lives; after it nothing of the job may be touched.
    if (taken > 0 && unfinished.fetch_sub(taken, std::memory_order_seq_cst) == taken &&
        caller_sleeps.load(std::memory_order_seq_cst)) {
      { const std::lock_guard lock(mutex); }
      work_done.notify_one();
    }
  }
}

// `sleepers` rises before the last look at `unclaimed`, and a caller publishes before it looks at
// `sleepers`: one of the two always sees the other.
void ThreadPool::Impl::Sleep() {
  std::unique_lock lock(mutex);
  const uint64_t seen = wake_count;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  work_ready.wait(lock, [&] {
    return wake_count != seen || unclaimed.load(std::memory_order_seq_cst) > 0 ||
           stopping.load(std::memory_order_relaxed);
  });
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Impl::Wake(int64_t count) {
  const int64_t asleep = sleepers.load(std::memory_order_seq_cst);
  if (asleep == 0) return;
  {
    // Whoever is woken spins again even when the work is gone by then, ready for the next call.
    const std::lock_guard lock(mutex);
    ++wake_count;
  }
  if (count >= asleep) {
    work_ready.notify_all();
  } else {
    for (int64_t i = 0; i < count; ++i) work_ready.notify_one();
  }
}

void ThreadPool::Impl::AwaitOthers() {
  const auto done = [this] { return unfinished.load(std::memory_order_acquire) == 0; };
  if (SpinUntil(spin, done)) return;
  std::unique_lock lock(mutex);
  caller_sleeps.store(true, std::memory_order_seq_cst);
  work_done.wait(lock, [this] { return unfinished.load(std::memory_order_seq_cst) == 0; });
  caller_sleeps.store(false, std::memory_order_relaxed);
}

void ThreadPool::Impl::Run(int64_t chunks, Body body_of_call) {
  if (chunks <= 0) return;
  const bool nested = running.pool == this;
  if (nested || chunks == 1 || workers.empty() || busy.exchange(true, std::memory_order_acquire)) {
    const int worker = nested ? running.worker : 0;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) body_of_call(chunk, worker);
    return;
  }
  const Running outer = std::exchange(running, {this, 0});
  body = &body_of_call;
  total = chunks;
  unfinished.store(chunks, std::memory_order_relaxed);
  unclaimed.store(chunks, std::memory_order_seq_cst);
  Wake(chunks - 1);
  const int64_t taken = TakeChunks(0);
  if (unfinished.fetch_sub(taken, std::memory_order_acq_rel) != taken) AwaitOthers();
  running = outer;
  busy.store(false, std::memory_order_release);
}

ThreadPool::ThreadPool(const Options& options)
    : impl_(std::make_unique<Impl>(options, ClampThreads(options.threads))) {}

ThreadPool::ThreadPool(int threads) : ThreadPool(Options{.threads = threads, .affinity = {}}) {}

ThreadPool::~ThreadPool() = default;

Expected<std::unique_ptr<ThreadPool>> ThreadPool::Make(const Options& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return InvalidArgument("a pool of ", options.threads, " threads: give 1 to ", kMaxThreads,
                           ", or 0 for every usable core");
  }
  const std::vector<int> usable = UsableCoreIds();
  for (const int core : options.affinity) {
    if (!std::ranges::binary_search(usable, core)) {
      return InvalidArgument("core ", core, " in the pool's affinity is not among the ",
                             usable.size(), " cores that this process may use");
    }
  }
  auto pool = std::make_unique<ThreadPool>(options);
  if (pool->impl_->start_error != 0) {
    return ResourceExhausted("the system started only ", pool->threads(), " of ",
                             ClampThreads(options.threads), " threads (",
                             std::generic_category().message(pool->impl_->start_error),
                             "): ask for fewer");
  }
  return pool;
}

int ThreadPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::Run(int64_t chunks, FunctionRef<void(int64_t, int)> body) {
  impl_->Run(chunks, body);
}

Expected<int> ThreadPool::ThreadsFromEnvironment() {
  const char* text = std::getenv("RML_THREADS");
  if (text == nullptr || *text == '\0') return UsableCores();
  int threads = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, threads);
  if (error != std::errc() || stop != end || threads < 1 || threads > kMaxThreads) {
    return InvalidArgument("RML_THREADS is '", text, "': give a number from 1 to ", kMaxThreads);
  }
  return threads;
}

ThreadPool& ThreadPool::Default() {
  // Never destroyed: static objects of other files may still use it while the process ends.
  static ThreadPool* const pool = [] {
    const Expected<int> threads = ThreadsFromEnvironment();
    if (!threads.ok()) LogWarn(threads.error().message());
    return new ThreadPool(threads.value_or(0));
  }();
  return *pool;
}

}  // namespace rml::core
