#include "rml/core/carver.h"

#include <vector>

#include <gtest/gtest.h>

namespace rml::core {
namespace {

// A layout of three arrays.
struct Layout {
  float* a;
  int8_t* b;
  double* c;

  explicit Layout(Carver* carver)
      : a(carver->Take<float>(3)), b(carver->Take<int8_t>(65)), c(carver->Take<double>(1)) {}
};

TEST(Carver, ArraysAreAlignedAndDisjoint) {
  alignas(64) std::byte memory[512];
  Carver carver(memory);
  const Layout layout(&carver);
  EXPECT_EQ(reinterpret_cast<std::byte*>(layout.a), memory);
  EXPECT_EQ(reinterpret_cast<std::byte*>(layout.b), memory + 64);
  EXPECT_EQ(reinterpret_cast<std::byte*>(layout.c), memory + 192);
  EXPECT_EQ(carver.used(), 200u);
  EXPECT_EQ(carver.Rest().data(), memory + 200);
  EXPECT_EQ(carver.Rest().size(), 312u);
}

TEST(Carver, CountsWhatALayoutTakes) {
  Carver counter;
  const Layout layout(&counter);
  EXPECT_EQ(layout.c, nullptr);
  EXPECT_EQ(counter.used(), 200u);
  EXPECT_TRUE(counter.Rest().empty());
  alignas(64) std::byte memory[200];
  Carver carver(memory);
  const Layout fits(&carver);
  EXPECT_NE(fits.c, nullptr);
}

TEST(Carver, UnalignedMemoryCostsLessThanALine) {
  alignas(64) std::byte memory[300];
  Carver carver(std::span<std::byte>(memory).subspan(1, 200 + Carver::kAlign - 1));
  const Layout layout(&carver);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(layout.a) % Carver::kAlign, 0u);
}

TEST(CarverDeathTest, TooLittleMemoryAborts) {
  alignas(64) std::byte memory[192];
  Carver carver(memory);
  EXPECT_DEATH(const Layout layout(&carver), "");
}

}  // namespace
}  // namespace rml::core
