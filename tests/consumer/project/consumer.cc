// What a first user of the installed library writes: load a model, let it continue a text.
#include <cstdio>
#include <string>
#include <string_view>

#include "rml/core/run_context.h"
#include "rml/core/thread_pool.h"
#include "rml/io/gguf.h"
#include "rml/llm/engine.h"
#include "rml/llm/generate.h"

namespace {

rml::core::Expected<std::string> Continue(const std::string& path, std::string_view prompt) {
  rml::core::ThreadPool pool(2);
  rml::core::RunContext context;
  context.pool = &pool;
  RML_ASSIGN(const auto engine, rml::llm::Engine::Load(path, {}, context));
  RML_ASSIGN(const auto ids, engine->tokenizer()->Encode(prompt));
  rml::llm::GenerateOptions options;
  options.max_tokens = 16;
  options.sampler.temperature = 0;
  auto session = engine->NewSession();
  RML_ASSIGN(const auto result,
             rml::llm::Generate(session, ids, options, [](std::string_view) { return true; }));
  return result.text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];

  const auto missing = rml::io::GgufFile::Open(folder + "/no-such-file.gguf");
  if (missing.ok()) return 1;
  std::printf("consumer: %s\n", std::string(missing.status().message()).c_str());

  const auto text = Continue(folder + "/stories260k.gguf", "Once upon a time");
  if (!text.ok()) {
    std::printf("consumer: %s\n", std::string(text.status().message()).c_str());
    return 1;
  }
  std::printf("consumer: Once upon a time%s\n", text->c_str());
  return text->starts_with(", there was a") ? 0 : 1;
}
