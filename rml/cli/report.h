// How commands end: failures on stderr as one sentence, and the exit code that goes with them.
#pragma once

#include "rml/core/status.h"

namespace rml::cli {

// Prints "rml: <message>" and returns kExitFailed; for an ok status prints nothing and returns
// kExitOk.
int ExitWith(const core::Status& status);

// True when stderr is a terminal: progress lines are for people.
bool StderrIsTerminal();
bool StdinIsTerminal();

}  // namespace rml::cli
