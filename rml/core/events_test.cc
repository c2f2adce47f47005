#include "rml/core/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rml::core {
namespace {

TEST(Events, AScopeIsABeginAndAnEnd) {
  MemoryEventSink sink;
  {
    const ScopedEvent outer(&sink, "llm", "prefill",
                            {{"tokens", 12}, {"share", 0.5}, {"model", "tiny"}});
    const ScopedEvent inner(&sink, "llm", "layer");
  }
  const auto events = sink.Take();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].kind, EventKind::kBegin);
  EXPECT_EQ(events[0].name, "prefill");
  EXPECT_EQ(events[0].category, "llm");
  ASSERT_EQ(events[0].args.size(), 3u);
  EXPECT_EQ(events[0].args[0].key, "tokens");
  EXPECT_EQ(std::get<int64_t>(events[0].args[0].value), 12);
  EXPECT_EQ(std::get<double>(events[0].args[1].value), 0.5);
  EXPECT_EQ(std::get<std::string>(events[0].args[2].value), "tiny");
  EXPECT_EQ(events[2].kind, EventKind::kEnd);
  EXPECT_EQ(events[2].name, "layer");
  EXPECT_EQ(events[3].name, "prefill");
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_GE(events[i].nanoseconds, events[i - 1].nanoseconds);
    EXPECT_EQ(events[i].thread, events[0].thread);
  }
  EXPECT_TRUE(sink.Take().empty());
}

TEST(Events, WithoutASinkNothingHappens) {
  const ScopedEvent nobody(nullptr, "llm", "prefill", {{"tokens", 12}});
  RecordEvent(nullptr, EventKind::kInstant, "llm", "stop");
}

TEST(Events, CountersAndInstantsKeepTheirArguments) {
  MemoryEventSink sink;
  RecordEvent(&sink, EventKind::kCounter, "memory", "pool", {{"cached", int64_t{1} << 40}});
  RecordEvent(&sink, EventKind::kInstant, "llm", "stop");
  const auto events = sink.Take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<int64_t>(events[0].args.at(0).value), int64_t{1} << 40);
  EXPECT_EQ(events[1].kind, EventKind::kInstant);
}

TEST(Events, ThreadsRecordTogetherUnderTheirOwnNumbers) {
  MemoryEventSink sink;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&sink] {
      for (int i = 0; i < 100; ++i) const ScopedEvent event(&sink, "test", "work", {{"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::pair<int64_t, int>> counts;
  for (const auto& event : sink.Take()) {
    auto at = std::find_if(counts.begin(), counts.end(),
                           [&](auto& c) { return c.first == event.thread; });
    if (at == counts.end()) at = counts.insert(counts.end(), {event.thread, 0});
    ++at->second;
  }
  ASSERT_EQ(counts.size(), 3u);
  for (const auto& [thread, count] : counts) EXPECT_EQ(count, 200);
}

TEST(Events, BeyondItsCapacityASinkCountsWhatItDrops) {
  MemoryEventSink sink(2);
  for (int i = 0; i < 5; ++i) RecordEvent(&sink, EventKind::kInstant, "test", "tick");
  EXPECT_EQ(sink.Take().size(), 2u);
  EXPECT_EQ(sink.dropped(), 3);
  RecordEvent(&sink, EventKind::kInstant, "test", "tick");
  EXPECT_EQ(sink.Take().size(), 1u) << "Take makes room";
}

}  // namespace
}  // namespace rml::core
