// Known values of elementwise operators, reductions and scans, and what their gradients do at edges
// where finite differences cannot judge. That rules and references agree elsewhere is
// ops_check_test's business.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rml/core/convert.h"
#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {
namespace {

using core::DType;
using ir::AttrList;
using ir::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Matcher;
using ::testing::NanSensitiveDoubleEq;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

class KnownValues : public ::testing::Test {
 protected:
  static Value Make(const Numbers& numbers, DType dtype = DType::kF64) {
    const core::Shape shape = {static_cast<int64_t>(numbers.size())};
    const auto wide = core::Tensor::FromHost<double>(shape, numbers, core::Cpu());
    return Value(*core::Convert(*wide, dtype, core::Cpu()));
  }
  static Numbers Read(const Value& value) {
    const auto wide = core::Convert(value.tensor(), DType::kF64, core::Cpu());
    const auto data = wide->HostData<double>();
    return {data->begin(), data->end()};
  }

  Numbers Run(std::string_view op, const std::vector<Numbers>& inputs,
              const AttrList& attributes = {}, DType dtype = DType::kF64) const {
    std::vector<Value> values;
    for (const Numbers& numbers : inputs) values.push_back(Make(numbers, dtype));
    return Read(e_.call(op, values, attributes)[0]);
  }

  // The gradient of each input, for ones.
  std::vector<Numbers> Gradients(std::string_view op, const std::vector<Numbers>& inputs,
                                 const AttrList& attributes = {}, DType dtype = DType::kF64) {
    std::vector<Value> leaves;
    for (const Numbers& numbers : inputs) {
      leaves.push_back(Make(numbers, dtype));
      leaves.back().set_requires_grad(true);
    }
    const Value y = e_.call(op, leaves, attributes)[0];
    const Value ones = e_.full(1, y.type());
    const auto found = ir::TapeBackward(eager_, std::span(&y, 1), std::span(&ones, 1), leaves);
    std::vector<Numbers> gradients;
    for (const Value& gradient : *found) gradients.push_back(Read(gradient));
    return gradients;
  }

  void ExpectNear(std::string_view op, const std::vector<Numbers>& inputs, const Numbers& expected,
                  const AttrList& attributes = {}) const {
    const Numbers found = Run(op, inputs, attributes);
    ASSERT_EQ(found.size(), expected.size()) << op;
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], std::abs(expected[i]) * 1e-13) << op << " at " << i;
  }

  static auto Same(const Numbers& expected) {
    std::vector<Matcher<double>> matchers;
    for (const double number : expected) matchers.push_back(NanSensitiveDoubleEq(number));
    return ::testing::ElementsAreArray(matchers);
  }

  const core::RunContext context_;
  EagerBuilder eager_{context_, {&ReferenceProvider()}, BuiltinOps()};
  const Emit e_{eager_};
};

TEST_F(KnownValues, OfElementaryFunctions) {
  ExpectNear("expm1", {{1e-10}}, {1.00000000005000000364e-10});
  ExpectNear("log1p", {{1e-10}}, {9.9999999995000000364e-11});
  ExpectNear("tan", {{1}}, {1.5574077246549022305});
  ExpectNear("sinh", {{1}}, {1.1752011936438014569});
  ExpectNear("cosh", {{1}}, {1.5430806348152437785});
  ExpectNear("asinh", {{2}}, {1.4436354751788103425});
  ExpectNear("acosh", {{2}}, {1.3169578969248167086});
  ExpectNear("atanh", {{0.5}}, {0.54930614433405484570});
  ExpectNear("asin", {{0.5}}, {M_PI / 6});
  ExpectNear("acos", {{0.5}}, {M_PI / 3});
  ExpectNear("atan2", {{-1, 1, 0}, {-1, 0, -1}}, {-0.75 * M_PI, M_PI / 2, M_PI});
  ExpectNear("exp2", {{10, -1}}, {1024, 0.5});
  ExpectNear("log2", {{10}}, {3.3219280948873623479});
  ExpectNear("log10", {{1000}}, {3});
  ExpectNear("erf", {{1}}, {0.84270079294971486934});
  ExpectNear("erfc", {{5}}, {1.5374597944280348502e-12});
}

