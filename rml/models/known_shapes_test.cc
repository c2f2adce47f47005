#include "rml/models/known_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/models/tensor_names.h"

namespace rml::models {
namespace {

double Parameters(const DecoderSpec& spec) {
  double count = 0;
  for (const TensorSpec& tensor : DecoderTensors(spec)) {
    if (tensor.name == "rope.frequency_factors" ||
        (spec.tied_embeddings && tensor.name == "output.weight"))
      continue;
    count += static_cast<double>(tensor.shape.elements());
  }
  return count;
}

TEST(KnownShapes, AreValid) {
  for (const KnownShape& shape : KnownShapes())
    EXPECT_TRUE(Validate(shape.make()).ok()) << shape.name;
}

// The vendors' published counts.
TEST(KnownShapes, HaveTheParametersThatTheirVendorsState) {
  const auto millions = [](std::string_view name) {
    return Parameters(*FindKnownShape(name)) / 1e6;
  };
  EXPECT_NEAR(millions("smollm2-135m"), 134.5, 0.1);
  EXPECT_NEAR(millions("llama-2-7b"), 6738.4, 1);
  EXPECT_NEAR(millions("llama-3.2-1b"), 1235.8, 0.1);
  EXPECT_NEAR(millions("llama-3.2-3b"), 3212.7, 0.1);
  EXPECT_NEAR(millions("llama-3.1-8b"), 8030.3, 0.1);
  EXPECT_NEAR(millions("qwen2.5-0.5b"), 494.0, 0.1);
  EXPECT_NEAR(millions("qwen2.5-7b"), 7615.6, 0.1);
  EXPECT_NEAR(millions("qwen3-0.6b"), 596.0, 0.1);
  EXPECT_NEAR(millions("qwen3-8b"), 8190.7, 0.1);
  EXPECT_NEAR(millions("gemma-3-270m"), 268.1, 0.1);
  EXPECT_NEAR(millions("gemma-3-1b"), 999.9, 0.1);
}

TEST(KnownShapes, AnUnknownNameListsTheKnownOnes) {
  const auto shape = FindKnownShape("llama-9");
  EXPECT_THAT(std::string(shape.status().message()), ::testing::HasSubstr("llama-3.1-8b"));
}

}  // namespace
}  // namespace rml::models
