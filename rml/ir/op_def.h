// OpDef: everything rml knows about one operator, in one value. The operators themselves are in
// rml/ops/defs, one file each; what is derived from a definition is listed in docs/architecture.md,
// idea 1. A definition never names a device: kernels are the business of providers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/inline_vector.h"
#include "rml/ir/attributes.h"
#include "rml/ir/axes.h"
#include "rml/ir/cost.h"
#include "rml/ir/dtype_set.h"
#include "rml/ir/sample.h"
#include "rml/ir/type.h"

namespace rml::ir {

class OpCall;
class RefCall;
class ExprCall;
class Value;

using Types = core::InlineVector<Type, 2>;
using Values = core::InlineVector<Value, 2>;

enum class Arity : uint8_t {
  kOne,
  kOptional,  // may be left out: an undefined Value, or nothing at the end
  kMany,      // any number, of one type variable each; only the last input or output
};

enum class OutputKind : uint8_t {
  kResult,
  kSaved,  // made only for the gradient; expressions do not return it
};

// `type` names a type variable of the operator ("T"), which all its uses share in one call, or a
// dtype ("i64"). "*" is any dtype, with no relation to others.
struct InputDef {
  std::string_view name;
  std::string_view type = "T";
  Arity arity = Arity::kOne;
};

struct OutputDef {
  std::string_view name;
  std::string_view type = "T";
  OutputKind kind = OutputKind::kResult;
  Arity arity = Arity::kOne;  // kOne or kMany
};

struct TypeVar {
  std::string_view name;
  DTypeSet allowed;
};

// output `out` is an update of input `in`: same type, and the same memory where the input dies with
// the call. A kernel finds the input's content in the output, and changes what it must; where an
// optional input is left out, it writes all of the output.
struct Alias {
  int out = 0;
  int in = 0;
};

// Relative to the size of the expected values; see rml/ops/compare.h for the measure. A zero asks
// for equal bits. Integers and booleans always do.
struct Tolerance {
  double f64 = 1e-11;
  double f32 = 1e-5;
  double f16 = 4e-3;
  double bf16 = 3e-2;
  double f8 = 0.3;
};

struct OpDef {
  std::string_view name;
  // One line, then formulas and conventions where they are not obvious; Markdown.
  std::string_view doc;
  int version = 1;  // of its meaning; files of older versions are upgraded when they are read

  std::vector<InputDef> inputs;
  std::vector<OutputDef> outputs;
  std::vector<AttrDef> attributes;
  std::vector<TypeVar> types = {{"T", kFloats}};

  // Roles of the axes; without one, every axis must be whole. Where all inputs and outputs are
  // named, shapes are checked against the text, and `infer` may be left out.
  AxesRule axes;
  // Fills the types of the outputs, dtypes included, from call.input(i) and attributes. Messages
  // need no operator's name: the caller adds it. Arity, dtypes and `axes` have been checked before.
  std::function<core::Status(const OpCall& call, Types* outputs)> infer;

  // The meaning: one of the two. A reference is readable, and works on wide arrays (double, int64_t
  // …), see ref_call.h. A decomposition gives gradient and cost as well.
  std::function<core::Status(RefCall& call)> reference;
  std::function<Values(ExprCall& call)> decompose;

  // The gradients of the inputs, undefined where there is none or it is not needed; throws
  // rml::Error. Beside a decomposition it may be left out, or checked against it.
  std::function<Values(ExprCall& call)> vjp;
  // Set where the derivative is zero or makes no sense, as for argmax.
  bool no_gradient = false;

  // Without one: a floating-point operation for each output element, every byte moved once.
  std::function<Cost(const OpCall& call)> cost;

  std::vector<Alias> aliases;
  // Attributes of the same call on one piece of a split axis, where they depend on sizes or places.
  std::function<core::Expected<AttrList>(const OpCall& call, const AxisPiece& piece)> localize;

  std::function<std::vector<Sample>()> samples;
  Tolerance tolerance;
  // Runs through Collectives: a call concerns every member of a group.
  bool collective = false;

  // Which type variable each input is of, kAnyType, or -2 - dtype; made by FinishOpDef.
  static constexpr int kAnyType = -1;
  std::vector<int> input_types;

  int input_place(std::string_view input) const;  // -1: there is none
  int attribute_place(std::string_view attribute) const;
  bool many_inputs() const { return !inputs.empty() && inputs.back().arity == Arity::kMany; }
  bool many_outputs() const { return !outputs.empty() && outputs.back().arity == Arity::kMany; }
  const InputDef& input_def(int i) const;  // of the i-th value given, the last one's for kMany
  const OutputDef& output_def(int i) const;
  const TypeVar* type_var(std::string_view type) const;
  bool takes_graph() const;  // as an attribute; it states the dtypes of its own values
};

// Says which required field is missing or which fields contradict each other.
core::Status CheckOpDef(const OpDef& op);
// Derives what calls would otherwise look up each time. A registry does it.
void FinishOpDef(OpDef* op);

}  // namespace rml::ir
