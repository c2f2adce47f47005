#include "rml/ir/attributes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rml/core/nearest_name.h"
#include "rml/ir/graph.h"

namespace rml::ir {

using core::Expected;
using core::StrCat;

namespace {

constexpr std::array<std::string_view, std::variant_size_v<AttrValue>> kTypeNames = {
    "bool", "int", "float", "string", "dtype", "ints", "floats", "dims", "graph"};

template <typename T>
std::string ListText(const std::vector<T>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += StrCat(i > 0 ? ", " : "", values[i]);
  return out + "]";
}

// `value` as the type of `wanted`, where nothing is lost.
std::optional<AttrValue> Coerce(const AttrValue& value, const AttrValue& wanted) {
  if (value.index() == wanted.index()) return value;
  if (const auto* const number = std::get_if<int64_t>(&value)) {
    if (std::holds_alternative<double>(wanted)) return static_cast<double>(*number);
    if (std::holds_alternative<Ints>(wanted)) return Ints{*number};
  }
  if (const auto* const ints = std::get_if<Ints>(&value)) {
    if (std::holds_alternative<Floats>(wanted)) return Floats(ints->begin(), ints->end());
    if (std::holds_alternative<Dims>(wanted) && ints->size() <= core::kMaxRank) {
      Dims dims;
      for (const int64_t dim : *ints) dims.Append(dim);
      return dims;
    }
  }
  return std::nullopt;
}

}  // namespace

AttrDef::AttrDef(const AttrDef& other) = default;
AttrDef& AttrDef::operator=(const AttrDef& other) = default;
AttrDef::~AttrDef() = default;
NamedAttr::NamedAttr(const NamedAttr& other) = default;
NamedAttr& NamedAttr::operator=(const NamedAttr& other) = default;
NamedAttr::~NamedAttr() = default;

std::string_view AttrTypeName(const AttrValue& value) { return kTypeNames[value.index()]; }

std::string ToString(const AttrValue& value) {
  struct Writer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return StrCat(v); }
    std::string operator()(double v) const { return StrCat(v); }
    std::string operator()(const std::string& v) const { return StrCat("\"", v, "\""); }
    std::string operator()(core::DType v) const { return std::string(core::Name(v)); }
    std::string operator()(const Ints& v) const { return ListText(v); }
    std::string operator()(const Floats& v) const { return ListText(v); }
    std::string operator()(const Dims& v) const { return v.ToString(); }
    std::string operator()(const GraphRef& v) const {
      return v == nullptr ? "none" : v->ToString();
    }
  };
  return std::visit(Writer(), value);
}

bool AttrEqual(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (std::holds_alternative<GraphRef>(a)) return a == b || ToString(a) == ToString(b);
  return a == b;
}

Expected<Attributes> Attributes::Bind(std::span<const AttrDef> defs,
                                      std::span<const NamedAttr> given) {
  Attributes bound;
  if (given.empty() && std::ranges::none_of(defs, &AttrDef::required)) return bound;
  std::vector<AttrValue> values;
  values.reserve(defs.size());
  for (const AttrDef& def : defs) values.push_back(def.fallback);
  std::vector<bool> seen(defs.size());
  for (const NamedAttr& attr : given) {
    const auto def = std::ranges::find(defs, attr.name, &AttrDef::name);
    if (def == defs.end()) {
      std::vector<std::string_view> names;
      for (const AttrDef& known : defs) names.push_back(known.name);
      return core::InvalidArgument("there is no attribute \"", attr.name, "\"",
                                   core::DidYouMean(attr.name, names));
    }
    const auto place = static_cast<size_t>(def - defs.begin());
    if (seen[place]) return core::InvalidArgument("attribute \"", attr.name, "\" is given twice");
    seen[place] = true;
    std::optional<AttrValue> value = Coerce(attr.value, def->fallback);
    if (!value) {
      return core::InvalidArgument("attribute \"", attr.name, "\" is of type ",
                                   AttrTypeName(attr.value), ", expected ",
                                   AttrTypeName(def->fallback));
    }
    values[place] = *std::move(value);
  }
  for (size_t i = 0; i < defs.size(); ++i) {
    if (defs[i].required && !seen[i]) {
      return core::InvalidArgument("attribute \"", defs[i].name, "\" must be given");
    }
  }
  bound.values_ = std::make_shared<const std::vector<AttrValue>>(std::move(values));
  return bound;
}

}  // namespace rml::ir
