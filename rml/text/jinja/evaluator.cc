#include "rml/text/jinja/evaluator.h"

#include <algorithm>

#include "rml/core/strcat.h"
#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/globals.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/subscript.h"

namespace rml::text::jinja {

using core::InvalidArgument;
using core::StrCat;

Evaluator::Evaluator(const Dict& variables, Runtime& runtime)
    : variables_(variables), runtime_(runtime), scope_(std::make_shared<Scope>(nullptr)) {}

Evaluator::~Evaluator() {
  for (const auto& scope : captured_) scope->Clear();
}

Expected<Value> Evaluator::Eval(const Expr& expr) {
  Expected<Value> result = [&]() -> Expected<Value> {
    RML_TRY(runtime_.Charge(1));
    if (expr.height == 1) return EvalUnlocated(expr);
    RML_TRY(runtime_.Enter());
    Expected<Value> value = EvalUnlocated(expr);
    runtime_.Leave();
    return value;
  }();
  if (!result.ok() && !error_at_) error_at_ = expr.at;
  return result;
}

Expected<Value> Evaluator::EvalUnlocated(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kLiteral:
      return static_cast<const LiteralExpr&>(expr).value;
    case Expr::Kind::kName:
      return EvalName(static_cast<const NameExpr&>(expr));
    case Expr::Kind::kList: {
      RML_ASSIGN(Items items, EvalItems(static_cast<const ItemsExpr&>(expr).items));
      return runtime_.MakeList(std::move(items));
    }
    case Expr::Kind::kTuple: {
      RML_ASSIGN(Items items, EvalItems(static_cast<const ItemsExpr&>(expr).items));
      return runtime_.MakeTuple(std::move(items));
    }
    case Expr::Kind::kDict:
      return EvalDict(static_cast<const DictExpr&>(expr));
    case Expr::Kind::kNot:
    case Expr::Kind::kNegate:
    case Expr::Kind::kPositive:
      return EvalUnary(static_cast<const UnaryExpr&>(expr));
    case Expr::Kind::kBinary:
      return EvalBinary(static_cast<const BinaryExpr&>(expr));
    case Expr::Kind::kConcat:
      return EvalConcat(static_cast<const ItemsExpr&>(expr));
    case Expr::Kind::kAnd:
    case Expr::Kind::kOr:
      return EvalLogic(static_cast<const BinaryExpr&>(expr));
    case Expr::Kind::kCompare:
      return EvalCompare(static_cast<const CompareExpr&>(expr));
    case Expr::Kind::kConditional:
      return EvalConditional(static_cast<const ConditionalExpr&>(expr));
    case Expr::Kind::kAttribute: {
      const auto& node = static_cast<const AttributeExpr&>(expr);
      RML_ASSIGN(const Value object, Eval(*node.object));
      return GetAttribute(runtime_, object, node.name);
    }
    case Expr::Kind::kSubscript:
      return EvalSubscript(static_cast<const SubscriptExpr&>(expr));
    case Expr::Kind::kSlice:
      return InvalidArgument("a slice can only stand alone between brackets");
    case Expr::Kind::kCall:
      return EvalCall(static_cast<const CallExpr&>(expr));
    case Expr::Kind::kFilter:
      return EvalFilter(static_cast<const FilterExpr&>(expr));
    case Expr::Kind::kTest:
      return EvalTest(static_cast<const TestExpr&>(expr));
  }
  return core::Internal("an expression of unknown kind");
}

Expected<Value> Evaluator::EvalName(const NameExpr& expr) {
  if (const Value* value = scope_->Find(expr.name)) return *value;
  if (const Value* value = variables_.Find(expr.name)) return *value;
  if (std::optional<Value> global = FindGlobal(expr.name)) return *std::move(global);
  return Value::Undefined(StrCat("'", expr.name, "' is undefined"));
}

Expected<Items> Evaluator::EvalItems(const std::vector<ExprPtr>& exprs) {
  Items items;
  items.reserve(exprs.size());
  for (const ExprPtr& expr : exprs) {
    RML_ASSIGN(Value item, Eval(*expr));
    items.push_back(std::move(item));
  }
  return items;
}

Expected<Value> Evaluator::EvalDict(const DictExpr& expr) {
  Dict dict;
  for (const auto& [key_expr, value_expr] : expr.members) {
    RML_ASSIGN(const Value key, Eval(*key_expr));
    RML_ASSIGN(Value value, Eval(*value_expr));
    RML_TRY(runtime_.SetItem(&dict, key, std::move(value)));
  }
  return runtime_.MakeDict(std::move(dict));
}

Expected<Value> Evaluator::EvalUnary(const UnaryExpr& expr) {
  RML_ASSIGN(const Value value, Eval(*expr.operand));
  if (expr.kind == Expr::Kind::kNot) return Value(!value.Truthy());
  return expr.kind == Expr::Kind::kNegate ? Negate(value) : Positive(value);
}

Expected<Value> Evaluator::EvalBinary(const BinaryExpr& expr) {
  RML_ASSIGN(const Value left, Eval(*expr.left));
  RML_ASSIGN(const Value right, Eval(*expr.right));
  return ApplyBinary(runtime_, expr.op, left, right);
}

Expected<Value> Evaluator::EvalConcat(const ItemsExpr& expr) {
  std::string text;
  for (const ExprPtr& item : expr.items) {
    RML_ASSIGN(const Value value, Eval(*item));
    if (value.is_string()) {
      text += value.text();
    } else {
      RML_ASSIGN(const std::string printed, ToStr(runtime_, value));
      text += printed;
    }
    RML_TRY(runtime_.CheckString(text.size()));
  }
  return runtime_.MakeString(std::move(text));
}

