#include "rml/llm/generate.h"

#include <algorithm>
#include <chrono>

#include "rml/llm/stop_matcher.h"
#include "rml/text/stream_decoder.h"

namespace rml::llm {

using core::Expected;
using core::Status;

namespace {

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

double Rate(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

// Drops the older half of what follows the first `keep` tokens, and computes the rest anew: keys
// carry their rotation, so the shorter text's are computed rather than moved.
Status ShiftContext(Session& session, int64_t keep) {
  const std::vector<TokenId> tokens(session.tokens().begin(), session.tokens().end());
  const auto length = static_cast<int64_t>(tokens.size());
  keep = std::clamp<int64_t>(keep, 0, length - 1);
  const int64_t drop = std::max<int64_t>(1, (length - keep) / 2);
  std::vector<TokenId> kept(tokens.begin(), tokens.begin() + keep);
  kept.insert(kept.end(), tokens.begin() + keep + drop, tokens.end());
  return session.Become(kept).status();
}

}  // namespace

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEndOfText:
      return "end";
    case StopReason::kStopString:
      return "stop";
    case StopReason::kTokenLimit:
      return "limit";
    case StopReason::kContextFull:
      return "context";
    case StopReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

double GenerateResult::prompt_tokens_per_second() const {
  return Rate(prompt_computed, prompt_seconds);
}
double GenerateResult::tokens_per_second() const {
  return Rate(static_cast<int64_t>(ids.size()), generate_seconds);
}

Expected<GenerateResult> Generate(Session& session, std::span<const TokenId> prompt,
                                  const GenerateOptions& options, TextSink sink) {
  RML_TRY(Validate(options.sampler));
  const std::shared_ptr<const text::Tokenizer>& tokenizer = session.engine().tokenizer();
  if (tokenizer == nullptr)
    return core::FailedPrecondition("this engine has no tokenizer to make text with");
  if (std::ranges::any_of(options.stop, &std::string::empty)) {
    return core::InvalidArgument(
        "a stop string is empty, so that no text could ever come before it");
  }
  if (prompt.empty()) {
    return core::InvalidArgument(
        "the prompt has no tokens, and this model adds none of its own; give some text");
  }

  GenerateResult result;
  result.prompt_tokens = static_cast<int64_t>(prompt.size());
  const Stopwatch prompt_time;
  const auto kept = session.Become(prompt);
  if (!kept.ok() && kept.status().code() != core::StatusCode::kCancelled) return kept.status();
  result.prompt_seconds = prompt_time.Seconds();
  if (!kept.ok()) {
    result.reason = StopReason::kCancelled;
    return result;
  }
  result.prompt_computed = result.prompt_tokens - *kept;

  Sampler sampler(options.sampler);
  for (const TokenId token : prompt) sampler.Accept(token);
  text::StreamDecoder decoder(tokenizer);
  decoder.SetMidText();  // it continues the prompt
  StopMatcher stops(options.stop);
  bool wanted = true;  // the sink has not cancelled
  const auto show = [&](std::string_view text) {
    if (text.empty()) return;
    result.text += text;
    wanted = sink(text) && wanted;
  };

  const Stopwatch generate_time;
  result.reason = StopReason::kTokenLimit;
  while (options.max_tokens < 0 || static_cast<int64_t>(result.ids.size()) < options.max_tokens) {
    const TokenId token = sampler.Sample(session.logits());
    if (!options.ignore_end && tokenizer->IsEndOfGeneration(token)) {
      result.reason = StopReason::kEndOfText;
      break;
    }
    result.ids.push_back(token);
    sampler.Accept(token);
    show(stops.Feed(decoder.Push(token)));
    if (stops.stopped() || !wanted) {
      result.reason = stops.stopped() ? StopReason::kStopString : StopReason::kCancelled;
      break;
    }
    const bool last = static_cast<int64_t>(result.ids.size()) == options.max_tokens;
    if (last) break;  // its logits would serve nobody
    const bool full = session.length() == session.engine().options().context_length;
    if (full && !options.context_shift) {
      result.reason = StopReason::kContextFull;
      break;
    }
    Status appended;
    if (full) {
      appended = ShiftContext(session, options.keep_tokens);
      ++result.shifts;
    }
    if (appended.ok()) appended = session.Append({&token, 1});
    if (appended.code() == core::StatusCode::kCancelled) {
      result.reason = StopReason::kCancelled;
      break;
    }
    RML_TRY(appended);
  }
  if (!stops.stopped()) {
    show(stops.Feed(decoder.Flush()));
    show(stops.Flush());
  }
  result.generate_seconds = generate_time.Seconds();
  return result;
}

}  // namespace rml::llm
