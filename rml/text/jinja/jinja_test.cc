// The language against Python's jinja2 (testdata/jinja/cases.json), its limits, and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "rml/io/json.h"
#include "rml/text/jinja/json.h"
#include "rml/text/jinja/template.h"

namespace rml::text::jinja {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Dict VariablesOf(const io::Json& context) { return FromJson(context).as_dict(); }

Expected<std::string> RenderText(std::string_view source, const Limits& limits = {},
                                 const Dict& variables = {}) {
  RML_ASSIGN(const Template parsed, Template::Parse(source, limits));
  return parsed.Render(variables, CivilTime{2024, 7, 5, 15, 4, 9});
}

TEST(Jinja, AgreesWithPythonOnEveryCase) {
  const auto file = io::Json::ParseFile(RML_TESTDATA "/jinja/cases.json");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Dict common = VariablesOf(*file->Find("context"));
  const io::Json& cases = *file->Find("cases");
  ASSERT_GT(cases.size(), 1000u);
  for (const io::Json& item : cases.items()) {
    const std::string source = *item.Get<std::string>("template");
    const io::Json* context = item.Find("context");
    const auto text = RenderText(source, {}, context == nullptr ? common : VariablesOf(*context));
    if (const io::Json* output = item.Find("output")) {
      EXPECT_EQ(text.ok() ? *text : std::string(text.status().message()),
                *output->As<std::string_view>())
          << source;
    } else {
      EXPECT_EQ(text.value_or("fails"), "fails")
          << source << "\nshould fail with " << *item.Get<std::string>("error");
      EXPECT_THAT(std::string(text.status().message()), StartsWith("line ")) << source;
    }
  }
}

struct BadTemplate {
  std::string_view source;
  StatusCode code;
  std::string_view message;
};

TEST(Jinja, ErrorsNameTheInnermostPlace) {
  const BadTemplate kCases[] = {
      {"a\n{{ 1 + }}", StatusCode::kInvalidArgument,
       "line 2, column 8: expected an expression, found '}}'"},
      {"{% if x %}\n", StatusCode::kInvalidArgument,
       "line 1, column 1: the if that begins here has no endif"},
      {"\n\n  {{ é.x }}", StatusCode::kInvalidArgument, "line 3, column 7: 'é' is undefined"},
      {"{{ 'é' ~ x.y }}", StatusCode::kInvalidArgument, "line 1, column 11: 'x' is undefined"},
      {"{{ [1].nope.x }}", StatusCode::kInvalidArgument,
       "line 1, column 12: 'list object' has no attribute 'nope'"},
      {"{% for a, b in [(1,)] %}{% endfor %}", StatusCode::kInvalidArgument,
       "line 1, column 1: not enough values to unpack (expected 2, got 1)"},
      {"{{ [].append(1) }}", StatusCode::kInvalidArgument,
       "line 1, column 6: access to attribute 'append' of 'list' object is unsafe."},
      {"{{ 1 }}\n{% include 'x' %}", StatusCode::kUnsupported,
       "line 2, column 1: a chat template cannot use {% include %}"},
      {"{{ 'abc }}", StatusCode::kInvalidArgument,
       "line 1, column 4: the string that begins here has no end"},
      {"{{ x|nope }}", StatusCode::kInvalidArgument, "line 1, column 6: no filter named 'nope'"},
      {"\xff", StatusCode::kDataLoss, "the template is not UTF-8"},
      {"{{ 9223372036854775807 + 1 }}", StatusCode::kUnsupported,
       "line 1, column 24: an integer does not fit in 64 bits, which is all that rml computes "
       "with"},
  };
  for (const BadTemplate& bad : kCases) {
    const auto text = RenderText(bad.source);
    ASSERT_FALSE(text.ok()) << bad.source;
    EXPECT_EQ(text.status().code(), bad.code) << bad.source;
    EXPECT_EQ(text.status().message(), bad.message) << bad.source;
  }
}

TEST(Jinja, AnUnknownFilterThatIsNotReachedIsNoError) {
  EXPECT_EQ(RenderText("{% if false %}{{ x|nope }}{{ 1 is nope }}{% endif %}ok").value(), "ok");
}

TEST(Jinja, LimitsStopWhateverATemplateTries) {
  struct Attack {
    std::string_view source;
    std::string_view message;
  };
  const Attack kAttacks[] = {
      {"{{ 'x' * 1000000000000 }}", "longer than the limit"},
      {"{{ [1] * 1000000000000 }}", "holds more than"},
      {"{{ range(1000000000000) }}", "larger than the limit"},
      {"{{ range(-9223372036854775807, 9223372036854775807) }}", "larger than the limit"},
      {"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
       "loops run more than"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested deeper"},
      {"{% macro m() %}{% if 1 %}{% for i in [1] %}{{ [m()]|join }}{% endfor %}{% endif %}"
       "{% endmacro %}{{ m() }}",
       "nested deeper"},
      {"{% for i in [[]] recursive %}{{ loop([i]) }}{% endfor %}", "nested deeper"},
      {"{% set ns = namespace(x='x') %}{% for i in range(99999) %}{% set ns.x = ns.x + ns.x %}"
       "{% endfor %}",
       "longer than the limit"},
      {"{% set ns = namespace(x=[1]) %}{% for i in range(99999) %}{% set ns.x = [ns.x, ns.x] %}"
       "{% endfor %}",
       "more than"},
      {"{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}"
       "{% endfor %}",
       "values are nested deeper"},
      {"{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = {'a': ns.x}.get %}"
       "{% endfor %}",
       "values are nested deeper"},
      {"{% set ns = namespace(x=[1]) %}{% for i in range(99999) %}{% set ns.x = ns.x|map('upper') "
       "%}"
       "{% endfor %}",
       "values are nested deeper"},
      {"{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}", "namespaces are nested deeper"},
      {"{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}", "more than"},
      {"{% set s = 'x' * 1000000 %}{% for i in range(99999) %}{% set t = s.replace('x', 'y') %}"
       "{% endfor %}",
       "more than"},
      {"{{ '%1000000000000d' % 1 }}", "limit"},
      {"{{ '{:1000000000000}'.format(1) }}", "limit"},
      {"{{ 'x'.center(1000000000000) }}", "longer than the limit"},
      {"{{ 'x'|center(1000000000000) }}", "longer than the limit"},
      {"{{ 'x'|indent(1000000000000) }}", "longer than the limit"},
      {"{{ 'x'.zfill(1000000000000) }}", "longer than the limit"},
      {"{{ '\t'.expandtabs(1000000000000) }}", "longer than the limit"},
      {"{{ [1]|tojson(indent=1000000000000) }}", "longer than the limit"},
      {"{{ [1]|batch(1000000000000, 1)|list }}", "larger than the limit"},
      {"{{ [1]|slice(1000000000000)|list }}", "more than"},
      {"{% set a = 'a' * 9000000 %}{{ (a + a[1:] + 'b').find(a + 'b') }}", "longer than the limit"},
  };
  for (const Attack& attack : kAttacks) {
    const auto text = RenderText(attack.source);
    ASSERT_FALSE(text.ok()) << attack.source;
    EXPECT_EQ(text.status().code(), StatusCode::kResourceExhausted)
        << attack.source << ": " << text.status().message();
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(attack.message)) << attack.source;
    EXPECT_THAT(std::string(text.status().message()), StartsWith("line 1, column "))
        << attack.source;
  }
}

std::string Repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Jinja, NestingOfTheSourceIsLimited) {
  const std::string kSources[] = {
      "{{ " + Repeat("(", 100000) + "1" + Repeat(")", 100000) + " }}",
      "{{ " + Repeat("[", 100000) + Repeat("]", 100000) + " }}",
      "{{ " + Repeat("{1:", 100000) + "1" + Repeat("}", 100000) + " }}",
      "{{ " + Repeat("not ", 100000) + "1 }}",
      "{{ " + Repeat("- ", 100000) + "1 }}",
      "{{ 1" + Repeat(" + 1", 100000) + " }}",
      "{{ 1" + Repeat("|abs", 100000) + " }}",
      "{{ x" + Repeat(".x", 100000) + " }}",
      "{{ x" + Repeat("[0]", 100000) + " }}",
      "{{ x" + Repeat("()", 100000) + " }}",
      "{{ 1" + Repeat(" if 1 else 1", 100000) + " }}",
      "{{ 1" + Repeat(" and 1", 100000) + " }}",
      "{{ 1" + Repeat(" is odd()", 100000) + " }}",
      Repeat("{% if 1 %}", 100000) + Repeat("{% endif %}", 100000),
      Repeat("{% for i in [1] %}", 100000),
      Repeat("{% set x %}", 100000),
      Repeat("{% macro m() %}", 100000),
      "{% for " + Repeat("(", 100000) + "a" + Repeat(")", 100000) + " in x %}{% endfor %}",
  };
  for (const std::string& source : kSources) {
    Limits limits;
    limits.source_bytes = size_t{8} << 20;
    const auto parsed = Template::Parse(source, limits);
    ASSERT_FALSE(parsed.ok()) << source.substr(0, 40);
    EXPECT_EQ(parsed.status().code(), StatusCode::kResourceExhausted)
        << source.substr(0, 40) << parsed.status().message();
  }
}

