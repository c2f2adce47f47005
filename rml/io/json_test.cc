#include "rml/io/json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "rml/io/testing/test_files.h"

namespace rml::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text, const JsonLimits& limits = {}) {
  return std::string(Json::Parse(text, limits).status().message());
}

TEST(Json, ParsesEveryKind) {
  auto json = Json::Parse(
      R"( {"n": null, "t": true, "f": false, "i": -12, "d": 1.5, "s": "x", "a": [1, []], "o": {}} )");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(json->size(), 8u);
  EXPECT_TRUE(json->Find("n")->is_null());
  EXPECT_EQ(*json->Get<bool>("t"), true);
  EXPECT_EQ(*json->Get<bool>("f"), false);
  EXPECT_EQ(*json->Get<int>("i"), -12);
  EXPECT_EQ(*json->Get<double>("d"), 1.5);
  EXPECT_EQ(*json->Get<std::string>("s"), "x");
  EXPECT_EQ(json->Find("a")->items().size(), 2u);
  EXPECT_TRUE(json->Find("o")->is_object());
  EXPECT_EQ(json->members()[3].key, "i");
}

TEST(Json, ScalarsStandAlone) {
  EXPECT_EQ(*Json::Parse("3")->As<int>(), 3);
  EXPECT_EQ(*Json::Parse(" \"a\" ")->As<std::string>(), "a");
  EXPECT_TRUE(Json::Parse("null")->is_null());
  EXPECT_EQ(*Json::Parse("\xef\xbb\xbf[1]")->items()[0].As<int>(), 1) << "after a byte order mark";
}

TEST(Json, NumbersKeepTheirValue) {
  EXPECT_EQ(*Json::Parse("9223372036854775807")->As<int64_t>(),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(*Json::Parse("-9223372036854775808")->As<int64_t>(),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Json::Parse("9223372036854775808")->kind(), Json::Kind::kDouble);
  EXPECT_EQ(*Json::Parse("1000000000000000019884624838656")->As<double>(), 1e30);
  EXPECT_EQ(*Json::Parse("0.1")->As<double>(), 0.1);
}

TEST(Json, SignedZeroAndTinyNumbersAreDoubles) {
  EXPECT_TRUE(std::signbit(*Json::Parse("-0")->As<double>()));
  EXPECT_EQ(*Json::Parse("1e-400")->As<double>(), 0.0);
  EXPECT_EQ(*Json::Parse("4.9e-324")->As<double>(), 4.9e-324);
  EXPECT_THAT(ErrorOf("1e400"), HasSubstr("too large for a double"));
  EXPECT_THAT(ErrorOf("-1e400"), HasSubstr("too large for a double"));
}

TEST(Json, EscapesAreUndone) {
  auto json = Json::Parse(R"("\"\\\/\b\f\n\r\tA\u00e9\u20AC\ud83d\ude00\u0000")");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(*json->As<std::string>(),
            std::string("\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0", 19));
}

TEST(Json, ErrorsNameLineAndByte) {
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1,\n  \"b\" 2\n}"),
            "malformed JSON at line 3, byte 18: a colon is expected");
  EXPECT_EQ(ErrorOf("[1, 2"), "malformed JSON at line 1, byte 5: the text ends too early");
  EXPECT_EQ(ErrorOf("[\"ab]"), "malformed JSON at line 1, byte 1: this string is not closed");
}

TEST(Json, MalformedTextsAreErrors) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[",
                                      "}",
                                      "]",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "{\"a\":1,}",
                                      "{\"a\"}",
                                      "{a:1}",
                                      "{1:2}",
                                      "[1}",
                                      "{\"a\":1]",
                                      "[1]]",
                                      "[] []",
                                      "1 2",
                                      "nul",
                                      "nulll",
                                      "tru",
                                      "True",
                                      "NaN",
                                      "Infinity",
                                      "-",
                                      "+1",
                                      "01",
                                      "-01",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x10",
                                      "1.e3",
                                      "- 1",
                                      "'a'",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\u+123\"",
                                      "\"a\nb\"",
                                      "\"\x01\"",
                                      "//c\n1",
                                      "[1,/**/2]",
                                      "\"\\",
                                      "{\"a\":}",
                                      "{,}",
                                      "[\"a\",\n4\n,1,"}) {
    EXPECT_FALSE(Json::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(Json::Parse(std::string_view("[1\0]", 4)).ok());
  EXPECT_FALSE(Json::Parse(std::string_view("1\0", 2)).ok());
}

TEST(Json, InvalidUtf8IsAnErrorWithItsByte) {
  for (const std::string_view text :
       {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\"", "\"\xf4\x90\x80\x80\""}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("byte 1: the text is not UTF-8")) << text;
  }
}

