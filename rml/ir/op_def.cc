#include "rml/ir/op_def.h"

#include <algorithm>
#include <cctype>

#include "rml/ir/expr_call.h"
#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"

namespace rml::ir {

using core::InvalidArgument;
using core::Status;

std::vector<core::DType> DTypeSet::list() const {
  std::vector<core::DType> dtypes;
  for (int i = 0; i < core::kDTypeCount; ++i) {
    if (Has(static_cast<core::DType>(i))) dtypes.push_back(static_cast<core::DType>(i));
  }
  return dtypes;
}

std::string DTypeSet::ToString() const {
  std::string out;
  for (const core::DType dtype : list())
    out += core::StrCat(out.empty() ? "" : ", ", core::Name(dtype));
  return out;
}

int OpDef::input_place(std::string_view input) const {
  const auto place = std::ranges::find(inputs, input, &InputDef::name);
  return place == inputs.end() ? -1 : static_cast<int>(place - inputs.begin());
}

int OpDef::attribute_place(std::string_view attribute) const {
  // Few are declared: this beats any table.
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name == attribute) return static_cast<int>(i);
  }
  return -1;
}

const InputDef& OpDef::input_def(int i) const {
  return inputs[std::min(static_cast<size_t>(i), inputs.size() - 1)];
}

const OutputDef& OpDef::output_def(int i) const {
  return outputs[std::min(static_cast<size_t>(i), outputs.size() - 1)];
}

const TypeVar* OpDef::type_var(std::string_view type) const {
  const auto var = std::ranges::find(types, type, &TypeVar::name);
  return var == types.end() ? nullptr : &*var;
}

bool OpDef::takes_graph() const {
  return std::ranges::any_of(attributes, [](const AttrDef& attribute) {
    return std::holds_alternative<GraphRef>(attribute.fallback);
  });
}

namespace {

bool IsOpName(std::string_view name) {
  const auto allowed = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && std::islower(static_cast<unsigned char>(name[0])) != 0 &&
         std::ranges::all_of(name, allowed);
}

Status CheckOperands(const OpDef& op) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const InputDef& input = op.inputs[i];
    if (input.arity == Arity::kMany && i + 1 != op.inputs.size()) {
      return InvalidArgument("input ", input.name, " takes any number, and is not the last");
    }
    if (input.type != "*" && op.type_var(input.type) == nullptr && !core::ParseDType(input.type)) {
      return InvalidArgument("input ", input.name, " has the unknown type ", input.type);
    }
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.outputs[i].arity == Arity::kOptional) {
      return InvalidArgument("output ", op.outputs[i].name, " cannot be optional");
    }
    if (op.outputs[i].arity == Arity::kMany && i + 1 != op.outputs.size()) {
      return InvalidArgument("output ", op.outputs[i].name,
                             " stands for any number, and is not the last");
    }
  }
  for (const Alias& alias : op.aliases) {
    const bool known = alias.in >= 0 && alias.out >= 0 &&
                       static_cast<size_t>(alias.in) < op.inputs.size() &&
                       static_cast<size_t>(alias.out) < op.outputs.size();
    if (!known)
      return InvalidArgument("an alias names input ", alias.in, " and output ", alias.out);
  }
  return {};
}

Status CheckAxes(const OpDef& op) {
  if (op.axes.text().empty()) return {};
  RML_ASSIGN(const AxesText text, ParseAxes(op.axes.text()));
  if (text.inputs.size() != op.inputs.size() || text.outputs.size() != op.outputs.size()) {
    return InvalidArgument("axes name ", text.inputs.size(), " inputs and ", text.outputs.size(),
                           " outputs");
  }
  return {};
}

}  // namespace

void FinishOpDef(OpDef* op) {
  op->input_types.clear();
  for (const InputDef& input : op->inputs) {
    int type = OpDef::kAnyType;
    if (const TypeVar* const var = op->type_var(input.type); var != nullptr) {
      type = static_cast<int>(var - op->types.data());
    } else if (const auto dtype = core::ParseDType(input.type)) {
      type = -2 - static_cast<int>(*dtype);
    }
    op->input_types.push_back(type);
  }
}

Status CheckOpDef(const OpDef& op) {
  const auto check = [&]() -> Status {
    if (!IsOpName(op.name)) return InvalidArgument("a name is lower-case letters, digits and _");
    if (op.doc.empty()) return InvalidArgument("doc is missing");
    if (op.outputs.empty()) return InvalidArgument("outputs are missing");
    RML_TRY(CheckOperands(op));
    RML_TRY(CheckAxes(op));
    if (!op.infer && op.axes.text().empty())
      return InvalidArgument("infer is missing, and axes give no shapes");
    if (!op.reference == !op.decompose)
      return InvalidArgument("there must be a reference or a decomposition");
    if (!op.vjp && !op.decompose && !op.no_gradient)
      return InvalidArgument("vjp is missing; or say no_gradient");
    if (!op.samples) return InvalidArgument("samples are missing");
    return {};
  };
  const Status status = check();
  return status.ok() ? status : status.WithContext(core::StrCat("operator \"", op.name, "\""));
}

}  // namespace rml::ir
