// Quantised kernels in portable C++, for the baseline and for machines that no other file serves.
// They follow the definitions in rml/quant/blocks.h and the layouts of qgemm_layout.h one to one,
// so they are also the readable form of what the vector files do.
#include <bit>
#include <cmath>
#include <cstring>

#include "rml/kernels/qgemm_kernels.h"
#include "rml/quant/blocks.h"

namespace rml::kernels {

namespace {

using namespace quant;  // block layouts

// ---- Activations ----

// Where row i of x has its codes for the columns from `col` (a multiple of 32) on.
int8_t* CodesAt(int8_t* codes, int64_t cols, int64_t i, int64_t m, int64_t col) {
  const int64_t chunk = col / kChunkCols * kChunkCols;
  const int64_t width = cols - chunk < kChunkCols ? cols - chunk : kChunkCols;
  return codes + chunk * m + i * width + (col - chunk);
}

// The largest magnitude. Compared as integers, an order in which not-a-number is the largest: so it
// reaches the block's scale, and through it the result.
float AbsMax(const float* x, int n) {
  uint32_t max = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu;
    max = max > magnitude ? max : magnitude;
  }
  return std::bit_cast<float>(max);
}

// Ties to even, as the vector conversions round. What is not finite becomes 0: the scale carries
// it.
int8_t RoundCode(float value) {
  return std::isfinite(value) ? static_cast<int8_t>(std::nearbyint(value)) : int8_t{0};
}

void Quantize32(const float* x, int64_t cols, int64_t i, int64_t m, const Activations32& out) {
  for (int64_t b = 0; b < cols / 32; ++b) {
    const float max = AbsMax(x + 32 * b, 32);
    const float inverse = max > 0 ? 127.0f / max : 0.0f;
    const float scale = max / 127.0f;
    int8_t* codes = CodesAt(out.codes, cols, i, m, 32 * b);
    int sum = 0;
    for (int j = 0; j < 32; ++j) {
      codes[j] = RoundCode(x[32 * b + j] * inverse);
      sum += codes[j];
    }
    out.scales[b * m + i] = scale;
    out.sums[b * m + i] = scale * static_cast<float>(sum);
  }
}

void Quantize256(const float* x, int64_t cols, int64_t i, int64_t m, const Activations256& out) {
  for (int64_t b = 0; b < cols / 256; ++b) {
    const float max = AbsMax(x + 256 * b, 256);
    const float inverse = max > 0 ? 127.0f / max : 0.0f;
    int8_t* codes = CodesAt(out.codes, cols, i, m, 256 * b);
    int16_t* sums16 = out.sums16 + (b * m + i) * 16;
    int16_t* sums32 = out.sums32 + (b * m + i) * 8;
    for (int g = 0; g < 16; ++g) {
      int sum = 0;
      for (int j = 0; j < 16; ++j) {
        codes[16 * g + j] = RoundCode(x[256 * b + 16 * g + j] * inverse);
        sum += codes[16 * g + j];
      }
      sums16[g] = static_cast<int16_t>(sum);
    }
    for (int g = 0; g < 8; ++g) sums32[g] = static_cast<int16_t>(sums16[2 * g] + sums16[2 * g + 1]);
    out.scales[b * m + i] = max / 127.0f;
  }
}

// ---- What each type stores: unsigned codes, d and m (32); codes, scales, minima, d, dmin (256)
// ----

struct Decoded32 {
  uint8_t codes[32];
  float d, m;
};

void Nibbles(const uint8_t* q, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = q[i] & 15;
    codes[i + 16] = static_cast<uint8_t>(q[i] >> 4);
  }
}

void FifthBits(const uint8_t* high, uint8_t* codes) {
  for (int i = 0; i < 32; ++i) {
    codes[i] = static_cast<uint8_t>(codes[i] | (((high[i / 8] >> (i % 8)) & 1) << 4));
  }
}

void Decode(const BlockQ4_0& b, Decoded32* out) {
  Nibbles(b.q, out->codes);
  out->d = HalfToFloat(b.d);
  out->m = -8 * out->d;
}

void Decode(const BlockQ4_1& b, Decoded32* out) {
  Nibbles(b.q, out->codes);
  out->d = HalfToFloat(b.d);
  out->m = HalfToFloat(b.m);
}

void Decode(const BlockQ5_0& b, Decoded32* out) {
  Nibbles(b.q, out->codes);
  FifthBits(b.high, out->codes);
  out->d = HalfToFloat(b.d);
  out->m = -16 * out->d;
}

void Decode(const BlockQ5_1& b, Decoded32* out) {
  Nibbles(b.q, out->codes);
  FifthBits(b.high, out->codes);
  out->d = HalfToFloat(b.d);
  out->m = HalfToFloat(b.m);
}

void Decode(const BlockQ8_0& b, Decoded32* out) {
  for (int i = 0; i < 32; ++i) out->codes[i] = static_cast<uint8_t>(b.q[i] + 128);
  out->d = HalfToFloat(b.d);
  out->m = -128 * out->d;
}

