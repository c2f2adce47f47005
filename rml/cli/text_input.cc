#include "rml/cli/text_input.h"

#include <cerrno>
#include <cstdio>

#include "rml/cli/report.h"
#include "rml/io/mapped_file.h"

namespace rml::cli {

core::Expected<std::string> ReadStandardInput() {
  std::string text;
  char buffer[1 << 16];
  size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0) text.append(buffer, got);
  if (std::ferror(stdin) != 0) return core::IoError("standard input", errno);
  return text;
}

core::Expected<std::string> TextInput::Read() const {
  if (text && !file.empty()) {
    return core::InvalidArgument(option, " and --file both give a text; give one of them");
  }
  if (text) return *text;
  if (file == "-" || (file.empty() && !StdinIsTerminal())) return ReadStandardInput();
  if (!file.empty()) return io::ReadTextFile(file);
  return core::InvalidArgument("no text is given; use ", option, ", --file, or standard input");
}

}  // namespace rml::cli
