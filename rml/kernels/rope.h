// Rotary position embedding (Su et al. 2021): pairs of a head's elements are rotated by position
// times a frequency per pair.
//
// Three steps: frequencies once per model, angles once per forward pass, rotations per layer.
// Angles are computed in f64 (position * frequency, reduced and rounded once), so they are right at
// any position; frameworks that multiply in f32 differ from it by up to position * 6e-8 radians.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rml::kernels {

// Which elements of a head of which `dim` leading ones are rotated make pair i.
enum class RopeLayout : uint8_t {
  kAdjacent,  // 2i and 2i + 1: GGUF's "NORM", the Llama files whose q and k rows are permuted
  kHalves,    // i and i + dim/2: "NEOX", Hugging Face
};

enum class RopeScalingKind : uint8_t {
  kNone,
  kLinear,      // every frequency / factor (position interpolation, Chen et al. 2023)
  kDynamicNtk,  // the base grows when the context outgrows the original one
  kYarn,        // Peng et al. 2023: interpolates slow pairs, keeps fast ones, scales the magnitude
  kLlama3,      // Llama 3.1: the same idea by wavelength, with a smooth middle
  kLongRope,    // Ding et al. 2024 (Phi-3): one factor per pair, short or long
};

// How a model stretches its positions. Only the fields of its kind count.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1.0;           // how much longer the context is
  int64_t original_context = 0;  // trained for, before stretching; all kinds but linear
  int64_t context = 0;           // in use: dynamic NTK grows with it, LongRoPE picks by it
  double beta_fast = 32.0;       // YaRN: turns over the original context, start of the ramp
  double beta_slow = 1.0;        // YaRN: and its end
  double mscale = 0.0;           // YaRN as DeepSeek has it: both 0 when absent
  double mscale_all_dim = 0.0;
  double low_frequency_factor = 1.0;   // Llama 3
  double high_frequency_factor = 4.0;  // Llama 3
  double attention_factor = 0.0;       // YaRN, LongRoPE: the magnitude itself; 0: from the formula
  std::vector<float> short_factors;    // LongRoPE: [dim/2]
  std::vector<float> long_factors;     // LongRoPE: [dim/2]

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

struct RopeFrequencyTable {
  std::vector<double> inverse;  // [dim/2] radians per position
  float magnitude = 1.0f;       // multiplies cos and sin
};

// `dim` (even) leading elements of each head are rotated. `factors` [dim/2] or empty: GGUF's
// rope_freqs.weight, which divides the frequencies. Formulas: Hugging Face's modeling_rope_utils.
// LongRoPE's factors must have dim/2 elements when that kind is asked for; the loader checks.
RopeFrequencyTable RopeFrequencies(int dim, double base, const RopeScaling& scaling,
                                   std::span<const float> factors = {});

// cos and sin [positions, inverse.size()], times magnitude.
void RopeAngles(std::span<const int64_t> positions, std::span<const double> inverse,
                float magnitude, float* cos, float* sin);

// Rotates in place: token t's heads start at x + t * row_stride, one after another; cos and sin are
// [tokens, rope_dim/2]. Elements from rope_dim to head_dim stay. Floats are the unit of strides.
void ApplyRope(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rope_dim,
               int64_t row_stride, const float* cos, const float* sin, RopeLayout layout);

void ApplyRopeReference(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rope_dim,
                        int64_t row_stride, const float* cos, const float* sin, RopeLayout layout);

}  // namespace rml::kernels
