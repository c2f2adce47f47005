#include "rml/ops/check/op_case.h"

#include "rml/ops/reference.h"

namespace rml::ops {

using core::Expected;
using core::Tensor;
using ir::Values;

std::string OpCase::ToString() const {
  const std::string types = choice.ToString(*op);
  return core::StrCat(op->name, ", sample ", sample_number, types.empty() ? "" : ", ", types);
}

namespace {

// Samples live as long as the process: cases point to them.
const std::vector<ir::Sample>& KeptSamples(const ir::OpDef& op) {
  static auto* const kept = new std::vector<std::unique_ptr<std::vector<ir::Sample>>>;
  kept->push_back(std::make_unique<std::vector<ir::Sample>>(op.samples()));
  return *kept->back();
}

Expected<OpCase> MakeCase(const ir::OpDef& op, const TypeChoice& choice, const ir::Sample& sample,
                          size_t number) {
  OpCase c;
  c.op = &op;
  c.choice = choice;
  c.sample = &sample;
  c.sample_number = number;
  auto bound = ir::Attributes::Bind(op.attributes, sample.attributes);
  if (!bound.ok()) return bound.status().WithContext(c.ToString());
  c.attributes = *std::move(bound);
  auto inputs = SampleTensors(op, sample, choice);
  if (!inputs.ok()) return inputs.status().WithContext(c.ToString());
  c.inputs = *std::move(inputs);
  return c;
}

}  // namespace

Expected<std::vector<OpCase>> CasesOf(const ir::OpDef& op, bool quick) {
  const std::vector<ir::Sample>& samples = KeptSamples(op);
  const std::vector<TypeChoice> choices = TypeChoices(op);
  std::vector<OpCase> cases;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t t = 0; t < choices.size(); ++t) {
      if (quick && t != 0 && s != t % samples.size()) continue;
      if (quick && samples[s].large) continue;
      RML_ASSIGN(OpCase c, MakeCase(op, choices[t], samples[s], s));
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

Expected<std::vector<OpCase>> GradientCasesOf(const ir::OpDef& op) {
  const std::vector<ir::Sample>& samples = KeptSamples(op);
  TypeChoice choice = TypeChoices(op).front();
  for (size_t v = 0; v < op.types.size(); ++v) {
    if (op.types[v].allowed.Has(core::DType::kF64)) choice.dtypes[v] = core::DType::kF64;
  }
  std::vector<OpCase> cases;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (op.no_gradient || !samples[s].smooth || samples[s].large) continue;
    RML_ASSIGN(OpCase c, MakeCase(op, choice, samples[s], s));
    cases.push_back(std::move(c));
  }
  return cases;
}

Values ValuesOf(std::span<const Tensor> tensors) {
  Values values;
  for (const Tensor& tensor : tensors)
    values.push_back(tensor.defined() ? ir::Value(tensor) : ir::Value());
  return values;
}

Expected<Values> RunCase(ir::Builder& builder, const OpCase& c, std::span<const ir::Value> inputs) {
  return builder.Call(*c.op, inputs, c.attributes);
}

Expected<Values> RunReferenceCase(const OpCase& c) {
  const core::RunContext context;
  EagerBuilder builder(context, {&ReferenceProvider()}, BuiltinOps());
  return RunCase(builder, c, ValuesOf(c.inputs));
}

}  // namespace rml::ops
