// The tree of a parsed template. Expressions and statements are plain structs that say what they
// are by a kind; the evaluator switches over it. A node's height is bounded by the parser, so that
// walking and destroying a tree cannot exhaust the stack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rml/text/jinja/filters.h"
#include "rml/text/jinja/lexer.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/tests.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

struct Expr {
  enum class Kind : uint8_t {
    kLiteral,
    kName,
    kList,
    kTuple,
    kDict,
    kNot,
    kNegate,
    kPositive,
    kBinary,
    kConcat,
    kAnd,
    kOr,
    kCompare,
    kConditional,
    kAttribute,
    kSubscript,
    kSlice,
    kCall,
    kFilter,
    kTest,
  };

  Expr(Kind expr_kind, Position position) : kind(expr_kind), at(position) {}
  virtual ~Expr() = default;

  const Kind kind;
  const Position at;
  int height = 1;
};

using ExprPtr = std::unique_ptr<Expr>;

struct LiteralExpr : Expr {
  LiteralExpr(Position position, Value literal)
      : Expr(Kind::kLiteral, position), value(std::move(literal)) {}
  Value value;
};

struct NameExpr : Expr {
  NameExpr(Position position, std::string text)
      : Expr(Kind::kName, position), name(std::move(text)) {}
  std::string name;
};

// kList, kTuple, kConcat (a ~ b ~ c).
struct ItemsExpr : Expr {
  using Expr::Expr;
  std::vector<ExprPtr> items;
};

struct DictExpr : Expr {
  explicit DictExpr(Position position) : Expr(Kind::kDict, position) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> members;
};

// kNot, kNegate, kPositive.
struct UnaryExpr : Expr {
  UnaryExpr(Kind expr_kind, Position position, ExprPtr inner)
      : Expr(expr_kind, position), operand(std::move(inner)) {}
  ExprPtr operand;
};

// kBinary, kAnd, kOr.
struct BinaryExpr : Expr {
  using Expr::Expr;
  BinaryOp op = BinaryOp::kAdd;  // of kBinary
  ExprPtr left;
  ExprPtr right;
};

enum class CompareOp : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

// a < b <= c
struct CompareExpr : Expr {
  explicit CompareExpr(Position position) : Expr(Kind::kCompare, position) {}
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};

struct ConditionalExpr : Expr {
  explicit ConditionalExpr(Position position) : Expr(Kind::kConditional, position) {}
  ExprPtr condition;
  ExprPtr then;
  ExprPtr otherwise;  // null: an undefined value
};

struct AttributeExpr : Expr {
  explicit AttributeExpr(Position position) : Expr(Kind::kAttribute, position) {}
  ExprPtr object;
  std::string name;
};

// object[key], or object[start:stop:step] when the key is a SliceExpr.
struct SubscriptExpr : Expr {
  explicit SubscriptExpr(Position position) : Expr(Kind::kSubscript, position) {}
  ExprPtr object;
  ExprPtr key;
};

struct SliceExpr : Expr {
  explicit SliceExpr(Position position) : Expr(Kind::kSlice, position) {}
  ExprPtr start;  // each may be null
  ExprPtr stop;
  ExprPtr step;
};

struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star;         // *args, or null
  ExprPtr double_star;  // **kwargs, or null
};

struct CallExpr : Expr {
  explicit CallExpr(Position position) : Expr(Kind::kCall, position) {}
  ExprPtr callee;
  Arguments args;
};

struct FilterExpr : Expr {
  explicit FilterExpr(Position position) : Expr(Kind::kFilter, position) {}
  ExprPtr subject;  // null: the text of the {% filter %} or {% set %} block around it
  std::string name;
  const Filter* filter = nullptr;  // null: unknown, which is an error only when it runs
  Arguments args;
};

struct TestExpr : Expr {
  explicit TestExpr(Position position) : Expr(Kind::kTest, position) {}
  ExprPtr subject;
  std::string name;
  const Test* test = nullptr;  // null: unknown
  bool negated = false;
  Arguments args;
};

struct Stmt {
  enum class Kind : uint8_t {
    kText,
    kOutput,
    kIf,
    kFor,
    kSet,
    kSetBlock,
    kMacro,
    kCallBlock,
    kFilterBlock,
    kWith,
    kScope,
    kBreak,
    kContinue,
  };

  Stmt(Kind stmt_kind, Position position) : kind(stmt_kind), at(position) {}
  virtual ~Stmt() = default;

  const Kind kind;
  const Position at;
};

using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct TextStmt : Stmt {
  TextStmt(Position position, std::string data)
      : Stmt(Kind::kText, position), text(std::move(data)) {}
  std::string text;
};

struct OutputStmt : Stmt {
  OutputStmt(Position position, ExprPtr expr)
      : Stmt(Kind::kOutput, position), value(std::move(expr)) {}
  ExprPtr value;
};

struct IfStmt : Stmt {
  explicit IfStmt(Position position) : Stmt(Kind::kIf, position) {}
  struct Branch {
    ExprPtr condition;
    Body body;
  };
  std::vector<Branch> branches;  // if and every elif
  Body otherwise;
};

// What is assigned to: a name, an attribute of a namespace, or several of these.
struct Target {
  Position at;
  std::string name;           // empty: several
  std::string attribute;      // of the namespace `name`; empty: the name itself
  std::vector<Target> parts;  // (a, b)
};

struct ForStmt : Stmt {
  explicit ForStmt(Position position) : Stmt(Kind::kFor, position) {}
  Target target;
  ExprPtr iterable;
  ExprPtr condition;  // or null
  bool recursive = false;
  Body body;
  Body otherwise;
};

struct SetStmt : Stmt {
  explicit SetStmt(Position position) : Stmt(Kind::kSet, position) {}
  Target target;
  ExprPtr value;
};

struct SetBlockStmt : Stmt {
  explicit SetBlockStmt(Position position) : Stmt(Kind::kSetBlock, position) {}
  Target target;
  ExprPtr filter;  // or null
  Body body;
};

// The parameters and the body of a macro or of a {% call %} block.
struct MacroDef {
  struct Parameter {
    std::string name;
    ExprPtr fallback;  // or null
  };
  std::string name;  // empty: the caller of a call block
  std::vector<Parameter> parameters;
  Body body;
  bool uses_varargs = false;  // whether the body names these, and so accepts them
  bool uses_kwargs = false;
  bool uses_caller = false;
};

struct MacroStmt : Stmt {
  explicit MacroStmt(Position position) : Stmt(Kind::kMacro, position) {}
  MacroDef macro;
};

struct CallBlockStmt : Stmt {
  explicit CallBlockStmt(Position position) : Stmt(Kind::kCallBlock, position) {}
  std::unique_ptr<CallExpr> call;
  MacroDef caller;
};

struct FilterBlockStmt : Stmt {
  explicit FilterBlockStmt(Position position) : Stmt(Kind::kFilterBlock, position) {}
  ExprPtr filter;
  Body body;
};

struct WithStmt : Stmt {
  explicit WithStmt(Position position) : Stmt(Kind::kWith, position) {}
  std::vector<std::pair<Target, ExprPtr>> variables;
  Body body;
};

// {% generation %}, {% block %}: a body with a scope of its own.
struct ScopeStmt : Stmt {
  explicit ScopeStmt(Position position) : Stmt(Kind::kScope, position) {}
  Body body;
};

}  // namespace rml::text::jinja
