#include "rml/kernels/float_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rml/kernels/attention_tile.cc"
#include "hwy/foreach_target.h"

#include "rml/kernels/attention.h"
#include "rml/kernels/attention_tile.h"
#include "rml/kernels/float_map-inl.h"
#include "rml/kernels/float_math-inl.h"
#include "rml/kernels/float_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rml::kernels {
namespace HWY_NAMESPACE {

constexpr int kVectors = 2;                    // of a panel's columns
constexpr int64_t kWidth = kVectors * kLanes;  // of a panel
constexpr float kLowest = -__builtin_inff();
static_assert(kPageTokens % kWidth == 0 && kAttentionPadding % kWidth == 0);

// The worker's scratch, laid out for one tile.
struct Scratch {
  float* q;        // [rows, head_dim], times scale
  float* sums;     // [rows, padded]
  float* scores;   // [rows, 64]
  float* keys;     // [64 / kWidth, head_dim, kWidth]
  float* values;   // [padded / kWidth, 64, kWidth]
  float* max;      // [rows]
  float* weight;   // [rows]
  int32_t* query;  // [rows]
  int64_t rows, head_dim, padded;
};

HWY_INLINE int64_t RoundUp16(int64_t n) { return (n + 15) & ~int64_t{15}; }

HWY_INLINE Scratch LayOut(const AttentionTile& tile, float* memory) {
  Scratch s;
  s.rows = tile.queries * tile.group;
  s.head_dim = tile.head_dim;
  s.padded = (tile.head_dim + kAttentionPadding - 1) / kAttentionPadding * kAttentionPadding;
  s.keys = memory;
  s.values = s.keys + RoundUp16(kPageTokens * s.head_dim);
  s.scores = s.values + kPageTokens * s.padded;
  s.sums = s.scores + s.rows * kPageTokens;
  s.q = s.sums + s.rows * s.padded;
  s.max = s.q + RoundUp16(s.rows * s.head_dim);
  s.weight = s.max + RoundUp16(s.rows);
  s.query = reinterpret_cast<int32_t*>(s.weight + RoundUp16(s.rows));
  return s;
}

struct ScaledBy {
  VF factor;
  HWY_INLINE VF operator()(VF x) const { return hn::Mul(x, factor); }
};

HWY_INLINE void Start(const AttentionTile& tile, const Scratch& s) {
  const DF d;
  const int64_t row_floats = tile.group * tile.head_dim;
  for (int64_t i = 0; i < tile.queries; ++i) {
    Map(tile.q + i * tile.q_stride, row_floats, s.q + i * row_floats,
        ScaledBy{hn::Set(d, tile.scale)});
  }
  for (int64_t i = 0; i < s.rows * s.padded; i += kLanes) {
    hn::StoreU(hn::Zero(d), d, s.sums + i);
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    s.max[r] = kLowest;
    s.weight[r] = 0;
    s.query[r] = static_cast<int32_t>(r / tile.group);
  }
}

// The keys of a page that a query attends to: [begin, end), empty when end <= begin.
struct KeyRange {
  int64_t begin, end;
};
HWY_INLINE KeyRange KeysOf(const AttentionTile& tile, int64_t page, int64_t query) {
  const int64_t position = tile.first_position + query - page * kPageTokens;
  KeyRange range = {0, position + 1};
  if (tile.window > 0 && position - tile.window + 1 > 0) range.begin = position - tile.window + 1;
  if (range.end > kPageTokens) range.end = kPageTokens;
  return range;
}
// Those that any of the rows [row_begin, row_end) attends to.
HWY_INLINE KeyRange KeysOfRows(const AttentionTile& tile, const Scratch& s, int64_t page,
                               int64_t row_begin, int64_t row_end) {
  return {KeysOf(tile, page, s.query[row_begin]).begin,
          KeysOf(tile, page, s.query[row_end - 1]).end};
}

// One row's step of the running softmax: scores in [begin, end) (whole vectors) become weights,
// those outside `keys` zero; sums and weight are rescaled when the maximum grows.
HWY_INLINE void SoftmaxStep(const Scratch& s, int64_t row, KeyRange keys, int64_t begin,
                            int64_t end, float soft_cap) {
  const DF d;
  float* scores = s.scores + row * kPageTokens;
  if (keys.end <= keys.begin) {
    for (int64_t i = begin; i < end; i += kLanes) hn::StoreU(hn::Zero(d), d, scores + i);
    return;
  }
  if (soft_cap != 0.0f) {
    const VF cap = hn::Set(d, soft_cap);
    for (int64_t i = begin; i < end; i += kLanes) {
      hn::StoreU(hn::Mul(cap, Tanh(hn::Div(hn::LoadU(d, scores + i), cap))), d, scores + i);
    }
  }
  for (int64_t i = begin; i < keys.begin; ++i) scores[i] = kLowest;
  for (int64_t i = keys.end; i < end; ++i) scores[i] = kLowest;

  VF largest = hn::Set(d, s.max[row]);
  for (int64_t i = begin; i < end; i += kLanes)
    largest = hn::Max(largest, hn::LoadU(d, scores + i));
  const float max = MaxLane(largest);
  const VF vmax = hn::Set(d, max);
  if (max > s.max[row]) {
    const VF shrink = ExpNonPositive(hn::Sub(hn::Set(d, s.max[row]), vmax));
    float* sums = s.sums + row * s.padded;
    for (int64_t i = 0; i < s.padded; i += kLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, sums + i), shrink), d, sums + i);
    }
    s.weight[row] *= hn::GetLane(shrink);
    s.max[row] = max;
  }
  VF total = hn::Zero(d);
  for (int64_t i = begin; i < end; i += kLanes) {
    const VF p = ExpNonPositive(hn::Sub(hn::LoadU(d, scores + i), vmax));
    hn::StoreU(p, d, scores + i);
    total = hn::Add(total, p);
  }
  s.weight[row] += SumLanes(total);
}

