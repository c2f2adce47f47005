// What `rml bench kernels` measured, as a table for people and as JSON for reports.
#pragma once

#include <string>
#include <vector>

#include "rml/io/json.h"
#include "rml/ir/cost.h"
#include "rml/kernels/limits.h"

namespace rml::cli {

struct Timing {
  std::string name;  // "cpu:gemm", "torch"
  bool peer = false;
  double seconds = 0;          // of one call, the median of the rounds; 0: it did not run
  std::vector<double> rounds;  // seconds of one call in each
  std::string refused;         // why it did not run, or is not to be compared
};

struct CaseResult {
  std::string name;
  std::string op;
  bool generated = false;
  int threads = 1;
  ir::Cost cost;
  double limit_seconds = 0;  // what the machine's limits leave
  bool memory_limited = false;
  std::vector<Timing> timings;  // the first is the one that counts
};

// The least time that the machine's limits leave for the cost: the arithmetic at `peak`, or the
// bytes at the bandwidth of the level that holds them all. 0 where no limit is known.
double LimitSeconds(const ir::Cost& cost, double peak, const kernels::MachineLimits& limits,
                    int threads, bool* memory_limited);

std::string ResultsTable(const std::vector<CaseResult>& results);
io::Json ResultsJson(const std::vector<CaseResult>& results);
io::Json LimitsJson(const kernels::MachineLimits& limits, int threads);
// CPU, ISA, caches, date and version.
io::Json MachineJson();

}  // namespace rml::cli
