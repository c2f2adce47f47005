// Tokenizer: text to the ids that a language model reads, and back. One class for byte-level BPE
// and SentencePiece BPE, loaded from GGUF metadata or from Hugging Face's tokenizer.json.
//
// Ids equal those of the file's own reference: llama.cpp for GGUF (special tokens found longest
// first, no normalisation, a space in front where the vocabulary asks for one), Hugging Face
// `tokenizers` for tokenizer.json (added tokens found leftmost-longest, its normaliser,
// pre-tokeniser, post-processor and decoder). Text is bytes: what is no UTF-8 is encoded too, byte
// by byte where the vocabulary can, and Decode gives back exactly the bytes that the tokens stand
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::io {
class GgufFile;
}

namespace rml::text {

using TokenId = int32_t;

struct EncodeOptions {
  bool add_special = true;    // BOS and EOS, or what the post-processor adds
  bool parse_special = true;  // the text of a special token in the input becomes that token
};

struct TokenizerParts;

// Immutable after loading; every method may be called from several threads at once.
class Tokenizer {
 public:
  // Copies what it needs: the file may be closed afterwards.
  static core::Expected<std::shared_ptr<const Tokenizer>> FromGguf(const io::GgufFile& file);
  // The texts of tokenizer.json and of tokenizer_config.json (may be empty).
  static core::Expected<std::shared_ptr<const Tokenizer>> FromJson(
      std::string_view tokenizer_json, std::string_view tokenizer_config_json);
  // A .gguf file, a tokenizer.json or tokenizer.json.gz with its tokenizer_config.json beside it,
  // or a folder that holds one.
  static core::Expected<std::shared_ptr<const Tokenizer>> Open(std::string_view path);

  ~Tokenizer();

  core::Expected<std::vector<TokenId>> Encode(std::string_view text,
                                              EncodeOptions options = {}) const;

  // The bytes that `ids` stand for; ids outside the vocabulary add nothing. Special tokens appear
  // as their text unless `skip_special`. May end inside a UTF-8 character when the ids do.
  std::string Decode(std::span<const TokenId> ids, bool skip_special = false) const;

  // The token as the file stores it ("Ġhello", "▁hello", "<0x0A>"); empty for an id out of range.
  std::string_view Piece(TokenId id) const;
  // The bytes that one token adds to the output in the middle of a text (" hello", "\n"); a special
  // token's are its text.
  std::string TokenBytes(TokenId id) const;
  // The id of a token given as the file stores it.
  std::optional<TokenId> Find(std::string_view piece) const;

  int vocab_size() const;  // ids are 0 … vocab_size() - 1
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  std::optional<TokenId> unk() const;
  std::optional<TokenId> pad() const;
  std::string_view bos_text() const;  // for chat templates; empty when there is none
  std::string_view eos_text() const;
  bool adds_bos() const;  // whether Encode with add_special puts bos() first
  bool adds_eos() const;

  // Tokens that steer rather than say: BOS, <|im_start|> … Decode can leave them out.
  bool IsSpecial(TokenId id) const;
  // Tokens after which a model has finished: EOS, and what is known by name to end a turn.
  bool IsEndOfGeneration(TokenId id) const;
  std::span<const TokenId> end_of_generation() const;  // ascending

  std::string_view chat_template() const;  // Jinja; empty when the file has none

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::unique_ptr<TokenizerParts> parts);

  std::unique_ptr<TokenizerParts> parts_;
};

}  // namespace rml::text
