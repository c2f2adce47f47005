#include "rml/core/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace rml::core {

namespace {

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> ParseMicroseconds(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> Cores(std::string_view quota, std::string_view period) {
  const std::optional<double> numerator = ParseMicroseconds(quota);  // "max" and -1 are no limit
  const std::optional<double> denominator = ParseMicroseconds(period);
  if (!numerator || !denominator) return std::nullopt;
  return *numerator / *denominator;
}

// Version 2: one file, "quota period".
std::optional<double> LimitOfGroupV2(const std::string& folder) {
  const std::string line = ReadLine(folder + "/cpu.max");
  const size_t space = line.find(' ');
  if (space == std::string::npos) return std::nullopt;
  return Cores(std::string_view(line).substr(0, space), std::string_view(line).substr(space + 1));
}

std::optional<double> LimitOfGroupV1(const std::string& folder) {
  return Cores(ReadLine(folder + "/cpu.cfs_quota_us"), ReadLine(folder + "/cpu.cfs_period_us"));
}

// A limit of any parent binds its children.
template <typename Limit>
std::optional<double> SmallestUpwards(const std::string& mount, std::string group, Limit limit) {
  std::optional<double> smallest;
  for (;;) {
    if (const auto here = limit(mount + group))
      smallest = std::min(*here, smallest.value_or(*here));
    if (group.empty() || group == "/") return smallest;
    group.resize(group.rfind('/'));
  }
}

bool HasController(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == wanted) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<double> CpuQuota(const std::string& root) {
  std::optional<double> smallest;
  std::ifstream groups(root + "/proc/self/cgroup");
  // Lines of "hierarchy:controllers:/group"; version 2 is the hierarchy without controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    std::optional<double> limit;
    if (controllers.empty()) {
      limit = SmallestUpwards(mount, group, LimitOfGroupV2);
    } else if (HasController(controllers, "cpu")) {
      limit = SmallestUpwards(mount + "/cpu", group, LimitOfGroupV1);
    }
    if (limit) smallest = std::min(*limit, smallest.value_or(*limit));
  }
  return smallest;
}

}  // namespace rml::core
