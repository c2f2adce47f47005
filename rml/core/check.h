// RML_CHECK is for our own bugs: it prints the condition and place, and aborts. Never use it on
// what the world hands us; that is a Status.
#pragma once

namespace rml::core {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace rml::core

#define RML_CHECK(condition)                           \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::rml::core::CheckFailed(#condition, __FILE__, __LINE__))
