// LineEditor: reads lines from a person with editing and history (kept between runs), or plain
// lines from a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace rml::cli {

class LineEditor {
 public:
  explicit LineEditor(std::string prompt);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line without its newline; nothing at the end of the input. A line that
  // Ctrl-C (caught, without SA_RESTART) breaks off is empty.
  std::optional<std::string> Read();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::cli
