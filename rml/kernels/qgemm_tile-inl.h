// A panel of 16 rows times many rows of activations, for any vector width. Included once by a
// file compiled for one ISA, after it has defined `struct Ops` in an unnamed namespace:
//
//   Int, Float          vectors; kVectors of them hold one 32-bit lane for each of 16 rows
//   kTile               activation rows that share a load of codes: as many as the registers carry
//   First(w, x), Next(sum, w, x)   one step: products of four columns, unsigned times signed bytes.
//                       Without VNNI pairs of them are added in 16 bits, for as many steps (kSteps)
//                       as the largest code allows: steps · 2 · max_code · 127 <= 32767
//   Close(sum)          the sum of all steps, in 32 bits
//   CloseScaled(sum, s) the same times s, a 16-bit scale in both halves of each lane
//   PairSum(a, b)       products of 16-bit halves, added in pairs
//   and loads, broadcasts, Add32, ToFloat, Mul, MulAdd (a b + c), MulSub (c - a b)
//
// A tile is 16 rows by up to kTile rows of x. A step loads the codes of four columns and broadcasts
// four bytes of each row of x.

namespace rml::kernels {
namespace {  // NOLINT(google-build-namespaces): one copy per ISA is the point

#define RML_TILE_INLINE __attribute__((always_inline)) inline

using Int = Ops::Int;
using Float = Ops::Float;
constexpr int kVectors = Ops::kVectors;
constexpr int kVectorBytes = sizeof(Int);
constexpr int kLanes = kPanelRows / kVectors;
constexpr int kStepBytes = kPanelRows * 4;
constexpr int kBlockBytes = 8 * kStepBytes;  // 32 columns of codes

// Vector v of a step: of plane v / kVectors.
RML_TILE_INLINE Int LoadCodes(const uint8_t* step, int v) {
  return Ops::Load(step + v / kVectors * kBlockBytes + v % kVectors * kVectorBytes);
}

// Sums of kSteps steps, for columns `offset` on of rows x[0..kTile). Planes lie kBlockBytes apart,
// and their sums beside each other. What there is less of, rows of x or vectors of codes, waits in
// registers for the other.
template <int kTile, int kSteps, int kPlanes>
RML_TILE_INLINE void SumSteps(const uint8_t* codes, const int8_t* const* x, int64_t offset,
                              Int (&sum)[kTile][kPlanes * kVectors]) {
  constexpr int kLoads = kPlanes * kVectors;
#pragma GCC unroll 8
  for (int s = 0; s < kSteps; ++s) {
    const uint8_t* step = codes + s * kStepBytes;
    if constexpr (kLoads <= kTile) {
      Int w[kLoads];
#pragma GCC unroll 4
      for (int v = 0; v < kLoads; ++v) w[v] = LoadCodes(step, v);
#pragma GCC unroll 8
      for (int c = 0; c < kTile; ++c) {
        const Int xs = Ops::BroadcastWord(x[c] + offset + 4 * s);
#pragma GCC unroll 4
        for (int v = 0; v < kLoads; ++v) {
          sum[c][v] = s == 0 ? Ops::First(w[v], xs) : Ops::Next(sum[c][v], w[v], xs);
        }
      }
    } else {
      Int xs[kTile];
#pragma GCC unroll 8
      for (int c = 0; c < kTile; ++c) xs[c] = Ops::BroadcastWord(x[c] + offset + 4 * s);
#pragma GCC unroll 4
      for (int v = 0; v < kLoads; ++v) {
        const Int w = LoadCodes(step, v);
#pragma GCC unroll 8
        for (int c = 0; c < kTile; ++c) {
          sum[c][v] = s == 0 ? Ops::First(w, xs[c]) : Ops::Next(sum[c][v], w, xs[c]);
        }
      }
    }
  }
}

// ---- One scale per 32 columns ----

struct Range32 {
  int64_t first_block, blocks, total_blocks;
};

// The integer products of one block. kPlanes == 2: codes are 16 · (first plane) + (second plane).
template <int kTile, int kSteps, int kPlanes>
RML_TILE_INLINE void BlockProducts(const uint8_t* codes, const int8_t* const* x, int64_t offset,
                                   Int (&wide)[kTile][kVectors]) {
#pragma GCC unroll 4
  for (int s = 0; s < 8; s += kSteps) {
    Int sum[kTile][kPlanes * kVectors];
    SumSteps<kTile, kSteps, kPlanes>(codes + s * kStepBytes, x, offset + 4 * s, sum);
#pragma GCC unroll 8
    for (int c = 0; c < kTile; ++c) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        Int part = Ops::Close(sum[c][(kPlanes - 1) * kVectors + v]);
        if constexpr (kPlanes == 2) {
          part = Ops::Add32(part, Ops::CloseScaled(sum[c][v], Ops::Set16(16)));
        }
        wide[c][v] = s == 0 ? part : Ops::Add32(wide[c][v], part);
      }
    }
  }
}

