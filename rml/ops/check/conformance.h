// Conformance: an operator, and the kernels of a provider for it, through every check.
#pragma once

#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/ir/op_def.h"
#include "rml/ops/provider.h"

namespace rml::ops {

struct ConformanceOptions {
  bool quick = false;  // pairwise cases in place of the full product
  // Also the definition itself: inference, gradients, tracing, splits, aliases, devices.
  bool definition = true;
};

struct ConformanceReport {
  std::string op;
  int checks = 0;                     // that ran
  std::vector<std::string> kernels;   // of the provider, that ran at least once
  std::vector<std::string> failures;  // one sentence each
};

// `provider` may be null: then only the definition is checked. A registered kernel for which no
// case ran is a failure.
ConformanceReport CheckConformance(const ir::OpDef& op, const Provider* provider,
                                   const ConformanceOptions& options);

}  // namespace rml::ops
