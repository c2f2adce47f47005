#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "rml/cli/commands.h"
#include "rml/cli/inspection.h"
#include "rml/cli/model_options.h"
#include "rml/cli/report.h"

namespace rml::cli {

namespace {

using core::Status;

struct InspectCommand {
  std::string file;
  int64_t context = 0;
  bool json = false;
  bool tensors = false;

  Status Run() const;
};

Status InspectCommand::Run() const {
  RML_ASSIGN(const std::string path, ResolveModel(file));
  RML_ASSIGN(const Inspection inspection, Inspect(path, context));
  if (json) {
    std::puts(inspection.ToJson().Dump(2).c_str());
  } else {
    std::fputs(inspection.ToText(tensors).c_str(), stdout);
  }
  return {};
}

}  // namespace

void AddInspectCommand(ArgParser& rml) {
  ArgParser parser =
      rml.Command("inspect", "Show what a model file holds and what running it will need",
                  "rml inspect smollm2-135m --tensors");
  const auto command = std::make_shared<InspectCommand>();
  parser.Positional(
      "FILE", &command->file,
      "A GGUF or safetensors file, a Hugging Face folder, or the name of a pulled model", true);
  parser.Add("-c,--ctx-size", &command->context,
             "Context length to estimate memory for (0: the default of a run)");
  parser.Flag("--tensors", &command->tensors, "List every tensor");
  parser.Flag("--json", &command->json, "Print one JSON object with everything");
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