// Groups are of 32 columns for Q4_K and Q5_K, of 16 for Q6_K.
struct Decoded256 {
  uint8_t codes[256];
  int16_t scales[16];
  int16_t mins[16];
  float d, dmin;
};

void SuperNibbles(const uint8_t* q, uint8_t* codes) {
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 32; ++i) {
      codes[64 * p + i] = q[32 * p + i] & 15;
      codes[64 * p + 32 + i] = static_cast<uint8_t>(q[32 * p + i] >> 4);
    }
  }
}

template <typename Block>
void DecodeScales(const Block& b, Decoded256* out) {
  for (int g = 0; g < 8; ++g) {
    const ScaleMin sm = GroupScaleMin(b.scales, g);
    out->scales[g] = sm.scale;
    out->mins[g] = sm.min;
  }
  out->d = HalfToFloat(b.d);
  out->dmin = HalfToFloat(b.dmin);
}

void Decode(const BlockQ4_K& b, Decoded256* out) {
  SuperNibbles(b.q, out->codes);
  DecodeScales(b, out);
}

void Decode(const BlockQ5_K& b, Decoded256* out) {
  SuperNibbles(b.q, out->codes);
  for (int e = 0; e < 256; ++e) {
    out->codes[e] = static_cast<uint8_t>(out->codes[e] | (((b.high[e % 32] >> (e / 32)) & 1) << 4));
  }
  DecodeScales(b, out);
}

void Decode(const BlockQ6_K& b, Decoded256* out) {
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128;
    const int quarter = (e % 128) / 32;
    const int i = e % 32;
    const uint8_t packed = b.low[64 * half + 32 * (quarter % 2) + i];
    const int low = quarter < 2 ? packed & 15 : packed >> 4;
    const int high = (b.high[32 * half + i] >> (2 * quarter)) & 3;
    out->codes[e] = static_cast<uint8_t>(low | (high << 4));
  }
  for (int g = 0; g < 16; ++g) {
    out->scales[g] = b.scales[g];
    out->mins[g] = static_cast<int16_t>(32 * b.scales[g]);
  }
  out->d = HalfToFloat(b.d);
  out->dmin = out->d;
}

template <typename Block>
constexpr int kGroupsOf = 8;
template <>
constexpr int kGroupsOf<BlockQ6_K> = 16;

template <typename Block, typename Decoded>
void LoadBlock(const uint8_t* at, Decoded* out) {
  Block block;
  std::memcpy(&block, at, sizeof(block));
  Decode(block, out);
}

void Put(float value, bool accumulate, float* y) { *y = accumulate ? *y + value : value; }

// ---- One row of x ----

template <typename Block>
void Gemv32(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
            const Activations32& x, float* y, bool accumulate) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      Decoded32 block;
      LoadBlock<Block>(w + r * row_bytes + b * static_cast<int64_t>(sizeof(Block)), &block);
      int sum = 0;
      for (int i = 0; i < 32; ++i) sum += block.codes[i] * x.codes[32 * b + i];
      total += block.d * x.scales[b] * static_cast<float>(sum) + block.m * x.sums[b];
    }
    Put(total, accumulate, y + r);
  }
}

template <typename Block>
void Gemv256(const uint8_t* w, int64_t row_bytes, int64_t rows, int64_t blocks,
             const Activations256& x, float* y, bool accumulate) {
  constexpr int kGroups = kGroupsOf<Block>;
  constexpr int kWidth = 256 / kGroups;
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      Decoded256 block;
      LoadBlock<Block>(w + r * row_bytes + b * static_cast<int64_t>(sizeof(Block)), &block);
      const int16_t* sums = kGroups == 16 ? x.sums16 + 16 * b : x.sums32 + 8 * b;
      int scaled = 0;
      int minima = 0;
      for (int g = 0; g < kGroups; ++g) {
        int sum = 0;
        for (int i = 0; i < kWidth; ++i) {
          sum += block.codes[kWidth * g + i] * x.codes[256 * b + kWidth * g + i];
        }
        scaled += block.scales[g] * sum;
        minima += block.mins[g] * sums[g];
      }
      total += block.d * x.scales[b] * static_cast<float>(scaled) -
               block.dmin * x.scales[b] * static_cast<float>(minima);
    }
    Put(total, accumulate, y + r);
  }
}

// ---- Many rows of x ----

template <typename Block>
void Unpack32(const PanelSource& source, const Panel32& panel) {
  for (int64_t b = 0; b < source.blocks; ++b) {
    for (int r = 0; r < kPanelRows; ++r) {
      Decoded32 block;
      LoadBlock<Block>(source.rows[r] + b * static_cast<int64_t>(sizeof(Block)), &block);
      for (int i = 0; i < 32; ++i) {
        panel.codes[((b * 8 + i / 4) * kPanelRows + r) * 4 + i % 4] = block.codes[i];
      }
      panel.d[b * kPanelRows + r] = block.d;
      panel.m[b * kPanelRows + r] = block.m;
    }
  }
}

