#include "rml/text/subword_model.h"

#include <algorithm>
#include <bit>
#include <string>

#include "rml/text/byte_alphabet.h"
#include "rml/text/utf8.h"
#include "rml/text/word_starts.h"

namespace rml::text {
namespace {

// Looks `piece` up in the cache, or encodes it with `encode(piece)` and remembers the result.
template <typename EncodeUncached>
void EncodeCached(std::string_view piece, EncodeScratch* scratch, std::vector<TokenId>* out,
                  const EncodeUncached& encode) {
  if (scratch->cache.Get(piece, out)) return;
  const size_t before = out->size();
  encode(piece);
  scratch->cache.Put(piece, std::span(*out).subspan(before));
}

void AppendIds(const std::vector<Symbol>& symbols, std::vector<TokenId>* out) {
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) out->push_back(symbol.id);
  }
}

// Builds the first symbols of a piece, with Hugging Face's treatment of what has no token.
class SymbolBuilder {
 public:
  SymbolBuilder(const UnknownRule& rule, std::vector<Symbol>* symbols)
      : rule_(rule), symbols_(*symbols) {}

  void AddKnown(TokenId id, uint32_t begin, uint32_t end) {
    FlushUnknown();
    symbols_.push_back({id, begin, end});
  }
  // Not after FlushUnknown: a pending unknown token stays pending across byte tokens, as there.
  void AddByte(TokenId id, uint32_t at) { symbols_.push_back({id, at, at + 1}); }
  void AddUnknown(uint32_t begin, uint32_t end) {
    if (!rule_.unknown) return;
    if (pending_ && rule_.fuse) {
      pending_end_ = end;
      return;
    }
    FlushUnknown();
    pending_ = true;
    pending_begin_ = begin;
    pending_end_ = end;
  }
  void FlushUnknown() {
    if (!pending_) return;
    symbols_.push_back({*rule_.unknown, pending_begin_, pending_end_});
    pending_ = false;
  }

 private:
  const UnknownRule& rule_;
  std::vector<Symbol>& symbols_;
  bool pending_ = false;
  uint32_t pending_begin_ = 0;
  uint32_t pending_end_ = 0;
};

class ByteBpe : public SubwordModel {
 public:
  ByteBpe(const Vocabulary* vocabulary, MergeTable merges, const ByteBpeOptions& options)
      : vocabulary_(*vocabulary), merges_(std::move(merges)), options_(options) {
    for (size_t byte = 0; byte < 256; ++byte) {
      std::string piece;
      AppendUtf8(ByteToAlphabet(static_cast<uint8_t>(byte)), &piece);
      byte_ids_[byte] = vocabulary_.Lookup(piece);
      all_bytes_ = all_bytes_ && byte_ids_[byte] >= 0;
    }
  }

  void Encode(std::string_view piece, EncodeScratch* scratch,
              std::vector<TokenId>* out) const override {
    EncodeCached(piece, scratch, out,
                 [&](std::string_view text) { EncodeUncached(text, &scratch->merge, out); });
  }

 private:
  void EncodeUncached(std::string_view piece, MergeScratch* scratch,
                      std::vector<TokenId>* out) const {
    if (options_.ignore_merges && piece.size() <= vocabulary_.max_piece_bytes()) {
      const TokenId id = vocabulary_.Lookup(ToAlphabet(piece));
      if (id >= 0) {
        out->push_back(id);
        return;
      }
    }
    MakeSymbols(piece, &scratch->symbols);
    MergeSymbols(*scratch, [this](const Symbol& left, const Symbol& right) {
      return merges_.Find(left.id, right.id);
    });
    AppendIds(scratch->symbols, out);
  }

  void MakeSymbols(std::string_view piece, std::vector<Symbol>* symbols) const {
    symbols->clear();
    if (all_bytes_ || options_.missing_bytes_separate) {
      for (uint32_t i = 0; i < piece.size(); ++i) {
        symbols->push_back({byte_ids_[static_cast<unsigned char>(piece[i])], i, i + 1});
      }
      return;
    }
    SymbolBuilder builder(options_.unknown, symbols);
    for (uint32_t i = 0; i < piece.size(); ++i) {
      const TokenId id = byte_ids_[static_cast<unsigned char>(piece[i])];
      if (id >= 0) {
        builder.AddKnown(id, i, i + 1);
      } else {
        builder.AddUnknown(i, i + 1);
      }
    }
    builder.FlushUnknown();
  }

