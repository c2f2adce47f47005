#include "rml/llm/testing/reference_decoder.h"

#include <cmath>

#include "rml/core/check.h"
#include "rml/kernels/rope.h"

namespace rml::llm::testing {

namespace {

using Row = std::vector<double>;
using models::DecoderSpec;

Row WeightRow(const kernels::WeightMatrix& weight, int64_t row) {
  std::vector<float> values(static_cast<size_t>(weight.cols()));
  kernels::DequantizeRow(weight, row, values.data());
  return Row(values.begin(), values.end());
}

Row Multiply(const kernels::WeightMatrix& weight, const Row& x) {
  Row y(static_cast<size_t>(weight.rows()));
  for (size_t r = 0; r < y.size(); ++r) {
    const Row w = WeightRow(weight, static_cast<int64_t>(r));
    for (size_t c = 0; c < x.size(); ++c) y[r] += w[c] * x[c];
  }
  return y;
}

Row RmsNorm(const Row& x, const std::vector<float>& weight, double eps) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + eps);
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
  return y;
}

void AddTo(Row* x, const Row& update) {
  for (size_t i = 0; i < x->size(); ++i) (*x)[i] += update[i];
}

// Norms each head of x on its own.
void NormHeads(Row* x, const std::vector<float>& weight, double eps, int head_dim) {
  for (auto head = x->begin(); head != x->end(); head += head_dim) {
    const Row normed = RmsNorm(Row(head, head + head_dim), weight, eps);
    std::copy(normed.begin(), normed.end(), head);
  }
}

void Rotate(Row* x, const models::RopeSpec& rope, const std::vector<float>& factors, int head_dim,
            int64_t position) {
  const auto table = kernels::RopeFrequencies(rope.dim, rope.base, rope.scaling, factors);
  const int half = rope.dim / 2;
  for (size_t head = 0; head < x->size(); head += static_cast<size_t>(head_dim)) {
    for (int i = 0; i < half; ++i) {
      const bool adjacent = rope.layout == kernels::RopeLayout::kAdjacent;
      double& a = (*x)[head + static_cast<size_t>(adjacent ? 2 * i : i)];
      double& b = (*x)[head + static_cast<size_t>(adjacent ? 2 * i + 1 : i + half)];
      const double angle = static_cast<double>(position) * table.inverse[static_cast<size_t>(i)];
      const double cos = std::cos(angle) * table.magnitude, sin = std::sin(angle) * table.magnitude;
      const double rotated = a * cos - b * sin;
      b = a * sin + b * cos;
      a = rotated;
    }
  }
}

double SoftCap(double x, double cap) { return cap > 0 ? cap * std::tanh(x / cap) : x; }

double Activate(models::Activation activation, double x) {
  if (activation == models::Activation::kSilu) return x / (1 + std::exp(-x));
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

// One query row [heads, head_dim] against the keys and values of positions 0 … its own.
Row Attend(const DecoderSpec& spec, int64_t window, const Row& q, const std::vector<Row>& keys,
           const std::vector<Row>& values) {
  const auto position = static_cast<int64_t>(keys.size()) - 1;
  const int64_t first = window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
  const auto d = static_cast<size_t>(spec.head_dim);
  Row out(q.size());
  for (size_t head = 0; head < static_cast<size_t>(spec.heads); ++head) {
    const size_t kv = head / static_cast<size_t>(spec.heads / spec.kv_heads);
    Row weights;
    double largest = -INFINITY;
    for (auto j = static_cast<size_t>(first); j < keys.size(); ++j) {
      double score = 0;
      for (size_t i = 0; i < d; ++i) score += q[head * d + i] * keys[j][kv * d + i];
      weights.push_back(SoftCap(score * spec.attention_scale, spec.attention_soft_cap));
      largest = std::max(largest, weights.back());
    }
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (size_t j = 0; j < weights.size(); ++j) {
      for (size_t i = 0; i < d; ++i) {
        out[head * d + i] +=
            weights[j] / total * values[static_cast<size_t>(first) + j][kv * d + i];
      }
    }
  }
  return out;
}

void AddBias(Row* x, const std::vector<float>& bias) {
  for (size_t i = 0; i < bias.size(); ++i) (*x)[i] += bias[i];
}

}  // namespace

std::vector<std::vector<double>> ReferenceLogits(const DecoderSpec& spec,
                                                 const DecoderWeights& weights,
                                                 std::span<const text::TokenId> tokens) {
  std::vector<Row> stream;  // the residual, a row a token
  for (const text::TokenId token : tokens) {
    stream.push_back(WeightRow(weights.embedding, token));
    for (double& value : stream.back()) value *= spec.embedding_scale;
  }
  const double eps = spec.norm_eps;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerWeights& layer = weights.layers[i];
    const models::RopeSpec& rope = spec.ropes[static_cast<size_t>(spec.layers[i].rope)];
    std::vector<Row> keys, values;
    for (size_t t = 0; t < stream.size(); ++t) {
      const Row h = RmsNorm(stream[t], layer.attention_norm, eps);
      Row q = Multiply(layer.q, h), k = Multiply(layer.k, h), v = Multiply(layer.v, h);
      AddBias(&q, layer.q_bias);
      AddBias(&k, layer.k_bias);
      AddBias(&v, layer.v_bias);
      if (spec.qk_norm) {
        NormHeads(&q, layer.q_norm, eps, spec.head_dim);
        NormHeads(&k, layer.k_norm, eps, spec.head_dim);
      }
      Rotate(&q, rope, weights.rope_frequency_factors, spec.head_dim, static_cast<int64_t>(t));
      Rotate(&k, rope, weights.rope_frequency_factors, spec.head_dim, static_cast<int64_t>(t));
      keys.push_back(std::move(k));
      values.push_back(std::move(v));
      Row update = Multiply(layer.o, Attend(spec, spec.layers[i].window, q, keys, values));
      if (spec.post_norms) update = RmsNorm(update, layer.attention_post_norm, eps);
      AddTo(&stream[t], update);
    }
    for (Row& x : stream) {
      const Row h = RmsNorm(x, layer.mlp_norm, eps);
      Row gate = Multiply(layer.gate, h);
      const Row up = Multiply(layer.up, h);
      for (size_t j = 0; j < gate.size(); ++j) gate[j] = Activate(spec.activation, gate[j]) * up[j];
      Row update = Multiply(layer.down, gate);
      if (spec.post_norms) update = RmsNorm(update, layer.mlp_post_norm, eps);
      AddTo(&x, update);
    }
  }
  std::vector<Row> logits;
  for (const Row& x : stream) {
    logits.push_back(Multiply(weights.output, RmsNorm(x, weights.final_norm, eps)));
    for (double& value : logits.back()) value = SoftCap(value, spec.logit_soft_cap);
  }
  return logits;
}

}  // namespace rml::llm::testing
