#include "rml/cli/ops_markdown.h"

#include <algorithm>
#include <variant>

#include "rml/ir/attributes.h"

namespace rml::cli {

namespace {

using core::StrCat;
using ir::Arity;

// "x: T", "bias: T, optional", "inputs: *, any number"
std::string Slot(std::string_view name, std::string_view type, Arity arity) {
  std::string_view suffix;
  if (arity == Arity::kOptional) suffix = ", optional";
  if (arity == Arity::kMany) suffix = ", any number";
  return StrCat("`", name, ": ", type, "`", suffix);
}

template <typename List, typename Entry>
std::string Join(const List& list, std::string_view separator, Entry&& entry) {
  std::string joined;
  for (const auto& item : list) {
    const std::string text = entry(item);
    if (text.empty()) continue;
    if (!joined.empty()) joined += separator;
    joined += text;
  }
  return joined;
}

std::string Attribute(const ir::AttrDef& attribute) {
  if (std::holds_alternative<ir::GraphRef>(attribute.fallback))
    return StrCat("`", attribute.name, "`: a graph");
  if (attribute.required)
    return StrCat("`", attribute.name, "`: ", ir::AttrTypeName(attribute.fallback), ", required");
  return StrCat("`", attribute.name, "` = ", ir::ToString(attribute.fallback));
}

std::string_view Gradient(const ir::OpDef& op) {
  if (op.no_gradient) return "none";
  return op.vjp ? "written" : "of its decomposition";
}

void AddRow(std::string_view name, const std::string& content, std::string* out) {
  if (!content.empty()) *out += StrCat("- ", name, ": ", content, "\n");
}

void Describe(const ir::OpDef& op, const ops::ProviderList& providers, std::string* out) {
  *out += StrCat("\n## ", op.name, "\n\n", op.doc, "\n\n");
  AddRow("inputs",
         Join(op.inputs, "; ",
              [](const ir::InputDef& input) { return Slot(input.name, input.type, input.arity); }),
         out);
  AddRow("outputs",
         Join(op.outputs, "; ",
              [](const ir::OutputDef& output) {
                const bool saved = output.kind == ir::OutputKind::kSaved;
                return StrCat(Slot(output.name, output.type, output.arity),
                              saved ? ", kept for the gradient" : "");
              }),
         out);
  AddRow("types",
         Join(op.types, "; ",
              [&](const ir::TypeVar& var) {
                const auto uses = [&](std::string_view type) { return type == var.name; };
                const bool used = std::ranges::any_of(op.inputs, uses, &ir::InputDef::type) ||
                                  std::ranges::any_of(op.outputs, uses, &ir::OutputDef::type);
                return used ? StrCat(var.name, " in ", var.allowed.ToString()) : std::string();
              }),
         out);
  AddRow("attributes", Join(op.attributes, "; ", Attribute), out);
  AddRow("aliases",
         Join(op.aliases, "; ",
              [&](const ir::Alias& alias) {
                return StrCat("`", op.outputs[static_cast<size_t>(alias.out)].name, "` updates `",
                              op.inputs[static_cast<size_t>(alias.in)].name, "`");
              }),
         out);
  AddRow("gradient", std::string(Gradient(op)), out);
  AddRow("kernels",
         Join(providers, ", ",
              [&](const ops::Provider* provider) {
                return Join(provider->Kernels(op.name), ", ", [&](const ops::Kernel& kernel) {
                  return StrCat(provider->name(), ":", kernel.name);
                });
              }),
         out);
}

}  // namespace

std::string OperatorsMarkdown(std::span<const ir::OpDef* const> operators,
                              const ops::ProviderList& providers) {
  std::string out = StrCat(
      "# Operators\n\n"
      "Written by `rml ops list --markdown` from the definitions in `rml/ops/defs`: change those, "
      "not this file.\n\n"
      "There are ",
      operators.size(),
      ". A type is a dtype, or a variable that stands for the same "
      "one wherever the operator names it; `*` is any. Shapes broadcast as NumPy's where the text "
      "says so. Kernels stand in the order in which a call asks them (docs/adding-a-provider.md); "
      "`reference` is the definition itself. Providers that need a library which a build may lack "
      "are left out here: `rml ops list` says what a build has.\n");
  for (const ir::OpDef* op : operators) Describe(*op, providers, &out);
  return out;
}

}  // namespace rml::cli