  const Vocabulary& vocabulary_;
  const MergeTable merges_;
  const ByteBpeOptions options_;
  std::array<TokenId, 256> byte_ids_;
  bool all_bytes_ = true;
};

class CharBpe : public SubwordModel {
 public:
  CharBpe(const Vocabulary* vocabulary, MergeTable merges, bool ignore_merges,
          const UnknownRule& unknown)
      : vocabulary_(*vocabulary),
        merges_(std::move(merges)),
        ignore_merges_(ignore_merges),
        unknown_(unknown),
        byte_tokens_(FindByteTokens(*vocabulary)),
        word_starts_(*vocabulary) {}

  void Encode(std::string_view piece, EncodeScratch* scratch,
              std::vector<TokenId>* out) const override {
    if (ignore_merges_) {
      const TokenId id = vocabulary_.Lookup(piece);
      if (id >= 0) {
        out->push_back(id);
        return;
      }
    }
    while (!piece.empty()) {
      // Runs of unknown characters may cross a word's start: then nothing is cut.
      const size_t size = unknown_.unknown && unknown_.fuse && !AllBytes()
                              ? piece.size()
                              : word_starts_.FirstPart(piece);
      EncodeCached(piece.substr(0, size), scratch, out,
                   [&](std::string_view part) { EncodeUncached(part, &scratch->merge, out); });
      piece.remove_prefix(size);
    }
  }

 private:
  bool AllBytes() const {
    return unknown_.byte_fallback && std::all_of(byte_tokens_.begin(), byte_tokens_.end(),
                                                 [](TokenId id) { return id >= 0; });
  }

  void EncodeUncached(std::string_view piece, MergeScratch* scratch,
                      std::vector<TokenId>* out) const {
    MakeSymbols(piece, &scratch->symbols);
    MergeSymbols(*scratch, [this](const Symbol& left, const Symbol& right) {
      return merges_.Find(left.id, right.id);
    });
    AppendIds(scratch->symbols, out);
  }

  void MakeSymbols(std::string_view piece, std::vector<Symbol>* symbols) const {
    symbols->clear();
    SymbolBuilder builder(unknown_, symbols);
    const char* end = piece.data() + piece.size();
    for (uint32_t at = 0; at < piece.size();) {
      const uint32_t size = DecodeChar(piece.data() + at, end).size;
      const std::string_view text = piece.substr(at, size);
      const TokenId id = vocabulary_.Lookup(text);
      if (id >= 0) {
        builder.AddKnown(id, at, at + size);
      } else if (unknown_.byte_fallback && HasByteTokens(text)) {
        for (uint32_t i = 0; i < size; ++i) builder.AddByte(ByteToken(text[i]), at + i);
      } else {
        builder.AddUnknown(at, at + size);
      }
      at += size;
    }
    builder.FlushUnknown();
  }

  TokenId ByteToken(char byte) const { return byte_tokens_[static_cast<unsigned char>(byte)]; }
  bool HasByteTokens(std::string_view text) const {
    return std::all_of(text.begin(), text.end(), [this](char b) { return ByteToken(b) >= 0; });
  }

  const Vocabulary& vocabulary_;
  const MergeTable merges_;
  const bool ignore_merges_;
  const UnknownRule unknown_;
  const std::array<TokenId, 256> byte_tokens_;
  const WordStarts word_starts_;
};

// Ranks order as scores do, the best score lowest; equal scores have equal ranks.
uint32_t RankOfScore(float score) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes +0
  const uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return ~ascending;
}

