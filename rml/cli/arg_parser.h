// ArgParser: declares a command's options once (names, help, default, where the value goes) and
// parses them. A thin face on CLI11, which is included in one .cc only.
//
// Names are comma separated: "-n,--predict". Names of several letters behind one dash, which
// llama.cpp's users know ("-sys", "-ub"), work too. Usage errors exit with 2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

class ArgParser {
 public:
  ArgParser(std::string_view description, std::string_view version);
  ~ArgParser();
  ArgParser(ArgParser&&) noexcept;
  ArgParser& operator=(ArgParser&&) noexcept = delete;

  // A command inside this one. `run` is called when it was the one chosen; `example` closes --help.
  ArgParser Command(std::string_view name, std::string_view description, std::string_view example);
  void SetRun(std::function<int()> run);

  // The present value is the default that --help shows.
  void Add(std::string_view names, std::string* value, std::string_view help);
  void Add(std::string_view names, std::optional<std::string>* value,
           std::string_view help);  // "" counts as given
  void Add(std::string_view names, int* value, std::string_view help);
  void Add(std::string_view names, int64_t* value, std::string_view help);
  void Add(std::string_view names, float* value, std::string_view help);
  void Add(std::string_view names, std::vector<std::string>* values,
           std::string_view help);  // repeatable
  void Flag(std::string_view names, bool* value, std::string_view help);
  void Positional(std::string_view name, std::string* value, std::string_view help, bool required);

  // Parses and runs; returns the exit code. Errors go to stderr as one sentence.
  int Main(int argc, const char* const* argv);

 private:
  struct Impl;
  struct Node;
  explicit ArgParser(std::shared_ptr<Impl> impl, Node* node)
      : impl_(std::move(impl)), node_(node) {}

  std::shared_ptr<Impl> impl_;
  Node* node_;
};

}  // namespace rml::cli
