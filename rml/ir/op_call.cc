#include "rml/ir/op_call.h"

#include <algorithm>
#include <array>
#include <climits>

#include "rml/core/check.h"

namespace rml::ir {

using core::Expected;
using core::Status;
using core::StrCat;

namespace {

Status CheckArity(const OpCall& call) {
  const OpDef& op = call.op();
  const auto declared = static_cast<int>(op.inputs.size());
  const int most = op.many_inputs() ? INT_MAX : declared;
  if (call.inputs() > most) {
    return core::InvalidArgument(call.inputs(), " inputs, and it takes at most ", most);
  }
  for (int i = 0; i < declared; ++i) {
    if (op.inputs[static_cast<size_t>(i)].arity == Arity::kOne && !call.has(i)) {
      return core::InvalidArgument("input ", op.inputs[static_cast<size_t>(i)].name, " is missing");
    }
  }
  for (int i = declared; i < call.inputs(); ++i) {
    if (!call.has(i)) return core::InvalidArgument("input ", call.input_name(i), " is missing");
  }
  return {};
}

// Binds type variables to dtypes, from the inputs.
Status CheckDTypes(const OpCall& call) {
  const OpDef& op = call.op();
  RML_CHECK(op.input_types.size() == op.inputs.size());  // FinishOpDef has seen it
  std::array<int, 8> bound;                              // the input that a variable is bound by
  bound.fill(-1);
  RML_CHECK(op.types.size() <= bound.size());
  for (int i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    const int type = op.input_types[std::min(static_cast<size_t>(i), op.inputs.size() - 1)];
    const core::DType dtype = call.dtype(i);
    if (type == OpDef::kAnyType) continue;
    if (type < 0) {
      if (type == -2 - static_cast<int>(dtype)) continue;
      return core::InvalidArgument(call.input_name(i), " is ", core::Name(dtype), ", expected ",
                                   op.input_def(i).type);
    }
    const TypeVar& var = op.types[static_cast<size_t>(type)];
    if (!var.allowed.Has(dtype)) {
      return core::Unsupported(call.input_name(i), " is ", core::Name(dtype), ", expected one of ",
                               var.allowed.ToString());
    }
    int& first = bound[static_cast<size_t>(type)];
    if (first < 0) {
      first = i;
    } else if (call.dtype(first) != dtype) {
      return core::InvalidArgument(call.input_name(first), " is ", core::Name(call.dtype(first)),
                                   " and ", call.input_name(i), " is ", core::Name(dtype),
                                   "; they must be of one dtype");
    }
  }
  return {};
}

// The dtype of an output without inference of its own.
Expected<core::DType> OutputDType(const OpCall& call, const OutputDef& output) {
  for (int i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && call.op().input_def(i).type == output.type) return call.dtype(i);
  }
  if (const auto dtype = core::ParseDType(output.type)) return *dtype;
  return core::Internal("output ", output.name, " has the type ", output.type,
                        ", which no input binds: the operator must infer it");
}

Status InferFromAxes(const OpCall& call, Types* outputs) {
  RML_ASSIGN(const std::vector<Dims> dims, OutputDims(call));
  for (size_t i = 0; i < dims.size(); ++i) {
    RML_ASSIGN(const core::DType dtype, OutputDType(call, call.op().outputs[i]));
    outputs->push_back({dtype, dims[i]});
  }
  return {};
}

Status Infer(const OpCall& call, Types* outputs) {
  outputs->clear();
  RML_TRY(CheckArity(call));
  RML_TRY(CheckDTypes(call));
  const OpDef& op = call.op();
  if (!op.infer) {
    RML_TRY(InferFromAxes(call, outputs));
  } else {
    if (!op.axes.text().empty()) RML_TRY(ResolveAxes(call));
    RML_TRY(op.infer(call, outputs));
  }
  for (const Type& type : *outputs) RML_TRY(type.dims.Check());
  const bool count_fits = op.many_outputs() ? outputs->size() + 1 >= op.outputs.size()
                                            : outputs->size() == op.outputs.size();
  if (!count_fits) return core::Internal(outputs->size(), " outputs were inferred");
  for (const Alias& alias : op.aliases) {
    if (!call.has(alias.in)) continue;
    if ((*outputs)[static_cast<size_t>(alias.out)] == call.input(alias.in)) continue;
    return core::InvalidArgument(call.input_name(alias.in), " is ", call.input(alias.in).ToString(),
                                 ", and its update is ",
                                 (*outputs)[static_cast<size_t>(alias.out)].ToString());
  }
  return {};
}

double Bytes(const Type& type) {
  const core::DTypeInfo& info = core::Info(type.dtype);
  return static_cast<double>(type.dims.elements().max()) * info.block_bytes / info.block_elements;
}

}  // namespace

size_t OpCall::AttrPlace(std::string_view name) const {
  const int place = op_.attribute_place(name);
  RML_CHECK(place >= 0);
  return static_cast<size_t>(place);
}

std::string OpCall::input_name(int i) const {
  const InputDef& def = op_.input_def(i);
  if (def.arity != Arity::kMany) return std::string(def.name);
  return StrCat(def.name, "[", i - static_cast<int>(op_.inputs.size()) + 1, "]");
}

std::optional<Ints> OpCall::constant_ints(int i) const {
  if (!has(i) || inputs_[static_cast<size_t>(i)].constant == nullptr) return std::nullopt;
  const core::Tensor& tensor = *inputs_[static_cast<size_t>(i)].constant;
  Ints values;
  if (auto wide = tensor.HostData<int64_t>(); wide.ok()) {
    values.assign(wide->begin(), wide->end());
  } else if (auto narrow = tensor.HostData<int32_t>(); narrow.ok()) {
    values.assign(narrow->begin(), narrow->end());
  } else {
    return std::nullopt;
  }
  return values;
}

Expected<int> NormalizeAxis(int64_t axis, int rank) {
  const int64_t place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank) {
    return core::InvalidArgument("axis ", axis, " is outside a value of ", rank, " dimensions");
  }
  return static_cast<int>(place);
}

Expected<int> OpCall::axis(std::string_view name, int rank) const {
  return NormalizeAxis(integer(name), rank);
}

Expected<Ints> OpCall::axes(std::string_view name, int rank, bool empty_is_all) const {
  Ints places;
  for (const int64_t axis : ints(name)) {
    RML_ASSIGN(const int place, NormalizeAxis(axis, rank));
    if (std::ranges::find(places, place) != places.end()) {
      return core::InvalidArgument("axis ", axis, " is named twice in ", name);
    }
    places.push_back(place);
  }
  if (places.empty() && empty_is_all) {
    for (int i = 0; i < rank; ++i) places.push_back(i);
  }
  std::ranges::sort(places);
  return places;
}

Dim OpCall::FreshDim(int number, Dim max) const {
  return Dim::Symbol(StrCat(fresh_prefix_.empty() ? op_.name : fresh_prefix_, ".", number), 0,
                     max.max());
}

Status InferTypes(const OpCall& call, Types* outputs) {
  const Status status = Infer(call, outputs);
  return status.ok() ? status : status.WithContext(call.op().name);
}

Cost CostOf(const OpCall& call, std::span<const Type> outputs) {
  if (call.op().cost) return call.op().cost(call);
  Cost cost;
  for (const OpCall::Input& input : call.all_inputs()) {
    if (input.given) cost.bytes_read += Bytes(input.type);
  }
  for (const Type& type : outputs) {
    cost.bytes_written += Bytes(type);
    cost.flops += static_cast<double>(type.dims.elements().max());
  }
  return cost;
}

}  // namespace rml::ir
