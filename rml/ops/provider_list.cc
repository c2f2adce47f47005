#include "rml/ops/provider_list.h"

#include <cstdlib>

namespace rml::ops {

core::Expected<ProviderList> PinProvider(const ProviderList& all, std::string_view name) {
  const char* const pinned = std::getenv("RML_PROVIDER");
  const bool from_environment = name.empty() && pinned != nullptr;
  if (from_environment) name = pinned;
  if (name.empty()) return all;
  std::string names;
  for (const Provider* provider : all) {
    if (provider->name() == name) return ProviderList{provider};
    names += core::StrCat(names.empty() ? "" : ", ", provider->name());
  }
  return core::NotFound(from_environment ? "RML_PROVIDER: " : "", "there is no provider \"", name,
                        "\"; there are ", names);
}

}  // namespace rml::ops
