#include <algorithm>
#include <string_view>

#include "rml/text/tokenizer_parts.h"

namespace rml::text {
namespace {

// By name, since files name only one such token; the names are those that llama.cpp knows.
constexpr std::string_view kEndTokens[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",  // GPT-OSS
    "<|call|>",
    "<|flush|>",  // Solar Open
    "<|calls|>",
    "<end_of_turn>",  // Gemma
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",  // Kimi K2
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",  // Gemma 4
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",  // DeepSeek
    "[e~[",                   // MiniMax
    "<|fim_pad|>",  // code models: the end of a fill, of a repository's and of a file's part
    "<fim-pad>",
    "<fim_pad>",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<reponame>",
    "<|file_sep|>",
};

}  // namespace

std::vector<TokenId> FindEndOfGeneration(const Vocabulary& vocabulary, std::optional<TokenId> eos,
                                         std::optional<TokenId> eot, std::optional<TokenId> eom) {
  std::vector<TokenId> ids;
  for (const std::string_view name : kEndTokens) {
    if (const auto id = vocabulary.Find(name)) ids.push_back(*id);
  }
  // Where <|return|> or <|flush|> ends the answer, <|end|> only ends one of its messages.
  const auto has = [&](std::string_view name) { return vocabulary.Find(name).has_value(); };
  const bool has_call = has("<|call|>") || has("<|calls|>");
  if (has_call && (has("<|return|>") || has("<|flush|>"))) {
    if (const auto end = vocabulary.Find("<|end|>")) std::erase(ids, *end);
  }
  // Gemma 4 and PLaMo have "</s>" as plain text.
  if (has("<|tool_response>") || has("<|plamo:eos|>")) {
    if (const auto end = vocabulary.Find("</s>")) std::erase(ids, *end);
  }
  for (const auto& id : {eos, eot, eom}) {
    if (id) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace rml::text