// ---- Many rows: a page is widened and repacked once, then met by all rows.

template <class T>
HWY_INLINE void PackPage(const T* keys, const T* values, int64_t count, const Scratch& s) {
  const DF d;
  for (int64_t first = 0; first < count; first += kWidth) {
    const T* rows[kWidth];
    for (int64_t r = 0; r < kWidth; ++r) {  // keys past the last: that one again, masked later
      rows[r] = keys + (first + r < count ? first + r : count - 1) * s.head_dim;
    }
    PackTransposed<kVectors>(rows, 0, s.head_dim, 0, s.keys + first * s.head_dim);
  }
  const int64_t columns = (s.head_dim + kWidth - 1) / kWidth * kWidth;
  for (int64_t column = 0; column < columns; column += kLanes) {
    // Panels of kWidth columns: panel column / kWidth, vector (column % kWidth) / kLanes.
    float* to = s.values + column / kWidth * kWidth * kPageTokens + column % kWidth;
    const T* from = values + column;
    const int64_t left = s.head_dim - column;  // not positive: padding, of zeros
    for (int64_t k = 0; k < count; ++k) {
      const VF v = left >= kLanes ? LoadF32(d, from + k * s.head_dim)
                                  : LoadTail(d, from + k * s.head_dim, left);
      hn::StoreU(v, d, to + k * kWidth);
    }
  }
}

