#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "rml/cli/bench/bench_commands.h"
#include "rml/cli/bench/number_list.h"
#include "rml/cli/model_options.h"
#include "rml/cli/report.h"
#include "rml/cli/runner.h"
#include "rml/io/json.h"
#include "rml/kernels/bandwidth.h"
#include "rml/llm/decoder_weights.h"
#include "rml/models/known_shapes.h"

namespace rml::cli {

namespace {

using core::Expected;
using core::Status;

// What llama-bench calls a test: so many prompt tokens, or so many generated ones.
struct Row {
  std::string model;
  std::string test;
  int threads = 0;
  double tokens_per_second = 0;  // mean over the repetitions
  double deviation = 0;          // their standard deviation
  double bandwidth_share = 0;    // weight bytes read per second over what the machine can read
  double bandwidth_bytes_per_second = 0;
};

struct BenchLlmCommand {
  ModelOptions model;
  std::string shape;
  std::string type = "q4_0";
  std::string prompt_tokens = "512";
  std::string generate_tokens = "128";
  std::string threads = "";
  int repetitions = 5;
  bool json = false;

  void AddTo(ArgParser& parser);
  Status Run() const;

 private:
  Expected<std::shared_ptr<llm::Engine>> MakeEngine(const Runner& run, int64_t context) const;
  Status Measure(llm::Engine& engine, const std::string& name, int thread_count, bool prompt,
                 int64_t count, double bandwidth, std::vector<Row>* rows) const;
};

void BenchLlmCommand::AddTo(ArgParser& parser) {
  model.AddTo(parser);
  parser.Add("--shape", &shape,
             "Benchmark random weights of a known model's shape, such as llama-3.2-1b");
  parser.Add(
      "--type", &type,
      "Weight type of --shape: f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k_m, q5_k_m, q6_k");
  parser.Add("-p,--n-prompt", &prompt_tokens,
             "Prompt lengths to measure, comma separated (0: none)");
  parser.Add("-n,--n-gen", &generate_tokens,
             "Numbers of generated tokens to measure, comma separated (0: none)");
  parser.Add("-t,--threads", &threads, "Numbers of threads, comma separated (default: all cores)");
  parser.Add("-r,--repetitions", &repetitions, "How often each is measured");
  parser.Flag("--json", &json, "Print a JSON array of rows instead of a table");
}

Expected<std::shared_ptr<llm::Engine>> BenchLlmCommand::MakeEngine(const Runner& run,
                                                                   int64_t context) const {
  ModelOptions options = model;
  options.context = context;
  if (shape.empty()) return LoadEngine(options, 1, run);
  RML_ASSIGN(const models::DecoderSpec spec, models::FindKnownShape(shape));
  RML_ASSIGN(const llm::WeightMix mix, llm::FindWeightMix(type));
  RML_ASSIGN(llm::DecoderWeights weights, llm::RandomWeights(spec, mix, 1, run.context()));
  RML_ASSIGN(const llm::EngineOptions engine_options, options.ToEngineOptions(1));
  return llm::Engine::Make(spec, std::move(weights), nullptr, engine_options, run.context());
}

Status BenchLlmCommand::Measure(llm::Engine& engine, const std::string& name, int thread_count,
                                bool prompt, int64_t count, double bandwidth,
                                std::vector<Row>* rows) const {
  std::vector<double> rates;
  std::vector<text::TokenId> tokens(static_cast<size_t>(count));
  for (size_t i = 0; i < tokens.size(); ++i) {  // any tokens do; the same ones each time
    tokens[i] =
        static_cast<text::TokenId>((i * 7919 + 13) % static_cast<size_t>(engine.spec().vocab));
  }
  for (int repetition = -1; repetition < repetitions;
       ++repetition) {  // the first one only warms up
    llm::Session session = engine.NewSession();
    const auto start = std::chrono::steady_clock::now();
    if (prompt) {
      RML_TRY(session.Append(tokens));
    } else {
      for (const text::TokenId& token : tokens) RML_TRY(session.Append({&token, 1}));
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (repetition >= 0) rates.push_back(static_cast<double>(count) / seconds.count());
  }
  Row row{
      .model = name, .test = core::StrCat(prompt ? "pp" : "tg", count), .threads = thread_count};
  for (const double rate : rates) row.tokens_per_second += rate / static_cast<double>(rates.size());
  for (const double rate : rates)
    row.deviation += (rate - row.tokens_per_second) * (rate - row.tokens_per_second);
  row.deviation =
      rates.size() > 1 ? std::sqrt(row.deviation / static_cast<double>(rates.size() - 1)) : 0;
  row.bandwidth_bytes_per_second = bandwidth;
  // A prompt reads the weights once per batch, generation once per token.
  const int64_t batch = std::min(engine.options().batch_tokens, count);
  const double passes_per_second = row.tokens_per_second / static_cast<double>(prompt ? batch : 1);
  row.bandwidth_share =
      passes_per_second * static_cast<double>(engine.bytes_per_token()) / bandwidth;
  rows->push_back(row);
  return {};
}

void PrintJson(const std::vector<Row>& rows) {
  io::Json list = io::Json::MakeArray();
  for (const Row& row : rows) {
    io::Json entry = io::Json::MakeObject();
    entry.Set("model", row.model);
    entry.Set("test", row.test);
    entry.Set("threads", row.threads);
    entry.Set("tokens_per_s", row.tokens_per_second);
    entry.Set("tokens_per_s_stddev", row.deviation);
    entry.Set("bandwidth_share", row.bandwidth_share);
    entry.Set("bandwidth_bytes_per_s", row.bandwidth_bytes_per_second);
    list.Append(std::move(entry));
  }
  std::puts(list.Dump(2).c_str());
}

void PrintTable(const std::vector<Row>& rows) {
  std::puts(
      "| model | test | threads | tokens/s | share of read bandwidth |\n| --- | --- | ---: | ---: "
      "| ---: |");
  for (const Row& row : rows) {
    std::printf("| %s | %s | %d | %.2f ± %.2f | %.0f%% |\n", row.model.c_str(), row.test.c_str(),
                row.threads, row.tokens_per_second, row.deviation, 100 * row.bandwidth_share);
  }
}

Status BenchLlmCommand::Run() const {
  RML_ASSIGN(const auto prompts, ParseNumberList("--n-prompt", prompt_tokens, 0));
  RML_ASSIGN(const auto generated, ParseNumberList("--n-gen", generate_tokens, 0));
  RML_ASSIGN(auto thread_counts, ParseNumberList("--threads", threads, 1));
  if (thread_counts.empty()) thread_counts.push_back(0);
  if (repetitions < 1)
    return core::InvalidArgument("--repetitions: ", repetitions, " is not positive");
  int64_t longest = 1;
  for (const int64_t count : prompts) longest = std::max(longest, count);
  for (const int64_t count : generated) longest = std::max(longest, count);

  std::vector<Row> rows;
  for (const int64_t count : thread_counts) {
    RML_ASSIGN(const std::unique_ptr<Runner> run,
               Runner::Make({.threads = static_cast<int>(count)}));
    RML_ASSIGN(const std::shared_ptr<llm::Engine> engine, MakeEngine(*run, longest));
    RML_ASSIGN(const double bandwidth, kernels::MeasureReadBandwidth(run->pool()));
    const std::string name = shape.empty() ? (model.model.empty() ? "stories260k" : model.model)
                                           : core::StrCat(shape, " ", type);
    for (const int64_t n : prompts) {
      if (n > 0) RML_TRY(Measure(*engine, name, run->pool().threads(), true, n, bandwidth, &rows));
    }
    for (const int64_t n : generated) {
      if (n > 0) RML_TRY(Measure(*engine, name, run->pool().threads(), false, n, bandwidth, &rows));
    }
  }
  json ? PrintJson(rows) : PrintTable(rows);
  return {};
}

}  // namespace

void AddBenchLlmCommand(ArgParser& bench) {
  ArgParser parser = bench.Command("llm", "Prompt processing and generation of a language model",
                                   "rml bench llm -m smollm2-135m -p 512 -n 128 -t 1,2");
  const auto command = std::make_shared<BenchLlmCommand>();
  command->AddTo(parser);
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
