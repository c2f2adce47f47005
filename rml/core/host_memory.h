// Raw host memory: blocks aligned to 64 bytes; from 2 MiB on their own mapping, aligned to 2 MiB
// and advised to use huge pages (reading weights through them is up to a third faster), whose pages
// go back to the system when freed. Buffers use this through CpuDevice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rml/core/expected.h"

namespace rml::core {

inline constexpr int64_t kHugePageBytes = int64_t{2} << 20;

Expected<std::byte*> AllocateHostMemory(int64_t bytes);
void FreeHostMemory(std::byte* block, int64_t bytes) noexcept;  // `bytes` as given to Allocate

}  // namespace rml::core
