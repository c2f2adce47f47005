// Which providers a run asks, and in which order.
#pragma once

#include <string_view>

#include "rml/core/expected.h"
#include "rml/ops/provider.h"

namespace rml::ops {

// All of them; or the one that `name`, or else the variable RML_PROVIDER, pins. An unknown name is
// an error that lists those that there are.
core::Expected<ProviderList> PinProvider(const ProviderList& all, std::string_view name);

}  // namespace rml::ops