template <int kTile, int kSteps, int kPlanes>
RML_TILE_INLINE void Tile32(const Panel32& panel, const Range32& range, const Activations32& x,
                            int64_t m, int64_t i, float* acc, bool first) {
  constexpr int64_t kChunkBlocks = kChunkCols / 32;
  Float y[kTile][kVectors];
#pragma GCC unroll 8
  for (int c = 0; c < kTile; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      y[c][v] = first ? Ops::ZeroFloat() : Ops::LoadFloat(acc + c * kPanelRows + v * kLanes);
    }
  }
  for (int64_t b0 = 0; b0 < range.blocks; b0 += kChunkBlocks) {  // chunks of activations
    const int64_t chunk = range.first_block + b0;
    const int64_t left = range.total_blocks - chunk;
    const int64_t width = 32 * (left < kChunkBlocks ? left : kChunkBlocks);
    const int64_t end = range.blocks - b0 < kChunkBlocks ? range.blocks - b0 : kChunkBlocks;
    const int8_t* xs[kTile];
#pragma GCC unroll 8
    for (int c = 0; c < kTile; ++c) xs[c] = x.codes + 32 * chunk * m + (i + c) * width;
    for (int64_t j = 0; j < end; ++j) {
      const int64_t b = b0 + j;
      Int wide[kTile][kVectors];
      BlockProducts<kTile, kSteps, kPlanes>(panel.codes + b * kPlanes * kBlockBytes, xs, 32 * j,
                                            wide);
      const float* scales = x.scales + (chunk + j) * m + i;
      const float* sums = x.sums + (chunk + j) * m + i;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Float d = Ops::LoadFloat(panel.d + b * kPanelRows + v * kLanes);
        const Float offset = Ops::LoadFloat(panel.m + b * kPanelRows + v * kLanes);
#pragma GCC unroll 8
        for (int c = 0; c < kTile; ++c) {
          const Float scale = Ops::Mul(d, Ops::BroadcastFloat(scales + c));
          y[c][v] = Ops::MulAdd(scale, Ops::ToFloat(wide[c][v]), y[c][v]);
          y[c][v] = Ops::MulAdd(offset, Ops::BroadcastFloat(sums + c), y[c][v]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < kTile; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) Ops::StoreFloat(acc + c * kPanelRows + v * kLanes, y[c][v]);
  }
}

template <int kTile, int kSteps, int kPlanes>
RML_TILE_INLINE void LastTile32(const Panel32& panel, const Range32& range, const Activations32& x,
                                int64_t m, int64_t i, float* acc, bool first) {
  if constexpr (kTile > 0) {
    if (m - i == kTile) {
      Tile32<kTile, kSteps, kPlanes>(panel, range, x, m, i, acc, first);
    } else {
      LastTile32<kTile - 1, kSteps, kPlanes>(panel, range, x, m, i, acc, first);
    }
  }
}

template <int kSteps, int kPlanes>
void Gemm32(const Panel32& panel, int64_t first_block, int64_t blocks, int64_t total_blocks,
            const Activations32& x, int64_t m, float* acc, bool first) {
  constexpr int kTile = Ops::kTile / kPlanes;  // the registers carry as many sums either way
  const Range32 range = {first_block, blocks, total_blocks};
  int64_t i = 0;
  for (; i + kTile <= m; i += kTile) {
    Tile32<kTile, kSteps, kPlanes>(panel, range, x, m, i, acc + i * kPanelRows, first);
  }
  LastTile32<kTile - 1, kSteps, kPlanes>(panel, range, x, m, i, acc + i * kPanelRows, first);
}

// ---- Integer scales per group within 256 columns ----

// kSteps: steps in one sum; kGroups: 8 (of 8 steps) or 16 (of 4).
template <int kTile, int kSteps, int kGroups>
RML_TILE_INLINE void Tile256(const Panel256& panel, int64_t first_block, int64_t blocks,
                             const Activations256& x, int64_t m, int64_t i, float* acc,
                             bool first) {
  constexpr int kGroupSteps = 64 / kGroups;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t at = (first_block + b) * m + i;
    const int8_t* xs[kTile];
#pragma GCC unroll 8
    for (int c = 0; c < kTile; ++c) xs[c] = x.codes + (at + c) * kChunkCols;
    const uint8_t* codes = panel.codes + b * 64 * kStepBytes;
    const int16_t* scales = panel.scales + b * kGroups * kPanelRows * 2;
    Int wide[kTile][kVectors];
#pragma GCC unroll 8
    for (int c = 0; c < kTile; ++c) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) wide[c][v] = Ops::ZeroInt();
    }
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 4
      for (int s = 0; s < kGroupSteps; s += kSteps) {
        Int sum[kTile][kVectors];
        SumSteps<kTile, kSteps, 1>(codes + (g * kGroupSteps + s) * kStepBytes, xs,
                                   4 * (g * kGroupSteps + s), sum);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          const Int scale = Ops::Load(scales + (g * kPanelRows + v * kLanes) * 2);
#pragma GCC unroll 8
          for (int c = 0; c < kTile; ++c) {
            wide[c][v] = Ops::Add32(wide[c][v], Ops::CloseScaled(sum[c][v], scale));
          }
        }
      }
    }
    const int16_t* mins = panel.mins + b * kGroups * kPanelRows;
    const int16_t* sums = kGroups == 16 ? x.sums16 + 16 * at : x.sums32 + 8 * at;
