// How much processor time the system's control groups grant this process, in cores: a container
// started with `--cpus=2` sees every core of its host in the affinity mask, and more than two busy
// threads only make it wait. Linux; elsewhere there is no limit.
#pragma once

#include <optional>
#include <string>

namespace rml::core {

// The smallest limit of the process's control group and its parents, version 2 or 1; nothing where
// none is set. `root` stands in front of /proc and /sys, for tests.
std::optional<double> CpuQuota(const std::string& root = "");

}  // namespace rml::core