TEST(Jinja, NestingBelowTheLimitRuns) {
  const std::string deep = Repeat("(", 100) + "1" + Repeat(")", 100);
  EXPECT_EQ(RenderText("{{ " + deep + " }}").value_or("fails"), "1");
  EXPECT_EQ(RenderText("{{ 0" + Repeat(" + 1", 140) + " }}").value_or("fails"), "140");
  const auto joined = RenderText("{{ 0" + Repeat(" ~ 1", 100000) + " }}");
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_EQ(joined->size(), 100001u);
  EXPECT_EQ(
      RenderText(Repeat("{% if 1 %}", 140) + "x" + Repeat("{% endif %}", 140)).value_or("fails"),
      "x");
  EXPECT_EQ(
      RenderText("{% macro f(k) %}{% if k %}{{ k % 10 }}{{ f(k - 1) }}{% endif %}{% endmacro %}"
                 "{{ f(60) }}")
          .value_or("fails")
          .size(),
      60u);
}

TEST(Jinja, LongSourceIsRefused) {
  Limits limits;
  limits.source_bytes = 10;
  const auto parsed = Template::Parse("12345678901", limits);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().code(), StatusCode::kResourceExhausted);
}

TEST(Jinja, CyclesThroughNamespacesAndMacrosAreFreed) {  // seen by the leak sanitizer
  EXPECT_EQ(
      RenderText(
          "{% set ns = namespace() %}{% set ns.me = [ns] %}{% set ns.other = namespace(up=ns) %}"
          "{% macro m() %}{{ n2 }}{% endmacro %}{% set n2 = [m] %}{% set ns.m = m %}"
          "{% for i in [1] recursive %}{% set ns.l = loop %}{% endfor %}ok")
          .value(),
      "ok");
}

TEST(Jinja, BytesThatAreNotUtf8PassThrough) {
  Dict variables;
  variables.Set("s", Value(std::string("a\xff\xc3(é")));
  EXPECT_EQ(RenderText("{{ s }}{{ s|length }}{{ s[1] }}{{ s|upper }}", {}, variables).value(),
            "a\xff\xc3(é5\xff"
            "A\xff\xc3(É");
}

TEST(Jinja, OneTemplateRendersInManyThreads) {
  const auto parsed = Template::Parse(
      "{% set ns = namespace(t=0) %}{% for i in range(n) %}{% set ns.t = ns.t + i %}{% endfor %}{{ "
      "ns.t }}");
  ASSERT_TRUE(parsed.ok());
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Dict variables;
      variables.Set("n", Value(100 + i));
      results[i] = parsed->Render(variables).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(results[i], std::to_string((100 + i) * (99 + i) / 2));
}

}  // namespace
}  // namespace rml::text::jinja
