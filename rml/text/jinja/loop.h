// The `loop` variable of a {% for %}: it draws the items, and knows those before and after.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "rml/text/jinja/ast.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/object.h"
#include "rml/text/jinja/scope.h"

namespace rml::text::jinja {

class Evaluator;

class Loop : public Object, public std::enable_shared_from_this<Loop> {
 public:
  // `items` must be iterable. `depth` counts recursive loops, from 0.
  Loop(Evaluator& evaluator, const ForStmt& statement, std::shared_ptr<Scope> around, Value items,
       int depth);

  // Moves to the next item that the loop's `if` accepts; false at the end.
  Expected<bool> Advance(Runtime& runtime);
  const Value& current() const { return current_; }

  std::string_view type_name() const override { return "LoopContext"; }
  std::string qualified_name() const override { return "jinja2.runtime.LoopContext object"; }
  Expected<std::optional<Value>> Attribute(Runtime& runtime, std::string_view name) override;
  bool is_callable() const override { return statement_.recursive; }
  Expected<Value> Call(Runtime& runtime, const CallArgs& args) override;

 private:
  static Expected<Value> Cycle(Runtime& runtime, const Value& self, const CallArgs& args);
  static Expected<Value> Changed(Runtime& runtime, const Value& self, const CallArgs& args);

  Expected<std::optional<Value>> Pull(Runtime& runtime);
  Expected<bool> HasNext(Runtime& runtime);
  Expected<int64_t> Total(Runtime& runtime);

  Evaluator& evaluator_;
  const ForStmt& statement_;
  const std::shared_ptr<Scope> around_;
  const int depth_level_;
  Cursor cursor_;
  std::deque<Value> ahead_;  // drawn, and not yet reached
  std::optional<Value> previous_;
  Value current_;
  std::optional<Items> last_changed_;
  int64_t index_ = -1;  // of the current item
};

}  // namespace rml::text::jinja
