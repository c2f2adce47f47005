// Text that a command is given on the command line, in a file, or on standard input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rml/core/expected.h"

namespace rml::cli {

struct TextInput {
  std::string_view option;  // what gives the text itself, for messages: "--prompt"
  std::optional<std::string> text;
  std::string file;  // "-" is standard input

  // The text; standard input when neither is given and it is no terminal.
  core::Expected<std::string> Read() const;
};

core::Expected<std::string> ReadStandardInput();

}  // namespace rml::cli