HWY_NOINLINE void MeetPage(const AttentionTile& tile, const Scratch& s, int64_t page) {
  for (int64_t first = 0; first < kPageTokens; first += kWidth) {
    const float* panel = s.keys + first * s.head_dim;
    for (int64_t r = 0; r < s.rows; r += kTileRows) {
      const int64_t rows = s.rows - r < kTileRows ? s.rows - r : kTileRows;
      const KeyRange keys = KeysOfRows(tile, s, page, r, r + rows);
      if (first >= keys.end || first + kWidth <= keys.begin) continue;  // all masked
      TileRows<kVectors>(rows, s.head_dim, s.q + r * s.head_dim, s.head_dim, panel, kWidth,
                         s.scores + r * kPageTokens + first, kPageTokens, false);
    }
  }
  for (int64_t r = 0; r < s.rows; r += kTileRows) {
    const int64_t end = s.rows - r < kTileRows ? s.rows : r + kTileRows;
    const KeyRange keys = KeysOfRows(tile, s, page, r, end);
    if (keys.end <= keys.begin) continue;
    const int64_t vector_begin = keys.begin / kLanes * kLanes;
    const int64_t vector_end = (keys.end + kLanes - 1) / kLanes * kLanes;
    for (int64_t row = r; row < end; ++row) {
      SoftmaxStep(s, row, KeysOf(tile, page, s.query[row]), vector_begin, vector_end,
                  tile.soft_cap);
    }
  }
  for (int64_t column = 0; column < s.padded; column += kWidth) {
    if (column >= s.head_dim) break;
    const float* panel = s.values + column * kPageTokens;
    for (int64_t r = 0; r < s.rows; r += kTileRows) {
      const int64_t rows = s.rows - r < kTileRows ? s.rows - r : kTileRows;
      const KeyRange keys = KeysOfRows(tile, s, page, r, r + rows);
      if (keys.end <= keys.begin) continue;
      TileRows<kVectors>(rows, keys.end - keys.begin, s.scores + r * kPageTokens + keys.begin,
                         kPageTokens, panel + keys.begin * kWidth, kWidth,
                         s.sums + r * s.padded + column, s.padded, true);
    }
  }
}

// ---- Few rows, one query: the page is read where it lies.

// The sums of the lanes of four vectors, as one vector of four.
HWY_INLINE hn::Vec<hn::CappedTag<float, 4>> SumLanes4(VF a, VF b, VF c, VF e) {
  const DF d;
  const hn::RepartitionToWide<DU> dw;
  const VF ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const VF ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto wab = hn::BitCast(dw, ab);
  const auto wce = hn::BitCast(dw, ce);
  const VF sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(dw, wab, wce)),
                          hn::BitCast(d, hn::InterleaveUpper(dw, wab, wce)));
#if HWY_MAX_BYTES == 16
  return sums;
#elif HWY_MAX_BYTES == 32
  const hn::Half<DF> dh;
  return hn::Add(hn::LowerHalf(dh, sums), hn::UpperHalf(dh, sums));
#else
  const hn::Half<DF> dh;
  const hn::Half<decltype(dh)> dq;
  const auto half = hn::Add(hn::LowerHalf(dh, sums), hn::UpperHalf(dh, sums));
  return hn::Add(hn::LowerHalf(dq, half), hn::UpperHalf(dq, half));
#endif
}

// scores[r, k] = q[r] · keys[k] for kRows rows and k in [0, count). The values that belong to the
// keys and the keys of the next page are fetched meanwhile: they are far apart, and the processor
// does not guess them.
template <int kRows, class T>
HWY_NOINLINE void DotKeys(const T* keys, int64_t count, int64_t head_dim, const float* q,
                          float* scores, const T* values, const T* next_keys) {
  const DF d;
  const hn::CappedTag<float, 4> d4;
  for (int64_t k = 0; k < count; k += 4) {
    const T* rows[4];
    for (int64_t j = 0; j < 4; ++j) rows[j] = keys + (k + j < count ? k + j : count - 1) * head_dim;
    VF sums[4][kRows];
    RML_UNROLL
    for (int j = 0; j < 4; ++j) {
      RML_UNROLL
      for (int r = 0; r < kRows; ++r) sums[j][r] = hn::Zero(d);
    }
    PrefetchElements(values + k * head_dim, 4 * head_dim);
    PrefetchElements(next_keys + k * head_dim, 4 * head_dim);
    for (int64_t i = 0; i < head_dim; i += kLanes) {
      RML_UNROLL
      for (int j = 0; j < 4; ++j) {
        const VF key = LoadF32(d, rows[j] + i);
        RML_UNROLL
        for (int r = 0; r < kRows; ++r) {
          sums[j][r] = hn::MulAdd(key, hn::LoadU(d, q + r * head_dim + i), sums[j][r]);
        }
      }
    }
    RML_UNROLL
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(SumLanes4(sums[0][r], sums[1][r], sums[2][r], sums[3][r]), d4,
                 scores + r * kPageTokens + k);
    }
  }
}

