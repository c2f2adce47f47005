#include "rml/cli/arg_parser.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <map>
#include <utility>

namespace rml::cli {

struct ArgParser::Node {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

struct ArgParser::Impl {
  CLI::App root;
  std::deque<Node> nodes;                      // the root first; addresses stay
  std::map<std::string, std::string> aliases;  // "-sys" -> "--system-prompt"

  // CLI11 knows one letter behind one dash: longer ones are kept as aliases of the long name.
  std::string Names(std::string_view names) {
    std::string kept;
    std::string long_name;
    std::vector<std::string> odd;
    for (size_t begin = 0; begin <= names.size();) {
      const size_t end = std::min(names.find(',', begin), names.size());
      const std::string name(names.substr(begin, end - begin));
      begin = end + 1;
      if (name.size() > 2 && name[0] == '-' && name[1] != '-') {
        odd.push_back(name);
        continue;
      }
      if (name.starts_with("--") && long_name.empty()) long_name = name;
      kept += (kept.empty() ? "" : ",") + name;
    }
    for (const std::string& name : odd) aliases[name] = long_name;
    return kept;
  }
};

ArgParser::ArgParser(std::string_view description, std::string_view version)
    : impl_(std::make_shared<Impl>()) {
  impl_->root.name("rml");
  impl_->root.description(std::string(description));
  impl_->root.set_version_flag("--version", std::string(version), "Print the version and exit");
  impl_->root.set_help_flag("-h,--help", "Print this help and exit");
  impl_->nodes.push_back({&impl_->root, nullptr});
  node_ = &impl_->nodes.front();
}

ArgParser::~ArgParser() = default;
ArgParser::ArgParser(ArgParser&&) noexcept = default;

ArgParser ArgParser::Command(std::string_view name, std::string_view description,
                             std::string_view example) {
  CLI::App* app = node_->app->add_subcommand(std::string(name), std::string(description));
  app->set_help_flag("-h,--help", "Print this help and exit");
  if (!example.empty()) app->footer("Example:\n  " + std::string(example));
  impl_->nodes.push_back({app, nullptr});
  return ArgParser(impl_, &impl_->nodes.back());
}

void ArgParser::SetRun(std::function<int()> run) { node_->run = std::move(run); }

void ArgParser::Add(std::string_view names, std::string* value, std::string_view help) {
  auto* option = node_->app->add_option(impl_->Names(names), *value, std::string(help));
  if (!value->empty()) option->capture_default_str();
}
void ArgParser::Add(std::string_view names, std::optional<std::string>* value,
                    std::string_view help) {
  node_->app->add_option_function<std::string>(
      impl_->Names(names), [value](const std::string& given) { *value = given; },
      std::string(help));
}
void ArgParser::Add(std::string_view names, int* value, std::string_view help) {
  node_->app->add_option(impl_->Names(names), *value, std::string(help))->capture_default_str();
}
void ArgParser::Add(std::string_view names, int64_t* value, std::string_view help) {
  node_->app->add_option(impl_->Names(names), *value, std::string(help))->capture_default_str();
}
void ArgParser::Add(std::string_view names, float* value, std::string_view help) {
  node_->app->add_option(impl_->Names(names), *value, std::string(help))->capture_default_str();
}
void ArgParser::Add(std::string_view names, std::vector<std::string>* values,
                    std::string_view help) {
  node_->app->add_option(impl_->Names(names), *values, std::string(help))->allow_extra_args(false);
}
void ArgParser::Flag(std::string_view names, bool* value, std::string_view help) {
  node_->app->add_flag(impl_->Names(names), *value, std::string(help));
}
void ArgParser::Positional(std::string_view name, std::string* value, std::string_view help,
                           bool required) {
  node_->app->add_option(std::string(name), *value, std::string(help))->required(required);
}

int ArgParser::Main(int argc, const char* const* argv) {
  std::vector<std::string> arguments;  // CLI11 takes them last first
  bool literal = false;                // behind "--" nothing is an option
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    literal = literal || argument == "--";
    const auto alias = impl_->aliases.find(argument);
    arguments.insert(arguments.begin(), !literal && alias != impl_->aliases.end()
                                            ? alias->second
                                            : std::move(argument));
  }
  try {
    impl_->root.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return impl_->root.exit(error);  // help, version
    std::fprintf(stderr, "rml: %s; see rml --help\n", error.what());
    return kExitUsage;
  }
  // The innermost command that was chosen runs; a group without one shows its help.
  Node* chosen = &impl_->nodes.front();
  for (Node& node : impl_->nodes) {
    if (node.app->parsed()) chosen = &node;
  }
  if (!chosen->run) {
    std::fputs(chosen->app->help().c_str(), stderr);
    return kExitUsage;
  }
  return chosen->run();
}

}  // namespace rml::cli
