#include "rml/ir/symbol_bindings.h"

namespace rml::ir {

using core::Expected;
using core::Status;

Status SymbolBindings::Bind(const Type& declared, const Type& given) {
  const auto differ = [&](const auto&... why) {
    return core::InvalidArgument("expected ", declared.ToString(), ", got ", given.ToString(),
                                 why...);
  };
  if (declared.dtype != given.dtype || declared.rank() != given.rank()) return differ();
  for (int axis = 0; axis < declared.rank(); ++axis) {
    const Dim want = declared.dims[axis];
    const Dim got = given.dims[axis];
    if (want == got && want.is_integer()) continue;
    if (!want.is_symbol()) {
      const Dim value = Substitute(want);
      if (value == got || !value.Symbols().empty()) continue;
      return differ(": axis ", axis, " must be ", value.ToString());
    }
    if (got.max() < want.min() || got.min() > want.max()) {
      return differ(": ", want.ToString(), " is from ", want.min(), " to ", want.max());
    }
    const auto [place, added] = bound_.try_emplace(want.code(), got);
    if (!added && !(place->second == got)) {
      return differ(": ", want.ToString(), " is ", place->second.ToString(), " elsewhere");
    }
  }
  return {};
}

Status SymbolBindings::BindResult(const Type& declared, const Type& result) {
  if (declared.rank() != result.rank()) {
    return core::Internal("a result of type ", declared.ToString(), " came out as ",
                          result.ToString());
  }
  for (int axis = 0; axis < declared.rank(); ++axis) {
    const Dim want = declared.dims[axis];
    if (!want.is_integer() && want.is_symbol()) bound_.try_emplace(want.code(), result.dims[axis]);
  }
  return {};
}

Dim SymbolBindings::Substitute(Dim dim) const {
  if (dim.is_integer()) return dim;
  return dim.Substitute([&](Dim symbol) {
    const auto place = bound_.find(symbol.code());
    return place == bound_.end() ? symbol : place->second;
  });
}

Dims SymbolBindings::Substitute(const Dims& dims) const {
  Dims out;
  for (const Dim dim : dims) out.Append(Substitute(dim));
  return out;
}

Expected<Attributes> SymbolBindings::Substitute(const OpDef& op,
                                                const Attributes& attributes) const {
  bool symbolic = false;
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const auto* const dims = std::get_if<Dims>(&attributes.at(op.attributes, i));
    symbolic = symbolic || (dims != nullptr && !dims->is_static());
  }
  if (!symbolic) return attributes;
  AttrList list;
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    AttrValue value = attributes.at(op.attributes, i);
    if (auto* const dims = std::get_if<Dims>(&value)) *dims = Substitute(*dims);
    list.push_back({op.attributes[i].name, std::move(value)});
  }
  return Attributes::Bind(op.attributes, list);
}

}  // namespace rml::ir
