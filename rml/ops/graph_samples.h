// Samples of scan and if, whose graphs state the dtypes of their values.
#pragma once

#include <vector>

#include "rml/ir/sample.h"

namespace rml::ops {

std::vector<ir::Sample> ScanLoopSamples();
std::vector<ir::Sample> IfSamples();

}  // namespace rml::ops