// sums[r] += sum over k in [0, count) of weights[r, k] * values[k], for kRows rows.
template <int kRows, class T>
HWY_INLINE void AddValues(const T* values, int64_t count, int64_t head_dim, const float* weights,
                          float* sums, int64_t padded) {
  int64_t column = 0;
  if constexpr (kRows <= 2) {  // enough independent sums to hide the latency of FMA
    for (; column + 4 * kLanes <= head_dim; column += 4 * kLanes) {
      Tile<kRows, 4>(count, weights, kPageTokens, values + column, head_dim, sums + column, padded,
                     true);
    }
  }
  for (; column + 2 * kLanes <= head_dim; column += 2 * kLanes) {
    Tile<kRows, 2>(count, weights, kPageTokens, values + column, head_dim, sums + column, padded,
                   true);
  }
  for (; column < head_dim; column += kLanes) {
    Tile<kRows, 1>(count, weights, kPageTokens, values + column, head_dim, sums + column, padded,
                   true);
  }
}

template <int kRows, class T>
HWY_INLINE void MeetPageInPlace(const AttentionTile& tile, const Scratch& s, const T* keys,
                                const T* values, const T* next_keys, KeyRange range, int64_t row) {
  const int64_t count = range.end - range.begin;
  const int64_t skipped = range.begin * s.head_dim;
  DotKeys<kRows>(keys + skipped, count, s.head_dim, s.q + row * s.head_dim,
                 s.scores + row * kPageTokens, values + skipped, next_keys + skipped);
  const int64_t vector_end = (count + kLanes - 1) / kLanes * kLanes;
  for (int64_t r = row; r < row + kRows; ++r) {
    SoftmaxStep(s, r, {0, count}, 0, vector_end, tile.soft_cap);
  }
  AddValues<kRows>(values + range.begin * s.head_dim, count, s.head_dim,
                   s.scores + row * kPageTokens, s.sums + row * s.padded, s.padded);
}

// ---- Both.

constexpr int64_t kMaxRowsInPlace = 8;

template <class T>
HWY_INLINE void Compute(const AttentionTile& tile, const Scratch& s) {
  const bool in_place =
      tile.queries == 1 && s.rows <= kMaxRowsInPlace && tile.head_dim % kLanes == 0;
  for (int64_t page = tile.page_begin; page < tile.page_end; ++page) {
    const char* bytes = static_cast<const char*>(tile.pages[page]);
    const T* keys = reinterpret_cast<const T*>(bytes + tile.key_offset);
    const T* values = reinterpret_cast<const T*>(bytes + tile.value_offset);
    if (in_place) {
      const KeyRange range = KeysOf(tile, page, 0);
      const void* next = tile.pages[page + 1 < tile.page_end ? page + 1 : page];
      const T* next_keys =
          reinterpret_cast<const T*>(static_cast<const char*>(next) + tile.key_offset);
      int64_t row = 0;
      for (; row + 3 <= s.rows && s.rows - row != 4; row += 3) {
        MeetPageInPlace<3>(tile, s, keys, values, next_keys, range, row);
      }
      for (; row + 2 <= s.rows; row += 2) {
        MeetPageInPlace<2>(tile, s, keys, values, next_keys, range, row);
      }
      if (row < s.rows) MeetPageInPlace<1>(tile, s, keys, values, next_keys, range, row);
    } else {
      PackPage(keys, values, KeysOf(tile, page, tile.queries - 1).end, s);
      MeetPage(tile, s, page);
    }
  }
}

HWY_NOINLINE void ComputeF16(const AttentionTile& tile, const Scratch& s) { Compute<F16>(tile, s); }
HWY_NOINLINE void ComputeF32(const AttentionTile& tile, const Scratch& s) {
  Compute<float>(tile, s);
}

