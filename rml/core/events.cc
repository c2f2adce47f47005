#include "rml/core/events.h"

#include <atomic>
#include <chrono>
#include <new>
#include <utility>

namespace rml::core {

int64_t EventClock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int64_t EventThread() {
  static std::atomic<int64_t> next{0};
  thread_local const int64_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

void RecordEvent(EventSink* sink, EventKind kind, std::string_view category, std::string_view name,
                 std::initializer_list<EventArg> args) {
  if (sink == nullptr) return;
  sink->Record({.kind = kind,
                .category = category,
                .name = name,
                .nanoseconds = EventClock(),
                .thread = EventThread(),
                .args = {args.begin(), args.size()}});
}

void MemoryEventSink::Record(const Event& event) noexcept {
  const std::lock_guard lock(mutex_);
  if (records_.size() >= capacity_) {
    ++dropped_;
    return;
  }
  try {
    Kept kept{.kind = event.kind,
              .category = std::string(event.category),
              .name = std::string(event.name),
              .nanoseconds = event.nanoseconds,
              .thread = event.thread,
              .args = {}};
    kept.args.reserve(event.args.size());
    for (const EventArg& arg : event.args) {
      Arg copy{.key = std::string(arg.key), .value = int64_t{0}};
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
              copy.value = std::string(value);
            } else {
              copy.value = value;
            }
          },
          arg.value);
      kept.args.push_back(std::move(copy));
    }
    records_.push_back(std::move(kept));
  } catch (const std::bad_alloc&) {
    // Watching must not end what it watches.
    ++dropped_;
  }
}

std::vector<MemoryEventSink::Kept> MemoryEventSink::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(records_, {});
}

int64_t MemoryEventSink::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace rml::core
