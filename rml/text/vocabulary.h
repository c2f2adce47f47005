// Vocabulary: the tokens of a tokenizer, their stored texts in one block of memory, and a hash
// index from text to id. Loading Gemma's 262,144 tokens is a few milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::text {

using TokenId = int32_t;

// More than any vocabulary in use; what lets a merge rule fit in eight bytes.
inline constexpr int kMaxVocabularySize = 1 << 20;

enum class TokenKind : uint8_t {
  kAbsent,  // an id that names no token (a gap in tokenizer.json)
  kNormal,
  kUnknown,      // stands for what the vocabulary cannot say
  kControl,      // steers the model: BOS, <|im_end|>
  kUserDefined,  // added by hand: found in the text before anything else, and text itself
  kUnused,
  kByte,  // "<0x0A>": one byte
};

class Vocabulary {
 public:
  // Room for `count` tokens of `bytes` bytes in all.
  void Reserve(size_t count, size_t bytes);

  // Appends a token under the next id.
  void Add(std::string_view piece, TokenKind kind);
  // Builds the index; call once, after the last Add. Two tokens of the same text are an error,
  // empty ones are not looked up.
  core::Status Index();

  int size() const { return static_cast<int>(kinds_.size()); }
  bool Contains(TokenId id) const { return id >= 0 && id < size(); }
  std::string_view piece(TokenId id) const {
    const auto i = static_cast<size_t>(id);
    return {text_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  TokenKind kind(TokenId id) const { return kinds_[static_cast<size_t>(id)]; }
  void set_kind(TokenId id, TokenKind kind) { kinds_[static_cast<size_t>(id)] = kind; }

  // The id of `piece`, or -1.
  TokenId Lookup(std::string_view piece) const;
  std::optional<TokenId> Find(std::string_view piece) const;

  size_t max_piece_bytes() const { return max_piece_bytes_; }

 private:
  struct Slot {
    uint32_t hash;
    TokenId id;  // -1: free
  };

  std::string text_;
  std::vector<uint32_t> offsets_ = {0};  // size() + 1 starts in text_
  std::vector<TokenKind> kinds_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  size_t max_piece_bytes_ = 0;
};

}  // namespace rml::text
