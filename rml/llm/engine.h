// Engine: one model's weights and KV cache, and the sequences that grow in it. Session: a handle on
// one sequence.
//
// Sequences advance in ragged batches: any number of sessions, each with any number of new tokens,
// in one pass over the weights. Sessions that share a beginning share its cache pages (Fork). An
// engine and its sessions are used by one thread at a time; engines are independent of each other.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/function_ref.h"
#include "rml/core/run_context.h"
#include "rml/models/decoder_spec.h"
#include "rml/text/tokenizer.h"

namespace rml::llm {

using text::TokenId;

struct DecoderWeights;
class Session;

struct EngineOptions {
  int64_t context_length = 0;  // tokens of one sequence; 0: the model's own, at most 4096
  int max_sequences = 1;       // the cache holds this many sequences of full length
  int64_t batch_tokens = 512;  // tokens computed in one pass over the weights
  core::DType cache_dtype = core::DType::kF16;  // f16 or f32
};

// The context length that 0 stands for.
int64_t DefaultContext(const models::DecoderSpec& spec);

struct MemoryUse {
  int64_t weights = 0;    // bytes of the matrices, mapped from the file
  int64_t cache = 0;      // bytes reserved for keys and values
  int64_t workspace = 0;  // bytes of activations and scratch
  int64_t total() const { return weights + cache + workspace; }
};

// What an engine with these options will use; needs no weights.
core::Expected<MemoryUse> EstimateMemory(const models::DecoderSpec& spec, int64_t weight_bytes,
                                         const EngineOptions& options, int threads);

struct SessionTokens {
  Session* session;
  std::span<const TokenId> tokens;
};

// Called with the logits [vocab] that follow the token at `position`; they are valid during the
// call.
using LogitsSink = core::FunctionRef<void(int64_t position, std::span<const float> logits)>;

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  // From a GGUF file or a Hugging Face folder. What `context` points to must outlive the engine.
  static core::Expected<std::shared_ptr<Engine>> Load(const std::string& path,
                                                      const EngineOptions& options,
                                                      const core::RunContext& context);
  // From a GGUF image in memory, which must outlive the engine; `name` is for messages.
  static core::Expected<std::shared_ptr<Engine>> LoadImage(std::span<const std::byte> image,
                                                           std::string_view name,
                                                           const EngineOptions& options,
                                                           const core::RunContext& context);
  // From weights already there (benchmarks); there is no tokenizer then.
  static core::Expected<std::shared_ptr<Engine>> Make(
      const models::DecoderSpec& spec, DecoderWeights weights,
      std::shared_ptr<const text::Tokenizer> tokenizer, const EngineOptions& options,
      const core::RunContext& context);
  ~Engine();

  const models::DecoderSpec& spec() const;
  const EngineOptions& options() const;  // as resolved: context_length is never 0
  const std::shared_ptr<const text::Tokenizer>& tokenizer() const;  // null without one
  const core::RunContext& context() const;
  MemoryUse memory() const;
  int64_t bytes_per_token() const;  // bytes of weights that one decoding step reads

  Session NewSession();

  // Replaces the context's token: what it cancels fails with Cancelled from here on.
  void SetCancellation(core::CancellationToken token);

  // Computes all the tokens in as few passes as fit, and leaves each session with the logits of its
  // last token. Fails, changing no session's length, on a token out of the vocabulary, a sequence
  // that would grow past the context length, a session named twice; on cancellation or when the
  // cache is full, sessions keep what was computed before.
  core::Status Append(std::span<const SessionTokens> batch);

 private:
  friend class Session;
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  core::Status Append(std::span<const TokenId> tokens);
  // The same, handing out the logits after every one of the tokens.
  core::Status Append(std::span<const TokenId> tokens, LogitsSink sink);

  // The logits [vocab] that follow the last token; empty before the first.
  std::span<const float> logits() const { return logits_; }
  std::span<const TokenId> tokens() const { return tokens_; }
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }

  // A session with the same first `length` tokens; computes nothing. Without logits unless length
  // is this session's. In a model with sliding windows, whose cache gives up what no window can
  // see, the fork is empty when that is more than a few hundred tokens back.
  Session Fork(int64_t length) const;
  Session Fork() const { return Fork(length()); }

  // Forgets all but the first `length` tokens (and the logits, if that is fewer than there are), or
  // all of them, for the same reason. Returns how many are left.
  int64_t Truncate(int64_t length);

  // Makes the sequence equal to `tokens`, computing only what differs; says how many were kept.
  // At least the last token is computed, so that there are logits.
  core::Expected<int64_t> Become(std::span<const TokenId> tokens);

  Engine& engine() const { return *engine_; }

 private:
  friend class Engine;
  Session(std::shared_ptr<Engine> engine, int32_t sequence);
  core::Status CheckFits(std::span<const TokenId> tokens) const;

  std::shared_ptr<Engine> engine_;
  int32_t sequence_ = -1;
  std::vector<TokenId> tokens_;
  std::vector<float> logits_;
};

}  // namespace rml::llm
