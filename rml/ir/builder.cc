#include "rml/ir/builder.h"

#include "rml/core/error.h"

namespace rml::ir {

Values Builder::CallByName(std::string_view name, std::span<const Value> inputs,
                           std::span<const NamedAttr> attributes) {
  const auto op = operators().Find(name);
  if (!op.ok()) throw Error(op.status());
  auto bound = Attributes::Bind((*op)->attributes, attributes);
  if (!bound.ok()) throw Error(bound.status().WithContext(name));
  auto values = Call(**op, inputs, *bound);
  if (!values.ok()) throw Error(values.status());
  return *std::move(values);
}

}  // namespace rml::ir
