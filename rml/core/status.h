// Status: the outcome of what can fail because of the world (files, bytes, configuration, memory,
// peers). A message is one sentence: what is wrong, where (file, key, byte), what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rml/core/strcat.h"

namespace rml::core {

enum class StatusCode : uint8_t {
  kOk,
  kCancelled,           // the caller asked to stop
  kInvalidArgument,     // the caller's request makes no sense
  kNotFound,            // a file, key or name is missing
  kOutOfRange,          // an index or a position past the end (a context longer than the model's)
  kResourceExhausted,   // memory budget, disk space
  kFailedPrecondition,  // right call, wrong time
  kUnsupported,         // valid, and not something rml can do
  kDataLoss,            // bytes from outside are malformed or truncated
  kIo,                  // the operating system refused
  kInternal,            // our own fault
};

std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::kOk : rep_->code; }
  std::string_view message() const { return ok() ? std::string_view() : rep_->message; }

  // The same failure with "where: " in front of its message; an ok status stays ok.
  Status WithContext(std::string_view where) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;  // null when ok, so that success costs one pointer
};

inline Status OkStatus() { return {}; }

#define RML_STATUS_MAKER(Name)                           \
  template <typename... Args>                            \
  Status Name(const Args&... args) {                     \
    return Status(StatusCode::k##Name, StrCat(args...)); \
  }
RML_STATUS_MAKER(Cancelled)
RML_STATUS_MAKER(InvalidArgument)
RML_STATUS_MAKER(NotFound)
RML_STATUS_MAKER(OutOfRange)
RML_STATUS_MAKER(ResourceExhausted)
RML_STATUS_MAKER(FailedPrecondition)
RML_STATUS_MAKER(Unsupported)
RML_STATUS_MAKER(DataLoss)
RML_STATUS_MAKER(Internal)
#undef RML_STATUS_MAKER

// An operating-system failure: "what: strerror(error_number)".
Status IoError(std::string_view what, int error_number);

}  // namespace rml::core
