#include "rml/core/inline_vector.h"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rml::core {
namespace {

using ::testing::ElementsAre;

// Elements with memory of their own, so that a wrong copy is found.
using Element = std::vector<int>;

TEST(InlineVector, GrowsPastItsInlineRoom) {
  InlineVector<Element, 2> v = {{1}};
  v.push_back({2});
  v.emplace_back(3, 7);
  EXPECT_THAT(v, ElementsAre(Element{1}, Element{2}, Element{7, 7, 7}));
  v.push_back(v[0]);  // an element of its own
  v.resize(6);
  EXPECT_THAT(
      v, ElementsAre(Element{1}, Element{2}, Element{7, 7, 7}, Element{1}, Element{}, Element{}));
  v.resize(1);
  EXPECT_THAT(v, ElementsAre(Element{1}));
}

TEST(InlineVector, MovesBothWaysOfStoring) {
  for (const size_t count : {1u, 5u}) {
    InlineVector<std::unique_ptr<int>, 2> from;
    for (size_t i = 0; i < count; ++i) from.push_back(std::make_unique<int>(static_cast<int>(i)));
    InlineVector<std::unique_ptr<int>, 2> to;
    to.push_back(nullptr);
    to = std::move(from);
    ASSERT_EQ(to.size(), count);
    EXPECT_EQ(*to.back(), static_cast<int>(count) - 1);
    EXPECT_TRUE(from.empty());
    from.push_back(nullptr);
    EXPECT_EQ(from.size(), 1u);
  }
}

TEST(InlineVector, CopiesAreEqualAndApart) {
  InlineVector<Element, 2> a = {{1}, {2}, {3}};
  InlineVector<Element, 2> b = a;
  EXPECT_EQ(a, b);
  b[0] = {4};
  EXPECT_FALSE(a == b);
  b = InlineVector<Element, 2>{{5}};
  EXPECT_THAT(b, ElementsAre(Element{5}));
  a = b;
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace rml::core
