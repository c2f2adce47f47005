// Attributes: what parametrises one call of an operator beside its inputs. An operator declares
// names, types and defaults (OpDef::attributes); a call holds one value for each, in that order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/ir/type.h"

namespace rml::ir {

class Graph;
using GraphRef = std::shared_ptr<const Graph>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

// A type of attribute is an alternative of this variant. A null GraphRef is "no graph".
using AttrValue =
    std::variant<bool, int64_t, double, std::string, core::DType, Ints, Floats, Dims, GraphRef>;

// "i64", "floats" …: the spelling of messages and files.
std::string_view AttrTypeName(const AttrValue& value);
bool AttrEqual(const AttrValue& a, const AttrValue& b);  // graphs: by their text
std::string ToString(const AttrValue& value);

// A C++ value as an attribute: any integer but bool is an int, any text a string.
template <typename T>
AttrValue MakeAttr(T value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, AttrValue>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string(std::string_view(value));
  } else {
    return AttrValue(std::move(value));
  }
}

// A default of a type that a call must replace.
struct RequiredAttr {
  AttrValue type;  // any value of the type
};

// Copies and the destructor are in attributes.cc: hundreds of these are made in definitions.
struct AttrDef {
  AttrDef(const AttrDef& other);
  AttrDef& operator=(const AttrDef& other);
  ~AttrDef();
  template <typename T>
  AttrDef(std::string_view attr_name, T value)
      : name(attr_name), fallback(MakeAttr(std::move(value))) {}
  AttrDef(std::string_view attr_name, RequiredAttr value)
      : name(attr_name), fallback(std::move(value.type)), required(true) {}

  std::string_view name;
  AttrValue fallback;
  bool required = false;
};

// As a caller writes them: {{"eps", 1e-5}, {"axes", Ints{0}}}. An integer is taken for a float or
// for a list of one, and a list of integers for dimensions, where the operator wants those.
struct NamedAttr {
  NamedAttr(const NamedAttr& other);
  NamedAttr& operator=(const NamedAttr& other);
  ~NamedAttr();
  template <typename T>
  NamedAttr(std::string_view attr_name, T attr_value)
      : name(attr_name), value(MakeAttr(std::move(attr_value))) {}

  std::string_view name;
  AttrValue value;
};
using AttrList = std::vector<NamedAttr>;

class Attributes {
 public:
  Attributes() = default;

  // Fails on a name that is not declared (and says the nearest one), one that is given twice, a
  // value of another type, and a required one left out. An empty list of no required ones costs
  // nothing.
  static core::Expected<Attributes> Bind(std::span<const AttrDef> defs,
                                         std::span<const NamedAttr> given);

  const AttrValue& at(std::span<const AttrDef> defs, size_t place) const {
    return values_ == nullptr ? defs[place].fallback : (*values_)[place];
  }
  bool all_default() const { return values_ == nullptr; }

 private:
  std::shared_ptr<const std::vector<AttrValue>> values_;  // null: all are defaults
};

}  // namespace rml::ir
