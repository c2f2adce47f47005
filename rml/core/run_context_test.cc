#include "rml/core/run_context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace rml::core {
namespace {

TEST(Cancellation, ADefaultTokenIsNeverCancelled) {
  const CancellationToken token;
  EXPECT_FALSE(token.IsCancelled());
  EXPECT_TRUE(token.Check().ok());
}

TEST(Cancellation, EveryTokenOfASourceHearsIt) {
  CancellationSource source;
  const CancellationToken first = source.token();
  const CancellationToken second = first;
  EXPECT_TRUE(second.Check().ok());
  source.Cancel();
  EXPECT_EQ(first.Check().code(), StatusCode::kCancelled);
  EXPECT_EQ(second.Check().message(), "cancelled by the caller");
  EXPECT_TRUE(source.token().IsCancelled());
}

TEST(Cancellation, TokensOutliveTheirSource) {
  CancellationToken token;
  {
    CancellationSource source;
    token = source.token();
    source.Cancel();
  }
  EXPECT_TRUE(token.IsCancelled());
}

TEST(Cancellation, ADeadlineCancelsByItself) {
  const auto past = CancellationSource::WithTimeout(std::chrono::milliseconds(-1));
  EXPECT_EQ(past.token().Check().message(), "the time limit has passed");
  const auto future = CancellationSource::WithTimeout(std::chrono::hours(1));
  EXPECT_TRUE(future.token().Check().ok());
  const auto never = CancellationSource::WithTimeout(std::chrono::steady_clock::duration::max());
  EXPECT_TRUE(never.token().Check().ok());
  const auto soon = CancellationSource::WithTimeout(std::chrono::milliseconds(5));
  while (!soon.token().IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Cancellation, AnotherThreadSeesWhatWasWrittenBeforeCancel) {
  CancellationSource source;
  int reason = 0;
  std::thread other([&source, &reason, token = source.token()] {
    reason = 42;
    source.Cancel();
    EXPECT_TRUE(token.IsCancelled());
  });
  while (!source.token().IsCancelled()) std::this_thread::yield();
  EXPECT_EQ(reason, 42);
  other.join();
}

CancellationSource* interrupted = nullptr;

TEST(Cancellation, ASignalHandlerMayCancel) {
  CancellationSource source;
  interrupted = &source;
  const auto previous = std::signal(SIGUSR1, [](int) { interrupted->Cancel(); });
  ASSERT_EQ(std::raise(SIGUSR1), 0);
  EXPECT_TRUE(source.token().IsCancelled());
  std::signal(SIGUSR1, previous);
}

TEST(RunContext, DefaultsRunAloneUnwatchedAndUnlimited) {
  const RunContext context;
  EXPECT_EQ(context.threads(), 1);
  EXPECT_EQ(&context.GetAllocator(), &Cpu());
  int64_t sum = 0;
  context.Run(5, [&](int64_t chunk, int worker) {
    EXPECT_EQ(worker, 0);
    sum += chunk;
  });
  EXPECT_EQ(sum, 10);
  EXPECT_TRUE(context.Reserve(INT64_MAX, "anything").ok());
  EXPECT_TRUE(context.cancellation.Check().ok());
}

TEST(RunContext, UsesThePoolAndTheBudgetThatItIsGiven) {
  ThreadPool pool(3);
  MemoryBudget budget(100);
  const RunContext context{.pool = &pool,
                           .events = nullptr,
                           .allocator = nullptr,
                           .memory = &budget,
                           .cancellation = {}};
  EXPECT_EQ(context.threads(), 3);
  std::atomic<int64_t> sum{0};
  context.Run(100, [&](int64_t chunk, int) { sum += chunk; });
  EXPECT_EQ(sum, 99 * 100 / 2);
  {
    const auto reserved = context.Reserve(80, "the cache");
    ASSERT_TRUE(reserved.ok());
    EXPECT_EQ(budget.used(), 80);
    EXPECT_EQ(context.Reserve(30, "more").error().code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace rml::core
