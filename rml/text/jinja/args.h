// Binding of a call's arguments to a built-in's parameters, by place and by name as Python does it,
// and reading them as C++ types. Errors name the function and the parameter.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "rml/text/jinja/object.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

class BoundArgs {
 public:
  BoundArgs(std::string_view function, std::initializer_list<std::string_view> names)
      : function_(function), names_(names), values_(names.size(), nullptr) {}

  // Null when the caller did not give it.
  const Value* operator[](size_t i) const { return values_[i]; }
  bool has(size_t i) const { return values_[i] != nullptr; }
  Value value_or(size_t i, Value fallback) const { return has(i) ? *values_[i] : fallback; }

  Expected<int64_t> Int(size_t i, int64_t fallback) const;
  // A missing argument and None are both the fallback.
  Expected<std::string_view> Text(size_t i, std::string_view fallback) const;
  bool Bool(size_t i, bool fallback) const { return has(i) ? values_[i]->Truthy() : fallback; }

 private:
  friend Expected<BoundArgs> Bind(std::string_view, const CallArgs&,
                                  std::initializer_list<std::string_view>, size_t);

  std::string_view function_;
  std::vector<std::string_view> names_;
  std::vector<const Value*> values_;  // into the CallArgs
};

// The first `required` parameters must be given. The result points into `args`.
Expected<BoundArgs> Bind(std::string_view function, const CallArgs& args,
                         std::initializer_list<std::string_view> names, size_t required = 0);

}  // namespace rml::text::jinja
