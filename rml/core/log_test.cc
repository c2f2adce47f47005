#include "rml/core/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rml::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Collects what is shown, and restores the sink and level afterwards.
class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    level_ = GetLogLevel();
    SetLogSink([this](LogLevel level, std::string_view line) { lines_.emplace_back(level, line); });
  }
  void TearDown() override {
    SetLogSink({});
    SetLogLevel(level_);
  }

  LogLevel level_ = LogLevel::kWarn;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

TEST_F(LogTest, ShowsLinesUpToTheLevel) {
  SetLogLevel(LogLevel::kInfo);
  LogError("e", 1);
  LogWarn("w", 2.5);
  LogInfo("loaded ", 3, " tensors");
  LogDebug("never seen");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kError, "e1"), Pair(LogLevel::kWarn, "w2.5"),
                                  Pair(LogLevel::kInfo, "loaded 3 tensors")));
}

TEST_F(LogTest, ErrorsAreAlwaysShown) {
  SetLogLevel(LogLevel::kError);
  LogWarn("hidden");
  LogError("shown");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kError, "shown")));
}

TEST_F(LogTest, LinesOfSeveralThreadsComeOneAtATime) {
  SetLogLevel(LogLevel::kInfo);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 50; ++i) LogInfo("line ", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_.size(), 200u);
}

TEST(Log, LevelNamesParseBack) {
  for (const LogLevel level :
       {LogLevel::kError, LogLevel::kWarn, LogLevel::kInfo, LogLevel::kDebug}) {
    EXPECT_EQ(ParseLogLevel(LogLevelName(level)), level);
  }
  EXPECT_EQ(ParseLogLevel("verbose"), std::nullopt);
}

TEST(Log, GoesToStderrWithItsLevel) {
  ::testing::internal::CaptureStderr();
  LogError("disk ", "full");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "rml: error: disk full\n");
}

// The environment is read once per process, hence the new ones.
TEST(LogDeathTest, EnvironmentSetsTheLevel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto log_and_exit = [](const char* level) {
    ::setenv("RML_LOG_LEVEL", level, 1);
    LogInfo("an info line");
    LogWarn("a warning");
    std::exit(0);
  };
  EXPECT_EXIT(log_and_exit("info"), ::testing::ExitedWithCode(0), "an info line(.|\n)*a warning");
  EXPECT_EXIT(log_and_exit("loud"), ::testing::ExitedWithCode(0),
              "RML_LOG_LEVEL is 'loud': give one of error, warn, info, debug(.|\n)*a warning");
}

}  // namespace
}  // namespace rml::core
