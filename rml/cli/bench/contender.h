// Contender: one way to compute a case that is timed beside others, a kernel in this process or a
// library in a worker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rml/cli/bench/kernel_case.h"
#include "rml/core/run_context.h"
#include "rml/ops/provider.h"

namespace rml::cli {

class Contender {
 public:
  virtual ~Contender() = default;
  // Calls for about so long; seconds for one call.
  virtual core::Expected<double> Time(double seconds) = 0;
  // The first output of the latest call.
  virtual core::Expected<core::Tensor> Output() = 0;
};

// A case with its values and what the operator makes of them. Does not move: calls point into it.
struct LoadedCase {
  LoadedCase(const KernelCase& c, std::vector<core::Tensor> values,
             std::vector<ir::OpCall::Input> types_of_inputs);
  LoadedCase(const LoadedCase&) = delete;
  LoadedCase& operator=(const LoadedCase&) = delete;
  static core::Expected<std::unique_ptr<LoadedCase>> Make(const KernelCase& c);

  const KernelCase& description;
  std::vector<core::Tensor> inputs;
  std::vector<ir::OpCall::Input> known;
  ir::OpCall call;
  ir::Types types;
  ir::Cost cost;
};

// The kernel prepared, warm, and with all memory it needs.
core::Expected<std::unique_ptr<Contender>> MakeKernelContender(const LoadedCase& c,
                                                               const ops::Kernel& kernel,
                                                               const core::RunContext& context);

}  // namespace rml::cli
