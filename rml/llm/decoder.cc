#include "rml/llm/decoder.h"

#include <algorithm>
#include <cstring>

#include "rml/core/carver.h"
#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/kernels/attention.h"
#include "rml/kernels/elementwise.h"
#include "rml/kernels/gates.h"
#include "rml/kernels/matmul.h"
#include "rml/kernels/rms_norm.h"
#include "rml/kernels/rope.h"

namespace rml::llm {

using core::Expected;
using core::Status;
using models::DecoderSpec;

namespace {

// Logits are made for this many rows at a time, so that a vocabulary of 262,144 stays affordable.
constexpr int64_t kLogitRows = 8;

// Work per row below this many elements in all is not worth waking a thread for.
constexpr int64_t kElementsPerChunk = 16384;

// Calls body(row) for every row, on the pool when that pays. Chunks follow the shape alone.
template <typename Body>
void ForRows(core::ThreadPool& pool, int64_t rows, int64_t width, Body&& body) {
  pool.ParallelFor(rows, std::max<int64_t>(1, kElementsPerChunk / width),
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row) body(row);
                   });
}

}  // namespace

struct Decoder::Scratch {
  // m: the batch's tokens. All are f32, row-major.
  float* x = nullptr;         // [m, d_model] the residual stream
  float* h = nullptr;         // [m, d_model] its normalised form, or an update of it
  float* q = nullptr;         // [m, q_width]
  float* k = nullptr;         // [m, kv_width]
  float* v = nullptr;         // [m, kv_width]
  float* attended = nullptr;  // [m, q_width]
  float* gate = nullptr;      // [m, d_ff]
  float* up = nullptr;        // [m, d_ff]
  float* logits = nullptr;    // [kLogitRows, vocab]
  std::span<std::byte> matmul;
  std::span<std::byte> attention;

  // One entry per RoPE of the spec.
  struct Rope {
    std::vector<double> inverse_frequencies;
    float magnitude = 1.0f;
    float* cos = nullptr;  // [m, dim / 2]
    float* sin = nullptr;  // [m, dim / 2]
  };
  std::vector<Rope> ropes;

  // The batch's layout: which run and position each row is, and each run's pages in the layer at
  // hand.
  std::vector<int64_t> positions;                     // [m]
  std::vector<int32_t> row_runs;                      // [m]
  std::vector<void*> pages;                           // of all runs, one after the other
  std::vector<int64_t> first_page;                    // by run
  std::vector<kernels::AttentionSequence> sequences;  // by run
  std::vector<int32_t> wanted;                        // rows whose logits are wanted
};

Decoder::Decoder(const DecoderSpec& spec, const DecoderWeights& weights, const Limits& limits,
                 const core::RunContext& context)
    : spec_(spec), weights_(weights), limits_(limits), context_(context) {}

Decoder::~Decoder() = default;

void Decoder::LayOut(const DecoderSpec& spec, const Limits& limits, core::Carver* carver,
                     Scratch* scratch) {
  const int64_t m = limits.tokens;
  scratch->x = carver->Take<float>(m * spec.d_model);
  scratch->h = carver->Take<float>(m * spec.d_model);
  scratch->q = carver->Take<float>(m * spec.q_width());
  scratch->k = carver->Take<float>(m * spec.kv_width());
  scratch->v = carver->Take<float>(m * spec.kv_width());
  scratch->attended = carver->Take<float>(m * spec.q_width());
  scratch->gate = carver->Take<float>(m * spec.d_ff);
  scratch->up = carver->Take<float>(m * spec.d_ff);
  scratch->logits = carver->Take<float>(std::min(m, kLogitRows) * spec.vocab);
  scratch->ropes.resize(spec.ropes.size());
  for (size_t i = 0; i < spec.ropes.size(); ++i) {
    scratch->ropes[i].cos = carver->Take<float>(m * (spec.ropes[i].dim / 2));
    scratch->ropes[i].sin = carver->Take<float>(m * (spec.ropes[i].dim / 2));
  }
  const int64_t widest = std::max({spec.d_model, spec.d_ff, spec.q_width()});
  const auto matmul_bytes =
      static_cast<int64_t>(kernels::MatMulWorkspaceBytes(m, widest, limits.threads));
  const kernels::AttentionParams attention = {
      .kv = {.dtype = core::DType::kF16, .kv_heads = spec.kv_heads, .head_dim = spec.head_dim},
      .heads = spec.heads};
  const auto attention_bytes = static_cast<int64_t>(
      kernels::AttentionWorkspaceBytes(attention, m, limits.context, limits.threads));
  scratch->matmul = {carver->Take<std::byte>(matmul_bytes), static_cast<size_t>(matmul_bytes)};
  scratch->attention = {carver->Take<std::byte>(attention_bytes),
                        static_cast<size_t>(attention_bytes)};
}

