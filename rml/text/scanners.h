// Scanners: the pre-tokeniser patterns of well-known models, written by hand because they are the
// hot path. Each does exactly what its pattern says, byte for byte; the tests run both against each
// other.
#pragma once

#include <span>
#include <string_view>

#include "rml/text/pre_tokenizer.h"

namespace rml::text {

// Where the first piece of the text [p, end), p < end, ends.
using ScanFunction = const char* (*)(const char* p, const char* end);

struct Scanner {
  std::string_view name;
  std::string_view pattern;  // as it stands in tokenizer.json or is known from llama.cpp
  ScanFunction scan;
  bool covers_all;  // every place matches: no piece is a gap between matches
};

// Null when no scanner knows the pattern.
const Scanner* FindScanner(std::string_view pattern);
std::span<const Scanner> AllScanners();

PreTokenizerPtr MakeScannerSplit(const Scanner& scanner);

// Patterns that GGUF's pre-tokeniser names stand for (the first four are in tokenizer.json files
// too).
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kTekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kDeepSeek3Pattern =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?"
    "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+";
inline constexpr std::string_view kDigitPattern = R"(\p{N})";
inline constexpr std::string_view kThreeDigitsPattern = R"(\p{N}{1,3})";
inline constexpr std::string_view kCjkPattern = "[一-龥぀-ゟ゠-ヿ]+";

// As llama.cpp writes them for GGUF: contractions by ASCII letters only, Tekken without marks.
inline constexpr std::string_view kLlama3AsciiPattern =
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2AsciiPattern =
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kTekkenAsciiPattern =
    R"([^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace rml::text
