// The options that say which model runs and how, common to every command that runs one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rml/cli/arg_parser.h"
#include "rml/cli/runner.h"
#include "rml/core/expected.h"
#include "rml/llm/engine.h"

namespace rml::cli {

struct ModelOptions {
  std::string model;       // a file, a folder, or the name of a model that `rml pull` fetched
  std::string positional;  // the same, without an option
  int64_t context = 0;
  int64_t batch = 512;
  std::string cache_type = "f16";

  // Adds -m/--model, the positional MODEL, -c, -b and --cache-type.
  void AddTo(ArgParser& parser);

  // The model that was given, in whichever way; empty when none was.
  core::Expected<std::string> Model() const;
  core::Expected<llm::EngineOptions> ToEngineOptions(int max_sequences) const;
};

// The file of a model argument: a path that exists, or else a known name in the cache. The error
// says how to fetch a known model, or which names there are.
core::Expected<std::string> ResolveModel(const std::string& model);

// Loads the model, or the embedded one when none is given (and says so on stderr).
core::Expected<std::shared_ptr<llm::Engine>> LoadEngine(const ModelOptions& options,
                                                        int max_sequences, const Runner& runner);

}  // namespace rml::cli
