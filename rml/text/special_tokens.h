// SpecialTokens: finds the tokens that are recognised as whole strings in a text, before anything
// else happens to it: BOS, <|im_start|>, tokens added by hand.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rml/text/vocabulary.h"

namespace rml::text {

struct SpecialToken {
  TokenId id = 0;
  std::string text;          // not empty
  bool control = false;      // left alone in the input when special tokens are not to be parsed
  bool strip_left = false;   // takes the white space before it along
  bool strip_right = false;  // … and behind it
  bool single_word = false;  // not within a word
};

// A stretch of the text, or a token found in it.
struct TextSegment {
  std::string_view text;
  TokenId token = -1;  // -1: text
};

class SpecialTokens {
 public:
  enum class Order : uint8_t {
    kLeftmostLongest,  // Hugging Face: from left to right, the longest at each place
    kLongestFirst,     // llama.cpp: each token everywhere before any shorter one
  };

  SpecialTokens() = default;
  SpecialTokens(std::vector<SpecialToken> tokens, Order order);

  // Appends the segments of `text` in order; without `parse_control`, control tokens are text.
  void Split(std::string_view text, bool parse_control, std::vector<TextSegment>* out) const;

  bool empty() const { return tokens_.empty(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  const char* NextCandidate(const char* p, const char* end) const;
  // The index of the longest token at `text`'s beginning, or kNone.
  uint32_t LongestAt(std::string_view text) const;
  void SplitLeftmost(std::string_view text, bool parse_control,
                     std::vector<TextSegment>* out) const;
  void SplitLongestFirst(std::string_view text, bool parse_control,
                         std::vector<TextSegment>* out) const;

  Order order_ = Order::kLeftmostLongest;
  std::vector<SpecialToken> tokens_;     // by text
  std::vector<uint32_t> shorter_;        // the longest other token that begins this one, or kNone
  std::vector<uint32_t> first_of_byte_;  // 257 starts in tokens_ by first byte
  std::bitset<256> first_bytes_;
  bool strips_ = false;  // some token takes white space along
};

}  // namespace rml::text
