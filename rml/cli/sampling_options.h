// The options that say how tokens are chosen and when generation ends, common to generate and chat.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rml/cli/arg_parser.h"
#include "rml/llm/generate.h"

namespace rml::cli {

struct SamplingOptions {
  llm::GenerateOptions generate;
  int64_t seed = -1;  // -1: a random one
  int64_t predict = -1;
  std::vector<std::string> stop;
  bool ignore_eos = false;

  void AddTo(ArgParser& parser);
  // What the options amount to; draws the seed when none was given.
  llm::GenerateOptions Resolve() const;
};

// Replaces \n, \t, \r, \\, \", \', \0 and \xHH by what they stand for, as llama.cpp does in
// prompts.
std::string Unescape(const std::string& text);

}  // namespace rml::cli
