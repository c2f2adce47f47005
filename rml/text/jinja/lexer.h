// Lexer: template text → tokens, with Jinja's rules for white space as Hugging Face sets them:
// trim_blocks (the line break after a block tag goes), lstrip_blocks (the blanks before a block tag
// that opens its line go), and one line break at the end of the template dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"

namespace rml::text::jinja {

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;  // in characters
};

struct Token {
  enum class Kind : uint8_t {
    kData,           // text outside of tags
    kBlockBegin,     // {%
    kBlockEnd,       // %}
    kVariableBegin,  // {{
    kVariableEnd,    // }}
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd,
  };

  Kind kind;
  Position at;
  std::string text;  // data, name, operator, or the string with its escapes resolved
  int64_t integer = 0;
  double number = 0;
};

// How messages call the token: "end of template", "'}}'", "name 'x'" …
std::string DescribeToken(const Token& token);

// "line 3, column 7: "
std::string DescribePosition(Position at);

// The tokens of a template, ended by kEnd. The source must be UTF-8.
core::Expected<std::vector<Token>> Tokenize(std::string_view source);

}  // namespace rml::text::jinja
