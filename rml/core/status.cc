#include "rml/core/status.h"

#include <system_error>
#include <utility>

namespace rml::core {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kNotFound:
      return "not found";
    case StatusCode::kOutOfRange:
      return "out of range";
    case StatusCode::kResourceExhausted:
      return "resource exhausted";
    case StatusCode::kFailedPrecondition:
      return "failed precondition";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kDataLoss:
      return "data loss";
    case StatusCode::kIo:
      return "i/o error";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message)
    : rep_(code == StatusCode::kOk ? nullptr : std::make_unique<Rep>(code, std::move(message))) {}

Status::Status(const Status& other)
    : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

Status Status::WithContext(std::string_view where) const {
  if (ok()) return {};
  return Status(rep_->code, StrCat(where, ": ", rep_->message));
}

Status IoError(std::string_view what, int error_number) {
  const StatusCode code = error_number == ENOENT ? StatusCode::kNotFound
                          : error_number == ENOSPC || error_number == EDQUOT
                              ? StatusCode::kResourceExhausted
                              : StatusCode::kIo;
  return Status(code, StrCat(what, ": ", std::generic_category().message(error_number)));
}

}  // namespace rml::core
