#include "rml/kernels/caches.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace rml::kernels {
namespace {

// "512K" as bytes; 0 where it is nothing of the kind.
int64_t Bytes(const std::string& text) {
  int64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && value < (int64_t{1} << 40); ++i)
    value = 10 * value + (text[i] - '0');
  if (i < text.size() && text[i] == 'K') return value << 10;
  if (i < text.size() && text[i] == 'M') return value << 20;
  return value;
}

std::string Line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Caches Read() {
  int64_t sizes[4] = {};
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int index = 0; index < 8; ++index) {
    const std::string entry = folder + std::to_string(index);
    const std::string level = Line(entry + "/level");
    if (level.size() != 1 || level[0] < '1' || level[0] > '3') continue;
    if (Line(entry + "/type") == "Instruction") continue;
    sizes[level[0] - '0'] = Bytes(Line(entry + "/size"));
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)  // glibc asks the processor; in containers /sys may be hidden
  const int names[4] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  for (int level = 1; level <= 3; ++level)
    if (sizes[level] <= 0) sizes[level] = std::max<int64_t>(0, sysconf(names[level]));
#endif
  Caches caches;
  if (sizes[1] > 0) caches.l1 = sizes[1];
  if (sizes[2] > 0) caches.l2 = sizes[2];
  caches.l3 = sizes[3] > 0 ? sizes[3] : caches.l2;
  return caches;
}

}  // namespace

const Caches& MachineCaches() {
  static const Caches caches = Read();
  return caches;
}

}  // namespace rml::kernels
