#include "rml/cli/report.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "rml/cli/arg_parser.h"

namespace rml::cli {

int ExitWith(const core::Status& status) {
  if (status.ok()) return kExitOk;
  std::fflush(stdout);
  std::fprintf(stderr, "rml: %s\n", std::string(status.message()).c_str());
  return kExitFailed;
}

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }
bool StdinIsTerminal() { return isatty(STDIN_FILENO) == 1; }

}  // namespace rml::cli
