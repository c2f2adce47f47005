// Expected<T>: a value or the Status that explains its absence, with std::expected's member names,
// and the two macros that pass failures up.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rml/core/check.h"
#include "rml/core/status.h"

namespace rml::core {

template <typename T>
class [[nodiscard]] Expected {
 public:
  using value_type = T;

  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) { RML_CHECK(!status_.ok()); }
  template <typename U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Expected>) Expected(U&& value)
      : value_(std::forward<U>(value)) {}

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  bool ok() const { return has_value(); }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Expected*>(this)->Checked(); }
  // By value, so that `for (x : *F())` keeps what F returned alive.
  T value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(Checked()); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

  const Status& error() const { return status_; }  // ok when there is a value
  const Status& status() const { return status_; }

  template <typename U>
  T value_or(U&& fallback) const& {
    return has_value() ? *value_ : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  T& Checked() {
    RML_CHECK(value_.has_value());
    return *value_;
  }

  std::optional<T> value_;
  Status status_;
};

// So that RML_TRY takes either kind.
inline const Status& AsStatus(const Status& status) { return status; }
template <typename T>
const Status& AsStatus(const Expected<T>& expected) {
  return expected.status();
}

}  // namespace rml::core

#define RML_CONCAT_INNER(a, b) a##b
#define RML_CONCAT(a, b) RML_CONCAT_INNER(a, b)

// RML_TRY(DoIt());  returns the failure of a Status or Expected expression.
#define RML_TRY(...)                                                 \
  do {                                                               \
    if (auto&& rml_try_result = (__VA_ARGS__); !rml_try_result.ok()) \
      return ::rml::core::AsStatus(rml_try_result);                  \
  } while (false)

// RML_ASSIGN(auto x, MakeX());  assigns the value, or returns the failure.
#define RML_ASSIGN(lhs, ...) RML_ASSIGN_INNER(RML_CONCAT(rml_assign_, __LINE__), lhs, (__VA_ARGS__))
#define RML_ASSIGN_INNER(temporary, lhs, expression) \
  auto temporary = expression;                       \
  if (!temporary.ok()) return temporary.status();    \
  lhs = *std::move(temporary)
