// Log: one line to stderr, or to a sink that the program sets, for what a person may want to know
// and nothing that a program depends on (that is a Status). RML_LOG_LEVEL=error|warn|info|debug
// sets what is shown; the default is warn, since a library speaks only when something is off.
//
//   LogInfo("loaded ", tensors, " tensors in ", seconds, " s");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "rml/core/strcat.h"

namespace rml::core {

enum class LogLevel : uint8_t { kError, kWarn, kInfo, kDebug };

std::string_view LogLevelName(LogLevel level);
std::optional<LogLevel> ParseLogLevel(std::string_view name);

LogLevel GetLogLevel();
void SetLogLevel(LogLevel level);
inline bool LogEnabled(LogLevel level) { return level <= GetLogLevel(); }

// Gets each line that is shown, without a newline; called from any thread, one at a time. It must
// not log itself. An empty function restores stderr.
using LogSink = std::function<void(LogLevel, std::string_view)>;
void SetLogSink(LogSink sink);

void LogLine(LogLevel level, std::string_view line);  // shown whatever the level set

template <typename... Args>
void LogError(const Args&... args) {
  if (LogEnabled(LogLevel::kError)) LogLine(LogLevel::kError, StrCat(args...));
}
template <typename... Args>
void LogWarn(const Args&... args) {
  if (LogEnabled(LogLevel::kWarn)) LogLine(LogLevel::kWarn, StrCat(args...));
}
template <typename... Args>
void LogInfo(const Args&... args) {
  if (LogEnabled(LogLevel::kInfo)) LogLine(LogLevel::kInfo, StrCat(args...));
}
template <typename... Args>
void LogDebug(const Args&... args) {
  if (LogEnabled(LogLevel::kDebug)) LogLine(LogLevel::kDebug, StrCat(args...));
}

}  // namespace rml::core