#pragma GCC unroll 8
    for (int c = 0; c < kTile; ++c) {
      const Float scale = Ops::BroadcastFloat(x.scales + at + c);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        Int minima = Ops::ZeroInt();
#pragma GCC unroll 8
        for (int p = 0; p < kGroups / 2; ++p) {
          minima =
              Ops::Add32(minima, Ops::PairSum(Ops::Load(mins + (p * kPanelRows + v * kLanes) * 2),
                                              Ops::BroadcastWord(sums + kGroups * c + 2 * p)));
        }
        const Float d = Ops::Mul(scale, Ops::LoadFloat(panel.d + b * kPanelRows + v * kLanes));
        const Float dmin =
            Ops::Mul(scale, Ops::LoadFloat(panel.dmin + b * kPanelRows + v * kLanes));
        float* out = acc + c * kPanelRows + v * kLanes;
        Float y = first && b == 0 ? Ops::ZeroFloat() : Ops::LoadFloat(out);
        y = Ops::MulAdd(d, Ops::ToFloat(wide[c][v]), y);
        y = Ops::MulSub(dmin, Ops::ToFloat(minima), y);
        Ops::StoreFloat(out, y);
      }
    }
  }
}

template <int kTile, int kSteps, int kGroups>
RML_TILE_INLINE void LastTile256(const Panel256& panel, int64_t first_block, int64_t blocks,
                                 const Activations256& x, int64_t m, int64_t i, float* acc,
                                 bool first) {
  if constexpr (kTile > 0) {
    if (m - i == kTile) {
      Tile256<kTile, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc, first);
    } else {
      LastTile256<kTile - 1, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc, first);
    }
  }
}

template <int kSteps, int kGroups>
void Gemm256(const Panel256& panel, int64_t first_block, int64_t blocks, const Activations256& x,
             int64_t m, float* acc, bool first) {
  int64_t i = 0;
  for (; i + Ops::kTile <= m; i += Ops::kTile) {
    Tile256<Ops::kTile, kSteps, kGroups>(panel, first_block, blocks, x, m, i, acc + i * kPanelRows,
                                         first);
  }
  LastTile256<Ops::kTile - 1, kSteps, kGroups>(panel, first_block, blocks, x, m, i,
                                               acc + i * kPanelRows, first);
}

#undef RML_TILE_INLINE

}  // namespace
}  // namespace rml::kernels
