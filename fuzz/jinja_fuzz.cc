// Jinja: whatever the template, parsing and rendering end in a text or in an error that says where;
// within the limits, with the same result each time.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "rml/io/json.h"
#include "rml/text/jinja/json.h"
#include "rml/text/jinja/template.h"

namespace rml {
namespace {

using fuzz::Require;

constexpr std::string_view kVariables = R"({
  "s": "Hello, World", "u": "naïve Straße 🚀 ΣΑΣ", "sp": "  \t padded \n ", "n": 7, "f": 2.5, "t": true,
  "no": null, "empty": "", "l": [3, 1, 2], "words": ["banana", "Apple", "cherry", "apple"],
  "d": {"b": 1, "a": [1, 2.0, null, true], "c": {"x": "y"}},
  "people": [{"name": "Ann", "age": 31, "tags": ["x"]}, {"name": "bob", "age": 25, "tags": []}],
  "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"},
    {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"q": "é"}}}]},
    {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image"}]}],
  "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}]}], "html": "<a href=\"x\">it's</a>",
  "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true})";

text::jinja::Limits SmallLimits() {
  text::jinja::Limits limits;
  limits.source_bytes = 1 << 16;
  limits.steps = 100'000;
  limits.loop_iterations = 10'000;
  limits.range_items = 2'000;
  limits.output_bytes = 1 << 20;
  limits.string_bytes = 1 << 18;
  limits.value_items = 20'000;
  limits.total_bytes = 16 << 20;
  return limits;
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace jinja = rml::text::jinja;
  using rml::fuzz::Require;
  static const jinja::Value variables =
      jinja::FromJson(rml::io::Json::Parse(rml::kVariables).value());
  static const jinja::Limits limits = rml::SmallLimits();

  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = jinja::Template::Parse(source, limits);
  if (!parsed.ok()) {
    Require(!parsed.status().message().empty(), "a refusal has a message");
    return 0;
  }
  const jinja::CivilTime now = {2024, 7, 5, 15, 4, 9};
  const auto text = parsed->Render(variables.as_dict(), now);
  const auto again = parsed->Render(variables.as_dict(), now);
  Require(text.ok() == again.ok(), "rendering twice ends the same way");
  if (text.ok()) {
    Require(text->size() <= limits.output_bytes, "the limit on the output holds");
    Require(*text == *again, "rendering twice prints the same text");
  } else {
    Require(text.status().message().starts_with("line "), "a failure names its place");
    Require(text.status().message() == again.status().message(), "failures are the same too");
    Require(text.status().code() != rml::core::StatusCode::kInternal,
            "no failure is our own fault");
  }
  return 0;
}
