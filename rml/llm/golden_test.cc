// The runtime against llama.cpp, llama2.c and exact arithmetic, on real models: testdata/golden
// says what was computed and how. SmolLM2 and Gemma 3 are too large for the repository; their tests
// read them from the folder RML_MODEL_DIR (`rml pull` fills ~/.cache/rml/models) and are skipped
// without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "rml/core/thread_pool.h"
#include "rml/io/json.h"
#include "rml/io/mapped_file.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/engine.h"
#include "rml/llm/generate.h"
#include "rml/quant/dequantize.h"

namespace rml::llm {
namespace {

const std::string kTestdata = RML_TESTDATA;

io::Json Load(const std::string& file) {
  auto json = io::Json::ParseFile(kTestdata + "/golden/llm/" + file);
  EXPECT_TRUE(json.ok()) << json.status().message();
  return *std::move(json);
}

template <typename T>
std::vector<T> List(const io::Json& object, std::string_view key) {
  auto list = object.Get<std::vector<T>>(key);
  EXPECT_TRUE(list.ok()) << list.status().message();
  return *std::move(list);
}

std::shared_ptr<Engine> LoadEngine(const std::string& path, const EngineOptions& options,
                                   const core::RunContext& context) {
  auto engine = Engine::Load(path, options, context);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return *std::move(engine);
}

TEST(Stories260K, GeneratesTheReferencesTextAndLogits) {
  core::ThreadPool pool(2);
  const auto engine = LoadEngine(kTestdata + "/stories260k.gguf",
                                 {.cache_dtype = core::DType::kF32}, {.pool = &pool});
  const io::Json reference = Load("stories260k/reference.json");
  ASSERT_GT(reference.size(), 0u);
  for (const io::Json& row : reference.items()) {
    const auto prompt = List<TokenId>(row, "prompt_ids");
    const auto expected_ids = List<TokenId>(row, "greedy_ids");
    EXPECT_EQ(*engine->tokenizer()->Encode(*row.Get<std::string>("prompt")), prompt);

    Session session = engine->NewSession();
    ASSERT_TRUE(session.Append(prompt).ok());
    const auto after_prompt = List<float>(row, "logits_after_prompt");
    ASSERT_EQ(session.logits().size(), after_prompt.size());
    for (size_t i = 0; i < after_prompt.size(); ++i)
      EXPECT_NEAR(session.logits()[i], after_prompt[i], 1e-3);

    const GenerateOptions options = {.max_tokens = static_cast<int64_t>(expected_ids.size()),
                                     .ignore_end = true,
                                     .sampler = {.temperature = 0}};
    const auto result = Generate(session, prompt, options, [](std::string_view) { return true; });
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->ids, expected_ids);
    // llama2.c drops the space in front of the first word after BOS; we continue the prompt as it
    // is.
    const auto text = *row.Get<std::string>("greedy_text");
    EXPECT_TRUE(result->text == text || result->text == " " + text) << result->text;
  }
}

// One of the runs of a logits fixture.
struct Run {
  std::vector<int32_t> top_ids;     // [positions][top]
  std::vector<float> top_logits;    // [positions][top]
  std::vector<float> fixed_logits;  // [positions][fixed]
  std::vector<float> logsumexp;     // [positions]
};

struct LogitsFixture {
  std::vector<TokenId> ids;
  std::vector<TokenId> fixed_ids;
  int64_t first_position = 0;
  int64_t positions = 0;
  size_t top = 0;
  Run exact;  // float64
  Run peer;   // llama.cpp with an f16 cache
};

Run ReadRun(const std::string& file, const LogitsFixture& shape) {
  const auto bytes = io::ReadFile(kTestdata + "/golden/llm/" + file);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  Run run;
  const auto positions = static_cast<size_t>(shape.positions);
  run.top_ids.resize(positions * shape.top);
  run.top_logits.resize(positions * shape.top);
  run.fixed_logits.resize(positions * shape.fixed_ids.size());
  run.logsumexp.resize(positions);
  const std::byte* at = bytes->data();
  const auto take = [&](auto& values) {
    std::memcpy(values.data(), at, values.size() * sizeof(values[0]));
    at += values.size() * sizeof(values[0]);
  };
  take(run.top_ids);
  take(run.top_logits);
  take(run.fixed_logits);
  take(run.logsumexp);
  EXPECT_EQ(at, bytes->data() + bytes->size());
  return run;
}

LogitsFixture ReadFixture(const std::string& model, const std::string& name) {
  const io::Json json = Load(model + "/" + name + ".json");
  LogitsFixture fixture;
  fixture.ids = List<TokenId>(json, "ids");
  fixture.fixed_ids = List<TokenId>(json, "fixed_ids");
  fixture.first_position = *json.Get<int64_t>("first_position");
  fixture.positions = *json.Get<int64_t>("positions");
  fixture.top = *json.Get<size_t>("top");
  fixture.exact = ReadRun(model + "/" + name + ".exact.bin", fixture);
  fixture.peer = ReadRun(model + "/" + name + ".kv-f16.bin", fixture);
  return fixture;
}

// How far logits are from the exact ones, over the fixture's fixed ids.
struct Distance {
  double largest = 0;
  double rms = 0;
  double same_argmax = 0;  // share of positions
};

class Comparison {
 public:
  explicit Comparison(const LogitsFixture& fixture) : fixture_(fixture) {}

