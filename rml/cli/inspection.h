// What `rml inspect` finds in a model file: its metadata, its tensors, and, where the model is one
// that rml runs, the memory that running it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rml/core/expected.h"
#include "rml/io/json.h"
#include "rml/llm/engine.h"

namespace rml::cli {

struct InspectedTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;  // row-major
  int64_t bytes = 0;
};

struct Inspection {
  std::string path;
  std::string format;  // "gguf v3", "safetensors", "hugging face folder"
  int64_t file_bytes = 0;
  io::Json metadata = io::Json::MakeObject();  // long arrays are shortened
  std::vector<InspectedTensor> tensors;
  std::optional<llm::MemoryUse> memory;  // when it can be run
  int64_t memory_context = 0;            // the context length that was assumed
  std::string not_runnable;              // else: why not

  int64_t Parameters() const;
  io::Json ToJson() const;
  std::string ToText(bool every_tensor) const;
};

// `context` 0: the length that a run takes by default.
core::Expected<Inspection> Inspect(const std::string& path, int64_t context);

}  // namespace rml::cli
