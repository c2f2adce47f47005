#include "rml/providers/all/all_providers.h"

#include "rml/ops/reference.h"
#include "rml/providers/cpu/provider.h"

namespace rml::providers {

ops::ProviderList AllProviders() { return BuiltInProviders(); }

ops::ProviderList BuiltInProviders() { return {&cpu::CpuProvider(), &ops::ReferenceProvider()}; }

}  // namespace rml::providers