  void Add(int64_t position, std::span<const float> logits) {
    if (position < fixture_.first_position) return;
    const auto row = static_cast<size_t>(position - fixture_.first_position);
    for (size_t i = 0; i < fixture_.fixed_ids.size(); ++i) {
      AddError(logits[static_cast<size_t>(fixture_.fixed_ids[i])] -
               fixture_.exact.fixed_logits[row * fixture_.fixed_ids.size() + i]);
    }
    const auto best = std::ranges::max_element(logits) - logits.begin();
    same_argmax_ += best == fixture_.exact.top_ids[row * fixture_.top];
    ++positions_;
  }

  // llama.cpp's own run, for comparison.
  static Distance OfPeer(const LogitsFixture& fixture) {
    Comparison peer(fixture);
    for (size_t i = 0; i < fixture.peer.fixed_logits.size(); ++i) {
      peer.AddError(fixture.peer.fixed_logits[i] - fixture.exact.fixed_logits[i]);
    }
    for (size_t row = 0; row < static_cast<size_t>(fixture.positions); ++row) {
      peer.same_argmax_ +=
          fixture.peer.top_ids[row * fixture.top] == fixture.exact.top_ids[row * fixture.top];
      ++peer.positions_;
    }
    return peer.Result();
  }

  Distance Result() const {
    return {.largest = largest_,
            .rms = std::sqrt(squares_ / static_cast<double>(errors_)),
            .same_argmax = static_cast<double>(same_argmax_) / static_cast<double>(positions_)};
  }

 private:
  void AddError(double error) {
    largest_ = std::max(largest_, std::abs(error));
    squares_ += error * error;
    ++errors_;
  }

  const LogitsFixture& fixture_;
  double largest_ = 0, squares_ = 0;
  int64_t errors_ = 0, same_argmax_ = 0, positions_ = 0;
};

Distance Measure(Engine& engine, const LogitsFixture& fixture) {
  Comparison comparison(fixture);
  Session session = engine.NewSession();
  const core::Status status = session.Append(
      fixture.ids,
      [&](int64_t position, std::span<const float> logits) { comparison.Add(position, logits); });
  EXPECT_TRUE(status.ok()) << status.message();
  return comparison.Result();
}

struct RealModel {
  const char* folder;  // in testdata/golden/llm
  const char* file;    // in RML_MODEL_DIR
};

class RealModelTest : public ::testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("RML_MODEL_DIR");
    if (folder == nullptr) GTEST_SKIP() << "RML_MODEL_DIR is not set: no real model is tested";
    path_ = std::string(folder) + "/" + GetParam().file;
    if (!std::filesystem::exists(path_)) GTEST_SKIP() << path_ << " is not there: run rml pull";
  }
  std::string path_;
  core::ThreadPool pool_{2};
};

