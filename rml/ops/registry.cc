#include "rml/ops/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "rml/core/nearest_name.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::OpDef;

Status Registry::Add(OpDef op) {
  RML_TRY(ir::CheckOpDef(op));
  if (by_name_.contains(op.name))
    return core::InvalidArgument("operator \"", op.name, "\" is there already");
  ir::FinishOpDef(&op);
  ops_.push_back(std::make_unique<const OpDef>(std::move(op)));
  const OpDef* const added = ops_.back().get();
  by_name_.emplace(added->name, added);
  sorted_.insert(std::ranges::lower_bound(sorted_, added->name, {}, &OpDef::name), added);
  return {};
}

Expected<const OpDef*> Registry::Find(std::string_view name) const {
  const auto place = by_name_.find(name);
  if (place != by_name_.end()) return place->second;
  std::vector<std::string_view> names;
  for (const OpDef* op : sorted_) names.push_back(op->name);
  return core::NotFound("there is no operator \"", name, "\"", core::DidYouMean(name, names));
}

const Registry& BuiltinOps() {
  static const Registry* const registry = [] {
    auto* const made = new Registry;
    for (const auto& def : BuiltinOpDefs()) {
      const Status status = made->Add(def());
      if (status.ok()) continue;
      std::fprintf(stderr, "rml: %.*s\n", static_cast<int>(status.message().size()),
                   status.message().data());
      std::abort();
    }
    return made;
  }();
  return *registry;
}

}  // namespace rml::ops
