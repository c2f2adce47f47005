// Which cores this process may use, and tying a thread to some of them. On systems without thread
// affinity every core of the machine is usable and pinning reports Unsupported.
#pragma once

#include <span>
#include <vector>

#include "rml/core/status.h"

namespace rml::core {

// The cores in the calling thread's affinity mask, ascending; never empty.
std::vector<int> UsableCoreIds();

// How many threads are worth running: the size of the affinity mask, or fewer where a control group
// grants less (rml/core/cpu_quota.h); at least 1.
int UsableCores();

// Restricts the calling thread to `cores`.
Status PinThisThread(std::span<const int> cores);

}  // namespace rml::core
