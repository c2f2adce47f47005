#include "rml/text/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "rml/text/jinja/expression_parser.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// Statements. The tags that end a body are named by the statement that opened it.
class StatementParser {
 public:
  using EndTags = std::initializer_list<std::string_view>;

  StatementParser(TokenStream& tokens, const Limits& limits)
      : tokens_(tokens), expressions_(tokens, limits.nesting) {}

  Expected<Body> ParseBody(EndTags end_tags, Position opened_at, std::string_view opened) {
    Body body;
    while (true) {
      Token& token = tokens_.Peek().kind == Token::Kind::kEnd ? const_cast<Token&>(tokens_.Peek())
                                                              : tokens_.Take();
      switch (token.kind) {
        case Token::Kind::kEnd:
          if (end_tags.size() == 0) return body;
          return InvalidArgument(DescribePosition(opened_at), "the ", opened,
                                 " that begins here has no ", *(end_tags.end() - 1));
        case Token::Kind::kData:
          body.push_back(std::make_unique<TextStmt>(token.at, std::move(token.text)));
          break;
        case Token::Kind::kVariableBegin: {
          RML_ASSIGN(ExprPtr value, expressions_.ParseTuple());
          if (tokens_.Peek().kind != Token::Kind::kVariableEnd) return tokens_.Unexpected("}}");
          tokens_.Take();
          body.push_back(std::make_unique<OutputStmt>(token.at, std::move(value)));
          break;
        }
        default: {  // kBlockBegin
          for (const std::string_view tag : end_tags) {
            if (tokens_.IsName(tag)) return body;
          }
          RML_TRY(expressions_.Enter(token.at));
          RML_ASSIGN(StmtPtr statement, ParseStatement(token.at));
          expressions_.Leave();
          body.push_back(std::move(statement));
        }
      }
    }
  }

 private:
  Expected<StmtPtr> ParseStatement(Position at) {
    RML_ASSIGN(const std::string tag, tokens_.ExpectName());
    if (tag == "if") return ParseIf(at);
    if (tag == "for") return ParseFor(at);
    if (tag == "set") return ParseSet(at);
    if (tag == "macro") return ParseMacro(at);
    if (tag == "call") return ParseCallBlock(at);
    if (tag == "filter") return ParseFilterBlock(at);
    if (tag == "with") return ParseWith(at);
    if (tag == "generation") return ParseScope(at, tag, "endgeneration");
    if (tag == "block") return ParseBlock(at);
    if (tag == "print") return ParsePrint(at);
    if (tag == "break" || tag == "continue") return ParseLoopControl(at, tag);
    for (const std::string_view known : {"extends", "include", "import", "from", "autoescape"}) {
      if (tag == known) {
        return core::Unsupported(DescribePosition(at), "a chat template cannot use {% ", tag,
                                 " %}");
      }
    }
    return InvalidArgument(DescribePosition(at), "unknown tag '", tag, "'");
  }