int64_t Decoder::WorkspaceBytes(const DecoderSpec& spec, const Limits& limits) {
  Scratch measured;
  core::Carver counter;
  LayOut(spec, limits, &counter, &measured);
  return static_cast<int64_t>(counter.used());
}

Expected<std::unique_ptr<Decoder>> Decoder::Make(const DecoderSpec& spec,
                                                 const DecoderWeights& weights,
                                                 const Limits& limits,
                                                 const core::RunContext& context) {
  std::unique_ptr<Decoder> decoder(new Decoder(spec, weights, limits, context));
  RML_ASSIGN(decoder->buffer_,
             core::Buffer::Allocate(context.GetAllocator(), WorkspaceBytes(spec, limits)));
  RML_ASSIGN(const std::span<std::byte> memory, decoder->buffer_->MutableHostView());

  decoder->scratch_ = std::make_unique<Scratch>();
  Scratch& scratch = *decoder->scratch_;
  core::Carver carver(memory);
  LayOut(spec, limits, &carver, &scratch);
  for (size_t i = 0; i < spec.ropes.size(); ++i) {
    const models::RopeSpec& rope = spec.ropes[i];
    kernels::RopeFrequencyTable frequencies =
        kernels::RopeFrequencies(rope.dim, rope.base, rope.scaling, weights.rope_frequency_factors);
    scratch.ropes[i].inverse_frequencies = std::move(frequencies.inverse);
    scratch.ropes[i].magnitude = frequencies.magnitude;
  }
  const auto m = static_cast<size_t>(limits.tokens);
  scratch.positions.reserve(m);
  scratch.row_runs.reserve(m);
  scratch.wanted.reserve(m);
  scratch.first_page.reserve(m);
  scratch.sequences.reserve(m);
  scratch.pages.reserve(static_cast<size_t>(core::CeilDiv(limits.context, kernels::kPageTokens)) +
                        m);
  return decoder;
}

void Decoder::PlaceTokens(std::span<const SequenceRun> runs, const KvCache& cache) {
  Scratch& s = *scratch_;
  s.positions.clear();
  s.row_runs.clear();
  s.wanted.clear();
  s.first_page.clear();
  s.sequences.clear();
  int64_t page_count = 0;
  for (size_t run = 0; run < runs.size(); ++run) {
    const SequenceRun& r = runs[run];
    const auto count = static_cast<int64_t>(r.tokens.size());
    const auto begin = static_cast<int64_t>(s.positions.size());
    const int64_t first = cache.Length(r.sequence);
    s.first_page.push_back(page_count);
    page_count += cache.PageCount(r.sequence);
    s.sequences.push_back(
        {.query_begin = begin, .query_count = count, .first_position = first, .pages = nullptr});
    for (int64_t i = 0; i < count; ++i) {
      s.positions.push_back(first + i);
      s.row_runs.push_back(static_cast<int32_t>(run));
      const bool last = i == count - 1;
      if (r.logits == LogitsWanted::kAll || (r.logits == LogitsWanted::kLast && last)) {
        s.wanted.push_back(static_cast<int32_t>(begin + i));
      }
    }
  }
  s.pages.resize(static_cast<size_t>(page_count));
  for (size_t i = 0; i < s.ropes.size(); ++i) {
    kernels::RopeAngles(s.positions, s.ropes[i].inverse_frequencies, s.ropes[i].magnitude,
                        s.ropes[i].cos, s.ropes[i].sin);
  }
}

void Decoder::Embed(std::span<const SequenceRun> runs) {
  Scratch& s = *scratch_;
  ForRows(*context_.pool, static_cast<int64_t>(s.positions.size()), spec_.d_model,
          [&](int64_t row) {
            const auto run = static_cast<size_t>(s.row_runs[static_cast<size_t>(row)]);
            const auto token =
                runs[run].tokens[static_cast<size_t>(row - s.sequences[run].query_begin)];
            float* x = s.x + row * spec_.d_model;
            kernels::DequantizeRow(weights_.embedding, token, x);
            if (spec_.embedding_scale != 1.0f)
              kernels::Scale(x, spec_.embedding_scale, spec_.d_model, x);
          });
}