TEST(Json, LoneSurrogatesAreErrors) {
  for (const std::string_view text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")", R"("\ud800x")", R"("\ud83d\u0041")"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("a surrogate stands alone")) << text;
  }
}

TEST(Json, DuplicateKeysAreErrors) {
  EXPECT_EQ(ErrorOf(R"({"a":1,"a":2})"),
            "malformed JSON at line 1, byte 7: the object already has the key \"a\"");
  EXPECT_FALSE(Json::Parse(R"({"a":1,"\u0061":2})").ok());
  // Also among so many keys that they are indexed.
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += core::StrCat("\"k", i, "\":", i, ",");
  EXPECT_TRUE(Json::Parse(text + "\"x\":0}").ok());
  EXPECT_FALSE(Json::Parse(text + "\"k17\":0}").ok());
  EXPECT_FALSE(Json::Parse(text + "\"k999\":0}").ok());
}

TEST(Json, LargeObjectsFindEveryKey) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += core::StrCat(i > 0 ? "," : "", "\"key ", i, "\":", i);
  auto json = Json::Parse(text + "}");
  ASSERT_TRUE(json.ok());
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(*json->Get<int>(core::StrCat("key ", i)), i);
  EXPECT_EQ(json->Find("key 5000"), nullptr);
  EXPECT_EQ(json->Find(""), nullptr);
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(Json::Parse(nested(128)).ok());
  EXPECT_THAT(ErrorOf(nested(129)), HasSubstr("nested deeper than 128"));
  EXPECT_THAT(ErrorOf(std::string(1'000'000, '[')), HasSubstr("nested deeper than 128"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(ErrorOf(objects), HasSubstr("nested deeper than 128"));
  EXPECT_FALSE(Json::Parse("[[1]]", {.depth = 1}).ok());
  EXPECT_TRUE(Json::Parse("1", {.depth = 0}).ok());
}

TEST(Json, SizeIsLimited) {
  EXPECT_EQ(Json::Parse("[1,2]", {.bytes = 4}).status().code(),
            core::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Json::Parse("[1,2]", {.bytes = 5}).ok());
}

TEST(Json, GettersNameKeyAndActualKind) {
  auto json =
      Json::Parse(R"({"s":"x","n":300,"d":1.5,"whole":4.0,"neg":-1,"a":[1,"b"],"null":null})");
  ASSERT_TRUE(json.ok());
  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_EQ(message(json->Get<int>("s")), "\"s\" is of type string, not an integer");
  EXPECT_EQ(message(json->Get<uint8_t>("n")), "\"n\" is 300, outside of 0 … 255");
  EXPECT_EQ(message(json->Get<int>("d")), "\"d\" is of type number, not an integer");
  EXPECT_EQ(*json->Get<int>("whole"), 4);
  EXPECT_EQ(*json->Get<float>("n"), 300.0f);
  EXPECT_FALSE(json->Get<uint64_t>("neg").ok());
  EXPECT_EQ(message(json->Get<std::vector<int>>("a")),
            "\"a\" item 1 is of type string, not an integer");
  EXPECT_EQ(message(json->Get<int>("absent")), "there is no key \"absent\"");
  EXPECT_EQ(json->Get<int>("absent").status().code(), core::StatusCode::kNotFound);
  EXPECT_EQ(*json->GetOr<int>("absent", 5), 5);
  EXPECT_EQ(*json->GetOr<int>("null", 5), 5);
  EXPECT_FALSE(json->GetOr<int>("s", 5).ok());
  EXPECT_FALSE(Json(1).Get<int>("x").ok());
  EXPECT_THAT(*Json::Parse("[1,2]")->As<std::vector<float>>(), ElementsAre(1, 2));
}

TEST(Json, IsBuiltAndPrinted) {
  Json json;
  json.Set("name", "rml").Set("n", 3).Set("x", 0.5).Set("ok", true).Set("nothing", nullptr);
  json.Set("list", Json().Append(1).Append("two").Append(Json::MakeArray()));
  json.Set("empty", Json::MakeObject());
  json.Set("n", 4);
  EXPECT_EQ(
      json.Dump(),
      R"({"name": "rml", "n": 4, "x": 0.5, "ok": true, "nothing": null, "list": [1, "two", []], "empty": {}})");
  EXPECT_EQ(Json().Set("a", Json().Append(1)).Dump(2), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(Json, PrintedTextIsAlwaysValid) {
  EXPECT_EQ(Json("a\xff"
                 "b\xe2\x82")
                .Dump(),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(Json(std::string("\"\\\n\x01\x00", 5)).Dump(), R"("\"\\\n\u0001\u0000")");
  EXPECT_EQ(Json("\xc3\xa9\xf0\x9f\x98\x80").Dump(), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).Dump(), "null");
  EXPECT_EQ(Json(std::nan("")).Dump(), "null");
  EXPECT_EQ(Json(1.0).Dump(), "1.0");
  EXPECT_EQ(Json(1e300).Dump(), "1e+300");
  EXPECT_EQ(Json(0.1).Dump(), "0.1");
  EXPECT_EQ(Json(std::numeric_limits<int64_t>::min()).Dump(), "-9223372036854775808");
}

TEST(Json, DoublesReadBackEqual) {
  for (const double value :
       {0.1, 1.0 / 3, 1e-310, 1.7976931348623157e308, -0.0, 123456789012345680.0, 5e-324}) {
    const std::string text = Json(value).Dump();
    auto json = Json::Parse(text);
    ASSERT_TRUE(json.ok()) << text;
    EXPECT_EQ(json->kind(), Json::Kind::kDouble) << text;
    EXPECT_EQ(*json->As<double>(), value) << text;
  }
}

TEST(Json, DeepValuesThatWereBuiltCanBePrinted) {
  Json json;
  for (int i = 0; i < 5000; ++i) json = Json::MakeArray().Append(std::move(json));
  EXPECT_EQ(json.Dump(), std::string(5000, '[') + "null" + std::string(5000, ']'));
}

TEST(Json, CopiesAreIndependent) {
  Json a = *Json::Parse(R"({"list":[1,{"x":2}],"s":"text"})");
  Json b = a;
  EXPECT_TRUE(a == b);
  b.Set("s", "other");
  EXPECT_EQ(*a.Get<std::string>("s"), "text");
  EXPECT_FALSE(a == b);
  a = Json(*a.Find("list"));
  EXPECT_EQ(a.items().size(), 2u);
  Json c = std::move(a);
  EXPECT_TRUE(a.is_null());
  EXPECT_EQ(*c.items()[1].Get<int>("x"), 2);
}

TEST(Json, ValueMayBeReplacedByItsOwnPart) {
  Json json = *Json::Parse(R"([[1,2]])");
  json = json.items()[0];
  EXPECT_EQ(json.Dump(), "[1, 2]");
}

TEST(Json, EqualityIgnoresTheOrderOfKeys) {
  EXPECT_TRUE(*Json::Parse(R"({"a":1,"b":[2]})") == *Json::Parse(R"({"b":[2],"a":1})"));
  EXPECT_FALSE(*Json::Parse(R"({"a":1})") == *Json::Parse(R"({"a":1,"b":2})"));
  EXPECT_FALSE(*Json::Parse("1") == *Json::Parse("1.0"));
}

TEST(Json, FilesAreNamedInErrors) {
  const testing::TempFolder folder;
  testing::PutFile(folder / "config.json", "{\"a\": }");
  EXPECT_THAT(std::string(Json::ParseFile(folder / "config.json").status().message()),
              HasSubstr("config.json: malformed JSON at line 1, byte 6"));
  EXPECT_EQ(Json::ParseFile(folder / "absent.json").status().code(), core::StatusCode::kNotFound);
}

// Another parser's opinion of the same texts. Ours differs in two places by design: duplicate keys,
// and numbers that overflow.
TEST(Json, AgreesWithAnotherParserOnDamagedTexts) {
  const std::string base =
      R"({"a": [1, -2.5e3, true, null, "x\u00e9\ud83d\ude00\n"], "b": {"c": {}, "d": []}, "e": "\\\""})";
  ASSERT_TRUE(Json::Parse(base).ok());
  const std::string replacements = "{}[]\",:\\0x-.e \n\x01\x80\xff";
  size_t accepted = 0;
  for (size_t i = 0; i < base.size(); ++i) {
    for (const char c : replacements) {
      std::string changed = base;
      changed[i] = c;
      auto ours = Json::Parse(changed);
      const auto theirs = nlohmann::json::parse(changed, nullptr, false);
      const bool duplicate =
          !ours.ok() && ours.status().message().find("already has") != std::string_view::npos;
      if (!duplicate) {
        EXPECT_EQ(ours.ok(), !theirs.is_discarded()) << changed;
      }
      if (ours.ok() && !theirs.is_discarded()) {
        EXPECT_EQ(nlohmann::json::parse(ours->Dump()), theirs) << changed;
        ++accepted;
      }
    }
    for (const bool erase : {true, false}) {
      std::string changed = base;
      erase ? changed.erase(i, 1) : changed.erase(i);
      EXPECT_EQ(Json::Parse(changed).ok(), nlohmann::json::accept(changed)) << changed;
    }
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace rml::io
