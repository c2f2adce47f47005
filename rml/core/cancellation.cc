#include "rml/core/cancellation.h"

namespace rml::core {

static_assert(std::atomic<bool>::is_always_lock_free, "Cancel() is called from signal handlers");

bool CancellationToken::IsCancelled() const {
  if (state_ == nullptr) return false;
  if (state_->cancelled.load(std::memory_order_acquire)) return true;
  return state_->deadline && Clock::now() >= *state_->deadline;
}

Status CancellationToken::Check() const {
  if (!IsCancelled()) return {};
  if (state_->cancelled.load(std::memory_order_acquire))
    return Cancelled("cancelled by the caller");
  return Cancelled("the time limit has passed");
}

CancellationSource::CancellationSource() : state_(std::make_shared<CancellationToken::State>()) {}

CancellationSource CancellationSource::WithDeadline(
    std::chrono::steady_clock::time_point deadline) {
  CancellationSource source;
  source.state_->deadline = deadline;
  return source;
}

CancellationSource CancellationSource::WithTimeout(std::chrono::steady_clock::duration timeout) {
  const auto now = std::chrono::steady_clock::now();
  const auto longest = std::chrono::steady_clock::time_point::max() - now;
  return WithDeadline(timeout > longest ? std::chrono::steady_clock::time_point::max()
                                        : now + timeout);
}

void CancellationSource::Cancel() noexcept {
  state_->cancelled.store(true, std::memory_order_release);
}

}  // namespace rml::core