  Expected<StmtPtr> ParseIf(Position at) {
    auto node = std::make_unique<IfStmt>(at);
    while (true) {
      IfStmt::Branch branch;
      RML_ASSIGN(branch.condition, expressions_.ParseTuple(false));
      RML_TRY(tokens_.ExpectBlockEnd());
      RML_ASSIGN(branch.body, ParseBody({"elif", "else", "endif"}, at, "if"));
      node->branches.push_back(std::move(branch));
      if (!tokens_.TakeName("elif")) break;
    }
    if (tokens_.TakeName("else")) {
      RML_TRY(tokens_.ExpectBlockEnd());
      RML_ASSIGN(node->otherwise, ParseBody({"endif"}, at, "if"));
    }
    tokens_.Take();  // endif
    RML_TRY(tokens_.ExpectBlockEnd());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseFor(Position at) {
    auto node = std::make_unique<ForStmt>(at);
    RML_ASSIGN(node->target, ParseTargets(false));
    if (AssignsLoop(node->target)) {
      return InvalidArgument(DescribePosition(at),
                             "a for cannot assign to its own variable 'loop'");
    }
    if (!tokens_.TakeName("in")) return tokens_.Unexpected("in");
    RML_ASSIGN(node->iterable, expressions_.ParseTuple(false));
    if (tokens_.TakeName("if")) {
      RML_ASSIGN(node->condition, expressions_.ParseExpression());
    }
    node->recursive = tokens_.TakeName("recursive");
    RML_TRY(tokens_.ExpectBlockEnd());
    ++loops_;
    RML_ASSIGN(node->body, ParseBody({"else", "endfor"}, at, "for"));
    --loops_;
    if (tokens_.TakeName("else")) {
      RML_TRY(tokens_.ExpectBlockEnd());
      RML_ASSIGN(node->otherwise, ParseBody({"endfor"}, at, "for"));
    }
    tokens_.Take();  // endfor
    RML_TRY(tokens_.ExpectBlockEnd());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseSet(Position at) {
    RML_ASSIGN(Target target, ParseTargets(true));
    if (tokens_.TakeOperator("=")) {
      auto node = std::make_unique<SetStmt>(at);
      node->target = std::move(target);
      RML_ASSIGN(node->value, expressions_.ParseTuple());
      RML_TRY(tokens_.ExpectBlockEnd());
      return StmtPtr(std::move(node));
    }
    auto node = std::make_unique<SetBlockStmt>(at);
    node->target = std::move(target);
    if (tokens_.TakeOperator("|")) {
      RML_ASSIGN(node->filter, expressions_.ParseFilterChain());
    }
    RML_TRY(tokens_.ExpectBlockEnd());
    RML_ASSIGN(node->body, ParseBody({"endset"}, at, "set"));
    RML_TRY(TakeEndTag());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseMacro(Position at) {
    auto node = std::make_unique<MacroStmt>(at);
    RML_ASSIGN(node->macro.name, tokens_.ExpectName());
    expressions_.open_macros().push_back(&node->macro);
    RML_TRY(ParseParameters(&node->macro));
    RML_TRY(tokens_.ExpectBlockEnd());
    RML_ASSIGN(node->macro.body, ParseMacroBody("endmacro", at, "macro"));
    expressions_.open_macros().pop_back();
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseCallBlock(Position at) {
    auto node = std::make_unique<CallBlockStmt>(at);
    if (tokens_.IsOperator("(")) RML_TRY(ParseParameters(&node->caller));
    RML_ASSIGN(node->call, expressions_.ParseCallOnly());
    RML_TRY(tokens_.ExpectBlockEnd());
    expressions_.open_macros().push_back(&node->caller);
    RML_ASSIGN(node->caller.body, ParseMacroBody("endcall", at, "call"));
    expressions_.open_macros().pop_back();
    return StmtPtr(std::move(node));
  }

  // A macro inside a loop is not inside it: break and continue end at the macro.
  Expected<Body> ParseMacroBody(std::string_view end_tag, Position at, std::string_view opened) {
    const int loops = std::exchange(loops_, 0);
    RML_ASSIGN(Body body, ParseBody({end_tag}, at, opened));
    loops_ = loops;
    RML_TRY(TakeEndTag());
    return body;
  }

  Status ParseParameters(MacroDef* macro) {
    RML_TRY(tokens_.ExpectOperator("("));
    while (!tokens_.TakeOperator(")")) {
      if (!macro->parameters.empty()) RML_TRY(tokens_.ExpectOperator(","));
      const Position at = tokens_.Peek().at;
      MacroDef::Parameter parameter;
      RML_ASSIGN(parameter.name, tokens_.ExpectName());
      if (tokens_.TakeOperator("=")) {
        RML_ASSIGN(parameter.fallback, expressions_.ParseExpression());
      } else if (!macro->parameters.empty() && macro->parameters.back().fallback != nullptr) {
        return InvalidArgument(DescribePosition(at),
                               "a parameter without a default follows one with a default");
      }
      macro->parameters.push_back(std::move(parameter));
    }
    return core::OkStatus();
  }

  Expected<StmtPtr> ParseFilterBlock(Position at) {
    auto node = std::make_unique<FilterBlockStmt>(at);
    RML_ASSIGN(node->filter, expressions_.ParseFilterChain());
    RML_TRY(tokens_.ExpectBlockEnd());
    RML_ASSIGN(node->body, ParseBody({"endfilter"}, at, "filter"));
    RML_TRY(TakeEndTag());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseWith(Position at) {
    auto node = std::make_unique<WithStmt>(at);
    while (tokens_.Peek().kind != Token::Kind::kBlockEnd) {
      if (!node->variables.empty()) RML_TRY(tokens_.ExpectOperator(","));
      RML_ASSIGN(Target target, ParseTarget(false));
      RML_TRY(tokens_.ExpectOperator("="));
      RML_ASSIGN(ExprPtr value, expressions_.ParseExpression());
      node->variables.emplace_back(std::move(target), std::move(value));
    }
    tokens_.Take();
    RML_ASSIGN(node->body, ParseBody({"endwith"}, at, "with"));
    RML_TRY(TakeEndTag());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParseScope(Position at, std::string_view tag, std::string_view end_tag) {
    auto node = std::make_unique<ScopeStmt>(at);
    RML_TRY(tokens_.ExpectBlockEnd());
    RML_ASSIGN(node->body, ParseMacroBody(end_tag, at, tag));
    return StmtPtr(std::move(node));
  }

  // Without inheritance a block is its own body.
  Expected<StmtPtr> ParseBlock(Position at) {
    auto node = std::make_unique<ScopeStmt>(at);
    RML_ASSIGN(const std::string name, tokens_.ExpectName());
    RML_TRY(tokens_.ExpectBlockEnd());
    const int loops = std::exchange(loops_, 0);
    RML_ASSIGN(node->body, ParseBody({"endblock"}, at, "block"));
    loops_ = loops;
    tokens_.Take();  // endblock
    tokens_.TakeName(name);
    RML_TRY(tokens_.ExpectBlockEnd());
    return StmtPtr(std::move(node));
  }

  Expected<StmtPtr> ParsePrint(Position at) {
    RML_ASSIGN(ExprPtr value, expressions_.ParsePrinted());
    RML_TRY(tokens_.ExpectBlockEnd());
    return StmtPtr(std::make_unique<OutputStmt>(at, std::move(value)));
  }

  Expected<StmtPtr> ParseLoopControl(Position at, std::string_view tag) {
    if (loops_ == 0) return InvalidArgument(DescribePosition(at), "'", tag, "' outside of a loop");
    RML_TRY(tokens_.ExpectBlockEnd());
    return std::make_unique<Stmt>(tag == "break" ? Stmt::Kind::kBreak : Stmt::Kind::kContinue, at);
  }

  static bool AssignsLoop(const Target& target) {
    return target.name == "loop" ||
           std::any_of(target.parts.begin(), target.parts.end(), AssignsLoop);
  }

  // a, b of set and for: one target, or several in a tuple.
  Expected<Target> ParseTargets(bool with_attributes) {
    RML_ASSIGN(Target first, ParseTarget(with_attributes));
    if (!tokens_.IsOperator(",")) return first;
    Target several;
    several.at = first.at;
    several.parts.push_back(std::move(first));
    while (tokens_.TakeOperator(",")) {
      if (tokens_.Peek().kind != Token::Kind::kName && !tokens_.IsOperator("(")) break;
      if (tokens_.IsName("in") && !with_attributes) break;
      RML_ASSIGN(Target part, ParseTarget(with_attributes));
      several.parts.push_back(std::move(part));
    }
    return several;
  }

  Expected<Target> ParseTarget(bool with_attributes) {
    Target target;
    target.at = tokens_.Peek().at;
    if (tokens_.TakeOperator("(")) {
      RML_TRY(expressions_.Enter(target.at));
      RML_ASSIGN(target, ParseTargets(with_attributes));
      expressions_.Leave();
      RML_TRY(tokens_.ExpectOperator(")"));
      return target;
    }
    RML_ASSIGN(target.name, tokens_.ExpectName());
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (target.name == constant) {
        return InvalidArgument(DescribePosition(target.at), "can't assign to '", constant, "'");
      }
    }
    if (with_attributes && tokens_.TakeOperator(".")) {
      RML_ASSIGN(target.attribute, tokens_.ExpectName());
    }
    return target;
  }

  Status TakeEndTag() {
    tokens_.Take();
    return tokens_.ExpectBlockEnd();
  }

  TokenStream& tokens_;
  ExpressionParser expressions_;
  int loops_ = 0;
};

}  // namespace

Expected<Body> ParseTemplate(std::string_view source, const Limits& limits) {
  if (source.size() > limits.source_bytes) {
    return core::ResourceExhausted("the template has ", source.size(),
                                   " bytes, more than the limit of ", limits.source_bytes);
  }
  if (!IsUtf8(source)) return core::DataLoss("the template is not UTF-8");
  RML_ASSIGN(std::vector<Token> list, Tokenize(source));
  TokenStream tokens(std::move(list));
  return StatementParser(tokens, limits).ParseBody({}, {}, "");
}

}  // namespace rml::text::jinja
