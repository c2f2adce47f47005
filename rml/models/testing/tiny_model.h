// Writes a tiny random model of any family in both file formats, from one set of tensors: what one
// reader makes of it must be what the other makes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rml/io/gguf_writer.h"
#include "rml/io/json.h"
#include "rml/io/safetensors_writer.h"
#include "rml/models/decoder_spec.h"
#include "rml/models/tensor_names.h"

namespace rml::models::testing {

class TinyModel {
 public:
  // "llama", "qwen2", "qwen3" or "gemma3". The tensors are f32.
  explicit TinyModel(const std::string& family, bool tied_embeddings = false,
                     bool qkv_bias = false);

  const std::string& family() const { return family_; }

  // The metadata and config.json, for tests that change them before writing.
  std::map<std::string, int64_t> gguf_ints;
  std::map<std::string, float> gguf_floats;
  std::map<std::string, std::string> gguf_strings;
  io::Json config = io::Json::MakeObject();
  // Llama 3.1's, in GGUF files only; half a head's size of them, or none.
  std::vector<float> rope_frequency_factors;
  // Called for each tensor before it is written; false leaves it out. May change name and shape.
  std::function<bool(std::string* name, core::Shape* shape)> edit_tensor;

  std::vector<std::byte> Gguf() const;
  void WriteFolder(const std::string& folder) const;

 private:
  struct Tensor {
    TensorSpec spec;
    std::vector<float> hugging_face;
    std::vector<float> gguf;
  };

  std::string family_;
  std::vector<Tensor> tensors_;
};

}  // namespace rml::models::testing
