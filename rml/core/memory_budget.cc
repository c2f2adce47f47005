#include "rml/core/memory_budget.h"

#include <utility>

#include "rml/core/check.h"
#include "rml/core/format_bytes.h"

namespace rml::core {

Status MemoryBudget::Reserve(int64_t bytes, std::string_view what) {
  if (bytes < 0) return InvalidArgument(what, " asked for ", bytes, " bytes of memory");
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) {
      return ResourceExhausted(what, " needs ", FormatBytes(bytes),
                               ", but of the memory budget of ", FormatBytes(limit_), " only ",
                               FormatBytes(limit_ - used), " is left (", FormatBytes(used),
                               " used): raise the limit or free something");
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  const int64_t now = used + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return {};
}

void MemoryBudget::Release(int64_t bytes) {
  const int64_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
  RML_CHECK(bytes >= 0 && before >= bytes);
}

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Reset();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Reservation::Reset() {
  if (budget_ != nullptr) budget_->Release(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

}  // namespace rml::core
