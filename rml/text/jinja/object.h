// Object: the base of every value that is neither data nor text: macros, methods, namespaces,
// generators, the `loop` variable. Each overrides only the abilities it has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

class Runtime;

// The arguments of one call, evaluated.
struct CallArgs {
  Items positional;
  std::vector<std::pair<std::string, Value>> named;
};

class Object {
 public:
  virtual ~Object() = default;

  virtual std::string_view type_name() const = 0;
  virtual std::string Describe() const;  // what {{ object }} prints
  // "module.Class object", as messages about a missing attribute call it.
  virtual std::string qualified_name() const;

  // Nothing when there is no such attribute.
  virtual Expected<std::optional<Value>> Attribute(Runtime& runtime, std::string_view name);
  // Nothing when the object has no len().
  virtual std::optional<int64_t> Length() const { return std::nullopt; }

  virtual bool is_callable() const { return false; }
  virtual Expected<Value> Call(Runtime& runtime, const CallArgs& args);

  // A generator: it can be walked over once.
  virtual bool is_iterator() const { return false; }
  virtual Expected<std::optional<Value>> Next(Runtime& runtime);

  // Nesting of the values that it keeps alive, for Runtime's limit.
  int depth() const { return depth_; }

 protected:
  Object() = default;
  void Keeps(const Value& value);

 private:
  int depth_ = 1;
};

// namespace(): the one thing that a template can change.
class Namespace : public Object {
 public:
  explicit Namespace(Dict attributes) : attributes_(std::move(attributes)) {}

  std::string_view type_name() const override { return "Namespace"; }
  std::string qualified_name() const override { return "jinja2.utils.Namespace object"; }
  Expected<std::optional<Value>> Attribute(Runtime& runtime, std::string_view name) override;

  const Dict& attributes() const { return attributes_; }
  void Set(std::string_view name, Value value) { attributes_.Set(name, std::move(value)); }
  void Clear() { attributes_.Clear(); }

 private:
  Dict attributes_;
};

// A built-in function or a method bound to its object.
class Function : public Object {
 public:
  using Body = Expected<Value> (*)(Runtime& runtime, const Value& self, const CallArgs& args);

  Function(std::string_view name, Body body, Value self = {})
      : name_(name), body_(body), self_(std::move(self)) {
    Keeps(self_);
  }

  std::string_view type_name() const override { return "builtin_function_or_method"; }
  std::string Describe() const override;
  bool is_callable() const override { return true; }
  Expected<Value> Call(Runtime& runtime, const CallArgs& args) override {
    return body_(runtime, self_, args);
  }

 private:
  std::string_view name_;  // of a table, so it outlives the function
  Body body_;
  Value self_;
};

}  // namespace rml::text::jinja
