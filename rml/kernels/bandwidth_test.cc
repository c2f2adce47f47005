#include "rml/kernels/bandwidth.h"

#include <gtest/gtest.h>

namespace rml::kernels {
namespace {

TEST(Bandwidth, IsOfTheOrderOfThisCenturysMachines) {
  core::ThreadPool pool(2);
  const auto measured = MeasureReadBandwidth(pool, {.bytes = size_t{32} << 20, .seconds = 0.02});
  ASSERT_TRUE(measured.ok());
  EXPECT_GT(*measured, 1e8);
  EXPECT_LT(*measured, 1e13);
}

TEST(Bandwidth, ABufferThatCannotBeHadIsAnError) {
  core::ThreadPool pool(1);
  const auto measured = MeasureReadBandwidth(pool, {.bytes = size_t{1} << 60, .seconds = 0.01});
  ASSERT_FALSE(measured.ok());
  EXPECT_EQ(measured.error().code(), core::StatusCode::kIo);
}

}  // namespace
}  // namespace rml::kernels