void ComputeAttentionTileTarget(const AttentionTile& tile, float* memory) {
  const DF d;
  const Scratch s = LayOut(tile, memory);
  Start(tile, s);
  if (tile.dtype == core::DType::kF32) {
    ComputeF32(tile, s);
  } else {
    ComputeF16(tile, s);
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    const float* sums = s.sums + r * s.padded;
    if (tile.out != nullptr) {
      float* out = tile.out + r / tile.group * tile.out_stride + r % tile.group * s.head_dim;
      Map(sums, s.head_dim, out, ScaledBy{hn::Set(d, 1.0f / s.weight[r])});
    } else {
      Map(sums, s.head_dim, tile.partial_sums + r * s.head_dim, ScaledBy{hn::Set(d, 1.0f)});
      tile.partial_max[r] = s.max[r];
      tile.partial_weight[r] = s.weight[r];
    }
  }
}

struct PlusScaled {
  VF factor;
  HWY_INLINE VF operator()(VF sum, VF x) const { return hn::MulAdd(x, factor, sum); }
};

void CombineAttentionPartsTarget(const AttentionTile& tile, int64_t parts, int64_t part_stride) {
  const DF d;
  for (int64_t r = 0; r < tile.queries * tile.group; ++r) {
    float* out = tile.out + r / tile.group * tile.out_stride + r % tile.group * tile.head_dim;
    float max = kLowest;
    for (int64_t p = 0; p < parts; ++p) {
      const float m = tile.partial_max[p * part_stride + r];
      max = m > max ? m : max;
    }
    float weight = 0;
    for (int64_t p = 0; p < parts; ++p) {
      const VF factor = ExpNonPositive(hn::Set(d, tile.partial_max[p * part_stride + r] - max));
      weight += tile.partial_weight[p * part_stride + r] * hn::GetLane(factor);
      const float* sums = tile.partial_sums + p * part_stride + r * tile.head_dim;
      if (p == 0) {
        Map(sums, tile.head_dim, out, ScaledBy{factor});
      } else {
        Map(out, sums, tile.head_dim, out, PlusScaled{factor});
      }
    }
    Map(out, tile.head_dim, out, ScaledBy{hn::Set(d, 1.0f / weight)});
  }
}

struct Same {
  HWY_INLINE VF operator()(VF x) const { return x; }
};

template <class T>
HWY_INLINE void StoreRows(int64_t kv_heads, int64_t head_dim, const float* k, const float* v,
                          int64_t row_stride, int64_t tokens, int64_t first_position,
                          void* const* pages) {
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t position = first_position + t;
    T* page = static_cast<T*>(pages[position / kPageTokens]);
    for (int64_t h = 0; h < kv_heads; ++h) {
      T* key = page + (h * kPageTokens + position % kPageTokens) * head_dim;
      T* value = key + kv_heads * kPageTokens * head_dim;
      Map(k + t * row_stride + h * head_dim, head_dim, key, Same());
      Map(v + t * row_stride + h * head_dim, head_dim, value, Same());
    }
  }
}

void StoreKvRowsTarget(core::DType dtype, int64_t kv_heads, int64_t head_dim, const float* k,
                       const float* v, int64_t row_stride, int64_t tokens, int64_t first_position,
                       void* const* pages) {
  if (dtype == core::DType::kF32) {
    StoreRows<float>(kv_heads, head_dim, k, v, row_stride, tokens, first_position, pages);
  } else {
    StoreRows<F16>(kv_heads, head_dim, k, v, row_stride, tokens, first_position, pages);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rml::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace rml::kernels {

HWY_EXPORT(ComputeAttentionTileTarget);
HWY_EXPORT(CombineAttentionPartsTarget);
HWY_EXPORT(StoreKvRowsTarget);

void ComputeAttentionTile(const AttentionTile& tile, float* scratch) {
  RML_SIMD_CALL(ComputeAttentionTileTarget)(tile, scratch);
}

void CombineAttentionParts(const AttentionTile& tile, int64_t parts, int64_t part_stride) {
  RML_SIMD_CALL(CombineAttentionPartsTarget)(tile, parts, part_stride);
}

void StoreKvRows(core::DType dtype, int64_t kv_heads, int64_t head_dim, const float* k,
                 const float* v, int64_t row_stride, int64_t tokens, int64_t first_position,
                 void* const* pages) {
  RML_SIMD_CALL(StoreKvRowsTarget)
  (dtype, kv_heads, head_dim, k, v, row_stride, tokens, first_position, pages);
}

}  // namespace rml::kernels

#endif  // HWY_ONCE
