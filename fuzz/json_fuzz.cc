// JSON: whatever the text, parsing ends in an error or in a value that prints, on one line and
// indented, to a text that parses to the same value; and another parser agrees on what is JSON.
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "fuzz/check.h"
#include "rml/io/json.h"

namespace rml {
namespace {

using fuzz::Require;

void Walk(const io::Json& value) {
  (void)value.As<bool>();
  (void)value.As<uint8_t>();
  (void)value.As<int64_t>();
  (void)value.As<uint64_t>();
  (void)value.As<double>();
  (void)value.As<std::vector<std::string>>();
  if (const auto text = value.As<std::string_view>(); text.ok()) fuzz::Touch(*text);
  for (const io::Json& item : value.items()) Walk(item);
  for (const io::Json::Member& member : value.members()) {
    Require(value.Find(member.key) == &member.value, "every key is found");
    Walk(member.value);
  }
}

// Refusals that are ours alone, by design; everything else must be refused by the other parser too.
bool OurOwnRefusal(std::string_view message) {
  return message.find("already has the key") != std::string_view::npos ||
         message.find("nested deeper") != std::string_view::npos;
}

}  // namespace
}  // namespace rml

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rml::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = rml::io::Json::Parse(text);
  // The other parser takes a NUL between values for the end of the text; JSON has no place for one.
  const bool has_nul = text.find('\0') != std::string_view::npos;
  const bool other = !has_nul && nlohmann::json::accept(text);
  if (!json.ok()) {
    Require(!json.status().message().empty(), "a refusal has a message");
    Require(!other || rml::OurOwnRefusal(json.status().message()),
            "what we refuse is refused by another parser");
    return 0;
  }
  Require(other, "what we accept is accepted by another parser");
  rml::Walk(*json);
  for (const int indent : {-1, 0, 2}) {
    const auto again = rml::io::Json::Parse(json->Dump(indent));
    Require(again.ok(), "what we print can be parsed");
    Require(*again == *json, "what we print parses to an equal value");
  }
  const rml::io::Json copy = *json;
  Require(copy == *json, "a copy is equal");
  return 0;
}
