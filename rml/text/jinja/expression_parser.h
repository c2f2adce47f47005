// ExpressionParser: Jinja's expression grammar, from the conditional down to literals.
#pragma once

#include <string_view>
#include <vector>

#include "rml/text/jinja/ast.h"
#include "rml/text/jinja/token_stream.h"

namespace rml::text::jinja {

class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, int max_nesting)
      : tokens_(tokens), max_nesting_(max_nesting) {}

  // a if b else c
  Expected<ExprPtr> ParseExpression();
  // Without a condition at its end: what stands after `in` of a loop.
  Expected<ExprPtr> ParseOr();
  // Expressions with commas between them, which make a tuple. An empty one is an error.
  Expected<ExprPtr> ParseTuple(bool with_conditions = true);
  // Expressions with commas between them, whose texts are put together: {% print a, b %}.
  Expected<ExprPtr> ParsePrinted();
  // What may follow an expression without a subject: {% filter a | b(c) %}.
  Expected<ExprPtr> ParseFilterChain();
  // name, name(1, x=2), object.method …: what {% call %} wants.
  Expected<std::unique_ptr<CallExpr>> ParseCallOnly();

  // Blocks count as nesting too.
  Status Enter(Position at);
  void Leave() { --nesting_; }

  // The macros around this place, so that a name can be noted that changes what they accept.
  std::vector<MacroDef*>& open_macros() { return open_macros_; }

 private:
  Expected<ExprPtr> ParseAnd();
  Expected<ExprPtr> ParseNot();
  Expected<ExprPtr> ParseCompare();
  Expected<ExprPtr> ParseSum();
  Expected<ExprPtr> ParseConcat();
  Expected<ExprPtr> ParseProduct();
  Expected<ExprPtr> ParsePower();
  Expected<ExprPtr> ParseUnary(bool with_filters);
  Expected<ExprPtr> ParsePrimary();
  Expected<ExprPtr> ParseName();
  Expected<ExprPtr> ParseParentheses();
  Expected<ExprPtr> ParseList();
  Expected<ExprPtr> ParseDict();
  Expected<ExprPtr> ParsePostfix(ExprPtr expr);
  Expected<ExprPtr> ParseFiltersAndTests(ExprPtr expr);
  Expected<ExprPtr> ParseDot(ExprPtr object);
  Expected<ExprPtr> ParseBrackets(ExprPtr object);
  Expected<ExprPtr> ParseSubscriptKey();
  Expected<ExprPtr> ParseCall(ExprPtr callee);
  Expected<ExprPtr> ParseFilter(ExprPtr subject);
  Expected<ExprPtr> ParseTest(ExprPtr subject);
  Expected<Arguments> ParseArguments();
  Expected<std::string> ParseDottedName();

  // Sets the height of a node over its parts, and refuses one that is too high.
  template <typename Node>
  Expected<ExprPtr> Finish(std::unique_ptr<Node> node, std::initializer_list<const Expr*> parts,
                           const Arguments* args = nullptr);

  TokenStream& tokens_;
  const int max_nesting_;
  int nesting_ = 0;
  std::vector<MacroDef*> open_macros_;
};

}  // namespace rml::text::jinja
