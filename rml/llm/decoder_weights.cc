#include "rml/llm/decoder_weights.h"

#include <string>
#include <utility>

#include "rml/models/tensor_names.h"

namespace rml::llm {

namespace {

using core::Expected;
using core::Status;
using models::LayerTensorName;
using models::ModelFiles;
using models::ModelTensor;

// Finds tensors by global name and brings them into the runtime's form.
class Reader {
 public:
  explicit Reader(const ModelFiles& files) : files_(files) {}

  Status Matrix(const std::string& name, kernels::WeightMatrix* out) {
    RML_ASSIGN(const ModelTensor* tensor, Require(name));
    auto made = kernels::WeightMatrix::Make(tensor->dtype, tensor->shape[0], tensor->shape[1],
                                            tensor->data.data());
    if (!made.ok()) return InTensor(*tensor, made.status());
    *out = *std::move(made);
    bytes_ += static_cast<int64_t>(tensor->data.size());
    return {};
  }

  Status Vector(const std::string& name, std::vector<float>* out) {
    RML_ASSIGN(const ModelTensor* tensor, Require(name));
    const int64_t size = tensor->shape.elements();
    const auto row = kernels::WeightMatrix::Make(tensor->dtype, 1, size, tensor->data.data());
    if (!row.ok()) return InTensor(*tensor, row.status());
    out->resize(static_cast<size_t>(size));
    kernels::DequantizeRow(*row, 0, out->data());
    if (tensor->pending == models::Transform::kNormPlusOne) {
      for (float& value : *out) value += 1.0f;
    }
    return {};
  }

  int64_t bytes() const { return bytes_; }

 private:
  Expected<const ModelTensor*> Require(const std::string& name) {
    const ModelTensor* tensor = files_.Find(name);
    if (tensor == nullptr)
      return core::DataLoss(files_.path(), ": the tensor '", name, "' is missing");
    return tensor;
  }
  Status InTensor(const ModelTensor& tensor, const Status& status) {
    return status.WithContext(core::StrCat(files_.path(), ": tensor '", tensor.file_name, "'"));
  }

  const ModelFiles& files_;
  int64_t bytes_ = 0;
};

Status ReadLayer(const models::DecoderSpec& spec, int64_t index, Reader* reader,
                 LayerWeights* layer) {
  const auto name = [&](std::string_view suffix) { return LayerTensorName(index, suffix); };
  RML_TRY(reader->Vector(name("attention_norm.weight"), &layer->attention_norm));
  RML_TRY(reader->Matrix(name("attention.q.weight"), &layer->q));
  RML_TRY(reader->Matrix(name("attention.k.weight"), &layer->k));
  RML_TRY(reader->Matrix(name("attention.v.weight"), &layer->v));
  if (spec.qkv_bias) {
    RML_TRY(reader->Vector(name("attention.q.bias"), &layer->q_bias));
    RML_TRY(reader->Vector(name("attention.k.bias"), &layer->k_bias));
    RML_TRY(reader->Vector(name("attention.v.bias"), &layer->v_bias));
  }
  if (spec.qk_norm) {
    RML_TRY(reader->Vector(name("attention.q_norm.weight"), &layer->q_norm));
    RML_TRY(reader->Vector(name("attention.k_norm.weight"), &layer->k_norm));
  }
  RML_TRY(reader->Matrix(name("attention.o.weight"), &layer->o));
  if (spec.post_norms)
    RML_TRY(reader->Vector(name("attention_post_norm.weight"), &layer->attention_post_norm));
  RML_TRY(reader->Vector(name("mlp_norm.weight"), &layer->mlp_norm));
  RML_TRY(reader->Matrix(name("mlp.gate.weight"), &layer->gate));
  RML_TRY(reader->Matrix(name("mlp.up.weight"), &layer->up));
  RML_TRY(reader->Matrix(name("mlp.down.weight"), &layer->down));
  if (spec.post_norms) RML_TRY(reader->Vector(name("mlp_post_norm.weight"), &layer->mlp_post_norm));
  return {};
}

}  // namespace

Expected<DecoderWeights> LoadWeights(std::shared_ptr<const ModelFiles> files) {
  const models::DecoderSpec& spec = files->spec();
  DecoderWeights weights;
  Reader reader(*files);
  RML_TRY(reader.Matrix("embedding.weight", &weights.embedding));
  if (files->Find("rope.frequency_factors") != nullptr) {
    RML_TRY(reader.Vector("rope.frequency_factors", &weights.rope_frequency_factors));
  }
  const int64_t embedding_bytes = reader.bytes();
  weights.layers.resize(spec.layers.size());
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    RML_TRY(ReadLayer(spec, static_cast<int64_t>(i), &reader, &weights.layers[i]));
  }
  RML_TRY(reader.Vector("final_norm.weight", &weights.final_norm));
  if (files->Find("output.weight") != nullptr) {
    RML_TRY(reader.Matrix("output.weight", &weights.output));
    weights.matrix_bytes_per_token =
        reader.bytes() - embedding_bytes;  // one row of the embedding is nothing
  } else {
    weights.output = weights.embedding;
    weights.matrix_bytes_per_token = reader.bytes();
  }
  weights.matrix_bytes = reader.bytes();
  weights.files = std::move(files);
  return weights;
}

}  // namespace rml::llm
