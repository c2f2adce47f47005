#include "rml/core/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "rml/core/cpu_affinity.h"

namespace rml::core {
namespace {

std::vector<int> CountCalls(ThreadPool& pool, int64_t chunks) {
  std::vector<std::atomic<int>> counts(static_cast<size_t>(chunks));
  pool.Run(chunks, [&](int64_t chunk, int worker) {
    EXPECT_GE(worker, 0);
    EXPECT_LT(worker, pool.threads());
    counts[static_cast<size_t>(chunk)].fetch_add(1, std::memory_order_relaxed);
  });
  return {counts.begin(), counts.end()};
}

TEST(ThreadPool, EveryChunkRunsOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t chunks : {0, 1, 2, 3, 7, 64, 1000}) {
      EXPECT_EQ(CountCalls(pool, chunks), std::vector<int>(static_cast<size_t>(chunks), 1))
          << threads << " threads, " << chunks << " chunks";
    }
  }
}

TEST(ThreadPool, ResultsAreVisibleToTheCallerWithoutFurtherSynchronisation) {
  ThreadPool pool(4);
  std::vector<int64_t> values(257);
  for (int round = 0; round < 2000; ++round) {
    pool.Run(257, [&](int64_t chunk, int) { values[static_cast<size_t>(chunk)] += chunk + round; });
  }
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], 2000 * static_cast<int64_t>(i) + 1999 * 1000);
  }
}

TEST(ThreadPool, WorkerIndexIsUniqueAmongRunningBodies) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> collisions{0};
  for (int round = 0; round < 200; ++round) {
    pool.Run(64, [&](int64_t, int worker) {
      if (inside[static_cast<size_t>(worker)].fetch_add(1) != 0) ++collisions;
      inside[static_cast<size_t>(worker)].fetch_sub(1);
    });
  }
  EXPECT_EQ(collisions, 0);
}

