// Samples of scan, if, while and fused, whose graphs state the dtypes of their values.
#pragma once

#include <vector>

#include "rml/ir/sample.h"

namespace rml::ops {

std::vector<ir::Sample> ScanLoopSamples();
std::vector<ir::Sample> IfSamples();
std::vector<ir::Sample> WhileSamples();
std::vector<ir::Sample> FusedSamples();

}  // namespace rml::ops
