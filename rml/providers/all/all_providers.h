// The providers that a run asks, in order: the one list, for whoever has no reason for another.
#pragma once

#include "rml/ops/provider.h"

namespace rml::providers {

// All that this build has.
ops::ProviderList AllProviders();

// Those that every build has: for what must not depend on the libraries that were found.
ops::ProviderList BuiltInProviders();

}  // namespace rml::providers
