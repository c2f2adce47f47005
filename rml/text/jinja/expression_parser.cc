#include "rml/text/jinja/expression_parser.h"

#include <algorithm>
#include <optional>

#include "rml/core/strcat.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

int HeightOf(const Arguments& args) {
  int height = 0;
  const auto note = [&](const ExprPtr& expr) {
    if (expr != nullptr) height = std::max(height, expr->height);
  };
  for (const ExprPtr& expr : args.positional) note(expr);
  for (const auto& [name, expr] : args.named) note(expr);
  note(args.star);
  note(args.double_star);
  return height;
}

}  // namespace

Status ExpressionParser::Enter(Position at) {
  if (nesting_ >= max_nesting_) {
    return core::ResourceExhausted(DescribePosition(at), "the template is nested deeper than ",
                                   max_nesting_);
  }
  ++nesting_;
  return core::OkStatus();
}

template <typename Node>
Expected<ExprPtr> ExpressionParser::Finish(std::unique_ptr<Node> node,
                                           std::initializer_list<const Expr*> parts,
                                           const Arguments* args) {
  int height = args == nullptr ? 0 : HeightOf(*args);
  for (const Expr* part : parts) {
    if (part != nullptr) height = std::max(height, part->height);
  }
  node->height = std::max(node->height, height + 1);
  if (node->height > max_nesting_) {
    return core::ResourceExhausted(DescribePosition(node->at),
                                   "the expression is nested deeper than ", max_nesting_);
  }
  return ExprPtr(std::move(node));
}

Expected<ExprPtr> ExpressionParser::ParseExpression() {
  const Position at = tokens_.Peek().at;
  RML_TRY(Enter(at));
  RML_ASSIGN(ExprPtr expr, ParseOr());
  while (tokens_.TakeName("if")) {
    auto node = std::make_unique<ConditionalExpr>(at);
    node->then = std::move(expr);
    RML_ASSIGN(node->condition, ParseOr());
    if (tokens_.TakeName("else")) {
      RML_ASSIGN(node->otherwise, ParseExpression());
    }
    const std::initializer_list<const Expr*> parts = {node->then.get(), node->condition.get(),
                                                      node->otherwise.get()};
    RML_ASSIGN(expr, Finish(std::move(node), parts));
  }
  Leave();
  return expr;
}

Expected<ExprPtr> ExpressionParser::ParseOr() {
  RML_ASSIGN(ExprPtr left, ParseAnd());
  while (tokens_.IsName("or")) {
    auto node = std::make_unique<BinaryExpr>(Expr::Kind::kOr, tokens_.Take().at);
    node->left = std::move(left);
    RML_ASSIGN(node->right, ParseAnd());
    const std::initializer_list<const Expr*> parts = {node->left.get(), node->right.get()};
    RML_ASSIGN(left, Finish(std::move(node), parts));
  }
  return left;
}

Expected<ExprPtr> ExpressionParser::ParseAnd() {
  RML_ASSIGN(ExprPtr left, ParseNot());
  while (tokens_.IsName("and")) {
    auto node = std::make_unique<BinaryExpr>(Expr::Kind::kAnd, tokens_.Take().at);
    node->left = std::move(left);
    RML_ASSIGN(node->right, ParseNot());
    const std::initializer_list<const Expr*> parts = {node->left.get(), node->right.get()};
    RML_ASSIGN(left, Finish(std::move(node), parts));
  }
  return left;
}

Expected<ExprPtr> ExpressionParser::ParseNot() {
  if (!tokens_.IsName("not")) return ParseCompare();
  const Position at = tokens_.Take().at;
  RML_TRY(Enter(at));
  RML_ASSIGN(ExprPtr operand, ParseNot());
  Leave();
  const Expr* part = operand.get();
  return Finish(std::make_unique<UnaryExpr>(Expr::Kind::kNot, at, std::move(operand)), {part});
}