void Decoder::Normalize(const float* x, const float* weight, float* y, int64_t rows) {
  const int64_t d = spec_.d_model;
  ForRows(*context_.pool, rows, d, [&](int64_t row) {
    kernels::RmsNorm(x + row * d, weight, spec_.norm_eps, d, y + row * d);
  });
}

void Decoder::AddNormalized(const float* update, const std::vector<float>& weight, int64_t rows) {
  const int64_t d = spec_.d_model;
  ForRows(*context_.pool, rows, d, [&](int64_t row) {
    float* h = scratch_->h + row * d;
    kernels::RmsNorm(update + row * d, weight.data(), spec_.norm_eps, d, h);
    kernels::Add(scratch_->x + row * d, h, d, scratch_->x + row * d);
  });
}

void Decoder::Attend(const LayerWeights& layer, const models::LayerSpec& layer_spec,
                     const KvCache& cache) {
  Scratch& s = *scratch_;
  core::ThreadPool& pool = *context_.pool;
  const auto m = static_cast<int64_t>(s.positions.size());
  const int64_t qw = spec_.q_width(), kvw = spec_.kv_width(), head_dim = spec_.head_dim;
  const models::RopeSpec& rope = spec_.ropes[static_cast<size_t>(layer_spec.rope)];
  const Scratch::Rope& angles = s.ropes[static_cast<size_t>(layer_spec.rope)];
  const int64_t half = rope.dim / 2;

  Normalize(s.x, layer.attention_norm.data(), s.h, m);
  const kernels::MatMulTask projections[] = {{.weight = &layer.q, .y = s.q, .y_stride = qw},
                                             {.weight = &layer.k, .y = s.k, .y_stride = kvw},
                                             {.weight = &layer.v, .y = s.v, .y_stride = kvw}};
  kernels::MatMul(projections, s.h, spec_.d_model, m, s.matmul, pool);

  ForRows(pool, m, qw + 2 * kvw, [&](int64_t row) {
    float* q = s.q + row * qw;
    float* k = s.k + row * kvw;
    float* v = s.v + row * kvw;
    if (spec_.qkv_bias) {
      kernels::Add(q, layer.q_bias.data(), qw, q);
      kernels::Add(k, layer.k_bias.data(), kvw, k);
      kernels::Add(v, layer.v_bias.data(), kvw, v);
    }
    if (spec_.qk_norm) {
      kernels::RmsNormRows(q, layer.q_norm.data(), spec_.norm_eps, spec_.heads, head_dim, head_dim,
                           q, head_dim);
      kernels::RmsNormRows(k, layer.k_norm.data(), spec_.norm_eps, spec_.kv_heads, head_dim,
                           head_dim, k, head_dim);
    }
    const float* cos = angles.cos + row * half;
    const float* sin = angles.sin + row * half;
    kernels::ApplyRope(q, 1, spec_.heads, head_dim, rope.dim, qw, cos, sin, rope.layout);
    kernels::ApplyRope(k, 1, spec_.kv_heads, head_dim, rope.dim, kvw, cos, sin, rope.layout);
    const auto run = static_cast<size_t>(s.row_runs[static_cast<size_t>(row)]);
    kernels::StoreKv(cache.layout(), k, v, kvw, 1, s.positions[static_cast<size_t>(row)],
                     s.pages.data() + s.first_page[run]);
  });

  const kernels::AttentionParams params = {.kv = cache.layout(),
                                           .heads = spec_.heads,
                                           .scale = spec_.attention_scale,
                                           .window = layer_spec.window,
                                           .soft_cap = spec_.attention_soft_cap};
  kernels::Attention(params, s.sequences, s.q, s.attended, s.attention, pool);
}

void Decoder::KeepRows(std::span<const int32_t> rows) {
  Scratch& s = *scratch_;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto to = static_cast<int64_t>(i), from = static_cast<int64_t>(rows[i]);
    if (to == from) continue;
    std::memcpy(s.x + to * spec_.d_model, s.x + from * spec_.d_model,
                sizeof(float) * static_cast<size_t>(spec_.d_model));
    std::memcpy(s.attended + to * spec_.q_width(), s.attended + from * spec_.q_width(),
                sizeof(float) * static_cast<size_t>(spec_.q_width()));
  }
}

