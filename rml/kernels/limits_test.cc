#include "rml/kernels/limits.h"

#include <gtest/gtest.h>

#include "rml/kernels/isa.h"

namespace rml::kernels {
namespace {

TEST(MachineLimits, ArePlausible) {
  core::ThreadPool pool(1);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    const auto limits = MeasureLimits(pool, 0.002);
    ASSERT_TRUE(limits.ok()) << limits.status().message();
    EXPECT_GT(limits->f32_flops, 1e8);
    EXPECT_GT(limits->l2_read, 1e8);
    EXPECT_GT(limits->l3_read, 1e8);
    EXPECT_GT(limits->read, 1e7);
    EXPECT_GT(limits->write, 1e7);
    EXPECT_GT(limits->copy, 1e7);
    EXPECT_EQ(limits->bf16_flops > 0, isa == Isa::kAvx512Bf16);
    EXPECT_EQ(limits->int8_ops > 0, isa == Isa::kAvx512Bf16 || isa == Isa::kAvx512Vnni);
  }
}

TEST(MachineLimits, ThreadsAddUp) {
  core::ThreadPool one(1);
  core::ThreadPool two(2);
  const auto alone = MeasureLimits(one, 0.01);
  const auto both = MeasureLimits(two, 0.01);
  ASSERT_TRUE(alone.ok() && both.ok());
  // A loaded machine may give the second thread no time at all, but it takes none away.
  EXPECT_GT(both->f32_flops, 0.4 * alone->f32_flops);
}

}  // namespace
}  // namespace rml::kernels