Expected<ExprPtr> ExpressionParser::ParseCompare() {
  constexpr std::pair<std::string_view, CompareOp> kSymbols[] = {
      {"==", CompareOp::kEqual},  {"!=", CompareOp::kNotEqual},
      {"<", CompareOp::kLess},    {"<=", CompareOp::kLessEqual},
      {">", CompareOp::kGreater}, {">=", CompareOp::kGreaterEqual}};
  RML_ASSIGN(ExprPtr first, ParseSum());
  std::unique_ptr<CompareExpr> node;
  int height = first->height;
  while (true) {
    std::optional<CompareOp> op;
    const Position at = tokens_.Peek().at;
    for (const auto& [symbol, candidate] : kSymbols) {
      if (tokens_.TakeOperator(symbol)) {
        op = candidate;
        break;
      }
    }
    if (!op && tokens_.TakeName("in")) op = CompareOp::kIn;
    if (!op && tokens_.IsName("not") && tokens_.PeekNext().kind == Token::Kind::kName &&
        tokens_.PeekNext().text == "in") {
      tokens_.Take();
      tokens_.Take();
      op = CompareOp::kNotIn;
    }
    if (!op) break;
    if (node == nullptr) node = std::make_unique<CompareExpr>(at);
    RML_ASSIGN(ExprPtr operand, ParseSum());
    height = std::max(height, operand->height);
    node->rest.emplace_back(*op, std::move(operand));
  }
  if (node == nullptr) return first;
  node->first = std::move(first);
  node->height = height + 1;
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParseSum() {
  RML_ASSIGN(ExprPtr left, ParseConcat());
  while (tokens_.IsOperator("+") || tokens_.IsOperator("-")) {
    const Token& token = tokens_.Take();
    auto node = std::make_unique<BinaryExpr>(Expr::Kind::kBinary, token.at);
    node->op = token.text == "+" ? BinaryOp::kAdd : BinaryOp::kSubtract;
    node->left = std::move(left);
    RML_ASSIGN(node->right, ParseConcat());
    const std::initializer_list<const Expr*> parts = {node->left.get(), node->right.get()};
    RML_ASSIGN(left, Finish(std::move(node), parts));
  }
  return left;
}

Expected<ExprPtr> ExpressionParser::ParseConcat() {
  RML_ASSIGN(ExprPtr first, ParseProduct());
  if (!tokens_.IsOperator("~")) return first;
  auto node = std::make_unique<ItemsExpr>(Expr::Kind::kConcat, tokens_.Peek().at);
  node->height = first->height + 1;
  node->items.push_back(std::move(first));
  while (tokens_.TakeOperator("~")) {
    RML_ASSIGN(ExprPtr item, ParseProduct());
    node->height = std::max(node->height, item->height + 1);
    node->items.push_back(std::move(item));
  }
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParseProduct() {
  constexpr std::pair<std::string_view, BinaryOp> kSymbols[] = {{"*", BinaryOp::kMultiply},
                                                                {"/", BinaryOp::kDivide},
                                                                {"//", BinaryOp::kFloorDivide},
                                                                {"%", BinaryOp::kModulo}};
  RML_ASSIGN(ExprPtr left, ParsePower());
  while (true) {
    const Token& token = tokens_.Peek();
    const auto* it =
        std::find_if(std::begin(kSymbols), std::end(kSymbols), [&](const auto& candidate) {
          return token.kind == Token::Kind::kOperator && token.text == candidate.first;
        });
    if (it == std::end(kSymbols)) return left;
    auto node = std::make_unique<BinaryExpr>(Expr::Kind::kBinary, tokens_.Take().at);
    node->op = it->second;
    node->left = std::move(left);
    RML_ASSIGN(node->right, ParsePower());
    const std::initializer_list<const Expr*> parts = {node->left.get(), node->right.get()};
    RML_ASSIGN(left, Finish(std::move(node), parts));
  }
}

Expected<ExprPtr> ExpressionParser::ParsePower() {
  RML_ASSIGN(ExprPtr left, ParseUnary(true));
  while (tokens_.IsOperator("**")) {  // from left to right, unlike Python
    auto node = std::make_unique<BinaryExpr>(Expr::Kind::kBinary, tokens_.Take().at);
    node->op = BinaryOp::kPower;
    node->left = std::move(left);
    RML_ASSIGN(node->right, ParseUnary(true));
    const std::initializer_list<const Expr*> parts = {node->left.get(), node->right.get()};
    RML_ASSIGN(left, Finish(std::move(node), parts));
  }
  return left;
}

Expected<ExprPtr> ExpressionParser::ParseUnary(bool with_filters) {
  const Position at = tokens_.Peek().at;
  ExprPtr expr;
  if (tokens_.IsOperator("-") || tokens_.IsOperator("+")) {
    const Expr::Kind kind =
        tokens_.Take().text == "-" ? Expr::Kind::kNegate : Expr::Kind::kPositive;
    RML_TRY(Enter(at));
    RML_ASSIGN(ExprPtr operand, ParseUnary(false));
    Leave();
    const Expr* part = operand.get();
    RML_ASSIGN(expr, Finish(std::make_unique<UnaryExpr>(kind, at, std::move(operand)), {part}));
  } else {
    RML_ASSIGN(expr, ParsePrimary());
  }
  RML_ASSIGN(expr, ParsePostfix(std::move(expr)));
  if (with_filters) return ParseFiltersAndTests(std::move(expr));
  return expr;
}

Expected<ExprPtr> ExpressionParser::ParsePrimary() {
  const Token& token = tokens_.Peek();
  switch (token.kind) {
    case Token::Kind::kName:
      return ParseName();
    case Token::Kind::kString: {
      std::string text;  // 'a' 'b' is 'ab'
      while (tokens_.Peek().kind == Token::Kind::kString) text += tokens_.Take().text;
      return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value(std::move(text))));
    }
    case Token::Kind::kInteger:
      return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value(tokens_.Take().integer)));
    case Token::Kind::kFloat:
      return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value(tokens_.Take().number)));
    default:
      break;
  }
  if (tokens_.IsOperator("(")) return ParseParentheses();
  if (tokens_.IsOperator("[")) return ParseList();
  if (tokens_.IsOperator("{")) return ParseDict();
  return tokens_.Unexpected("an expression");
}

