// tokenizer.json from a stranger: loading it, and encoding with whatever loaded, gives ids inside
// the vocabulary or an error. The input is the JSON, and behind the first NUL byte a text to
// encode.
#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "rml/text/tokenizer.h"

using rml::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t nul = input.find('\0');
  const std::string_view json = input.substr(0, nul);
  const std::string_view text =
      nul == std::string_view::npos ? "Hello wörld 123\n <s> ▁ab é" : input.substr(nul + 1);
  const auto tokenizer = rml::text::Tokenizer::FromJson(json, "");
  if (!tokenizer.ok()) return 0;
  for (const bool special : {false, true}) {
    const auto ids = (*tokenizer)->Encode(text.substr(0, 4096), {special, special});
    if (!ids.ok()) continue;
    for (const rml::text::TokenId id : *ids) {
      Require(id >= 0 && id < (*tokenizer)->vocab_size(), "ids lie in the vocabulary");
    }
    (void)(*tokenizer)->Decode(*ids, special);
  }
  return 0;
}
