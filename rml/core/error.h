// The one exception type of the expression layer (operators on variables, forward, bindings).
#pragma once

#include <stdexcept>

#include "rml/core/status.h"

namespace rml {

class Error : public std::runtime_error {
 public:
  explicit Error(core::Status status);

  const core::Status& status() const { return status_; }

 private:
  core::Status status_;
};

}  // namespace rml