template <typename Block>
void Unpack256(const PanelSource& source, const Panel256& panel) {
  constexpr int kGroups = kGroupsOf<Block>;
  for (int64_t b = 0; b < source.blocks; ++b) {
    for (int r = 0; r < kPanelRows; ++r) {
      Decoded256 block;
      LoadBlock<Block>(source.rows[r] + b * static_cast<int64_t>(sizeof(Block)), &block);
      for (int i = 0; i < 256; ++i) {
        panel.codes[((b * 64 + i / 4) * kPanelRows + r) * 4 + i % 4] = block.codes[i];
      }
      for (int g = 0; g < kGroups; ++g) {
        int16_t* scale = panel.scales + ((b * kGroups + g) * kPanelRows + r) * 2;
        scale[0] = scale[1] = block.scales[g];
        panel.mins[((b * kGroups + g) / 2 * kPanelRows + r) * 2 + g % 2] = block.mins[g];
      }
      panel.d[b * kPanelRows + r] = block.d;
      panel.dmin[b * kPanelRows + r] = block.dmin;
    }
  }
}

// Sums over `steps` groups of four columns: sum[r] += codes · x.
void SumSteps(const uint8_t* codes, const int8_t* x, int steps, int32_t* sum) {
  for (int s = 0; s < steps; ++s) {
    for (int r = 0; r < kPanelRows; ++r) {
      const uint8_t* w = codes + (s * kPanelRows + r) * 4;
      sum[r] += w[0] * x[4 * s] + w[1] * x[4 * s + 1] + w[2] * x[4 * s + 2] + w[3] * x[4 * s + 3];
    }
  }
}

void Gemm32(const Panel32& panel, int64_t first_block, int64_t blocks, int64_t total_blocks,
            const Activations32& x, int64_t m, float* acc, bool first) {
  for (int64_t i = 0; i < m; ++i) {
    float* y = acc + i * kPanelRows;
    if (first) std::memset(y, 0, kPanelRows * sizeof(float));
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t at = (first_block + b) * m + i;
      const int8_t* codes = CodesAt(x.codes, 32 * total_blocks, i, m, 32 * (first_block + b));
      int32_t sum[kPanelRows] = {};
      SumSteps(panel.codes + b * 8 * kPanelRows * 4, codes, 8, sum);
      for (int r = 0; r < kPanelRows; ++r) {
        y[r] += panel.d[b * kPanelRows + r] * x.scales[at] * static_cast<float>(sum[r]) +
                panel.m[b * kPanelRows + r] * x.sums[at];
      }
    }
  }
}

template <int kGroups>
void Gemm256(const Panel256& panel, int64_t first_block, int64_t blocks, const Activations256& x,
             int64_t m, float* acc, bool first) {
  constexpr int kSteps = 64 / kGroups;
  for (int64_t i = 0; i < m; ++i) {
    float* y = acc + i * kPanelRows;
    if (first) std::memset(y, 0, kPanelRows * sizeof(float));
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t at = (first_block + b) * m + i;
      const int8_t* codes = x.codes + at * kChunkCols;
      const int16_t* sums = kGroups == 16 ? x.sums16 + 16 * at : x.sums32 + 8 * at;
      int32_t scaled[kPanelRows] = {};
      int32_t minima[kPanelRows] = {};
      for (int g = 0; g < kGroups; ++g) {
        int32_t sum[kPanelRows] = {};
        SumSteps(panel.codes + (b * 64 + g * kSteps) * kPanelRows * 4, codes + 4 * kSteps * g,
                 kSteps, sum);
        const int16_t* scales = panel.scales + (b * kGroups + g) * kPanelRows * 2;
        const int16_t* mins = panel.mins + (b * kGroups + g) / 2 * kPanelRows * 2 + g % 2;
        for (int r = 0; r < kPanelRows; ++r) {
          scaled[r] += scales[2 * r] * sum[r];
          minima[r] += mins[2 * r] * sums[g];
        }
      }
      for (int r = 0; r < kPanelRows; ++r) {
        y[r] += panel.d[b * kPanelRows + r] * x.scales[at] * static_cast<float>(scaled[r]) -
                panel.dmin[b * kPanelRows + r] * x.scales[at] * static_cast<float>(minima[r]);
      }
    }
  }
}

template <typename Block>
constexpr Kernels32 kRow32 = {Gemv32<Block>, Unpack32<Block>, Gemm32};
template <typename Block>
constexpr Kernels256 kRow256 = {Gemv256<Block>, Unpack256<Block>, Gemm256<kGroupsOf<Block>>};

}  // namespace

const QuantKernels kQuantKernelsPortable = {
    .quantize32 = Quantize32,
    .quantize256 = Quantize256,
    .q4_0 = kRow32<BlockQ4_0>,
    .q4_1 = kRow32<BlockQ4_1>,
    .q5_0 = kRow32<BlockQ5_0>,
    .q5_1 = kRow32<BlockQ5_1>,
    .q8_0 = kRow32<BlockQ8_0>,
    .q4_k = kRow256<BlockQ4_K>,
    .q5_k = kRow256<BlockQ5_K>,
    .q6_k = kRow256<BlockQ6_K>,
};

}  // namespace rml::kernels
