// TokenizerParts: what a loader fills in and a Tokenizer runs.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/text/detokenizer.h"
#include "rml/text/normalizer.h"
#include "rml/text/pre_tokenizer.h"
#include "rml/text/special_tokens.h"
#include "rml/text/subword_model.h"
#include "rml/text/vocabulary.h"

namespace rml::io {
class GgufFile;
}

namespace rml::text {

// Working memory of Encode calls: as many as ever run at once, each with its cache kept warm.
class ScratchPool {
 public:
  std::unique_ptr<EncodeScratch> Take();
  void Return(std::unique_ptr<EncodeScratch> scratch);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeScratch>> free_;
};

struct TokenizerParts {
  Vocabulary vocabulary;
  SpecialTokens raw_tokens;  // found in the text as it comes
  std::vector<NormalizerPtr> normalizers;
  SpecialTokens normalized_tokens;  // found after normalising
  PreTokenizerPtr pre_tokenizer;    // null: the model takes the text whole
  std::unique_ptr<SubwordModel> model;
  std::vector<TokenId> prefix;  // what add_special puts around the ids
  std::vector<TokenId> suffix;
  Detokenizer detokenizer;

  std::optional<TokenId> bos, eos, unk, pad;
  std::vector<bool> special;               // by id
  std::vector<TokenId> end_of_generation;  // ascending
  std::string chat_template;

  mutable ScratchPool scratch;
};

core::Expected<std::unique_ptr<TokenizerParts>> LoadGgufTokenizer(const io::GgufFile& file);
core::Expected<std::unique_ptr<TokenizerParts>> LoadJsonTokenizer(
    std::string_view tokenizer_json, std::string_view tokenizer_config_json);

// Ids of the tokens that are known by name to end a generation, and of `eos`, ascending.
std::vector<TokenId> FindEndOfGeneration(const Vocabulary& vocabulary, std::optional<TokenId> eos,
                                         std::optional<TokenId> eot, std::optional<TokenId> eom);

}  // namespace rml::text
