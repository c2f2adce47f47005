#include "rml/cli/arg_parser.h"
#include "rml/cli/commands.h"
#include "rml/cli/version.h"

int main(int argc, char** argv) {
  rml::cli::ArgParser rml("rml: run, measure and serve models", rml::cli::VersionText());
  rml::cli::AddPullCommand(rml);
  rml::cli::AddInspectCommand(rml);
  rml::cli::AddTokenizeCommand(rml);
  rml::cli::AddGenerateCommand(rml);
  rml::cli::AddChatCommand(rml);
  rml::cli::AddBenchCommand(rml);
  rml::cli::AddOpsCommand(rml);
  return rml.Main(argc, argv);
}