Expected<ExprPtr> ExpressionParser::ParseName() {
  Token& token = tokens_.Take();
  const std::string& name = token.text;
  if (name == "true" || name == "True") {
    return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value(true)));
  }
  if (name == "false" || name == "False") {
    return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value(false)));
  }
  if (name == "none" || name == "None") {
    return ExprPtr(std::make_unique<LiteralExpr>(token.at, Value()));
  }
  for (MacroDef* macro : open_macros_) {
    macro->uses_varargs = macro->uses_varargs || name == "varargs";
    macro->uses_kwargs = macro->uses_kwargs || name == "kwargs";
    macro->uses_caller = macro->uses_caller || name == "caller";
  }
  return ExprPtr(std::make_unique<NameExpr>(token.at, std::move(token.text)));
}

Expected<ExprPtr> ExpressionParser::ParseParentheses() {
  const Position at = tokens_.Take().at;
  if (tokens_.TakeOperator(")")) {
    return ExprPtr(std::make_unique<ItemsExpr>(Expr::Kind::kTuple, at));
  }
  RML_ASSIGN(ExprPtr expr, ParseTuple());
  RML_TRY(tokens_.ExpectOperator(")"));
  return expr;
}

Expected<ExprPtr> ExpressionParser::ParseTuple(bool with_conditions) {
  const Position at = tokens_.Peek().at;
  std::vector<ExprPtr> items;
  bool comma = false;
  while (true) {
    const Token& token = tokens_.Peek();
    const bool at_end = token.kind == Token::Kind::kBlockEnd ||
                        token.kind == Token::Kind::kVariableEnd || tokens_.IsOperator(")");
    if (at_end && !items.empty()) break;
    RML_ASSIGN(ExprPtr item, with_conditions ? ParseExpression() : ParseOr());
    items.push_back(std::move(item));
    comma = tokens_.TakeOperator(",");
    if (!comma) break;
  }
  if (items.size() == 1 && !comma) return std::move(items[0]);
  auto node = std::make_unique<ItemsExpr>(Expr::Kind::kTuple, at);
  for (const ExprPtr& item : items) node->height = std::max(node->height, item->height + 1);
  node->items = std::move(items);
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParsePrinted() {
  auto node = std::make_unique<ItemsExpr>(Expr::Kind::kConcat, tokens_.Peek().at);
  do {
    RML_ASSIGN(ExprPtr item, ParseExpression());
    node->height = std::max(node->height, item->height + 1);
    node->items.push_back(std::move(item));
  } while (tokens_.TakeOperator(","));
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParseList() {
  auto node = std::make_unique<ItemsExpr>(Expr::Kind::kList, tokens_.Take().at);
  while (!tokens_.TakeOperator("]")) {
    if (!node->items.empty()) {
      RML_TRY(tokens_.ExpectOperator(","));
      if (tokens_.TakeOperator("]")) break;
    }
    RML_ASSIGN(ExprPtr item, ParseExpression());
    node->height = std::max(node->height, item->height + 1);
    node->items.push_back(std::move(item));
  }
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParseDict() {
  auto node = std::make_unique<DictExpr>(tokens_.Take().at);
  while (!tokens_.TakeOperator("}")) {
    if (!node->members.empty()) {
      RML_TRY(tokens_.ExpectOperator(","));
      if (tokens_.TakeOperator("}")) break;
    }
    RML_ASSIGN(ExprPtr key, ParseExpression());
    RML_TRY(tokens_.ExpectOperator(":"));
    RML_ASSIGN(ExprPtr value, ParseExpression());
    node->height = std::max({node->height, key->height + 1, value->height + 1});
    node->members.emplace_back(std::move(key), std::move(value));
  }
  return Finish(std::move(node), {});
}

Expected<ExprPtr> ExpressionParser::ParsePostfix(ExprPtr expr) {
  while (true) {
    if (tokens_.IsOperator(".")) {
      RML_ASSIGN(expr, ParseDot(std::move(expr)));
    } else if (tokens_.IsOperator("[")) {
      RML_ASSIGN(expr, ParseBrackets(std::move(expr)));
    } else if (tokens_.IsOperator("(")) {
      RML_ASSIGN(expr, ParseCall(std::move(expr)));
    } else {
      return expr;
    }
  }
}

Expected<ExprPtr> ExpressionParser::ParseFiltersAndTests(ExprPtr expr) {
  while (true) {
    if (tokens_.TakeOperator("|")) {
      RML_ASSIGN(expr, ParseFilter(std::move(expr)));
    } else if (tokens_.IsName("is")) {
      RML_ASSIGN(expr, ParseTest(std::move(expr)));
    } else if (tokens_.IsOperator("(")) {
      RML_ASSIGN(expr, ParseCall(std::move(expr)));
    } else {
      return expr;
    }
  }
}

Expected<ExprPtr> ExpressionParser::ParseDot(ExprPtr object) {
  const Position at = tokens_.Take().at;
  const Expr* part = object.get();
  if (tokens_.Peek().kind == Token::Kind::kInteger) {  // x.0
    auto node = std::make_unique<SubscriptExpr>(at);
    node->object = std::move(object);
    const Token& token = tokens_.Take();
    node->key = std::make_unique<LiteralExpr>(token.at, Value(token.integer));
    return Finish(std::move(node), {part});
  }
  auto node = std::make_unique<AttributeExpr>(at);
  node->object = std::move(object);
  RML_ASSIGN(node->name, tokens_.ExpectName());
  return Finish(std::move(node), {part});
}

Expected<ExprPtr> ExpressionParser::ParseBrackets(ExprPtr object) {
  auto node = std::make_unique<SubscriptExpr>(tokens_.Take().at);
  node->object = std::move(object);
  RML_ASSIGN(node->key, ParseSubscriptKey());
  if (tokens_.IsOperator(",")) {  // x[1, 2] has a tuple for a key
    auto tuple = std::make_unique<ItemsExpr>(Expr::Kind::kTuple, node->key->at);
    tuple->height = node->key->height + 1;
    tuple->items.push_back(std::move(node->key));
    while (tokens_.TakeOperator(",")) {
      RML_ASSIGN(ExprPtr item, ParseSubscriptKey());
      tuple->height = std::max(tuple->height, item->height + 1);
      tuple->items.push_back(std::move(item));
    }
    node->key = std::move(tuple);
  }
  RML_TRY(tokens_.ExpectOperator("]"));
  const std::initializer_list<const Expr*> parts = {node->object.get(), node->key.get()};
  return Finish(std::move(node), parts);
}

Expected<ExprPtr> ExpressionParser::ParseSubscriptKey() {
  const Position at = tokens_.Peek().at;
  ExprPtr start;
  if (!tokens_.IsOperator(":")) {
    RML_ASSIGN(start, ParseExpression());
    if (!tokens_.IsOperator(":")) return start;
  }
  tokens_.Take();
  auto node = std::make_unique<SliceExpr>(at);
  node->start = std::move(start);
  const auto at_end = [&] { return tokens_.IsOperator("]") || tokens_.IsOperator(","); };
  if (!at_end() && !tokens_.IsOperator(":")) {
    RML_ASSIGN(node->stop, ParseExpression());
  }
  if (tokens_.TakeOperator(":") && !at_end()) {
    RML_ASSIGN(node->step, ParseExpression());
  }
  const std::initializer_list<const Expr*> parts = {node->start.get(), node->stop.get(),
                                                    node->step.get()};
  return Finish(std::move(node), parts);
}

Expected<ExprPtr> ExpressionParser::ParseCall(ExprPtr callee) {
  auto node = std::make_unique<CallExpr>(callee->at);
  node->callee = std::move(callee);
  RML_ASSIGN(node->args, ParseArguments());
  const Expr* part = node->callee.get();
  const Arguments* args = &node->args;
  return Finish(std::move(node), {part}, args);
}

Expected<std::unique_ptr<CallExpr>> ExpressionParser::ParseCallOnly() {
  const Position at = tokens_.Peek().at;
  RML_ASSIGN(ExprPtr expr, ParseExpression());
  if (expr->kind != Expr::Kind::kCall) {
    return InvalidArgument(DescribePosition(at), "call wants a call of a macro");
  }
  return std::unique_ptr<CallExpr>(static_cast<CallExpr*>(expr.release()));
}

Expected<std::string> ExpressionParser::ParseDottedName() {
  RML_ASSIGN(std::string name, tokens_.ExpectName());
  while (tokens_.TakeOperator(".")) {
    RML_ASSIGN(const std::string part, tokens_.ExpectName());
    name += "." + part;
  }
  return name;
}

Expected<ExprPtr> ExpressionParser::ParseFilter(ExprPtr subject) {
  auto node = std::make_unique<FilterExpr>(tokens_.Peek().at);
  node->subject = std::move(subject);
  RML_ASSIGN(node->name, ParseDottedName());
  node->filter = FindFilter(node->name);
  if (tokens_.IsOperator("(")) {
    RML_ASSIGN(node->args, ParseArguments());
  }
  const Expr* part = node->subject.get();
  const Arguments* args = &node->args;
  return Finish(std::move(node), {part}, args);
}

Expected<ExprPtr> ExpressionParser::ParseFilterChain() {
  RML_ASSIGN(ExprPtr expr, ParseFilter(nullptr));
  while (tokens_.TakeOperator("|")) {
    RML_ASSIGN(expr, ParseFilter(std::move(expr)));
  }
  return expr;
}

Expected<ExprPtr> ExpressionParser::ParseTest(ExprPtr subject) {
  auto node = std::make_unique<TestExpr>(tokens_.Take().at);
  node->subject = std::move(subject);
  node->negated = tokens_.TakeName("not");
  RML_ASSIGN(node->name, ParseDottedName());
  node->test = FindTest(node->name);
  if (tokens_.IsOperator("(")) {
    RML_ASSIGN(node->args, ParseArguments());
  } else {
    // One argument may follow without parentheses: x is divisibleby 3.
    const Token& token = tokens_.Peek();
    const bool starts_operand =
        token.kind == Token::Kind::kName || token.kind == Token::Kind::kString ||
        token.kind == Token::Kind::kInteger || token.kind == Token::Kind::kFloat ||
        tokens_.IsOperator("[") || tokens_.IsOperator("{");
    const bool is_keyword = tokens_.IsName("else") || tokens_.IsName("or") || tokens_.IsName("and");
    if (starts_operand && !is_keyword) {
      if (tokens_.IsName("is")) {
        return InvalidArgument(DescribePosition(token.at), "tests cannot be chained with is");
      }
      RML_TRY(Enter(token.at));
      RML_ASSIGN(ExprPtr argument, ParsePrimary());
      RML_ASSIGN(argument, ParsePostfix(std::move(argument)));
      Leave();
      node->args.positional.push_back(std::move(argument));
    }
  }
  const Expr* part = node->subject.get();
  const Arguments* args = &node->args;
  return Finish(std::move(node), {part}, args);
}

Expected<Arguments> ExpressionParser::ParseArguments() {
  RML_TRY(tokens_.ExpectOperator("("));
  Arguments args;
  bool first = true;
  while (!tokens_.TakeOperator(")")) {
    if (!first) {
      RML_TRY(tokens_.ExpectOperator(","));
      if (tokens_.TakeOperator(")")) break;
    }
    first = false;
    const Position at = tokens_.Peek().at;
    const bool is_named = tokens_.Peek().kind == Token::Kind::kName &&
                          tokens_.PeekNext().kind == Token::Kind::kOperator &&
                          tokens_.PeekNext().text == "=";
    if (tokens_.TakeOperator("*")) {
      if (args.star != nullptr || args.double_star != nullptr) {
        return InvalidArgument(DescribePosition(at), "only one *arguments may stand in a call");
      }
      RML_ASSIGN(args.star, ParseExpression());
    } else if (tokens_.TakeOperator("**")) {
      if (args.double_star != nullptr) {
        return InvalidArgument(DescribePosition(at), "only one **arguments may stand in a call");
      }
      RML_ASSIGN(args.double_star, ParseExpression());
    } else if (is_named) {
      if (args.double_star != nullptr) {
        return InvalidArgument(DescribePosition(at), "nothing may follow **arguments");
      }
      std::string name = std::move(tokens_.Take().text);
      tokens_.Take();
      RML_ASSIGN(ExprPtr value, ParseExpression());
      args.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (args.star != nullptr || args.double_star != nullptr || !args.named.empty()) {
        return InvalidArgument(DescribePosition(at), "an argument by place follows one by name");
      }
      RML_ASSIGN(ExprPtr value, ParseExpression());
      args.positional.push_back(std::move(value));
    }
  }
  return args;
}

}  // namespace rml::text::jinja
