// Detokenizer: the bytes that a token stands for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rml/text/vocabulary.h"

namespace rml::text {

// Rules that are applied to a token's stored text, in order.
struct DecodeStep {
  enum class Kind : uint8_t {
    kByteAlphabet,      // byte-level BPE's letters become bytes; a text with others stays as it is
    kReplace,           // `from` becomes `to`
    kByteFallback,      // "<0x0A>" becomes its byte
    kDropAllFromFirst,  // every `from` vanishes from the first token of a text
  };
  Kind kind;
  std::string from = {};
  std::string to = {};
};

struct Detokenizer {
  std::vector<DecodeStep> steps;
  // Only normal tokens are decoded by the steps; others are their text, byte tokens their byte,
  // unused ones nothing. This is how llama.cpp reads GGUF; Hugging Face decodes every token alike.
  bool by_kind = false;
  // One of these is dropped from the very beginning of the output; empty for none.
  std::string strip_start = {};

  // Appends the bytes of `id`. `*at_start` says whether nothing has come before, and is updated.
  void Append(const Vocabulary& vocabulary, TokenId id, bool* at_start, std::string* out) const;
};

}  // namespace rml::text
