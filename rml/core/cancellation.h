// Cancellation: a source says "stop", and every token made from it hears so. Long work asks its
// token now and then (between layers, tokens, files) and passes the Status up. A deadline cancels
// by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "rml/core/status.h"

namespace rml::core {

class CancellationToken {
 public:
  CancellationToken() = default;  // is never cancelled

  bool IsCancelled() const;
  // Cancelled once the source was, or its deadline has passed. Costs a load, and a look at the
  // clock where there is a deadline.
  Status Check() const;

 private:
  friend class CancellationSource;
  using Clock = std::chrono::steady_clock;
  struct State {
    std::atomic<bool> cancelled{false};
    std::optional<Clock::time_point> deadline;
  };

  explicit CancellationToken(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

class CancellationSource {
 public:
  CancellationSource();
  static CancellationSource WithDeadline(std::chrono::steady_clock::time_point deadline);
  static CancellationSource WithTimeout(std::chrono::steady_clock::duration timeout);

  // May be called from any thread and, since it only stores a lock-free flag, from a signal
  // handler.
  void Cancel() noexcept;

  CancellationToken token() const { return CancellationToken(state_); }

 private:
  std::shared_ptr<CancellationToken::State> state_;
};

}  // namespace rml::core
