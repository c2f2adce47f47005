// The parts of tokenizer.json that are pipelines of small steps: normalizer, pre_tokenizer,
// post_processor, decoder. Whatever a file asks for and rml cannot do is an error that names the
// path.
#pragma once

#include <vector>

#include "rml/core/expected.h"
#include "rml/text/detokenizer.h"
#include "rml/text/json_reader.h"
#include "rml/text/normalizer.h"
#include "rml/text/pre_tokenizer.h"

namespace rml::text {

core::Expected<std::vector<NormalizerPtr>> ReadNormalizers(const JsonReader& normalizer);

struct JsonPreTokenizer {
  std::vector<PreTokenizerPtr> steps;
  bool byte_level = false;  // pieces are then written in the byte alphabet
};
core::Expected<JsonPreTokenizer> ReadPreTokenizer(const JsonReader& pre_tokenizer);

struct Affixes {
  std::vector<TokenId> prefix;
  std::vector<TokenId> suffix;
};
// `vocabulary` is what ids are checked against.
core::Expected<Affixes> ReadPostProcessor(const JsonReader& post_processor,
                                          const Vocabulary& vocabulary);

core::Expected<Detokenizer> ReadDecoder(const JsonReader& decoder);

}  // namespace rml::text
