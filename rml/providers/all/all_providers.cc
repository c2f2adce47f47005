#include "rml/providers/all/all_providers.h"

#include "rml/ops/reference.h"
#include "rml/providers/cpu/provider.h"
#if RML_HAS_PROVIDERS_ONEDNN
#include "rml/providers/onednn/provider.h"
#endif

namespace rml::providers {

// A library comes behind our own kernels and before the definitions: it takes what we have no
// kernel for yet, and a result changes with the libraries of a machine only where it would
// otherwise wait for the reference. All that both have is matmul, and there oneDNN 2.6 is the
// faster on AVX2 by a fifth (512 to 1024), by half (64) and, until ours reads b where it is, by far
// for one row: too little to make the answers of a build depend on it.
ops::ProviderList AllProviders() {
  ops::ProviderList list = BuiltInProviders();
#if RML_HAS_PROVIDERS_ONEDNN
  list.insert(list.end() - 1, &onednn::OneDnnProvider());
#endif
  return list;
}

ops::ProviderList BuiltInProviders() { return {&cpu::CpuProvider(), &ops::ReferenceProvider()}; }

}  // namespace rml::providers
