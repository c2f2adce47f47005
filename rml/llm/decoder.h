// Decoder: the hand-fused forward pass of a DecoderSpec over a ragged batch of sequences.
//
// A batch is one list of tokens [m], made of runs that each belong to one sequence. Activations are
// f32 [m, width]; all scratch is allocated once, for the largest batch, so that a step allocates
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rml/core/buffer.h"
#include "rml/core/carver.h"
#include "rml/core/expected.h"
#include "rml/core/function_ref.h"
#include "rml/core/run_context.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/kv_cache.h"
#include "rml/models/decoder_spec.h"
#include "rml/text/tokenizer.h"

namespace rml::llm {

enum class LogitsWanted : uint8_t { kNone, kLast, kAll };

// Tokens that extend one sequence from its present length.
struct SequenceRun {
  SequenceId sequence;
  std::span<const text::TokenId> tokens;
  LogitsWanted logits = LogitsWanted::kLast;
};

class Decoder {
 public:
  ~Decoder();

  // Called for each wanted row: the run's index in the batch, the token's index in the run, and the
  // logits [vocab] that follow it, valid during the call.
  using Sink = core::FunctionRef<void(int64_t run, int64_t token, std::span<const float> logits)>;

  struct Limits {
    int64_t tokens = 0;   // in one call of Forward
    int64_t context = 0;  // of one sequence
    int threads = 1;
  };

  // `spec`, `weights` and `context` must outlive the decoder.
  static core::Expected<std::unique_ptr<Decoder>> Make(const models::DecoderSpec& spec,
                                                       const DecoderWeights& weights,
                                                       const Limits& limits,
                                                       const core::RunContext& context);

  // Bytes of scratch that such a decoder allocates.
  static int64_t WorkspaceBytes(const models::DecoderSpec& spec, const Limits& limits);

  // Computes all runs (at most limits.tokens tokens in all, each run's sequence named once), stores
  // their keys and values, and commits their lengths. Token ids must be within the vocabulary.
  // On failure (cache full, cancelled) no length has changed.
  core::Status Forward(std::span<const SequenceRun> runs, KvCache& cache, Sink sink);

 private:
  struct Scratch;

  Decoder(const models::DecoderSpec& spec, const DecoderWeights& weights, const Limits& limits,
          const core::RunContext& context);

  // Places the scratch; a counting carver only measures it.
  static void LayOut(const models::DecoderSpec& spec, const Limits& limits, core::Carver* carver,
                     Scratch* scratch);

  void PlaceTokens(std::span<const SequenceRun> runs, const KvCache& cache);
  void Embed(std::span<const SequenceRun> runs);
  void Attend(const LayerWeights& layer, const models::LayerSpec& layer_spec, const KvCache& cache);
  void FeedForward(const LayerWeights& layer, int64_t rows);
  void KeepRows(std::span<const int32_t> rows);
  void Project(Sink sink);
  void Normalize(const float* x, const float* weight, float* y, int64_t rows);
  void AddNormalized(const float* update, const std::vector<float>& weight, int64_t rows);

  const models::DecoderSpec& spec_;
  const DecoderWeights& weights_;
  Limits limits_;
  const core::RunContext& context_;

  std::shared_ptr<core::Buffer> buffer_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace rml::llm