Expected<Value> Evaluator::EvalLogic(const BinaryExpr& expr) {
  RML_ASSIGN(Value left, Eval(*expr.left));
  if (left.Truthy() == (expr.kind == Expr::Kind::kOr)) return left;
  return Eval(*expr.right);
}

Expected<Value> Evaluator::EvalCompare(const CompareExpr& expr) {
  RML_ASSIGN(Value left, Eval(*expr.first));
  for (const auto& [op, right_expr] : expr.rest) {
    RML_ASSIGN(Value right, Eval(*right_expr));
    RML_TRY(runtime_.Charge(std::min(left.weight(), right.weight())));
    bool holds = false;
    switch (op) {
      case CompareOp::kEqual:
        holds = Equal(left, right);
        break;
      case CompareOp::kNotEqual:
        holds = !Equal(left, right);
        break;
      case CompareOp::kIn:
      case CompareOp::kNotIn: {
        RML_ASSIGN(const bool found, Contains(runtime_, right, left));
        holds = found == (op == CompareOp::kIn);
        break;
      }
      case CompareOp::kLess: {
        RML_ASSIGN(const int order, Compare(left, right, "<"));
        holds = order == -1;
        break;
      }
      case CompareOp::kLessEqual: {
        RML_ASSIGN(const int order, Compare(left, right, "<="));
        holds = order == -1 || order == 0;
        break;
      }
      case CompareOp::kGreater: {
        RML_ASSIGN(const int order, Compare(left, right, ">"));
        holds = order == 1;
        break;
      }
      case CompareOp::kGreaterEqual: {
        RML_ASSIGN(const int order, Compare(left, right, ">="));
        holds = order == 1 || order == 0;
        break;
      }
    }
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Expected<Value> Evaluator::EvalConditional(const ConditionalExpr& expr) {
  RML_ASSIGN(const Value condition, Eval(*expr.condition));
  if (condition.Truthy()) return Eval(*expr.then);
  if (expr.otherwise != nullptr) return Eval(*expr.otherwise);
  return Value::Undefined(StrCat("the inline if-expression on line ", expr.at.line,
                                 " evaluated to false and no else section was defined."));
}

Expected<Value> Evaluator::EvalSubscript(const SubscriptExpr& expr) {
  RML_ASSIGN(const Value object, Eval(*expr.object));
  if (expr.key->kind != Expr::Kind::kSlice) {
    RML_ASSIGN(const Value key, Eval(*expr.key));
    return GetItem(runtime_, object, key);
  }
  const auto& slice = static_cast<const SliceExpr&>(*expr.key);
  Value bounds[3];
  const Expr* exprs[3] = {slice.start.get(), slice.stop.get(), slice.step.get()};
  for (int i = 0; i < 3; ++i) {
    if (exprs[i] == nullptr) continue;
    RML_ASSIGN(bounds[i], Eval(*exprs[i]));
  }
  return GetSlice(runtime_, object, bounds[0], bounds[1], bounds[2]);
}

Expected<CallArgs> Evaluator::EvalArguments(const Arguments& args) {
  CallArgs result;
  RML_ASSIGN(result.positional, EvalItems(args.positional));
  for (const auto& [name, expr] : args.named) {
    RML_ASSIGN(Value value, Eval(*expr));
    result.named.emplace_back(name, std::move(value));
  }
  if (args.star != nullptr) {
    RML_ASSIGN(const Value more, Eval(*args.star));
    RML_ASSIGN(const Items items, ToItems(runtime_, more));
    result.positional.insert(result.positional.end(), items.begin(), items.end());
  }
  if (args.double_star != nullptr) {
    RML_ASSIGN(const Value more, Eval(*args.double_star));
    if (!more.is_dict()) {
      return InvalidArgument("the argument after ** must be a mapping, not ", more.type_name());
    }
    RML_TRY(runtime_.Charge(more.weight()));
    for (const Dict::Entry& entry : more.as_dict().entries()) {
      if (!entry.key.is_string()) return InvalidArgument("keywords must be strings");
      result.named.emplace_back(entry.key.text(), entry.value);
    }
  }
  return result;
}

Expected<Value> Evaluator::EvalCall(const CallExpr& expr, const Value* caller) {
  RML_ASSIGN(const Value callee, Eval(*expr.callee));
  RML_ASSIGN(CallArgs args, EvalArguments(expr.args));
  if (caller != nullptr) args.named.emplace_back("caller", *caller);
  if (callee.is_undefined()) return InvalidArgument(callee.undefined_message());
  if (!callee.is_object()) {
    return InvalidArgument("'", callee.type_name(), "' object is not callable");
  }
  return callee.as_object().Call(runtime_, args);
}

Expected<Value> Evaluator::EvalFilter(const FilterExpr& expr) {
  Value subject;
  if (expr.subject != nullptr) {
    RML_ASSIGN(subject, Eval(*expr.subject));
  } else if (filter_subject_ != nullptr) {
    subject = *filter_subject_;
  }
  if (expr.filter == nullptr) return InvalidArgument("no filter named '", expr.name, "'");
  RML_ASSIGN(const CallArgs args, EvalArguments(expr.args));
  return expr.filter->body(runtime_, subject, args);
}

Expected<Value> Evaluator::EvalTest(const TestExpr& expr) {
  RML_ASSIGN(const Value subject, Eval(*expr.subject));
  if (expr.test == nullptr) return InvalidArgument("no test named '", expr.name, "'");
  RML_ASSIGN(const CallArgs args, EvalArguments(expr.args));
  RML_ASSIGN(const bool passes, expr.test->body(runtime_, subject, args));
  return Value(passes != expr.negated);
}

}  // namespace rml::text::jinja
