// The forward pass of a DecoderSpec in plain loops and f64: slow, and easy to hold against the
// papers. The runtime's decoder is tested against it.
#pragma once

#include <span>
#include <vector>

#include "rml/llm/decoder_weights.h"
#include "rml/models/decoder_spec.h"
#include "rml/text/tokenizer.h"

namespace rml::llm::testing {

// The logits [tokens.size()][vocab] that follow each token of one sequence.
std::vector<std::vector<double>> ReferenceLogits(const models::DecoderSpec& spec,
                                                 const DecoderWeights& weights,
                                                 std::span<const text::TokenId> tokens);

}  // namespace rml::llm::testing
