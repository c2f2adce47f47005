// Every command of `rml`: each function adds one to the parser. One file per command.
#pragma once

#include "rml/cli/arg_parser.h"

namespace rml::cli {

void AddPullCommand(ArgParser& rml);
void AddInspectCommand(ArgParser& rml);
void AddTokenizeCommand(ArgParser& rml);
void AddGenerateCommand(ArgParser& rml);
void AddChatCommand(ArgParser& rml);
void AddBenchCommand(ArgParser& rml);
void AddOpsCommand(ArgParser& rml);

}  // namespace rml::cli
