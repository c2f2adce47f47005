#include "rml/cli/bench/bench_commands.h"
#include "rml/cli/commands.h"

namespace rml::cli {

void AddBenchCommand(ArgParser& rml) {
  ArgParser bench =
      rml.Command("bench", "Measure how fast things run", "rml bench llm --shape llama-3.2-1b");
  AddBenchLlmCommand(bench);
  AddBenchKernelsCommand(bench);
}

}  // namespace rml::cli
