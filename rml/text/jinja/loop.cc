#include "rml/text/jinja/loop.h"

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/evaluator.h"
#include "rml/text/jinja/runtime.h"

namespace rml::text::jinja {

using core::InvalidArgument;

Loop::Loop(Evaluator& evaluator, const ForStmt& statement, std::shared_ptr<Scope> around,
           Value items, int depth)
    : evaluator_(evaluator),
      statement_(statement),
      around_(std::move(around)),
      depth_level_(depth),
      cursor_(items) {
  Keeps(items);
}

Expected<std::optional<Value>> Loop::Pull(Runtime& runtime) {
  while (true) {
    RML_ASSIGN(std::optional<Value> item, cursor_.Next(runtime));
    if (!item || statement_.condition == nullptr) return item;
    RML_ASSIGN(const bool accepted, evaluator_.Accepts(statement_, around_, *item));
    if (accepted) return item;
  }
}

Expected<bool> Loop::HasNext(Runtime& runtime) {
  if (!ahead_.empty()) return true;
  RML_ASSIGN(std::optional<Value> item, Pull(runtime));
  if (item) ahead_.push_back(*std::move(item));
  return !ahead_.empty();
}

// Draws everything that is left, as Jinja does for a source without a length.
Expected<int64_t> Loop::Total(Runtime& runtime) {
  while (true) {
    RML_ASSIGN(std::optional<Value> item, Pull(runtime));
    if (!item) break;
    ahead_.push_back(*std::move(item));
  }
  return index_ + 1 + static_cast<int64_t>(ahead_.size());
}

Expected<bool> Loop::Advance(Runtime& runtime) {
  RML_ASSIGN(const bool more, HasNext(runtime));
  if (!more) return false;
  RML_TRY(runtime.CountIteration());
  if (index_ >= 0) previous_ = std::move(current_);
  current_ = std::move(ahead_.front());
  ahead_.pop_front();
  ++index_;
  return true;
}

Expected<std::optional<Value>> Loop::Attribute(Runtime& runtime, std::string_view name) {
  using Result = std::optional<Value>;
  if (name == "index") return Result(Value(index_ + 1));
  if (name == "index0") return Result(Value(index_));
  if (name == "first") return Result(Value(index_ == 0));
  if (name == "last") {
    RML_ASSIGN(const bool more, HasNext(runtime));
    return Result(Value(!more));
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    RML_ASSIGN(const int64_t total, Total(runtime));
    if (name == "length") return Result(Value(total));
    return Result(Value(total - index_ - (name == "revindex" ? 0 : 1)));
  }
  if (name == "previtem") {
    return Result(previous_ ? *previous_ : Value::Undefined("there is no previous item"));
  }
  if (name == "nextitem") {
    RML_ASSIGN(const bool more, HasNext(runtime));
    return Result(more ? ahead_.front() : Value::Undefined("there is no next item"));
  }
  if (name == "depth") return Result(Value(depth_level_ + 1));
  if (name == "depth0") return Result(Value(depth_level_));
  const Function::Body body = name == "cycle" ? Cycle : name == "changed" ? Changed : nullptr;
  if (body == nullptr) return Result();
  const Value self{std::shared_ptr<Object>(shared_from_this())};
  RML_ASSIGN(Value method, runtime.MakeObject(std::make_shared<Function>(
                               name == "cycle" ? "cycle" : "changed", body, self)));
  return Result(std::move(method));
}

Expected<Value> Loop::Cycle(Runtime&, const Value& self, const CallArgs& args) {
  const Loop& loop = static_cast<const Loop&>(self.as_object());
  if (args.positional.empty()) return InvalidArgument("no items for cycling given");
  const int64_t count = static_cast<int64_t>(args.positional.size());
  return args.positional[static_cast<size_t>(loop.index_ % count)];
}

Expected<Value> Loop::Changed(Runtime& runtime, const Value& self, const CallArgs& args) {
  Loop& loop = static_cast<Loop&>(self.as_object());
  const Items& now = args.positional;
  bool same = loop.last_changed_ && loop.last_changed_->size() == now.size();
  for (size_t i = 0; same && i < now.size(); ++i) {
    RML_TRY(runtime.Charge(now[i].weight()));
    same = Equal((*loop.last_changed_)[i], now[i]);
  }
  if (!same) loop.last_changed_ = now;
  return Value(!same);
}

Expected<Value> Loop::Call(Runtime&, const CallArgs& args) {
  if (!statement_.recursive) {
    return InvalidArgument("the loop must have the 'recursive' marker to be called recursively");
  }
  RML_ASSIGN(const BoundArgs bound, Bind("loop", args, {"iterable"}, 1));
  return evaluator_.CallLoop(statement_, around_, *bound[0], depth_level_ + 1);
}

}  // namespace rml::text::jinja
