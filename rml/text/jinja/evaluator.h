// Evaluator: runs a parsed template once. The first failure stops it; where it happened is the
// innermost expression or statement that failed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rml/text/jinja/ast.h"
#include "rml/text/jinja/loop.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/scope.h"

namespace rml::text::jinja {

class Evaluator {
 public:
  // The body, the variables and the runtime must outlive the evaluator.
  Evaluator(const Dict& variables, Runtime& runtime);
  ~Evaluator();

  Expected<std::string> Run(const Body& body);
  // After a failure.
  Position error_position() const { return error_at_.value_or(Position{}); }

  // What macros and loops call back.
  Expected<Value> CallMacro(const MacroDef& macro, const std::shared_ptr<Scope>& defined_in,
                            const CallArgs& args);
  Expected<Value> CallLoop(const ForStmt& loop, const std::shared_ptr<Scope>& around,
                           const Value& items, int depth);
  // The loop's `if`: whether the item takes part.
  Expected<bool> Accepts(const ForStmt& loop, const std::shared_ptr<Scope>& around,
                         const Value& item);

 private:
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  class ScopeGuard;
  class Capture;

  // Expressions: evaluator.cc.
  Expected<Value> Eval(const Expr& expr);
  Expected<Value> EvalUnlocated(const Expr& expr);
  Expected<Value> EvalName(const NameExpr& expr);
  Expected<Items> EvalItems(const std::vector<ExprPtr>& exprs);
  Expected<Value> EvalDict(const DictExpr& expr);
  Expected<Value> EvalUnary(const UnaryExpr& expr);
  Expected<Value> EvalBinary(const BinaryExpr& expr);
  Expected<Value> EvalConcat(const ItemsExpr& expr);
  Expected<Value> EvalLogic(const BinaryExpr& expr);
  Expected<Value> EvalCompare(const CompareExpr& expr);
  Expected<Value> EvalConditional(const ConditionalExpr& expr);
  Expected<Value> EvalSubscript(const SubscriptExpr& expr);
  Expected<Value> EvalCall(const CallExpr& expr, const Value* caller = nullptr);
  Expected<Value> EvalFilter(const FilterExpr& expr);
  Expected<Value> EvalTest(const TestExpr& expr);
  Expected<CallArgs> EvalArguments(const Arguments& args);

  // Statements: evaluator_statements.cc.
  Expected<Flow> Exec(const Body& body);
  Expected<Flow> ExecOne(const Stmt& stmt);
  Expected<Flow> ExecIf(const IfStmt& stmt);
  Expected<Flow> ExecFor(const ForStmt& stmt);
  Status RunLoop(const ForStmt& stmt, const std::shared_ptr<Scope>& around, const Value& items,
                 int depth, Flow* flow);
  Status ExecSetBlock(const SetBlockStmt& stmt);
  Status ExecCallBlock(const CallBlockStmt& stmt);
  Status ExecFilterBlock(const FilterBlockStmt& stmt);
  Status ExecWith(const WithStmt& stmt);
  Status Assign(const Target& target, Value value);
  // The text of a body with a scope of its own, through the filter if there is one.
  Expected<Value> CaptureBody(const Body& body, const Expr* filter);
  Expected<Value> MakeMacro(const MacroDef& macro);
  Status Print(const Value& value);
  Status Write(std::string_view text);

  const Dict& variables_;
  Runtime& runtime_;
  std::shared_ptr<Scope> scope_;
  // Scopes that macros hold on to: they would keep each other alive, so they are emptied at the
  // end.
  std::vector<std::shared_ptr<Scope>> captured_;
  std::string* out_ = nullptr;
  bool capturing_ = false;
  const Value* filter_subject_ = nullptr;  // of the {% filter %} block that is being applied
  std::optional<Position> error_at_;
};

}  // namespace rml::text::jinja