class SentencePieceBpe : public SubwordModel {
 public:
  SentencePieceBpe(const Vocabulary* vocabulary, std::span<const float> scores,
                   std::optional<TokenId> unknown)
      : vocabulary_(*vocabulary),
        unknown_(unknown),
        byte_tokens_(FindByteTokens(*vocabulary)),
        word_starts_(*vocabulary) {
    ranks_.reserve(scores.size());
    for (const float score : scores) ranks_.push_back(RankOfScore(score));
    // llama.cpp falls back on the token of the bare byte.
    for (size_t byte = 0; byte < 256; ++byte) {
      if (byte_tokens_[byte] >= 0) continue;
      const char text = static_cast<char>(byte);
      byte_tokens_[byte] = vocabulary_.Lookup({&text, 1});
    }
  }

  void Encode(std::string_view piece, EncodeScratch* scratch,
              std::vector<TokenId>* out) const override {
    while (!piece.empty()) {
      const size_t size = word_starts_.FirstPart(piece);
      EncodeCached(piece.substr(0, size), scratch, out,
                   [&](std::string_view part) { EncodeUncached(part, &scratch->merge, out); });
      piece.remove_prefix(size);
    }
  }

 private:
  void EncodeUncached(std::string_view piece, MergeScratch* scratch,
                      std::vector<TokenId>* out) const {
    scratch->symbols.clear();
    for (size_t at = 0; at < piece.size();) {
      const size_t size = DecodeChar(piece.data() + at, piece.data() + piece.size()).size;
      scratch->symbols.push_back({-1, static_cast<uint32_t>(at), static_cast<uint32_t>(at + size)});
      at += size;
    }
    MergeSymbols(*scratch, [&](const Symbol& left, const Symbol& right) -> Merge {
      const size_t size = right.end - left.begin;
      if (size > vocabulary_.max_piece_bytes()) return {kNoMerge, -1};
      const TokenId id = vocabulary_.Lookup(piece.substr(left.begin, size));
      if (id < 0) return {kNoMerge, -1};
      return {ranks_[static_cast<size_t>(id)], id};
    });
    for (const Symbol& symbol : scratch->symbols) {
      AppendSymbol(piece.substr(symbol.begin, symbol.end - symbol.begin), symbol.id, out);
    }
  }

  void AppendSymbol(std::string_view text, TokenId id, std::vector<TokenId>* out) const {
    if (id < 0) id = vocabulary_.Lookup(text);  // a character that was never joined
    if (id >= 0) {
      out->push_back(id);
      return;
    }
    for (const char byte : text) {
      const TokenId byte_id = byte_tokens_[static_cast<unsigned char>(byte)];
      if (byte_id >= 0) {
        out->push_back(byte_id);
      } else if (unknown_) {
        out->push_back(*unknown_);
      }
    }
  }

  const Vocabulary& vocabulary_;
  const std::optional<TokenId> unknown_;
  std::array<TokenId, 256> byte_tokens_;
  const WordStarts word_starts_;
  std::vector<uint32_t> ranks_;  // by id
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::unique_ptr<SubwordModel> MakeByteBpe(const Vocabulary* vocabulary, MergeTable merges,
                                          const ByteBpeOptions& options) {
  return std::make_unique<ByteBpe>(vocabulary, std::move(merges), options);
}

std::unique_ptr<SubwordModel> MakeCharBpe(const Vocabulary* vocabulary, MergeTable merges,
                                          bool ignore_merges, const UnknownRule& unknown) {
  return std::make_unique<CharBpe>(vocabulary, std::move(merges), ignore_merges, unknown);
}

std::unique_ptr<SubwordModel> MakeSentencePieceBpe(const Vocabulary* vocabulary,
                                                   std::span<const float> scores,
                                                   std::optional<TokenId> unknown) {
  return std::make_unique<SentencePieceBpe>(vocabulary, scores, unknown);
}

std::array<TokenId, 256> FindByteTokens(const Vocabulary& vocabulary) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::array<TokenId, 256> ids;
  for (size_t byte = 0; byte < 256; ++byte) {
    const char piece[] = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    ids[byte] = vocabulary.Lookup({piece, sizeof(piece)});
  }
  return ids;
}

int ParseByteToken(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  const int high = HexDigit(piece[3]);
  const int low = HexDigit(piece[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace rml::text
