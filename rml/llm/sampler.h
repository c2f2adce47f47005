// Sampler: chooses the next token from logits. The steps and their order are those that users of
// llama.cpp know: repetition penalty, top-k, top-p, min-p (each on the untempered distribution),
// then temperature, then a draw. Temperature 0 is greedy: the largest logit, the first of equals.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include "rml/core/status.h"
#include "rml/text/tokenizer.h"

namespace rml::llm {

struct SamplerOptions {
  float temperature = 0.8f;  // 0: greedy
  int top_k = 40;            // keep the k likeliest; 0: all
  float top_p = 0.95f;       // keep the fewest whose probabilities reach p; 1: all
  float min_p = 0.05f;       // keep those at least min_p as likely as the likeliest; 0: all
  float repetition_penalty =
      1.0f;                    // Keskar et al. 2019: divides positive, multiplies negative logits
  int repetition_last_n = 64;  // how many of the last tokens it looks at; -1: all; 0: none
  uint64_t seed = 0;           // the same seed and logits give the same tokens on any machine
};

// Says which option is out of its range.
core::Status Validate(const SamplerOptions& options);

class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options);  // options must be valid

  // Tells the sampler of a token of the text (prompt included), for the repetition penalty.
  void Accept(text::TokenId token);

  // Chooses from logits [vocabulary]. Logits that are NaN are never chosen.
  text::TokenId Sample(std::span<const float> logits);

  // Forgets the text and starts the random sequence again.
  void Reset();

 private:
  struct Candidate {
    text::TokenId id;
    float logit;
  };

  float Penalized(text::TokenId id, float logit) const;
  void KeepTopK(std::span<const float> logits);
  void KeepTopP();
  void KeepMinP();
  text::TokenId Draw();

  SamplerOptions options_;
  std::mt19937_64 random_;
  std::deque<text::TokenId> recent_;
  std::vector<int> recent_counts_;     // by token, so that a penalty costs nothing per logit
  std::vector<Candidate> candidates_;  // sorted, likeliest first, once KeepTopK has run
};

}  // namespace rml::llm