// Weights read back to f32: nothing is rounded, so only the order of f32 sums separates us from the
// exact logits.
DecoderWeights ReadBack(DecoderWeights weights, const core::RunContext& context) {
  const auto widen = [&](kernels::WeightMatrix* matrix) {
    const int64_t elements = matrix->rows() * matrix->cols();
    auto buffer = core::Buffer::Allocate(context.GetAllocator(), elements * 4);
    ASSERT_TRUE(buffer.ok());
    auto* values = reinterpret_cast<float*>((*buffer)->MutableHostView()->data());
    quant::Dequantize(matrix->dtype(), matrix->data(), elements, values);
    *matrix =
        *kernels::WeightMatrix::Make(core::DType::kF32, matrix->rows(), matrix->cols(), values);
    weights.owned.push_back(*buffer);
  };
  const bool tied = weights.output.data() == weights.embedding.data();
  widen(&weights.embedding);
  if (tied) {
    weights.output = weights.embedding;
  } else {
    widen(&weights.output);
  }
  for (LayerWeights& layer : weights.layers) {
    for (auto* matrix :
         {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
      widen(matrix);
  }
  return weights;
}

TEST_P(RealModelTest, WithF32WeightsEqualsExactArithmetic) {
  const core::RunContext context{.pool = &pool_};
  auto files = models::ModelFiles::Open(path_);
  ASSERT_TRUE(files.ok()) << files.status().message();
  auto weights = LoadWeights(*files);
  ASSERT_TRUE(weights.ok());
  auto engine = Engine::Make((*files)->spec(), ReadBack(*std::move(weights), context), nullptr,
                             {.context_length = 1024, .cache_dtype = core::DType::kF32}, context);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  for (const char* name : {"logits", "logits-long"}) {
    const Distance distance = Measure(**engine, ReadFixture(GetParam().folder, name));
    EXPECT_LT(distance.largest, 1e-3) << name;
    EXPECT_EQ(distance.same_argmax, 1.0) << name;
  }
}

TEST_P(RealModelTest, QuantizedLogitsAreAsGoodAsLlamaCpps) {
  const core::RunContext context{.pool = &pool_};
  const auto engine = LoadEngine(path_, {.context_length = 1024}, context);
  for (const char* name : {"logits", "logits-long"}) {
    const LogitsFixture fixture = ReadFixture(GetParam().folder, name);
    const Distance ours = Measure(*engine, fixture);
    const Distance peer = Comparison::OfPeer(fixture);
    // Rounding activations to 8 bits is chaotic, so runs are compared by how far they are from
    // exact.
    EXPECT_LT(ours.rms, 1.5 * peer.rms) << name;
    EXPECT_GT(ours.same_argmax, peer.same_argmax - 0.05) << name;
    std::printf("%s %s: rms %.3f (llama.cpp %.3f), equal argmax %.3f (%.3f)\n", GetParam().folder,
                name, ours.rms, peer.rms, ours.same_argmax, peer.same_argmax);
  }
}

TEST_P(RealModelTest, GreedyTextEqualsLlamaCppsUpToNearTies) {
  constexpr double kNearTie =
      0.5;  // of the reference's two best logits; see testdata/golden/README.md
  const auto engine = LoadEngine(path_, {.context_length = 1024}, {.pool = &pool_});
  const io::Json greedy = Load(std::string(GetParam().folder) + "/greedy.json");
  int64_t compared = 0;
  for (const io::Json& row : greedy.Find("rows")->items()) {
    const auto prompt = *row.Get<std::string>("prompt");
    const auto prompt_ids = List<TokenId>(row, "prompt_ids");
    EXPECT_EQ(*engine->tokenizer()->Encode(prompt), prompt_ids);
    const auto ids = List<TokenId>(row, "ids");
    const auto best = List<std::vector<double>>(row, "best");
    size_t clear = 0;  // steps before the first near tie
    while (clear < best.size() && best[clear][1] - best[clear][3] >= kNearTie) ++clear;

    Session session = engine->NewSession();
    const GenerateOptions options = {.max_tokens = static_cast<int64_t>(ids.size()),
                                     .ignore_end = true,
                                     .sampler = {.temperature = 0}};
    const auto result =
        Generate(session, prompt_ids, options, [](std::string_view) { return true; });
    ASSERT_TRUE(result.ok()) << result.status().message();
    for (size_t i = 0; i < clear; ++i)
      ASSERT_EQ(result->ids[i], ids[i]) << prompt << ", step " << i;
    if (clear == ids.size()) {
      EXPECT_EQ(result->text, *row.Get<std::string>("text"));
    }

    // Beyond it, the model is led along the reference's text, and must choose as it wherever it is
    // clear.
    Session led = engine->NewSession();
    ASSERT_TRUE(led.Append(prompt_ids).ok());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (best[i][1] - best[i][3] >= kNearTie) {
        EXPECT_EQ(std::ranges::max_element(led.logits()) - led.logits().begin(), ids[i])
            << prompt << ", step " << i;
        ++compared;
      }
      ASSERT_TRUE(led.Append({&ids[i], 1}).ok());
    }
  }
  EXPECT_GT(compared, 300);  // of 640: most steps are clear
}

INSTANTIATE_TEST_SUITE_P(Models, RealModelTest,
                         ::testing::Values(RealModel{"smollm2", "smollm2-135m.gguf"},
                                           RealModel{"gemma3", "gemma3-270m.gguf"}),
                         [](const auto& instance) { return std::string(instance.param.folder); });

}  // namespace
}  // namespace rml::llm
