// The reference provider: runs the definitions themselves, in double and 64-bit integers, whatever
// the dtypes. It takes every call on every device (through copies), and is what all others are held
// to.
#pragma once

#include "rml/ops/provider.h"
#include "rml/ops/registry.h"

namespace rml::ops {

// Over the built-in operators.
const Provider& ReferenceProvider();
// Over the operators of a registry, which must outlive it.
std::unique_ptr<Provider> MakeReferenceProvider(const Registry& registry);

}  // namespace rml::ops