void Decoder::FeedForward(const LayerWeights& layer, int64_t rows) {
  Scratch& s = *scratch_;
  core::ThreadPool& pool = *context_.pool;
  const int64_t d = spec_.d_model, ff = spec_.d_ff;

  const bool post = spec_.post_norms;
  const kernels::MatMulTask attention_out[] = {
      {.weight = &layer.o, .y = post ? s.h : s.x, .y_stride = d, .accumulate = !post}};
  kernels::MatMul(attention_out, s.attended, spec_.q_width(), rows, s.matmul, pool);
  if (post) AddNormalized(s.h, layer.attention_post_norm, rows);

  Normalize(s.x, layer.mlp_norm.data(), s.h, rows);
  const kernels::MatMulTask gate_up[] = {{.weight = &layer.gate, .y = s.gate, .y_stride = ff},
                                         {.weight = &layer.up, .y = s.up, .y_stride = ff}};
  kernels::MatMul(gate_up, s.h, d, rows, s.matmul, pool);
  ForRows(pool, rows, ff, [&](int64_t row) {
    float* gate = s.gate + row * ff;
    const float* up = s.up + row * ff;
    switch (spec_.activation) {
      case models::Activation::kSilu:
        kernels::SiluMul(gate, up, ff, gate);
        break;
      case models::Activation::kGeluTanh:
        kernels::GeluTanhMul(gate, up, ff, gate);
        break;
    }
  });
  const kernels::MatMulTask down[] = {
      {.weight = &layer.down, .y = post ? s.h : s.x, .y_stride = d, .accumulate = !post}};
  kernels::MatMul(down, s.gate, ff, rows, s.matmul, pool);
  if (post) AddNormalized(s.h, layer.mlp_post_norm, rows);
}

// x holds the wanted rows, in the batch's order.
void Decoder::Project(Sink sink) {
  Scratch& s = *scratch_;
  const auto rows = static_cast<int64_t>(s.wanted.size());
  Normalize(s.x, weights_.final_norm.data(), s.h, rows);
  const int64_t step = std::min(limits_.tokens, kLogitRows);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    const kernels::MatMulTask output[] = {
        {.weight = &weights_.output, .y = s.logits, .y_stride = spec_.vocab}};
    kernels::MatMul(output, s.h + begin * spec_.d_model, spec_.d_model, count, s.matmul,
                    *context_.pool);
    for (int64_t i = 0; i < count; ++i) {
      float* logits = s.logits + i * spec_.vocab;
      if (spec_.logit_soft_cap > 0)
        kernels::SoftCap(logits, spec_.logit_soft_cap, spec_.vocab, logits);
      const auto row = static_cast<size_t>(s.wanted[static_cast<size_t>(begin + i)]);
      const auto run = s.row_runs[row];
      sink(run, static_cast<int64_t>(row) - s.sequences[static_cast<size_t>(run)].query_begin,
           {logits, static_cast<size_t>(spec_.vocab)});
    }
  }
}

Status Decoder::Forward(std::span<const SequenceRun> runs, KvCache& cache, Sink sink) {
  Scratch& s = *scratch_;
  for (const SequenceRun& run : runs) {
    RML_TRY(cache.Reserve(run.sequence, static_cast<int64_t>(run.tokens.size())));
  }
  PlaceTokens(runs, cache);
  const auto m = static_cast<int64_t>(s.positions.size());
  RML_CHECK(m <= limits_.tokens);
  if (m == 0) return {};
  Embed(runs);

  int64_t rows = m;
  const auto layer_count = static_cast<int64_t>(spec_.layers.size());
  for (int64_t i = 0; i < layer_count; ++i) {
    RML_TRY(context_.cancellation.Check());
    // This layer's pages, run by run.
    for (size_t run = 0; run < runs.size(); ++run) {
      void** pages = s.pages.data() + s.first_page[run];
      cache.PagesOfLayer(runs[run].sequence, i, pages);
      s.sequences[run].pages = pages;
    }
    const LayerWeights& layer = weights_.layers[static_cast<size_t>(i)];
    Attend(layer, spec_.layers[static_cast<size_t>(i)], cache);
    if (i == layer_count - 1) {  // what follows serves only the rows whose logits are wanted
      KeepRows(s.wanted);
      rows = static_cast<int64_t>(s.wanted.size());
      if (rows == 0) break;
    }
    FeedForward(layer, rows);
  }
  for (const SequenceRun& run : runs)
    cache.Commit(run.sequence, static_cast<int64_t>(run.tokens.size()));
  if (rows > 0) Project(sink);
  return {};
}

}  // namespace rml::llm
