#include "rml/core/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "rml/core/error.h"
#include "rml/core/expected.h"

namespace rml::core {
namespace {

TEST(Status, OkCostsOnePointerAndSaysNothing) {
  static_assert(sizeof(Status) == sizeof(void*));
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), StatusCode::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_TRUE(Status(StatusCode::kOk, "ignored").ok());
}

TEST(Status, MakersJoinTheirArguments) {
  const Status status = DataLoss("file ", std::string("a.gguf"), ": byte ", 17, ", scale ", 0.5);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "file a.gguf: byte 17, scale 0.5");
}

TEST(Status, CopiesAreIndependentAndMovesLeaveNoTrace) {
  Status first = NotFound("key");
  Status second = first;
  first = OkStatus();
  EXPECT_TRUE(first.ok());
  EXPECT_EQ(second.message(), "key");
  Status& alias = second;
  second = alias;
  EXPECT_EQ(second.message(), "key");
  const Status third = std::move(second);
  EXPECT_EQ(third.message(), "key");
}

TEST(Status, ContextGoesInFrontOfTheMessage) {
  const Status status = OutOfRange("byte 9").WithContext("tensor x").WithContext("model.gguf");
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(), "model.gguf: tensor x: byte 9");
  EXPECT_TRUE(OkStatus().WithContext("anything").ok());
}

TEST(Status, EveryCodeHasItsOwnName) {
  std::vector<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    const std::string_view name = StatusCodeName(static_cast<StatusCode>(code));
    EXPECT_NE(name, "unknown");
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
    names.push_back(name);
  }
}

TEST(Status, IoErrorsKeepTheSystemsReason) {
  EXPECT_EQ(IoError("cannot open x", ENOENT).code(), StatusCode::kNotFound);
  EXPECT_EQ(IoError("cannot write x", ENOSPC).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(IoError("cannot read x", EIO).code(), StatusCode::kIo);
  EXPECT_EQ(IoError("cannot open x", ENOENT).message(), "cannot open x: No such file or directory");
}

Expected<int> HalfOf(int x) {
  if (x % 2 != 0) return InvalidArgument(x, " is odd");
  return x / 2;
}

Expected<int> QuarterOf(int x) {
  RML_ASSIGN(const int half, HalfOf(x));
  RML_ASSIGN(const int quarter, HalfOf(half));
  return quarter;
}

Status CheckEven(int x) {
  RML_TRY(HalfOf(x));
  RML_TRY(OkStatus());
  return {};
}

TEST(Expected, MacrosPassValuesAndFailuresUp) {
  EXPECT_EQ(QuarterOf(12).value_or(-1), 3);
  EXPECT_EQ(QuarterOf(6).error().message(), "3 is odd");
  EXPECT_EQ(QuarterOf(7).error().message(), "7 is odd");
  EXPECT_TRUE(CheckEven(4).ok());
  EXPECT_EQ(CheckEven(5).code(), StatusCode::kInvalidArgument);
}

TEST(Expected, HoldsMoveOnlyValues) {
  Expected<std::unique_ptr<int>> made = std::make_unique<int>(5);
  ASSERT_TRUE(made.has_value());
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 5);
}

TEST(Expected, ConvertsToItsValueType) {
  const Expected<std::string> text = "literal";
  EXPECT_EQ(*text, "literal");
  EXPECT_EQ(text->size(), 7u);
  EXPECT_TRUE(text.error().ok());
}

TEST(ExpectedDeathTest, TakingAValueThatIsNotThereIsABug) {
  const Expected<int> failed = HalfOf(3);
  EXPECT_DEATH(static_cast<void>(failed.value()), "check failed");
  EXPECT_DEATH(Expected<int>{OkStatus()}, "check failed");
}

TEST(Error, CarriesTheStatus) {
  try {
    throw Error(Unsupported("no such dtype"));
  } catch (const std::exception& caught) {
    EXPECT_STREQ(caught.what(), "no such dtype");
    EXPECT_EQ(dynamic_cast<const Error&>(caught).status().code(), StatusCode::kUnsupported);
  }
}

}  // namespace
}  // namespace rml::core