TEST_F(KnownValues, OfActivations) {
  ExpectNear("gelu", {{-1, -8}}, {-0.15865525393145705141, -4.9767684594174555e-15});
  ExpectNear("gelu", {{1}}, {0.84119199060827670478}, {{"approximate", "tanh"}});
  ExpectNear("silu", {{2}}, {1.7615941559557648881});
  ExpectNear("softplus", {{1, -30, 800}}, {1.3132616875182228340, 9.3576229688397368e-14, 800});
  ExpectNear("mish", {{1}}, {0.86509838826731034613});
  ExpectNear("elu", {{-1}}, {-0.63212055882855767840});
  ExpectNear("selu", {{-1}}, {-1.1113307378125627});
  ExpectNear("celu", {{-1}}, {-0.78693868057473315}, {{"alpha", 2}});
  ExpectNear("hard_swish", {{-4, -1, 1, 4}}, {0, -1.0 / 3, 2.0 / 3, 4});
  ExpectNear("hard_sigmoid", {{-4, 1, 4}}, {0, 0.7, 1});
  EXPECT_THAT(Run("relu", {{-1, kNaN, 2}}), Same({0, kNaN, 2}));
}

TEST_F(KnownValues, RoundingGoesToEvenAtHalves) {
  EXPECT_THAT(Run("round", {{0.5, 1.5, 2.5, -0.5, -1.5}}), Same({0, 2, 2, -0.0, -2}));
  EXPECT_THAT(Run("trunc", {{1.9, -1.9}}), Same({1, -1}));
  EXPECT_THAT(Run("floor", {{1.9, -1.1}}), Same({1, -2}));
  EXPECT_THAT(Run("ceil", {{1.1, -1.9}}), Same({2, -1}));
}

TEST_F(KnownValues, RemaindersHaveTheSignOfOneOperand) {
  const std::vector<Numbers> operands = {{7, -7, 7, -7, 5, -128}, {3, 3, -3, -3, 0, -1}};
  for (const DType dtype : {DType::kI8, DType::kI64}) {
    EXPECT_THAT(Run("mod", operands, {}, dtype), ElementsAre(1, 2, -2, -1, 5, 0));
    EXPECT_THAT(Run("fmod", operands, {}, dtype), ElementsAre(1, -1, 1, -1, 5, 0));
  }
  EXPECT_THAT(Run("mod", {{-5, 5.5, 1}, {kInfinity, -2, 0}}), Same({kInfinity, -0.5, kNaN}));
  EXPECT_THAT(Run("fmod", {{-5, 5.5, 1}, {kInfinity, -2, 0}}), Same({-5, 1.5, kNaN}));
}

TEST_F(KnownValues, IntegersWrapAndShiftPastTheirWidth) {
  EXPECT_THAT(Run("abs", {{-128, -3}}, {}, DType::kI8), ElementsAre(-128, 3));
  EXPECT_THAT(Run("square", {{16}}, {}, DType::kU8), ElementsAre(0));
  EXPECT_THAT(Run("pow", {{3, -2, -1, 2, 0}, {5, 3, -3, -1, 0}}, {}, DType::kI32),
              ElementsAre(243, -8, -1, 0, 1));
  EXPECT_THAT(Run("shift_left", {{3, 3, 3, 3}, {1, 7, 8, 99}}, {}, DType::kU8),
              ElementsAre(6, 128, 0, 0));
  const std::vector<Numbers> shifts = {{-128, -128, -128, 64}, {1, 8, -1, 6}};
  EXPECT_THAT(Run("shift_right", shifts, {}, DType::kI8), ElementsAre(-64, -1, -1, 1));
  EXPECT_THAT(Run("shift_right", shifts, {{"logical", true}}, DType::kI8),
              ElementsAre(64, 0, 0, 1));
  EXPECT_THAT(Run("bit_not", {{0, 5}}, {}, DType::kU8), ElementsAre(255, 250));
  EXPECT_THAT(Run("bit_xor", {{12}, {10}}, {}, DType::kI16), ElementsAre(6));
}

TEST_F(KnownValues, NanIsPassedOnByExtremes) {
  EXPECT_THAT(Run("maximum", {{1, kNaN, 1, -0.0}, {2, 1, kNaN, 0}}), Same({2, kNaN, kNaN, 0}));
  EXPECT_THAT(Run("max", {{1, kNaN, kInfinity}}), Same({kNaN}));
  EXPECT_THAT(Run("norm", {{1, kNaN}}, {{"p", kInfinity}}), Same({kNaN}));
  EXPECT_THAT(Run("argmax", {{1, kNaN, kInfinity, kNaN}}), ElementsAre(1));
  EXPECT_THAT(Run("argmin", {{1, kNaN, 0, kNaN}}, {{"select_last_index", true}}), ElementsAre(3));
  EXPECT_THAT(Run("clamp", {{kNaN, 5, 1}, {0}, {2}}), Same({kNaN, 2, 1}));
  EXPECT_THAT(Run("clamp", {{1}, {3}, {2}}), Same({2}));
}

