// Events: what happened during a run, for traces, profiles and records. Code that may be watched
// takes an EventSink*; null means nobody watches, and costs one comparison.
//
//   const ScopedEvent event(context.events, "llm", "prefill", {{"tokens", n}});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rml::core {

enum class EventKind : uint8_t {
  kBegin,  // of a span; ends with the next unmatched kEnd of the same thread
  kEnd,
  kInstant,
  kCounter,  // every argument is a series, its value the new level
};

struct EventArg {
  using Value = std::variant<int64_t, double, std::string_view>;

  EventArg(std::string_view key_text, int64_t number) : key(key_text), value(number) {}
  EventArg(std::string_view key_text, int number) : key(key_text), value(int64_t{number}) {}
  EventArg(std::string_view key_text, double number) : key(key_text), value(number) {}
  EventArg(std::string_view key_text, std::string_view text) : key(key_text), value(text) {}
  EventArg(std::string_view key_text, const char* text)
      : key(key_text), value(std::string_view(text)) {}

  std::string_view key;
  Value value;
};

// Valid only during the call of Record: a sink copies what it keeps.
struct Event {
  EventKind kind;
  std::string_view category;  // the module: "llm", "io"
  std::string_view name;
  int64_t nanoseconds;  // EventClock()
  int64_t thread;       // EventThread()
  std::span<const EventArg> args;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Called from any thread, several at once.
  virtual void Record(const Event& event) noexcept = 0;
};

int64_t EventClock();   // nanoseconds of a steady clock
int64_t EventThread();  // small numbers, in the order in which threads first asked

// Records into `sink`, or does nothing when it is null.
void RecordEvent(EventSink* sink, EventKind kind, std::string_view category, std::string_view name,
                 std::initializer_list<EventArg> args = {});

// A span from here to the end of the scope. Category and name must live as long.
class ScopedEvent {
 public:
  ScopedEvent(EventSink* sink, std::string_view category, std::string_view name,
              std::initializer_list<EventArg> args = {})
      : sink_(sink), category_(category), name_(name) {
    if (sink_ != nullptr) RecordEvent(sink_, EventKind::kBegin, category_, name_, args);
  }
  ~ScopedEvent() {
    if (sink_ != nullptr) RecordEvent(sink_, EventKind::kEnd, category_, name_);
  }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;

 private:
  EventSink* const sink_;
  const std::string_view category_;
  const std::string_view name_;
};

// Keeps everything, in the order of arrival.
class MemoryEventSink final : public EventSink {
 public:
  struct Arg {
    std::string key;
    std::variant<int64_t, double, std::string> value;
  };
  struct Kept {
    EventKind kind;
    std::string category;
    std::string name;
    int64_t nanoseconds;
    int64_t thread;
    std::vector<Arg> args;
  };

  // At most `capacity` events; later ones are counted and dropped.
  explicit MemoryEventSink(size_t capacity = size_t{1} << 20) : capacity_(capacity) {}

  void Record(const Event& event) noexcept override;
  std::vector<Kept> Take();  // what came since the last call
  int64_t dropped() const;

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<Kept> records_;
  int64_t dropped_ = 0;
};

}  // namespace rml::core
