#include "rml/cli/sampling_options.h"

#include <random>

namespace rml::cli {

void SamplingOptions::AddTo(ArgParser& parser) {
  llm::SamplerOptions& sampler = generate.sampler;
  parser.Add("-n,--predict,--n-predict", &predict,
             "Tokens to generate at most (-1: until the model ends)");
  parser.Add("-s,--seed", &seed, "Seed of the random choices (-1: a new one each time)");
  parser.Add("--temp,--temperature", &sampler.temperature,
             "Temperature (0: always the likeliest token)");
  parser.Add("--top-k", &sampler.top_k, "Choose among the k likeliest tokens (0: all)");
  parser.Add("--top-p", &sampler.top_p,
             "Choose among the likeliest tokens that reach this probability (1: all)");
  parser.Add("--min-p", &sampler.min_p,
             "Leave out tokens less likely than this share of the likeliest (0: none)");
  parser.Add("--repeat-penalty", &sampler.repetition_penalty,
             "Divide the logits of recent tokens by this (1: off)");
  parser.Add("--repeat-last-n", &sampler.repetition_last_n,
             "How many tokens count as recent (-1: all, 0: none)");
  parser.Add("-r,--reverse-prompt,--stop", &stop,
             "End the text before this string (may be repeated)");
  parser.Flag("--ignore-eos", &ignore_eos, "Go on past the model's end-of-text token");
  parser.Flag("--context-shift", &generate.context_shift,
              "When the context is full, forget the older half and go on (else: stop there)");
  parser.Add("--keep", &generate.keep_tokens, "Tokens of the prompt that a context shift keeps");
}

llm::GenerateOptions SamplingOptions::Resolve() const {
  llm::GenerateOptions options = generate;
  options.max_tokens = predict < 0 ? -1 : predict;
  options.ignore_end = ignore_eos;
  for (const std::string& text : stop) options.stop.push_back(Unescape(text));
  options.sampler.seed = seed >= 0 ? static_cast<uint64_t>(seed) : std::random_device()();
  return options;
}

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Unescape(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '0':
        out += '\0';
        break;
      case '\\':
      case '"':
      case '\'':
        out += c;
        break;
      case 'x': {
        const int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
          out += static_cast<char>(high * 16 + low);
          i += 2;
        } else {
          out += "\\x";
        }
        break;
      }
      default:
        out += '\\';
        out += c;
    }
  }
  return out;
}

}  // namespace rml::cli
