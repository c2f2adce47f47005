#include <algorithm>

#include "rml/core/strcat.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/evaluator.h"
#include "rml/text/jinja/repr.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;
using core::StrCat;

class Macro : public Object {
 public:
  Macro(Evaluator& evaluator, const MacroDef& macro, std::shared_ptr<Scope> defined_in)
      : evaluator_(evaluator), macro_(macro), defined_in_(std::move(defined_in)) {}

  std::string_view type_name() const override { return "Macro"; }
  std::string qualified_name() const override { return "jinja2.runtime.Macro object"; }
  std::string Describe() const override {
    return macro_.name.empty() ? "<Macro anonymous>" : StrCat("<Macro '", macro_.name, "'>");
  }
  bool is_callable() const override { return true; }
  Expected<Value> Call(Runtime&, const CallArgs& args) override {
    return evaluator_.CallMacro(macro_, defined_in_, args);
  }

 private:
  Evaluator& evaluator_;
  const MacroDef& macro_;
  const std::shared_ptr<Scope> defined_in_;
};

}  // namespace

// Makes `scope` the current one, and goes back at the end.
class Evaluator::ScopeGuard {
 public:
  ScopeGuard(Evaluator& evaluator, std::shared_ptr<Scope> scope)
      : evaluator_(evaluator), outer_(std::exchange(evaluator.scope_, std::move(scope))) {}
  ~ScopeGuard() { evaluator_.scope_ = std::move(outer_); }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Evaluator& evaluator_;
  std::shared_ptr<Scope> outer_;
};

