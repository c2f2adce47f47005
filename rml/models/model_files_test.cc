#include "rml/models/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "rml/models/testing/tiny_model.h"

namespace rml::models {
namespace {

using ::testing::HasSubstr;
using testing::TinyModel;

// Bytes at an address that GGUF may be read from.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::vector<std::byte>& bytes)
      : storage_(bytes.size() / sizeof(Line) + 1), size_(bytes.size()) {
    std::memcpy(storage_.data(), bytes.data(), bytes.size());
  }
  std::span<const std::byte> get() const {
    return {reinterpret_cast<const std::byte*>(storage_.data()), size_};
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> storage_;
  size_t size_;
};

core::Expected<std::shared_ptr<const ModelFiles>> FromGguf(const AlignedBytes& bytes) {
  RML_ASSIGN(io::GgufFile file, io::GgufFile::Parse(bytes.get(), "tiny.gguf"));
  return ModelFiles::FromGguf(std::move(file));
}

std::string GgufError(const TinyModel& model) {
  const AlignedBytes bytes(model.Gguf());
  const auto files = FromGguf(bytes);
  EXPECT_FALSE(files.ok());
  return std::string(files.status().message());
}

class ModelFolder {
 public:
  explicit ModelFolder(const TinyModel& model)
      : path_(::testing::TempDir() + "rml_models_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    model.WriteFolder(path_);
  }
  ~ModelFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string FolderError(const TinyModel& model) {
  const ModelFolder folder(model);
  const auto files = ModelFiles::Open(folder.path());
  EXPECT_FALSE(files.ok());
  return std::string(files.status().message());
}

class Families : public ::testing::TestWithParam<const char*> {};

TEST_P(Families, BothFormatsGiveTheSameSpecAndTensors) {
  for (const bool tied : {false, true}) {
    const TinyModel model(GetParam(), tied);
    const AlignedBytes bytes(model.Gguf());
    const auto gguf = FromGguf(bytes);
    ASSERT_TRUE(gguf.ok()) << gguf.status().message();
    std::filesystem::path path = ::testing::TempDir() + "rml_models_" + GetParam();
    std::filesystem::remove_all(path);
    model.WriteFolder(path);
    const auto folder = ModelFiles::Open(path);
    ASSERT_TRUE(folder.ok()) << folder.status().message();

    DecoderSpec expected = (*gguf)->spec();
    if (expected.family == "llama") {
      EXPECT_EQ(expected.ropes[0].layout, kernels::RopeLayout::kAdjacent);  // its rows are permuted
      expected.ropes[0].layout = kernels::RopeLayout::kHalves;
    }
    EXPECT_EQ((*folder)->spec(), expected);
    EXPECT_EQ(expected.tied_embeddings, tied);
    EXPECT_EQ((*folder)->tensor_bytes(), (*gguf)->tensor_bytes());
    for (const TensorSpec& tensor : DecoderTensors(expected)) {
      EXPECT_EQ((*folder)->Find(tensor.name) != nullptr, (*gguf)->Find(tensor.name) != nullptr)
          << tensor.name;
    }
    std::filesystem::remove_all(path);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::Values("llama", "qwen2", "qwen3", "gemma3"));

DecoderSpec SpecOf(const TinyModel& model) {
  const AlignedBytes bytes(model.Gguf());
  const auto files = FromGguf(bytes);
  EXPECT_TRUE(files.ok()) << files.status().message();
  return (*files)->spec();
}

DecoderSpec FolderSpecOf(const TinyModel& model) {
  const ModelFolder folder(model);
  const auto files = ModelFiles::Open(folder.path());
  EXPECT_TRUE(files.ok()) << files.status().message();
  return (*files)->spec();
}

TEST(ModelFiles, Gemma3AttendsGloballyInEverySixthLayer) {
  const DecoderSpec spec = SpecOf(TinyModel("gemma3", true));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    EXPECT_EQ(spec.layers[i].window, i == 5 ? 0 : 9) << i;
    EXPECT_EQ(spec.layers[i].rope, i == 5 ? 0 : 1) << i;
  }
  EXPECT_EQ(spec.ropes[0].base, 50000.0);
  EXPECT_EQ(spec.ropes[1].base, 10000.0);
  EXPECT_FLOAT_EQ(spec.embedding_scale, std::sqrt(32.0f));
}

TEST(ModelFiles, LayerTypesDecideWhereTheyAreListed) {
  TinyModel model("gemma3", true);
  io::Json types = io::Json::MakeArray();
  for (int i = 0; i < 7; ++i) types.Append(i % 2 == 0 ? "full_attention" : "sliding_attention");
  model.config.Set("layer_types", types);
  const DecoderSpec spec = FolderSpecOf(model);
  for (size_t i = 0; i < spec.layers.size(); ++i)
    EXPECT_EQ(spec.layers[i].window, i % 2 == 0 ? 0 : 9) << i;
}

TEST(ModelFiles, ReadsTheScalingOfLlama3) {
  TinyModel model("llama");
  io::Json scaling = io::Json::MakeObject();
  scaling.Set("rope_type", "llama3")
      .Set("factor", 32.0)
      .Set("low_freq_factor", 1.0)
      .Set("high_freq_factor", 4.0);
  scaling.Set("original_max_position_embeddings", 128);
  model.config.Set("rope_scaling", scaling);
  const kernels::RopeScaling read = FolderSpecOf(model).ropes[0].scaling;
  EXPECT_EQ(read.kind, kernels::RopeScalingKind::kLlama3);
  EXPECT_EQ(read.factor, 32.0);
  EXPECT_EQ(read.original_context, 128);
  EXPECT_EQ(read.high_frequency_factor, 4.0);
}

TEST(ModelFiles, ReadsRopeParametersOfNewerConfigurations) {
  TinyModel model("qwen3");
  model.config.Set("rope_theta", nullptr);
  io::Json parameters = io::Json::MakeObject();
  parameters.Set("rope_theta", 777.0).Set("rope_type", "yarn").Set("factor", 4.0);
  parameters.Set("original_max_position_embeddings", 64);
  model.config.Set("rope_parameters", parameters);
  const RopeSpec rope = FolderSpecOf(model).ropes[0];
  EXPECT_EQ(rope.base, 777.0);
  EXPECT_EQ(rope.scaling.kind, kernels::RopeScalingKind::kYarn);
  EXPECT_EQ(rope.scaling.original_context, 64);
}

TEST(ModelFiles, ReadsYarnFromGguf) {
  TinyModel model("qwen2");
  model.gguf_strings["qwen2.rope.scaling.type"] = "yarn";
  model.gguf_floats["qwen2.rope.scaling.factor"] = 4.0f;
  model.gguf_ints["qwen2.rope.scaling.original_context_length"] = 64;
  const kernels::RopeScaling scaling = SpecOf(model).ropes[0].scaling;
  EXPECT_EQ(scaling.kind, kernels::RopeScalingKind::kYarn);
  EXPECT_EQ(scaling.factor, 4.0);
  EXPECT_EQ(scaling.original_context, 64);
}

TEST(ModelFiles, ABiasInTheFileIsPartOfALlama) {
  // Llama files have none as a rule; one that has must not be read as if it had not.
  EXPECT_FALSE(SpecOf(TinyModel("llama")).qkv_bias);
  EXPECT_TRUE(SpecOf(TinyModel("llama", false, true)).qkv_bias);
  EXPECT_TRUE(FolderSpecOf(TinyModel("llama", false, true)).qkv_bias);
}

TEST(ModelFiles, AMissingTensorIsNamed) {
  TinyModel model("llama");
  model.edit_tensor = [](std::string* name, core::Shape*) {
    return *name != "blk.3.ffn_up.weight";
  };
  EXPECT_THAT(GgufError(model), HasSubstr("blk.3.ffn_up.weight"));
}

TEST(ModelFiles, AMissingEmbeddingIsNoModel) {
  TinyModel model("llama");
  model.edit_tensor = [](std::string* name, core::Shape*) {
    return *name != "model.embed_tokens.weight";
  };
  EXPECT_THAT(FolderError(model), HasSubstr("model.embed_tokens.weight"));
}

TEST(ModelFiles, AWrongShapeIsNamedWithBothShapes) {
  TinyModel model("llama");
  model.edit_tensor = [](std::string* name, core::Shape* shape) {
    if (*name == "blk.0.attn_q.weight") *shape = {32, 48};
    return true;
  };
  EXPECT_THAT(GgufError(model), HasSubstr("[32, 48]"));
  EXPECT_THAT(GgufError(model), HasSubstr("[48, 32]"));
}

TEST(ModelFiles, ATensorThatTheFamilyDoesNotKnowIsAnError) {
  TinyModel model("llama");
  model.edit_tensor = [](std::string* name, core::Shape*) {
    if (*name == "blk.6.ffn_up.weight") *name = "blk.6.ffn_up_exps.weight";
    return true;
  };
  EXPECT_FALSE(GgufError(model).empty());
  model.edit_tensor = nullptr;
  model.gguf_ints["llama.block_count"] = 6;  // the seventh layer's tensors are left over
  EXPECT_THAT(GgufError(model), HasSubstr("blk.6."));
}

TEST(ModelFiles, AnUnknownArchitectureNamesTheKnownOnes) {
  TinyModel model("llama");
  model.gguf_strings["general.architecture"] = "mamba";
  EXPECT_THAT(GgufError(model),
              HasSubstr("'mamba' is not supported; supported are llama, qwen2, qwen3, gemma3"));
  model.config.Set("model_type", "mixtral");
  EXPECT_THAT(FolderError(model), HasSubstr("mixtral"));
}

TEST(ModelFiles, AMissingKeyIsNamed) {
  TinyModel model("llama");
  model.gguf_ints.erase("llama.feed_forward_length");
  EXPECT_THAT(GgufError(model), HasSubstr("feed_forward_length"));
}

TEST(ModelFiles, SizesThatMakeNoSenseAreErrors) {
  const auto with = [](const std::string& key, int64_t value) {
    TinyModel model("llama");
    model.gguf_ints["llama." + key] = value;
    return GgufError(model);
  };
  EXPECT_THAT(with("attention.head_count", 0), HasSubstr("attention.head_count"));
  EXPECT_THAT(with("attention.head_count_kv", 3), HasSubstr("heads"));
  EXPECT_THAT(with("block_count", 4000000000), HasSubstr("block_count"));
  EXPECT_THAT(with("rope.dimension_count", 14), HasSubstr("RoPE"));
  EXPECT_THAT(with("rope.dimension_count", 3), HasSubstr("RoPE"));
  EXPECT_THAT(with("attention.value_length", 16), HasSubstr("values of 16"));
  EXPECT_THAT(with("embedding_length", 4294967295), HasSubstr("embedding"));
}

TEST(ModelFiles, UnsupportedVariantsAreErrorsRatherThanWrongResults) {
  TinyModel activation("llama");
  activation.config.Set("hidden_act", "relu");
  EXPECT_THAT(FolderError(activation), HasSubstr("relu"));
  TinyModel window("qwen2");
  window.config.Set("use_sliding_window", true);
  EXPECT_THAT(FolderError(window), HasSubstr("use_sliding_window"));
  TinyModel scaling("llama");
  scaling.gguf_strings["llama.rope.scaling.type"] = "magic";
  EXPECT_THAT(GgufError(scaling), HasSubstr("magic"));
}

TEST(ModelFiles, AFolderWithoutConfigIsAnError) {
  const std::string empty = ::testing::TempDir() + "rml_models_empty";
  std::filesystem::create_directories(empty);
  const auto files = ModelFiles::Open(empty);
  EXPECT_THAT(std::string(files.status().message()), HasSubstr("config.json"));
  std::filesystem::remove_all(empty);
}

}  // namespace
}  // namespace rml::models
