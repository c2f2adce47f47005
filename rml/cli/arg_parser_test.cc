#include "rml/cli/arg_parser.h"

#include <gtest/gtest.h>

namespace rml::cli {
namespace {

struct Parsed {
  int code = -1;
  int ran = 0;
  std::string text, positional;
  std::optional<std::string> given;
  int64_t number = 5;
  bool flag = false;
  std::vector<std::string> many;
};

Parsed Parse(std::vector<const char*> arguments) {
  Parsed parsed;
  ArgParser root("a program", "1.0");
  ArgParser command = root.Command("run", "runs", "run --text x");
  command.Add("--system-prompt,-sys", &parsed.text, "text");
  command.Add("--given", &parsed.given, "may be empty");
  command.Add("-n,--number", &parsed.number, "number");
  command.Add("-r,--repeat", &parsed.many, "several");
  command.Flag("--flag", &parsed.flag, "flag");
  command.Positional("WHAT", &parsed.positional, "what", false);
  command.SetRun([&] { return ++parsed.ran, kExitOk; });
  arguments.insert(arguments.begin(), "program");
  parsed.code = root.Main(static_cast<int>(arguments.size()), arguments.data());
  return parsed;
}

TEST(ArgParser, FillsInWhatWasGiven) {
  const Parsed parsed = Parse({"run", "--number", "-7", "--flag", "thing", "-r", "a", "-r", "b"});
  EXPECT_EQ(parsed.code, kExitOk);
  EXPECT_EQ(parsed.ran, 1);
  EXPECT_EQ(parsed.number, -7);
  EXPECT_TRUE(parsed.flag);
  EXPECT_EQ(parsed.positional, "thing");
  EXPECT_EQ(parsed.many, (std::vector<std::string>{"a", "b"}));
}

TEST(ArgParser, KnowsLlamaCppsNamesOfSeveralLettersBehindOneDash) {
  EXPECT_EQ(Parse({"run", "-sys", "be brief"}).text, "be brief");
}

TEST(ArgParser, TellsAnEmptyTextFromNone) {
  EXPECT_FALSE(Parse({"run"}).given.has_value());
  EXPECT_EQ(Parse({"run", "--given", ""}).given, "");
}

TEST(ArgParser, UsageErrorsEndWithTwo) {
  EXPECT_EQ(Parse({"run", "--unknown"}).code, kExitUsage);
  EXPECT_EQ(Parse({"run", "-n", "x"}).code, kExitUsage);
  EXPECT_EQ(Parse({"run", "-n"}).code, kExitUsage);
  EXPECT_EQ(Parse({"nothing"}).code, kExitUsage);
  EXPECT_EQ(Parse({}).code, kExitUsage);
  EXPECT_EQ(Parse({"run", "one", "two"}).code, kExitUsage);
}

TEST(ArgParser, HelpAndVersionEndWellAndRunNothing) {
  const Parsed help = Parse({"run", "--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_EQ(help.ran, 0);
  EXPECT_EQ(Parse({"--version"}).code, kExitOk);
}

}  // namespace
}  // namespace rml::cli
