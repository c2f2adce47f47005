// Plain stderr and no logging library: a line is one write under one lock, and a program that wants
// files, rotation or colours sets a sink and brings what it likes.
#include "rml/core/log.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

namespace rml::core {

namespace {

constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};

LogLevel LevelFromEnvironment() {
  constexpr LogLevel kDefault = LogLevel::kWarn;
  const char* const text = std::getenv("RML_LOG_LEVEL");
  if (text == nullptr || *text == '\0') return kDefault;
  if (const std::optional<LogLevel> level = ParseLogLevel(text)) return *level;
  LogLine(LogLevel::kWarn,
          StrCat("RML_LOG_LEVEL is '", text, "': give one of error, warn, info, debug"));
  return kDefault;
}

std::atomic<LogLevel>& Level() {
  static std::atomic<LogLevel> level{LevelFromEnvironment()};
  return level;
}

struct Sink {
  std::mutex mutex;
  LogSink function;
};

Sink& TheSink() {
  // Never destroyed: something may log while the process ends.
  static Sink* const sink = new Sink;
  return *sink;
}

}  // namespace

std::string_view LogLevelName(LogLevel level) { return kNames[static_cast<size_t>(level)]; }

std::optional<LogLevel> ParseLogLevel(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

LogLevel GetLogLevel() { return Level().load(std::memory_order_relaxed); }
void SetLogLevel(LogLevel level) { Level().store(level, std::memory_order_relaxed); }

void SetLogSink(LogSink function) {
  Sink& sink = TheSink();
  const std::lock_guard lock(sink.mutex);
  sink.function = std::move(function);
}

void LogLine(LogLevel level, std::string_view line) {
  Sink& sink = TheSink();
  const std::lock_guard lock(sink.mutex);
  if (sink.function) {
    sink.function(level, line);
    return;
  }
  const std::string text = StrCat("rml: ", LogLevelName(level), ": ", line, "\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace rml::core