TEST_F(KnownValues, OfNoElements) {
  EXPECT_THAT(Run("max", {{}}), Same({-kInfinity}));
  EXPECT_THAT(Run("max", {{}}, {}, DType::kI8), ElementsAre(-128));
  EXPECT_THAT(Run("min", {{}}, {}, DType::kU16), ElementsAre(65535));
  EXPECT_THAT(Run("prod", {{}}), Same({1}));
  EXPECT_THAT(Run("any", {{}}, {}, DType::kBool), ElementsAre(0));
  EXPECT_THAT(Run("all", {{}}, {}, DType::kBool), ElementsAre(1));
  EXPECT_THAT(Run("logsumexp", {{}}), Same({-kInfinity}));
  EXPECT_THAT(Run("variance", {{}}), Same({kNaN}));
  try {
    Run("argmax", {{}});
    FAIL() << "there is nothing to choose from";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("argmax: axis 0 has no elements to choose from"));
  }
}

TEST_F(KnownValues, OfReductions) {
  ExpectNear("logsumexp", {{1001, 1002, 1003}}, {1003.4076059644443803});
  ExpectNear("variance", {{1, 2, 3, 4}}, {1.25});
  ExpectNear("variance", {{1, 2, 3, 4}}, {5.0 / 3}, {{"correction", 1}});
  ExpectNear("norm", {{3e200, -4e200}}, {5e200});
  ExpectNear("norm", {{3e-200, -4e-200}}, {5e-200});
  ExpectNear("norm", {{3, -4}}, {7}, {{"p", 1}});
  ExpectNear("norm", {{3, -4}}, {4}, {{"p", kInfinity}});
}

TEST_F(KnownValues, OfScans) {
  const Numbers x = {1, 2, 3, 4};
  EXPECT_THAT(Run("cumsum", {x}), ElementsAre(1, 3, 6, 10));
  EXPECT_THAT(Run("cumsum", {x}, {{"exclusive", true}}), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(Run("cumsum", {x}, {{"reverse", true}}), ElementsAre(10, 9, 7, 4));
  EXPECT_THAT(Run("cumprod", {x}, {{"exclusive", true}, {"reverse", true}}),
              ElementsAre(24, 12, 4, 1));
  EXPECT_THAT(Run("linear_scan", {{9, 2, 3}, {1, 1, 1}}), ElementsAre(1, 3, 10));
  EXPECT_THAT(Run("linear_scan", {{2, 3, 9}, {1, 1, 1}}, {{"exclusive", true}}),
              ElementsAre(0, 1, 4));
}

TEST_F(KnownValues, TiesShareAGradient) {
  EXPECT_THAT(Gradients("max", {{1, 2, 2, 0}}), ElementsAre(Same({0, 0.5, 0.5, 0})));
  EXPECT_THAT(Gradients("maximum", {{1, 2}, {1, 1}}), ElementsAre(Same({0.5, 1}), Same({0.5, 0})));
  EXPECT_THAT(Gradients("norm", {{2, -2, 1}}, {{"p", kInfinity}}),
              ElementsAre(Same({0.5, -0.5, 0})));
}

TEST_F(KnownValues, ZerosAreNoPolesOfGradients) {
  EXPECT_THAT(Gradients("pow", {{0, 0, 0}, {0, 1, 2}}),
              ElementsAre(Same({0, 1, 0}), Same({0, 0, 0})));
  EXPECT_THAT(Gradients("prod", {{2, 0, 3}}), ElementsAre(Same({0, 6, 0})));
  EXPECT_THAT(Gradients("prod", {{2, 0, 0}}), ElementsAre(Same({0, 0, 0})));
  EXPECT_THAT(Gradients("norm", {{0, 0}}), ElementsAre(Same({0, 0})));
  EXPECT_THAT(Gradients("logsumexp", {{-kInfinity, -kInfinity}}), ElementsAre(Same({0, 0})));
  EXPECT_THAT(Gradients("abs", {{0, -3}}), ElementsAre(Same({0, -1})));
}

TEST_F(KnownValues, LargeElementsOfF16KeepTheirGradients) {
  const Numbers x = {-300, 300};
  const AttrList tanh = {{"approximate", "tanh"}};
  EXPECT_THAT(Gradients("gelu", {x}, tanh, DType::kF16), ElementsAre(Same({0, 1})));
  EXPECT_THAT(Gradients("gelu", {x}, {}, DType::kF16), ElementsAre(Same({0, 1})));
  EXPECT_THAT(Gradients("silu", {x}, {}, DType::kF16), ElementsAre(Same({0, 1})));
  EXPECT_THAT(Gradients("elu", {x}, {}, DType::kF16), ElementsAre(Same({0, 1})));
  EXPECT_NEAR(Gradients("asinh", {{300}}, {}, DType::kF16)[0][0], 1 / 300.0, 2e-5);
  EXPECT_NEAR(Gradients("atan2", {{300}, {300}}, {}, DType::kF16)[0][0], 1 / 600.0, 2e-6);
}

}  // namespace
}  // namespace rml::ops
