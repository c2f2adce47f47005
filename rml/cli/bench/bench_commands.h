// What `rml bench` can measure: each function adds one command to it.
#pragma once

#include "rml/cli/arg_parser.h"

namespace rml::cli {

void AddBenchLlmCommand(ArgParser& bench);
void AddBenchKernelsCommand(ArgParser& bench);

}  // namespace rml::cli
