#include "rml/text/jinja/args.h"

#include <algorithm>

namespace rml::text::jinja {

using core::InvalidArgument;

Expected<BoundArgs> Bind(std::string_view function, const CallArgs& args,
                         std::initializer_list<std::string_view> names, size_t required) {
  BoundArgs bound(function, names);
  if (args.positional.size() > names.size()) {
    return InvalidArgument(function, "() takes at most ", names.size(), " argument(s), got ",
                           args.positional.size());
  }
  for (size_t i = 0; i < args.positional.size(); ++i) bound.values_[i] = &args.positional[i];
  for (const auto& [name, value] : args.named) {
    const auto it = std::find(bound.names_.begin(), bound.names_.end(), name);
    if (it == bound.names_.end()) {
      return InvalidArgument(function, "() got an unexpected keyword argument '", name, "'");
    }
    const Value*& slot = bound.values_[it - bound.names_.begin()];
    if (slot != nullptr) {
      return InvalidArgument(function, "() got multiple values for argument '", name, "'");
    }
    slot = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (bound.values_[i] == nullptr) {
      return InvalidArgument(function, "() misses its argument '", bound.names_[i], "'");
    }
  }
  return bound;
}

Expected<int64_t> BoundArgs::Int(size_t i, int64_t fallback) const {
  if (!has(i)) return fallback;
  if (values_[i]->is_integral()) return values_[i]->as_int();
  return InvalidArgument(function_, "() wants an integer for '", names_[i], "', not ",
                         values_[i]->type_name());
}

Expected<std::string_view> BoundArgs::Text(size_t i, std::string_view fallback) const {
  if (!has(i) || values_[i]->is_none()) return fallback;
  if (values_[i]->is_string()) return values_[i]->text();
  return InvalidArgument(function_, "() wants a string for '", names_[i], "', not ",
                         values_[i]->type_name());
}

}  // namespace rml::text::jinja
