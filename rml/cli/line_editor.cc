#include "rml/cli/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
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
  sigset_t while_waiting = {};  // the signal mask while no key is there

  static Impl& Of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<Impl*>(self);
  }
  static char* Prompt(EditLine* editor) { return Of(editor).prompt.data(); }

  // One character, for libedit: 1, 0 at the end of input, -1 with errno. Ctrl-C may come only here,
  // where it ends the wait; one that came between two reads would be forgotten.
  static int ReadCharacter(EditLine* editor, wchar_t* character) {
    std::mbstate_t state = {};
    for (;;) {
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      if (ppoll(&input, 1, nullptr, &Of(editor).while_waiting) < 0) return -1;
      char byte = 0;
      const ssize_t count = read(STDIN_FILENO, &byte, 1);
      if (count <= 0) return static_cast<int>(count);
      const size_t length = std::mbrtowc(character, &byte, 1, &state);
      if (length == 0 || length == 1) return 1;
      if (length == static_cast<size_t>(-1)) state = {};  // no character: drop the byte
    }
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
  el_set(impl_->editor, EL_GETCFN, &Impl::ReadCharacter);
  el_set(impl_->editor, EL_EDITOR, "emacs");
  el_set(impl_->editor, EL_HIST, history, impl_->history);
  // Else the terminal drops what is printed while it handles Ctrl-C: the next prompt, with bad
  // luck.
  el_set(impl_->editor, EL_SETTY, "-d", "+noflsh", nullptr);
  el_set(impl_->editor, EL_SETTY, "-x", "+noflsh", nullptr);
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
  sigset_t interrupt = {};
  sigset_t before = {};
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  impl_->while_waiting = before;
  el_set(impl_->editor, EL_PREP_TERM, 1);  // before the prompt: who sees it may type Ctrl-D
  int count = 0;
  errno = 0;
  const char* text = el_gets(impl_->editor, &count);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (text == nullptr || count <= 0) {
    if (error != EINTR) return std::nullopt;  // end of input
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
