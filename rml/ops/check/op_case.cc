#include "rml/ops/check/op_case.h"

#include <algorithm>
#include <functional>

#include "rml/ops/reference.h"

namespace rml::ops {

using core::Expected;
using core::Tensor;
using ir::Values;

std::string OpCase::ToString() const {
  const std::string types = choice.ToString(*op);
  return core::StrCat(op->name, ", sample ", sample_number, grown ? " (grown)" : "",
                      types.empty() ? "" : ", ", types);
}

std::vector<ir::OpCall::Input> OpCase::known() const {
  std::vector<ir::OpCall::Input> known;
  for (const Tensor& tensor : inputs) {
    known.push_back({.type = {}, .given = tensor.defined()});
    if (tensor.defined()) known.back().type = {tensor.dtype(), ir::Dims(tensor.shape())};
  }
  return known;
}

namespace {

using SharedSample = std::shared_ptr<const ir::Sample>;

std::vector<SharedSample> SamplesOf(const ir::OpDef& op) {
  std::vector<SharedSample> samples;
  for (ir::Sample& sample : op.samples())
    samples.push_back(std::make_shared<const ir::Sample>(std::move(sample)));
  return samples;
}

Expected<OpCase> MakeCase(const ir::OpDef& op, const TypeChoice& choice, SharedSample sample,
                          size_t number) {
  OpCase c;
  c.op = &op;
  c.choice = choice;
  c.sample = std::move(sample);
  c.sample_number = number;
  auto bound = ir::Attributes::Bind(op.attributes, c.sample->attributes);
  if (!bound.ok()) return bound.status().WithContext(c.ToString());
  c.attributes = *std::move(bound);
  auto inputs = SampleTensors(op, *c.sample, choice);
  if (!inputs.ok()) return inputs.status().WithContext(c.ToString());
  c.inputs = *std::move(inputs);
  return c;
}

// The sample with one axis of another size; it must be there in some input.
ir::Sample WithAxis(ir::Sample sample, const ir::NamedAxis& axis, int64_t size) {
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    if (axis.inputs[i] < 0) continue;
    core::Shape& shape = sample.inputs[i].shape;
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims[static_cast<size_t>(axis.inputs[i])] = size;
    shape = *core::Shape::Make(dims);
  }
  return sample;
}

}  // namespace

Expected<std::vector<OpCase>> CasesOf(const ir::OpDef& op, bool quick) {
  const std::vector<SharedSample> samples = SamplesOf(op);
  const std::vector<TypeChoice> choices = TypeChoices(op);
  std::vector<OpCase> cases;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t t = 0; t < choices.size(); ++t) {
      if (quick && t != 0 && s != t % samples.size()) continue;
      if (quick && samples[s]->large) continue;
      RML_ASSIGN(OpCase c, MakeCase(op, choices[t], samples[s], s));
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

Expected<std::optional<OpCase>> GrownCase(const OpCase& c) {
  // An odd number of vectors of any width and a tail, and an outer axis for several chunks.
  constexpr int64_t kInner = 67;
  constexpr int64_t kOuter = 611;
  constexpr double kMostWork = 5e7;  // of the reference, which is slow
  std::vector<ir::OpCall::Input> known = c.known();
  RML_ASSIGN(const ir::Axes axes, ir::ResolveAxes(ir::OpCall(*c.op, known, c.attributes)));
  std::vector<const ir::NamedAxis*> growing;  // those that come last in the first input, first
  for (const ir::NamedAxis& axis : axes) {
    const bool given = std::ranges::any_of(axis.inputs, [](int place) { return place >= 0; });
    if (axis.role != ir::AxisRole::kWhole && given && !AttributesFollow(c, axis))
      growing.push_back(&axis);
  }
  if (growing.empty() || c.sample->inputs.size() != c.inputs.size()) return std::optional<OpCase>();
  std::ranges::stable_sort(growing, std::greater<>(),
                           [](const ir::NamedAxis* axis) { return axis->inputs[0]; });
  ir::Sample sample = *c.sample;
  sample.large = true;
  if (growing.size() == 1) {
    sample = WithAxis(std::move(sample), *growing[0], kInner * kOuter);
  } else {
    sample = WithAxis(std::move(sample), *growing.front(), kInner);
    sample = WithAxis(std::move(sample), *growing.back(), kOuter);
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].given) known[i].type.dims = ir::Dims(sample.inputs[i].shape);
  }
  const ir::OpCall call(*c.op, known, c.attributes);
  ir::Types types;
  if (!ir::InferTypes(call, &types).ok() || ir::CostOf(call, types).flops > kMostWork)
    return std::optional<OpCase>();
  RML_ASSIGN(OpCase grown,
             MakeCase(*c.op, c.choice, std::make_shared<const ir::Sample>(std::move(sample)),
                      c.sample_number));
  grown.grown = true;
  // Values that were right for the small sizes (offsets, lengths) need not be for these.
  if (!RunReferenceCase(grown).ok()) return std::optional<OpCase>();
  return std::optional<OpCase>(std::move(grown));
}

Expected<ir::Attributes> LocalAttributes(const OpCase& c, const ir::AxisPiece& piece) {
  if (!c.op->localize) return c.attributes;
  const std::vector<ir::OpCall::Input> known = c.known();
  RML_ASSIGN(ir::AttrList all, c.op->localize(ir::OpCall(*c.op, known, c.attributes), piece));
  // What localize leaves out stays as it is.
  const size_t changed = all.size();
  for (size_t i = 0; i < c.op->attributes.size(); ++i) {
    const ir::AttrDef& def = c.op->attributes[i];
    const auto same = [&](const ir::NamedAttr& attr) { return attr.name == def.name; };
    if (std::none_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(changed), same))
      all.push_back({def.name, c.attributes.at(c.op->attributes, i)});
  }
  return ir::Attributes::Bind(c.op->attributes, all);
}

bool AttributesFollow(const OpCase& c, const ir::NamedAxis& axis) {
  if (!c.op->localize) return false;
  int64_t size = 0;
  for (size_t i = 0; i < axis.inputs.size(); ++i) {
    if (axis.inputs[i] >= 0) size = c.inputs[i].dim(axis.inputs[i]);
  }
  // Any piece but the whole will show it; a start beside the size may matter too.
  const auto local = LocalAttributes(c, {axis.name, size / 2, size + 1});
  if (!local.ok()) return true;
  for (size_t i = 0; i < c.op->attributes.size(); ++i) {
    if (!ir::AttrEqual(local->at(c.op->attributes, i), c.attributes.at(c.op->attributes, i)))
      return true;
  }
  return false;
}

Expected<std::vector<OpCase>> GradientCasesOf(const ir::OpDef& op) {
  const std::vector<SharedSample> samples = SamplesOf(op);
  TypeChoice choice = TypeChoices(op).front();
  for (size_t v = 0; v < op.types.size(); ++v) {
    if (op.types[v].allowed.Has(core::DType::kF64)) choice.dtypes[v] = core::DType::kF64;
  }
  std::vector<OpCase> cases;
  for (size_t s = 0; s < samples.size(); ++s) {
    if (op.no_gradient || !samples[s]->smooth || samples[s]->large) continue;
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
