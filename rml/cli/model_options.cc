#include "rml/cli/model_options.h"

#include <cstdio>
#include <filesystem>

#include "embedded/stories260k.h"
#include "rml/cli/pull/known_models.h"

namespace rml::cli {

using core::Expected;

void ModelOptions::AddTo(ArgParser& parser) {
  parser.Positional("MODEL", &positional,
                    "A GGUF file, a Hugging Face folder, or the name of a pulled model", false);
  parser.Add("-m,--model", &model,
             "The same, as an option (neither: a tiny model that is built in)");
  parser.Add("-c,--ctx-size", &context,
             "Context length in tokens (0: the model's own, at most 4096)");
  parser.Add("-b,--batch-size,-ub,--ubatch-size", &batch, "Tokens of a prompt computed at once");
  parser.Add("--cache-type,-ctk,--cache-type-k,-ctv,--cache-type-v", &cache_type,
             "Type of the KV cache: f16 or f32");
}

Expected<llm::EngineOptions> ModelOptions::ToEngineOptions(int max_sequences) const {
  const auto dtype = core::ParseDType(cache_type);
  if (!dtype)
    return core::InvalidArgument("--cache-type: '", cache_type,
                                 "' is no type; f16 and f32 are supported");
  return llm::EngineOptions{.context_length = context,
                            .max_sequences = max_sequences,
                            .batch_tokens = batch,
                            .cache_dtype = *dtype};
}

Expected<std::string> ModelOptions::Model() const {
  if (!model.empty() && !positional.empty()) {
    return core::InvalidArgument("the model is given twice, as '", positional,
                                 "' and with -m; give it once");
  }
  return model.empty() ? positional : model;
}

Expected<std::string> ResolveModel(const std::string& model) {
  if (std::filesystem::exists(model)) return model;
  const KnownModel* known = FindKnownModel(model);
  if (known == nullptr) {
    return core::NotFound("'", model, "' is neither a file nor a known model; known are ",
                          KnownModelNames());
  }
  const std::string path = CachedPath(*known);
  if (!std::filesystem::exists(path)) {
    return core::NotFound(model, " has not been fetched yet; run: rml pull ", model);
  }
  return path;
}

Expected<std::shared_ptr<llm::Engine>> LoadEngine(const ModelOptions& options, int max_sequences,
                                                  const Runner& runner) {
  RML_ASSIGN(const llm::EngineOptions engine_options, options.ToEngineOptions(max_sequences));
  RML_ASSIGN(const std::string model, options.Model());
  if (model.empty()) {
    std::fputs(
        "rml: no model is given, so this is stories260K, a tiny one that is built in; see rml "
        "pull\n",
        stderr);
    return llm::Engine::LoadImage(embedded::stories260k(), "stories260K (built in)", engine_options,
                                  runner.context());
  }
  RML_ASSIGN(const std::string path, ResolveModel(model));
  return llm::Engine::Load(path, engine_options, runner.context());
}

}  // namespace rml::cli
