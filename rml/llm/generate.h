// Generate: prompt in, text out. Samples token after token until the model ends, a stop string
// appears, the count is reached, the context is full, or the caller cancels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/function_ref.h"
#include "rml/llm/engine.h"
#include "rml/llm/sampler.h"

namespace rml::llm {

enum class StopReason : uint8_t { kEndOfText, kStopString, kTokenLimit, kContextFull, kCancelled };
std::string_view StopReasonName(
    StopReason reason);  // "end", "stop", "limit", "context", "cancelled"

struct GenerateOptions {
  int64_t max_tokens = -1;        // -1: until the model ends or the context is full
  std::vector<std::string> stop;  // the text ends before the first of these; none is empty
  bool ignore_end = false;        // go on past the model's end-of-text tokens
  // When the context is full: false ends the text there; true keeps the first `keep_tokens` and the
  // newest half of the rest, computes that shorter sequence anew, and goes on.
  bool context_shift = false;
  int64_t keep_tokens = 0;
  SamplerOptions sampler;
};

struct GenerateResult {
  std::string text;
  std::vector<TokenId> ids;  // the tokens generated; an end-of-text token is not among them
  StopReason reason = StopReason::kEndOfText;
  int64_t prompt_tokens = 0;  // of the prompt, whether computed now or kept from before
  int64_t prompt_computed = 0;
  double prompt_seconds = 0;
  double generate_seconds = 0;
  int64_t shifts = 0;  // how often the context was shifted
  double prompt_tokens_per_second() const;
  double tokens_per_second() const;
};

// Called with each new piece of text, complete in UTF-8. Returning false cancels.
using TextSink = core::FunctionRef<bool(std::string_view text)>;

// Makes the session's sequence `prompt` (keeping the part that it already has), then generates. The
// session ends up with prompt and generated tokens. An empty prompt needs a model with a BOS token.
core::Expected<GenerateResult> Generate(Session& session, std::span<const TokenId> prompt,
                                        const GenerateOptions& options, TextSink sink);

}  // namespace rml::llm
