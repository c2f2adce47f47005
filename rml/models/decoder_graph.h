// The forward pass of a DecoderSpec in operators: what the runtime's hand-fused decoder means.
// Eagerly it is a reference; traced, it is the graph that training, planning and other devices
// start from. The block's formulas stand in decoder_spec.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"
#include "rml/ir/value.h"
#include "rml/models/decoder_spec.h"
#include "rml/models/tensor_names.h"

namespace rml::models {

// Keys and values of one layer: [batch, kv heads, capacity, head_dim].
struct DecoderCache {
  ir::Value k, v;
};

// What came before the tokens.
struct DecoderContext {
  ir::Value start;                   // [batch] integers: tokens of each sequence so far
  std::vector<DecoderCache> caches;  // one for each layer
};

struct DecoderStep {
  ir::Value logits;                  // [batch, tokens, vocab], of the computing dtype
  std::vector<DecoderCache> caches;  // with the tokens' keys and values; empty without a context
};

// A tensor by its global name (tensor_names.h): a float, or block-quantised where it is a matrix;
// undefined where the model leaves an optional one out.
using DecoderParameters = std::function<ir::Value(const std::string& name)>;

// `tokens` [batch, tokens] are integers. Computes in `dtype`. Throws rml::Error.
DecoderStep BuildDecoder(ir::Builder& builder, const DecoderSpec& spec,
                         const DecoderParameters& parameter, const ir::Value& tokens,
                         const DecoderContext* context = nullptr,
                         core::DType dtype = core::DType::kF32);

// The graph of a spec: input `tokens` [batch, tokens] i64, of any sizes up to the context length; a
// parameter for each tensor that `stored` gives a dtype, by its global name; output `logits`.
using StoredDType = std::function<std::optional<core::DType>(const TensorSpec& tensor)>;
core::Expected<ir::Graph> TraceDecoder(const DecoderSpec& spec, const StoredDType& stored,
                                       const ir::OpSource& operators);

}  // namespace rml::models
