#include "rml/cli/bench/kernel_case.h"

#include <gtest/gtest.h>

#include <set>

#include "rml/cli/bench/contender.h"
#include "rml/cli/bench/number_list.h"

namespace rml::cli {
namespace {

std::string CaseError(std::string_view text) {
  const auto json = io::Json::Parse(text);
  EXPECT_TRUE(json.ok());
  const auto cases = ParseCases(*json, "x.json");
  return cases.ok() ? "" : std::string(cases.status().message());
}

TEST(KernelCase, ErrorsNameFileCaseAndNearestKey) {
  const std::string error =
      CaseError(R"([{"name": "c", "op": "relu", "inputs": [{"dtype": "f32", "dimz": [2]}]}])");
  EXPECT_NE(error.find("x.json"), std::string::npos) << error;
  EXPECT_NE(error.find("\"c\""), std::string::npos) << error;
  EXPECT_NE(error.find("did you mean \"dims\""), std::string::npos) << error;
  EXPECT_NE(CaseError(R"([{"name": "c", "op": "rellu", "inputs": []}])").find("relu"),
            std::string::npos);
}

TEST(KernelCase, RefusesSizesThatDoNotFit) {
  for (const char* const dims : {"[4000000000, 4000000000]", "[1099511627776]", "[-1]"}) {
    EXPECT_NE(
        CaseError(core::StrCat(
            R"([{"name": "c", "op": "relu", "inputs": [{"dtype": "f32", "dims": )", dims, "}]}]")),
        "")
        << dims;
  }
}

TEST(KernelCase, ValuesFollowTheirKind) {
  const auto json = io::Json::Parse(R"([{"name": "c", "op": "concat", "attributes": {"axis": 0},
      "inputs": [{"dtype": "i64", "dims": [1000], "values": "zipf", "high": 50},
                 {"dtype": "i64", "dims": [11], "values": "offsets"}]}])");
  const auto cases = ParseCases(*json, "x.json");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const auto tensors = TensorsOf((*cases)[0]);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  for (const int64_t rank : *(*tensors)[0].HostData<int64_t>()) {
    EXPECT_GE(rank, 0);
    EXPECT_LT(rank, 50);
  }
  const auto offsets = *(*tensors)[1].HostData<int64_t>();
  EXPECT_EQ(offsets[0], 0);
  EXPECT_EQ(offsets[5], 500);
  EXPECT_EQ(offsets[10], 1000);
}

TEST(KernelCase, BuiltInCasesAreRightAndHaveOwnNames) {
  const auto cases = BuiltInCases();
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  std::set<std::string> names;
  for (const KernelCase& c : *cases) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

TEST(NumberList, ReadsNumbersBetweenCommas) {
  const auto list = ParseNumberList("-t", "1,2", 1);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(*list, (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(ParseNumberList("-t", "0", 1).ok());
  EXPECT_FALSE(ParseNumberList("-t", "1x", 1).ok());
  EXPECT_EQ(ParseNameList("a,,b"), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace rml::cli
