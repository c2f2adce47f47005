// The weights of a decoder in the form that the runtime computes with: matrices as the file stores
// them (mapped, not copied), and the small vectors widened to f32.
#pragma once

#include <memory>
#include <vector>

#include "rml/core/buffer.h"
#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/kernels/weight_matrix.h"
#include "rml/models/decoder_spec.h"
#include "rml/models/model_files.h"

namespace rml::llm {

struct LayerWeights {
  std::vector<float> attention_norm;          // [d_model]
  kernels::WeightMatrix q, k, v;              // [q_width | kv_width, d_model]
  std::vector<float> q_bias, k_bias, v_bias;  // empty unless the spec has biases
  std::vector<float> q_norm, k_norm;          // [head_dim]; empty unless the spec has them
  kernels::WeightMatrix o;                    // [d_model, q_width]
  std::vector<float> attention_post_norm;     // [d_model]; empty unless the spec has post norms
  std::vector<float> mlp_norm;                // [d_model]
  kernels::WeightMatrix gate, up;             // [d_ff, d_model]
  kernels::WeightMatrix down;                 // [d_model, d_ff]
  std::vector<float> mlp_post_norm;           // [d_model]; empty unless the spec has post norms
};

struct DecoderWeights {
  kernels::WeightMatrix embedding;  // [vocab, d_model]
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;              // [d_model]
  kernels::WeightMatrix output;               // [vocab, d_model]; the embedding where they are tied
  std::vector<float> rope_frequency_factors;  // [rope dim / 2]; empty when the file has none

  int64_t matrix_bytes = 0;            // bytes of all matrices, each counted once
  int64_t matrix_bytes_per_token = 0;  // bytes that one decoding step reads

  // What the matrices borrow from: the mapped files, or memory of our own.
  std::shared_ptr<const models::ModelFiles> files;
  std::vector<std::shared_ptr<core::Buffer>> owned;
};

// Checks every tensor against the spec before any is used.
core::Expected<DecoderWeights> LoadWeights(std::shared_ptr<const models::ModelFiles> files);

// How the matrices of a model without a file are stored: the mixes that llama.cpp's users know.
struct WeightMix {
  std::string_view name;    // "q4_0", "q4_K_M", "q8_0", "f16" …
  core::DType matrices;     // most of them
  core::DType attention_v;  // half of the layers' value projections …
  core::DType mlp_down;     // … and down projections
  core::DType output;       // output (or tied embedding)
};
core::Expected<WeightMix> FindWeightMix(std::string_view name);

// Random weights of the given shape, for benchmarks: every block is valid and finite.
core::Expected<DecoderWeights> RandomWeights(const models::DecoderSpec& spec, const WeightMix& mix,
                                             uint64_t seed, const core::RunContext& context);

}  // namespace rml::llm