// Sends what is printed into a text of its own.
class Evaluator::Capture {
 public:
  explicit Capture(Evaluator& evaluator)
      : evaluator_(evaluator),
        out_(std::exchange(evaluator.out_, &text_)),
        capturing_(std::exchange(evaluator.capturing_, true)) {}
  ~Capture() {
    evaluator_.out_ = out_;
    evaluator_.capturing_ = capturing_;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::string Take() { return std::move(text_); }

 private:
  Evaluator& evaluator_;
  std::string text_;
  std::string* out_;
  bool capturing_;
};

Expected<std::string> Evaluator::Run(const Body& body) {
  std::string text;
  out_ = &text;
  RML_TRY(Exec(body));
  return text;
}

Status Evaluator::Write(std::string_view text) {
  RML_TRY(runtime_.Charge(static_cast<int64_t>(text.size() / 32)));
  const size_t limit = capturing_ ? runtime_.limits().string_bytes : runtime_.limits().output_bytes;
  if (text.size() > limit - out_->size()) {
    return core::ResourceExhausted("the template prints more than ", limit, " bytes");
  }
  out_->append(text);
  return core::OkStatus();
}

Status Evaluator::Print(const Value& value) {
  if (value.is_string()) return Write(value.text());
  RML_ASSIGN(const std::string text, ToStr(runtime_, value));
  return Write(text);
}

Expected<Evaluator::Flow> Evaluator::Exec(const Body& body) {
  for (const StmtPtr& stmt : body) {
    Expected<Flow> flow = ExecOne(*stmt);
    if (!flow.ok() && !error_at_) error_at_ = stmt->at;
    if (!flow.ok() || *flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Expected<Evaluator::Flow> Evaluator::ExecOne(const Stmt& stmt) {
  RML_TRY(runtime_.Charge(1));
  switch (stmt.kind) {
    case Stmt::Kind::kText:
      RML_TRY(Write(static_cast<const TextStmt&>(stmt).text));
      break;
    case Stmt::Kind::kOutput: {
      RML_ASSIGN(const Value value, Eval(*static_cast<const OutputStmt&>(stmt).value));
      RML_TRY(Print(value));
      break;
    }
    case Stmt::Kind::kIf:
      return ExecIf(static_cast<const IfStmt&>(stmt));
    case Stmt::Kind::kFor:
      return ExecFor(static_cast<const ForStmt&>(stmt));
    case Stmt::Kind::kSet: {
      const auto& node = static_cast<const SetStmt&>(stmt);
      RML_ASSIGN(Value value, Eval(*node.value));
      RML_TRY(Assign(node.target, std::move(value)));
      break;
    }
    case Stmt::Kind::kSetBlock:
      RML_TRY(ExecSetBlock(static_cast<const SetBlockStmt&>(stmt)));
      break;
    case Stmt::Kind::kMacro: {
      const MacroDef& macro = static_cast<const MacroStmt&>(stmt).macro;
      RML_ASSIGN(Value value, MakeMacro(macro));
      scope_->Set(macro.name, std::move(value));
      break;
    }
    case Stmt::Kind::kCallBlock:
      RML_TRY(ExecCallBlock(static_cast<const CallBlockStmt&>(stmt)));
      break;
    case Stmt::Kind::kFilterBlock:
      RML_TRY(ExecFilterBlock(static_cast<const FilterBlockStmt&>(stmt)));
      break;
    case Stmt::Kind::kWith:
      RML_TRY(ExecWith(static_cast<const WithStmt&>(stmt)));
      break;
    case Stmt::Kind::kScope: {
      RML_TRY(runtime_.Enter());
      const ScopeGuard guard(*this, std::make_shared<Scope>(scope_));
      RML_TRY(Exec(static_cast<const ScopeStmt&>(stmt).body));
      runtime_.Leave();
      break;
    }
    case Stmt::Kind::kBreak:
      return Flow::kBreak;
    case Stmt::Kind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Expected<Evaluator::Flow> Evaluator::ExecIf(const IfStmt& stmt) {
  const Body* chosen = &stmt.otherwise;
  for (const IfStmt::Branch& branch : stmt.branches) {
    RML_ASSIGN(const Value condition, Eval(*branch.condition));
    if (!condition.Truthy()) continue;
    chosen = &branch.body;
    break;
  }
  RML_TRY(runtime_.Enter());
  Expected<Flow> flow = Exec(*chosen);
  runtime_.Leave();
  return flow;
}

Expected<Evaluator::Flow> Evaluator::ExecFor(const ForStmt& stmt) {
  RML_ASSIGN(const Value items, Eval(*stmt.iterable));
  Flow flow = Flow::kNext;
  RML_TRY(RunLoop(stmt, scope_, items, 0, &flow));
  return flow;
}

Status Evaluator::RunLoop(const ForStmt& stmt, const std::shared_ptr<Scope>& around,
                          const Value& items, int depth, Flow* flow) {
  RML_TRY(RequireIterable(items));
  RML_TRY(runtime_.Enter());
  RML_ASSIGN(const Value self,
             runtime_.MakeObject(std::make_shared<Loop>(*this, stmt, around, items, depth)));
  if (stmt.recursive) captured_.push_back(around);
  Loop& loop = static_cast<Loop&>(self.as_object());
  bool completed = false;  // as in Jinja: a round that break or continue cut short does not count
  auto scope = std::make_shared<Scope>(around);
  while (true) {
    RML_ASSIGN(const bool more, loop.Advance(runtime_));
    if (!more) break;
    if (scope.use_count() == 1) {
      scope->Clear();
    } else {  // a macro of the last round holds it
      scope = std::make_shared<Scope>(around);
    }
    const ScopeGuard guard(*this, scope);
    scope->Set("loop", self);
    RML_TRY(Assign(stmt.target, loop.current()));
    RML_ASSIGN(const Flow inner, Exec(stmt.body));
    if (inner == Flow::kBreak) break;
    completed = completed || inner == Flow::kNext;
  }
  if (!completed) {
    const ScopeGuard guard(*this, std::make_shared<Scope>(around));
    RML_ASSIGN(*flow, Exec(stmt.otherwise));
  }
  runtime_.Leave();
  return core::OkStatus();
}

Expected<Value> Evaluator::CallLoop(const ForStmt& loop, const std::shared_ptr<Scope>& around,
                                    const Value& items, int depth) {
  Capture capture(*this);
  Flow flow = Flow::kNext;
  RML_TRY(RunLoop(loop, around, items, depth, &flow));
  return runtime_.MakeString(capture.Take());
}

Expected<bool> Evaluator::Accepts(const ForStmt& loop, const std::shared_ptr<Scope>& around,
                                  const Value& item) {
  const ScopeGuard guard(*this, std::make_shared<Scope>(around));
  RML_TRY(Assign(loop.target, item));
  RML_ASSIGN(const Value accepted, Eval(*loop.condition));
  return accepted.Truthy();
}

Status Evaluator::Assign(const Target& target, Value value) {
  if (!target.attribute.empty()) {
    const Value* space = scope_->Find(target.name);
    if (space == nullptr) space = variables_.Find(target.name);
    auto* attributes = space == nullptr || !space->is_object()
                           ? nullptr
                           : dynamic_cast<Namespace*>(&space->as_object());
    if (attributes == nullptr) {
      return InvalidArgument("cannot assign attribute on non-namespace object '", target.name, "'");
    }
    attributes->Set(target.attribute, std::move(value));
    return core::OkStatus();
  }
  if (!target.name.empty()) {
    scope_->Set(target.name, std::move(value));
    return core::OkStatus();
  }
  RML_ASSIGN(Items items, ToItems(runtime_, value));
  if (items.size() != target.parts.size()) {
    return InvalidArgument(items.size() < target.parts.size() ? "not enough" : "too many",
                           " values to unpack (expected ", target.parts.size(), ", got ",
                           items.size(), ")");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    RML_TRY(Assign(target.parts[i], std::move(items[i])));
  }
  return core::OkStatus();
}

Expected<Value> Evaluator::CaptureBody(const Body& body, const Expr* filter) {
  RML_TRY(runtime_.Enter());
  Value text;
  {
    Capture capture(*this);
    const ScopeGuard guard(*this, std::make_shared<Scope>(scope_));
    RML_TRY(Exec(body));
    RML_ASSIGN(text, runtime_.MakeString(capture.Take()));
  }
  if (filter != nullptr) {
    const Value* outer = std::exchange(filter_subject_, &text);
    Expected<Value> filtered = Eval(*filter);
    filter_subject_ = outer;
    RML_TRY(filtered);
    text = *std::move(filtered);
  }
  runtime_.Leave();
  return text;
}

Status Evaluator::ExecSetBlock(const SetBlockStmt& stmt) {
  RML_ASSIGN(Value text, CaptureBody(stmt.body, stmt.filter.get()));
  return Assign(stmt.target, std::move(text));
}

Status Evaluator::ExecFilterBlock(const FilterBlockStmt& stmt) {
  RML_ASSIGN(const Value text, CaptureBody(stmt.body, stmt.filter.get()));
  return Print(text);
}

Status Evaluator::ExecCallBlock(const CallBlockStmt& stmt) {
  RML_ASSIGN(const Value caller, MakeMacro(stmt.caller));
  RML_ASSIGN(const Value result, EvalCall(*stmt.call, &caller));
  return Print(result);
}

Status Evaluator::ExecWith(const WithStmt& stmt) {
  RML_TRY(runtime_.Enter());
  auto inner = std::make_shared<Scope>(scope_);
  for (const auto& [target, expr] : stmt.variables) {
    RML_ASSIGN(Value value, Eval(*expr));  // in the scope around
    const ScopeGuard guard(*this, inner);
    RML_TRY(Assign(target, std::move(value)));
  }
  const ScopeGuard guard(*this, std::move(inner));
  RML_TRY(Exec(stmt.body));
  runtime_.Leave();
  return core::OkStatus();
}

Expected<Value> Evaluator::MakeMacro(const MacroDef& macro) {
  if (captured_.empty() || captured_.back() != scope_) captured_.push_back(scope_);
  return runtime_.MakeObject(std::make_shared<Macro>(*this, macro, scope_));
}

Expected<Value> Evaluator::CallMacro(const MacroDef& macro,
                                     const std::shared_ptr<Scope>& defined_in,
                                     const CallArgs& args) {
  RML_TRY(runtime_.Enter());
  auto scope = std::make_shared<Scope>(defined_in);
  const ScopeGuard guard(*this, scope);
  const std::vector<MacroDef::Parameter>& parameters = macro.parameters;
  const size_t count = std::min(args.positional.size(), parameters.size());
  for (size_t i = 0; i < count; ++i) scope->Set(parameters[i].name, args.positional[i]);

  Dict others;
  const Value* caller = nullptr;
  std::vector<const Value*> named(parameters.size(), nullptr);
  for (const auto& [name, value] : args.named) {
    size_t i = count;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i < parameters.size()) {
      named[i] = &value;
    } else if (name == "caller" && macro.uses_caller) {
      caller = &value;
    } else {
      others.Set(name, value);
    }
  }
  if (others.size() > 0 && !macro.uses_kwargs) {
    RML_ASSIGN(const std::string name, ToRepr(runtime_, others.entries()[0].key));
    return InvalidArgument("macro '", macro.name, "' takes no keyword argument ", name);
  }
  if (args.positional.size() > count && !macro.uses_varargs) {
    return InvalidArgument("macro '", macro.name, "' takes not more than ", count, " argument(s)");
  }
  if (macro.uses_caller && std::none_of(parameters.begin(), parameters.end(),
                                        [](const auto& p) { return p.name == "caller"; })) {
    scope->Set("caller", caller != nullptr ? *caller : Value::Undefined("No caller defined"));
  }
  if (macro.uses_kwargs) {
    RML_ASSIGN(Value value, runtime_.MakeDict(std::move(others)));
    scope->Set("kwargs", std::move(value));
  }
  if (macro.uses_varargs) {
    RML_ASSIGN(Value value,
               runtime_.MakeTuple(Items(args.positional.begin() + count, args.positional.end())));
    scope->Set("varargs", std::move(value));
  }
  // Defaults last and in order: one may name a parameter before it.
  for (size_t i = count; i < parameters.size(); ++i) {
    Value value;
    if (named[i] != nullptr) {
      value = *named[i];
    } else if (parameters[i].fallback != nullptr) {
      RML_ASSIGN(value, Eval(*parameters[i].fallback));
    } else {
      value = Value::Undefined(StrCat("parameter '", parameters[i].name, "' was not provided"));
    }
    scope->Set(parameters[i].name, std::move(value));
  }
  Capture capture(*this);
  RML_TRY(Exec(macro.body));
  runtime_.Leave();
  return runtime_.MakeString(capture.Take());
}

}  // namespace rml::text::jinja
