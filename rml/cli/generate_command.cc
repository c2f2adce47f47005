#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "rml/cli/commands.h"
#include "rml/cli/model_options.h"
#include "rml/cli/report.h"
#include "rml/cli/runner.h"
#include "rml/cli/sampling_options.h"
#include "rml/cli/text_input.h"
#include "rml/io/json.h"
#include "rml/llm/generate.h"

namespace rml::cli {

namespace {

using core::Expected;
using core::Status;

struct GenerateCommand {
  RunnerOptions runner;
  ModelOptions model;
  SamplingOptions sampling;
  TextInput prompt{.option = "--prompt"};
  bool escape = false;
  bool no_display_prompt = false;
  bool no_special = false;
  bool json = false;
  bool quiet = false;

  void AddTo(ArgParser& parser);
  Status Run() const;
};

void GenerateCommand::AddTo(ArgParser& parser) {
  model.AddTo(parser);
  runner.AddTo(parser);
  parser.Add("-p,--prompt", &prompt.text,
             "The text to continue (else --file, else standard input)");
  parser.Add("-f,--file", &prompt.file, "Read the prompt from this file");
  parser.Flag("-e,--escape", &escape,
              "Take \\n, \\t, \\xHH … in the prompt for what they stand for");
  sampling.AddTo(parser);
  parser.Flag("--no-special", &no_special,
              "Do not put the model's BOS token in front of the prompt");
  parser.Flag("--no-display-prompt", &no_display_prompt, "Print only what is generated");
  parser.Flag("--json", &json, "Print one JSON object at the end instead of text");
  parser.Flag("-q,--quiet", &quiet, "No line of statistics on standard error");
}

io::Json ToJson(const llm::GenerateResult& result, double load_seconds, uint64_t seed) {
  io::Json ids = io::Json::MakeArray();
  for (const text::TokenId id : result.ids) ids.Append(id);
  io::Json out = io::Json::MakeObject();
  out.Set("text", result.text);
  out.Set("ids", std::move(ids));
  out.Set("prompt_tokens", result.prompt_tokens);
  out.Set("tokens", static_cast<int64_t>(result.ids.size()));
  out.Set("prompt_tokens_per_s", result.prompt_tokens_per_second());
  out.Set("tokens_per_s", result.tokens_per_second());
  out.Set("load_s", load_seconds);
  out.Set("stop_reason", llm::StopReasonName(result.reason));
  out.Set("seed", static_cast<int64_t>(seed));
  return out;
}

Status GenerateCommand::Run() const {
  const llm::GenerateOptions options = sampling.Resolve();
  RML_TRY(llm::Validate(options.sampler));
  RML_ASSIGN(std::string text, prompt.Read());
  if (escape) text = Unescape(text);
  RML_ASSIGN(const std::unique_ptr<Runner> run, Runner::Make(runner));

  const auto start = std::chrono::steady_clock::now();
  RML_ASSIGN(const std::shared_ptr<llm::Engine> engine, LoadEngine(model, 1, *run));
  const std::chrono::duration<double> load = std::chrono::steady_clock::now() - start;

  RML_ASSIGN(const auto ids, engine->tokenizer()->Encode(text, {.add_special = !no_special}));
  engine->SetCancellation(run->NewInterrupt());
  llm::Session session = engine->NewSession();
  if (!json && !no_display_prompt) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  RML_ASSIGN(const llm::GenerateResult result,
             llm::Generate(session, ids, options, [&](std::string_view piece) {
               if (!json) {
                 std::fwrite(piece.data(), 1, piece.size(), stdout);
                 std::fflush(stdout);
               }
               return !run->interrupted();
             }));
  if (json) {
    std::puts(ToJson(result, load.count(), options.sampler.seed).Dump(2).c_str());
  } else {
    std::putchar('\n');
    std::fflush(stdout);
  }
  if (!json && !quiet) {
    std::fprintf(stderr,
                 "[load %.2f s | prompt %lld tokens, %.1f tokens/s | generated %lld tokens, %.1f "
                 "tokens/s | %s]\n",
                 load.count(), static_cast<long long>(result.prompt_tokens),
                 result.prompt_tokens_per_second(), static_cast<long long>(result.ids.size()),
                 result.tokens_per_second(),
                 std::string(llm::StopReasonName(result.reason)).c_str());
  }
  if (std::ferror(stdout) != 0) return core::IoError("standard output", errno);
  return {};
}

}  // namespace

void AddGenerateCommand(ArgParser& rml) {
  ArgParser parser = rml.Command("generate", "Continue a text",
                                 "rml generate -m smollm2-135m -p \"The sea is\" -n 64 --temp 0");
  const auto command = std::make_shared<GenerateCommand>();
  command->AddTo(parser);
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
