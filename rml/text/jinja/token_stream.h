// TokenStream: what the two parsers, of expressions and of statements, read from.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "rml/text/jinja/lexer.h"

namespace rml::text::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek() const { return tokens_[at_]; }
  const Token& PeekNext() const {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : tokens_.size() - 1];
  }
  // The end stays where it is.
  Token& Take() {
    Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool IsOperator(std::string_view symbol) const {
    return Peek().kind == Token::Kind::kOperator && Peek().text == symbol;
  }
  bool IsName(std::string_view name) const {
    return Peek().kind == Token::Kind::kName && Peek().text == name;
  }
  bool TakeOperator(std::string_view symbol) {
    if (!IsOperator(symbol)) return false;
    Take();
    return true;
  }
  bool TakeName(std::string_view name) {
    if (!IsName(name)) return false;
    Take();
    return true;
  }

  core::Status ExpectOperator(std::string_view symbol) {
    return TakeOperator(symbol) ? core::OkStatus() : Unexpected(symbol);
  }
  core::Expected<std::string> ExpectName() {
    if (Peek().kind != Token::Kind::kName) return Unexpected("a name");
    return std::move(Take().text);
  }
  core::Status ExpectBlockEnd() {
    if (Peek().kind != Token::Kind::kBlockEnd) return Unexpected("%}");
    Take();
    return core::OkStatus();
  }
  core::Status Unexpected(std::string_view wanted) const {
    return core::InvalidArgument(DescribePosition(Peek().at), "expected ", wanted, ", found ",
                                 DescribeToken(Peek()));
  }

 private:
  std::vector<Token> tokens_;  // ends with kEnd
  size_t at_ = 0;
};

}  // namespace rml::text::jinja
