#include "rml/llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rml::llm {

using core::InvalidArgument;
using text::TokenId;

core::Status Validate(const SamplerOptions& options) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    return InvalidArgument("--temp: ", options.temperature,
                           " is not a temperature, give 0 or more");
  }
  if (options.top_k < 0)
    return InvalidArgument("--top-k: ", options.top_k, " is negative, give 0 for all tokens");
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    return InvalidArgument("--top-p: ", options.top_p,
                           " is not a probability above 0 and at most 1");
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    return InvalidArgument("--min-p: ", options.min_p, " is not between 0 and 1");
  }
  if (!(options.repetition_penalty > 0) || !std::isfinite(options.repetition_penalty)) {
    return InvalidArgument("--repeat-penalty: ", options.repetition_penalty,
                           " is not a number above 0");
  }
  if (options.repetition_last_n < -1) {
    return InvalidArgument("--repeat-last-n: ", options.repetition_last_n,
                           " is below -1 (all tokens)");
  }
  return {};
}

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {}

void Sampler::Reset() {
  random_.seed(options_.seed);
  recent_.clear();
  std::fill(recent_counts_.begin(), recent_counts_.end(), 0);
}

void Sampler::Accept(TokenId token) {
  if (options_.repetition_penalty == 1.0f || options_.repetition_last_n == 0 || token < 0) return;
  const auto index = static_cast<size_t>(token);
  if (index >= recent_counts_.size()) recent_counts_.resize(index + 1, 0);
  recent_.push_back(token);
  ++recent_counts_[index];
  const int limit = options_.repetition_last_n;
  if (limit > 0 && recent_.size() > static_cast<size_t>(limit)) {
    --recent_counts_[static_cast<size_t>(recent_.front())];
    recent_.pop_front();
  }
}

float Sampler::Penalized(TokenId id, float logit) const {
  const auto index = static_cast<size_t>(id);
  if (index >= recent_counts_.size() || recent_counts_[index] == 0) return logit;
  return logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
}

TokenId Sampler::Sample(std::span<const float> logits) {
  if (options_.temperature == 0) {
    TokenId best = 0;
    float best_logit = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < logits.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      const float logit = recent_.empty() ? logits[i] : Penalized(id, logits[i]);
      if (logit > best_logit) {  // false for NaN
        best = id;
        best_logit = logit;
      }
    }
    return best;
  }
  KeepTopK(logits);
  KeepTopP();
  KeepMinP();
  return Draw();
}

void Sampler::KeepTopK(std::span<const float> logits) {
  candidates_.clear();
  const size_t keep =
      options_.top_k == 0 ? logits.size() : std::min<size_t>(options_.top_k, logits.size());
  // The order is total (ties by id), so that the kept set does not depend on the algorithm.
  const auto likelier = [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  // A heap of the best `keep` so far, its worst on top: one pass, and few tokens enter it.
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const Candidate candidate{id, recent_.empty() ? logits[i] : Penalized(id, logits[i])};
    if (std::isnan(candidate.logit)) continue;
    if (candidates_.size() < keep) {
      candidates_.push_back(candidate);
      if (candidates_.size() == keep)
        std::make_heap(candidates_.begin(), candidates_.end(), likelier);
    } else if (likelier(candidate, candidates_.front())) {
      std::pop_heap(candidates_.begin(), candidates_.end(), likelier);
      candidates_.back() = candidate;
      std::push_heap(candidates_.begin(), candidates_.end(), likelier);
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), likelier);
  if (candidates_.empty()) candidates_.push_back({0, 0.0f});  // every logit was NaN
}

void Sampler::KeepTopP() {
  if (options_.top_p >= 1) return;
  const float largest = candidates_.front().logit;
  double total = 0;
  for (const Candidate& c : candidates_) total += std::exp(static_cast<double>(c.logit - largest));
  double reached = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    reached += std::exp(static_cast<double>(candidates_[i].logit - largest));
    if (reached >= options_.top_p * total) {
      candidates_.resize(i + 1);
      return;
    }
  }
}

void Sampler::KeepMinP() {
  if (options_.min_p <= 0) return;
  const float threshold = candidates_.front().logit + std::log(options_.min_p);
  const auto first_below = std::find_if(candidates_.begin() + 1, candidates_.end(),
                                        [&](const Candidate& c) { return c.logit < threshold; });
  candidates_.erase(first_below, candidates_.end());
}

TokenId Sampler::Draw() {
  const double largest = candidates_.front().logit;
  const auto weight = [&](const Candidate& c) {
    return std::exp((static_cast<double>(c.logit) - largest) /
                    static_cast<double>(options_.temperature));
  };
  double total = 0;
  for (const Candidate& c : candidates_) total += weight(c);
  // 53 random bits: the standard fixes the generator but not the distributions built on it.
  const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
  double remaining = uniform * total;
  for (const Candidate& c : candidates_) {
    remaining -= weight(c);
    if (remaining < 0) return c.id;
  }
  return candidates_.back().id;
}

}  // namespace rml::llm
