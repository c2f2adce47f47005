#include "rml/cli/line_editor.h"

#include <histedit.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "rml/cli/cache_folder.h"
#include "rml/cli/report.h"

namespace rml::cli {

namespace {

constexpr int kHistoryLines = 1000;

std::optional<std::string> ReadPlainLine() {
  std::string line;
  int c = 0;
  while ((c = std::fgetc(stdin)) != EOF) {
    if (c == '\n') return line;
    line += static_cast<char>(c);
  }
  if (line.empty()) return std::nullopt;
  return line;
}

}  // namespace

struct LineEditor::Impl {
  std::string prompt;
  std::string history_file;
  EditLine* editor = nullptr;  // null: the input is no terminal
  History* history = nullptr;
  HistEvent event = {};

  static char* Prompt(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<Impl*>(self)->prompt.data();
  }
};

LineEditor::LineEditor(std::string prompt) : impl_(std::make_unique<Impl>()) {
  impl_->prompt = std::move(prompt);
  if (!StdinIsTerminal()) return;
  impl_->editor = el_init("rml", stdin, stdout, stderr);
  if (impl_->editor == nullptr) return;
  impl_->history = history_init();
  history(impl_->history, &impl_->event, H_SETSIZE, kHistoryLines);
  history(impl_->history, &impl_->event, H_SETUNIQUE, 1);
  el_set(impl_->editor, EL_CLIENTDATA, impl_.get());
  el_set(impl_->editor, EL_PROMPT, &Impl::Prompt);
  el_set(impl_->editor, EL_EDITOR, "emacs");
  el_set(impl_->editor, EL_HIST, history, impl_->history);
  el_source(impl_->editor, nullptr);  // the user's ~/.editrc
  impl_->history_file = CacheFolder() + "/chat_history";
  history(impl_->history, &impl_->event, H_LOAD, impl_->history_file.c_str());
}

LineEditor::~LineEditor() {
  if (impl_->editor == nullptr) return;
  std::error_code
      ignored;  // history is a convenience: a folder that cannot be written costs nothing else
  std::filesystem::create_directories(CacheFolder(), ignored);
  history(impl_->history, &impl_->event, H_SAVE, impl_->history_file.c_str());
  history_end(impl_->history);
  el_end(impl_->editor);
}

std::optional<std::string> LineEditor::Read() {
  if (impl_->editor == nullptr) return ReadPlainLine();
  int count = 0;
  errno = 0;
  const char* text = el_gets(impl_->editor, &count);
  if (text == nullptr || count <= 0) {
    if (errno != EINTR) return std::nullopt;  // end of input
    std::fputs("^C\n", stdout);
    el_reset(impl_->editor);
    return "";
  }
  std::string line(text, static_cast<size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (!line.empty()) history(impl_->history, &impl_->event, H_ENTER, line.c_str());
  return line;
}

}  // namespace rml::cli
