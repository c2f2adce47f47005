#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "rml/cli/commands.h"
#include "rml/cli/line_editor.h"
#include "rml/cli/model_options.h"
#include "rml/cli/report.h"
#include "rml/cli/runner.h"
#include "rml/cli/sampling_options.h"
#include "rml/cli/text_input.h"
#include "rml/io/file_writer.h"
#include "rml/io/mapped_file.h"
#include "rml/llm/conversation.h"

namespace rml::cli {

namespace {

using core::Status;

constexpr std::string_view kHelp =
    "/reset          forget the conversation\n"
    "/save FILE      write it as JSON\n"
    "/load FILE      go on with one that was saved\n"
    "/stats          tokens and speed of the last answer\n"
    "/help           this list\n"
    "/exit           leave (also Ctrl-D)\n"
    "Ctrl-C stops the answer. A line that ends in \\ goes on in the next.\n";

struct ChatCommand {
  RunnerOptions runner;
  ModelOptions model;
  SamplingOptions sampling;
  std::string system_prompt;
  std::string template_file;
  std::string prompt;
  bool single_turn = false;

  Status Run() const;
};

// One conversation on a terminal (or a pipe, where each line is a turn).
class ChatLoop {
 public:
  ChatLoop(std::shared_ptr<llm::Engine> engine, llm::Conversation conversation,
           const SamplingOptions& sampling, Runner& run)
      : engine_(std::move(engine)),
        conversation_(std::move(conversation)),
        options_(sampling.Resolve()),
        run_(run) {}

  Status Turn(std::string text) {
    engine_->SetCancellation(run_.NewInterrupt());
    auto answer = conversation_.Send(std::move(text), options_, [&](std::string_view piece) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
      return !run_.interrupted();
    });
    run_.EndInterrupt();
    RML_ASSIGN(last_, std::move(answer));
    std::printf("%s\n", last_.reason == llm::StopReason::kCancelled ? " [stopped]" : "");
    if (last_.reason == llm::StopReason::kContextFull) {
      std::fputs("rml: the context is full; /reset starts anew, -c or --context-shift make room\n",
                 stderr);
    }
    std::fflush(stdout);
    return {};
  }

  // Runs "/command argument"; false ends the loop.
  bool Command(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string argument = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "/exit" || name == "/quit") return false;
    if (name == "/reset") {
      conversation_.Reset();
    } else if (name == "/stats") {
      PrintStats();
    } else if (name == "/save") {
      Report(Save(argument));
    } else if (name == "/load") {
      Report(Load(argument));
    } else if (name == "/help") {
      std::printf("%s", std::string(kHelp).c_str());
    } else {
      std::fprintf(stderr, "rml: there is no command %s; /help lists them\n", name.c_str());
    }
    return true;
  }

 private:
  static void Report(const Status& status) { ExitWith(status); }

  Status Save(const std::string& path) const {
    if (path.empty()) return core::InvalidArgument("/save needs the name of a file");
    RML_TRY(io::WriteFile(path, conversation_.ToJson().Dump(2) + "\n"));
    std::printf("saved %zu messages to %s\n", conversation_.messages().size(), path.c_str());
    return {};
  }

  Status Load(const std::string& path) {
    if (path.empty()) return core::InvalidArgument("/load needs the name of a file");
    RML_ASSIGN(const io::Json messages, io::Json::ParseFile(path));
    if (const Status restored = conversation_.Restore(messages); !restored.ok())
      return restored.WithContext(path);
    std::printf("loaded %zu messages from %s\n", conversation_.messages().size(), path.c_str());
    return {};
  }

  void PrintStats() const {
    std::printf(
        "prompt: %lld tokens, %lld computed, %.1f tokens/s\nanswer: %zu tokens, %.1f tokens/s\n"
        "context: %lld of %lld tokens\n",
        static_cast<long long>(last_.prompt_tokens), static_cast<long long>(last_.prompt_computed),
        last_.prompt_tokens_per_second(), last_.ids.size(), last_.tokens_per_second(),
        static_cast<long long>(conversation_.tokens()),
        static_cast<long long>(conversation_.engine().options().context_length));
  }

  std::shared_ptr<llm::Engine> engine_;
  llm::Conversation conversation_;
  llm::GenerateOptions options_;
  Runner& run_;
  llm::GenerateResult last_;
};

Status ChatCommand::Run() const {
  RML_TRY(llm::Validate(sampling.Resolve().sampler));
  std::string template_source;
  if (!template_file.empty()) {
    RML_ASSIGN(template_source, io::ReadTextFile(template_file));
  }
  RML_ASSIGN(const std::unique_ptr<Runner> run, Runner::Make(runner));
  RML_ASSIGN(const std::shared_ptr<llm::Engine> engine, LoadEngine(model, 1, *run));
  RML_ASSIGN(llm::Conversation conversation,
             llm::Conversation::Start(engine, template_source, system_prompt));
  ChatLoop loop(engine, std::move(conversation), sampling, *run);

  if (!prompt.empty()) RML_TRY(loop.Turn(prompt));
  if (single_turn) {
    if (!prompt.empty()) return {};
    RML_ASSIGN(std::string text, ReadStandardInput());
    return loop.Turn(std::move(text));
  }

  if (StdinIsTerminal())
    std::printf("%s: /help lists the commands, Ctrl-D leaves\n", engine->spec().name.c_str());
  LineEditor editor("> ");
  run->EndInterrupt();
  while (std::optional<std::string> line = editor.Read()) {
    while (line->ends_with('\\')) {  // goes on in the next line
      line->back() = '\n';
      const std::optional<std::string> more = editor.Read();
      if (!more) break;
      *line += *more;
    }
    if (line->find_first_not_of(" \t\n") == std::string::npos) continue;
    if (line->starts_with('/')) {
      if (!loop.Command(*line)) break;
      continue;
    }
    if (const Status turn = loop.Turn(*std::move(line)); !turn.ok()) {
      if (!StdinIsTerminal()) return turn;
      ExitWith(turn);  // said; the conversation goes on without the turn
    }
  }
  return {};
}

}  // namespace

void AddChatCommand(ArgParser& rml) {
  ArgParser parser = rml.Command("chat", "Talk with a model", "rml chat smollm2-135m");
  const auto command = std::make_shared<ChatCommand>();
  command->model.AddTo(parser);
  command->runner.AddTo(parser);
  parser.Add("-p,--prompt", &command->prompt, "The first thing to say");
  parser.Add("--system-prompt,-sys", &command->system_prompt,
             "What the model is told before the conversation");
  parser.Add("--chat-template-file", &command->template_file,
             "A Jinja template in place of the model's own");
  parser.Flag("--single-turn,-st", &command->single_turn, "End after one answer");
  command->sampling.AddTo(parser);
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
