// SubwordModel: turns one piece of text (a word, or a text without pre-tokeniser) into ids. Three
// kinds: BPE over bytes (GPT-2 and its heirs), BPE over characters with merge rules (SentencePiece
// vocabularies in tokenizer.json), and SentencePiece BPE, which joins whatever gives the token of
// the best score.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/text/merge.h"
#include "rml/text/merge_table.h"
#include "rml/text/piece_cache.h"
#include "rml/text/vocabulary.h"

namespace rml::text {

// What one Encode needs; reused, never shared between threads.
struct EncodeScratch {
  MergeScratch merge;
  PieceCache cache;
};

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  // Appends the ids of `piece`, at most 2 GiB long.
  virtual void Encode(std::string_view piece, EncodeScratch* scratch,
                      std::vector<TokenId>* out) const = 0;
};

// What becomes of text that has no token.
struct UnknownRule {
  std::optional<TokenId> unknown;  // its token
  bool fuse = false;               // one token for a run of unknown characters
  bool byte_fallback = false;      // "<0x0A>" tokens for the character's bytes, if all exist
};

struct ByteBpeOptions {
  bool ignore_merges = false;  // a piece that is a token becomes it, whatever the rules
  // A byte without a token: Hugging Face drops it (or makes it unknown), so that its neighbours
  // meet; llama.cpp keeps them apart.
  bool missing_bytes_separate = false;
  UnknownRule unknown;
};

// `vocabulary` outlives the model; its texts are written in the byte alphabet.
std::unique_ptr<SubwordModel> MakeByteBpe(const Vocabulary* vocabulary, MergeTable merges,
                                          const ByteBpeOptions& options);

// Spaces are already U+2581 '▁' where the vocabulary has them so.
std::unique_ptr<SubwordModel> MakeCharBpe(const Vocabulary* vocabulary, MergeTable merges,
                                          bool ignore_merges, const UnknownRule& unknown);

// SentencePiece BPE. `scores`: one finite number a token. A character without a token becomes its
// bytes' tokens, or the unknown token where those are missing.
std::unique_ptr<SubwordModel> MakeSentencePieceBpe(const Vocabulary* vocabulary,
                                                   std::span<const float> scores,
                                                   std::optional<TokenId> unknown);

// The ids of "<0x00>" … "<0xFF>", -1 where missing.
std::array<TokenId, 256> FindByteTokens(const Vocabulary& vocabulary);

// The byte that "<0x0A>" names, or -1 when `piece` is not of this form.
int ParseByteToken(std::string_view piece);

}  // namespace rml::text
