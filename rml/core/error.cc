#include "rml/core/error.h"

#include <string>
#include <utility>

namespace rml {

Error::Error(core::Status status)
    : std::runtime_error(std::string(status.message())), status_(std::move(status)) {}

}  // namespace rml