TEST(ThreadPool, SeveralThreadsTakePart) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  // Each chunk waits for the other, so one thread alone would never finish.
  pool.Run(2, [&](int64_t, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, NestedCallsRunSeriallyOnTheSameWorker) {
  ThreadPool pool(4);
  std::atomic<int64_t> calls{0};
  std::atomic<int> wrong_worker{0};
  pool.Run(16, [&](int64_t, int outer) {
    const std::thread::id self = std::this_thread::get_id();
    pool.Run(8, [&](int64_t, int inner) {
      if (inner != outer || std::this_thread::get_id() != self) ++wrong_worker;
      pool.Run(2, [&](int64_t, int innermost) {
        if (innermost != outer) ++wrong_worker;
        ++calls;
      });
    });
  });
  EXPECT_EQ(calls, 16 * 8 * 2);
  EXPECT_EQ(wrong_worker, 0);
}

TEST(ThreadPool, PoolsMayCallEachOtherWithoutDeadlock) {
  ThreadPool a(3);
  ThreadPool b(2);
  std::atomic<int64_t> calls{0};
  a.Run(6, [&](int64_t, int) {
    b.Run(6, [&](int64_t, int) { a.Run(6, [&](int64_t, int) { ++calls; }); });
  });
  EXPECT_EQ(calls, 6 * 6 * 6);
}

TEST(ThreadPool, ConcurrentCallersEachGetAllTheirChunks) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&pool, &wrong] {
      for (int round = 0; round < 500; ++round) {
        int64_t sums[3] = {};
        pool.Run(33, [&](int64_t chunk, int worker) { sums[worker] += chunk + 1; });
        if (sums[0] + sums[1] + sums[2] != 33 * 34 / 2) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, SleepingWorkersWakeForNewWork) {
  ThreadPool pool(ThreadPool::Options{.threads = 2, .affinity = {}, .spin_microseconds = 0});
  for (int round = 0; round < 50; ++round) {
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> arrived{0};
    pool.Run(2, [&](int64_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
    ASSERT_EQ(arrived, 2);
  }
}

TEST(ThreadPool, CallerSleepsThroughALongChunkOfAnother) {
  ThreadPool pool(ThreadPool::Options{.threads = 2, .affinity = {}, .spin_microseconds = 10});
  std::atomic<int> arrived{0};
  std::atomic<bool> slow_one_done{false};
  pool.Run(2, [&](int64_t, int worker) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
    if (worker == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      slow_one_done = true;
    }
  });
  EXPECT_TRUE(slow_one_done);
}

TEST(ThreadPool, PoolsStartAndStopInEveryState) {
  for (int round = 0; round < 40; ++round) {
    ThreadPool pool(
        ThreadPool::Options{.threads = 4, .affinity = {}, .spin_microseconds = round % 4 * 50});
    if (round % 2 == 0) {
      EXPECT_EQ(CountCalls(pool, 5), std::vector<int>(5, 1));
    }
  }
}

TEST(ThreadPool, StressOfShortRegionsOnAnOversubscribedMachine) {
  ThreadPool pool(2 * UsableCores() + 1);
  std::atomic<int64_t> sum{0};
  int64_t expected = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t chunks = 1 + round % 13;
    pool.Run(chunks, [&](int64_t chunk, int) { sum.fetch_add(chunk, std::memory_order_relaxed); });
    expected += chunks * (chunks - 1) / 2;
    ASSERT_EQ(sum.load(), expected);
  }
}

TEST(ThreadPool, ParallelForCoversTheRangeInFixedChunks) {
  ThreadPool pool(3);
  for (const int64_t count : {0, 1, 9, 10, 11, 100}) {
    std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
    pool.ParallelFor(count, 10, [&](int64_t begin, int64_t end, int) {
      EXPECT_EQ(begin % 10, 0);
      EXPECT_TRUE(end == count || end - begin == 10);
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
}

TEST(ThreadPool, ParallelForNearTheEndOfInt64DoesNotOverflow) {
  ThreadPool pool(1);
  const int64_t count = INT64_MAX;
  int64_t last_end = 0;
  pool.ParallelFor(count, count / 2, [&](int64_t, int64_t end, int) { last_end = end; });
  EXPECT_EQ(last_end, count);
}

TEST(ThreadPool, SignalsOfTheProcessAreLeftToItsOtherThreads) {
  const auto blocks = [](int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
  };
  const auto pool = ThreadPool::Make({.threads = 3});
  ASSERT_TRUE(pool.ok());
  const std::thread::id caller = std::this_thread::get_id();
  EXPECT_FALSE(blocks(SIGINT));
  (*pool)->Run(64, [&](int64_t, int) {
    if (std::this_thread::get_id() == caller) return;
    EXPECT_TRUE(blocks(SIGINT));
    EXPECT_FALSE(blocks(SIGSEGV));
  });
}

TEST(ThreadPool, MakeRefusesACoreThatTheProcessMayNotUse) {
  const auto pool = ThreadPool::Make({.threads = 2, .affinity = {60000}});
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(ThreadPool::Make({.threads = -1, .affinity = {}}).ok());
  EXPECT_FALSE(ThreadPool::Make({.threads = ThreadPool::kMaxThreads + 1, .affinity = {}}).ok());
}

TEST(ThreadPool, WorkersStayOnTheirCores) {
  const std::vector<int> usable = UsableCoreIds();
  auto pool = ThreadPool::Make({.threads = 3, .affinity = {usable.front()}});
  ASSERT_TRUE(pool.ok());
  std::atomic<int> misplaced{0};
  std::atomic<int> by_workers{0};
  (*pool)->Run(300, [&](int64_t, int worker) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (worker == 0) return;
    ++by_workers;
    if (UsableCoreIds() != std::vector<int>{usable.front()}) ++misplaced;
  });
  EXPECT_EQ(misplaced, 0);
  EXPECT_GT(by_workers, 0);
  EXPECT_EQ(UsableCoreIds(), usable) << "the caller must not be moved";
}

TEST(ThreadPool, EnvironmentSetsTheNumberOfThreads) {
  ASSERT_EQ(setenv("RML_THREADS", "3", 1), 0);
  EXPECT_EQ(ThreadPool::ThreadsFromEnvironment().value_or(0), 3);
  for (const char* bad : {"0", "-2", "two", "3 ", "99999999999"}) {
    ASSERT_EQ(setenv("RML_THREADS", bad, 1), 0);
    EXPECT_FALSE(ThreadPool::ThreadsFromEnvironment().ok()) << bad;
  }
  ASSERT_EQ(unsetenv("RML_THREADS"), 0);
  EXPECT_EQ(ThreadPool::ThreadsFromEnvironment().value_or(0), UsableCores());
}

// The default pool is made once per process, hence a new one.
TEST(ThreadPoolDeathTest, DefaultWarnsOfABadEnvironmentAndUsesTheUsableCores) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::setenv("RML_THREADS", "many", 1);
        std::exit(ThreadPool::Default().threads() == UsableCores() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "RML_THREADS is 'many': give a number from 1 to 1024");
}

TEST(CpuAffinity, PinnedThreadSeesOnlyItsCore) {
  const int core = UsableCoreIds().back();
  std::vector<int> inside;
  std::thread([&] {
    ASSERT_TRUE(PinThisThread({&core, 1}).ok());
    inside = UsableCoreIds();
  }).join();
  EXPECT_EQ(inside, std::vector<int>{core});
  EXPECT_FALSE(PinThisThread({}).ok());
  const int absurd = -1;
  EXPECT_FALSE(PinThisThread({&absurd, 1}).ok());
}

}  // namespace
}  // namespace rml::core
