// The sizes of this machine's data caches, from which the kernels' blocks follow: read, never
// assumed.
#pragma once

#include <cstdint>

namespace rml::kernels {

struct Caches {
  int64_t l1 = 32 << 10;   // bytes of first-level data cache, of one core
  int64_t l2 = 512 << 10;  // bytes of second-level cache, of one core
  int64_t l3 =
      8 << 20;  // bytes of the last level, of all cores that share it; l2 where there is none
};

// What the system says of the first processor, read once; the values above where it says nothing.
const Caches& MachineCaches();

}  // namespace rml::kernels
