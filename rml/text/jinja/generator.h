// Generator: the lazy, one-pass iterators that map, select, batch … return, as in Jinja: they have
// no length, print no items and are always true.
#pragma once

#include <functional>
#include <optional>

#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/object.h"

namespace rml::text::jinja {

class Generator : public Object {
 public:
  // The next item, drawn from the cursor; nothing at the end.
  using Step = std::function<Expected<std::optional<Value>>(Runtime&, Cursor&)>;

  // `source` must be iterable. `kept` are the values that the step holds on to.
  Generator(const Value& source, Step step, const Items& kept = {})
      : cursor_(source), step_(std::move(step)) {
    Keeps(source);
    for (const Value& value : kept) Keeps(value);
  }

  std::string_view type_name() const override { return "generator"; }
  bool is_iterator() const override { return true; }
  Expected<std::optional<Value>> Next(Runtime& runtime) override {
    if (done_) return std::optional<Value>();
    RML_ASSIGN(std::optional<Value> item, step_(runtime, cursor_));
    done_ = !item.has_value();
    return item;
  }

 private:
  Cursor cursor_;
  Step step_;
  bool done_ = false;
};

}  // namespace rml::text::jinja
