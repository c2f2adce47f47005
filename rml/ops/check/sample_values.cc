#include "rml/ops/check/sample_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rml/core/convert.h"
#include "rml/quant/quantize.h"
#include "rml/random/stream.h"

namespace rml::ops {

using core::DType;
using core::Expected;
using core::Tensor;
using ir::Fill;
using ir::OpDef;
using ir::Sample;

std::string TypeChoice::ToString(const OpDef& op) const {
  std::string out;
  for (size_t i = 0; i < dtypes.size(); ++i)
    out += core::StrCat(i > 0 ? ", " : "", op.types[i].name, "=", core::Name(dtypes[i]));
  return out;
}

std::vector<TypeChoice> TypeChoices(const OpDef& op) {
  TypeChoice first;
  for (const ir::TypeVar& var : op.types) {
    const std::vector<DType> allowed = var.allowed.list();
    // f32 where there is one: the common case goes first, and beside it others vary.
    const bool f32 = var.allowed.Has(DType::kF32);
    first.dtypes.push_back(f32 ? DType::kF32 : allowed.front());
  }
  std::vector<TypeChoice> choices = {first};
  for (size_t v = 0; v < op.types.size(); ++v) {
    for (const DType dtype : op.types[v].allowed.list()) {
      if (dtype == first.dtypes[v]) continue;
      TypeChoice& choice = choices.emplace_back(first);
      choice.dtypes[v] = dtype;
    }
  }
  return choices;
}

DType InputDType(const OpDef& op, const Sample& sample, const TypeChoice& choice, int i) {
  const auto& own = sample.inputs[static_cast<size_t>(i)].dtype;
  if (own) return *own;
  const std::string_view type = op.input_def(i).type;
  for (size_t v = 0; v < op.types.size(); ++v) {
    if (op.types[v].name == type) return choice.dtypes[v];
  }
  return core::ParseDType(type).value_or(DType::kF32);
}

namespace {

std::vector<double> MakeValues(const Fill& fill, const core::Shape& shape, bool integer,
                               random::Stream stream) {
  const auto count = static_cast<size_t>(shape.elements());
  std::vector<double> values(count);
  std::vector<double> order(count);
  std::iota(order.begin(), order.end(), 0.0);
  if (fill.kind == Fill::Kind::kDistinct) {
    for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[stream.Below(i, i)]);
  }
  for (size_t i = 0; i < count; ++i) {
    switch (fill.kind) {
      case Fill::Kind::kNone:
        break;
      case Fill::Kind::kNormal:
        values[i] = fill.low + fill.high * stream.Normal(i);
        break;
      case Fill::Kind::kSorted:
      case Fill::Kind::kUniform: {
        const double u = stream.Uniform(i);
        values[i] = integer ? fill.low + std::floor(u * (fill.high - fill.low + 1))
                            : fill.low + u * (fill.high - fill.low);
        break;
      }
      case Fill::Kind::kDistinct:
        values[i] = (order[i] - static_cast<double>(count / 2)) * (integer ? 1 : fill.low);
        break;
      case Fill::Kind::kValues:
        values[i] = fill.values[i % fill.values.size()];
        break;
    }
    if (integer) values[i] = std::round(values[i]);
  }
  if (fill.kind == Fill::Kind::kSorted && count > 0) {
    const auto row = static_cast<size_t>(shape.rank() > 0 ? shape.dim(-1) : 1);
    for (size_t begin = 0; begin < count; begin += row)
      std::sort(values.begin() + static_cast<ptrdiff_t>(begin),
                values.begin() + static_cast<ptrdiff_t>(begin + row));
  }
  return values;
}

}  // namespace

Expected<std::vector<Tensor>> SampleTensors(const OpDef& op, const Sample& sample,
                                            const TypeChoice& choice, uint64_t seed) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const ir::SampleInput& input = sample.inputs[i];
    Tensor& tensor = tensors.emplace_back();
    if (input.fill.kind == Fill::Kind::kNone) continue;
    const DType dtype = InputDType(op, sample, choice, static_cast<int>(i));
    const bool integer = !core::IsFloat(dtype) && !core::IsQuantized(dtype);
    const random::Key key = random::Fold(random::Fold(random::Key::FromSeed(seed), op.name), i);
    std::vector<double> values = MakeValues(input.fill, input.shape, integer, random::Stream(key));
    // What an unsigned or narrow type cannot hold would be another sample.
    if (core::Info(dtype).kind == core::DTypeKind::kUnsigned || dtype == DType::kBool) {
      for (double& value : values) value = std::abs(value);
    }
    RML_ASSIGN(const Tensor wide, Tensor::FromHost<double>(input.shape, values, core::Cpu()));
    if (core::IsQuantized(dtype)) {
      RML_ASSIGN(const Tensor f32, core::Convert(wide, DType::kF32, core::Cpu()));
      RML_ASSIGN(tensor, Tensor::Empty(dtype, input.shape, core::Cpu()));
      RML_ASSIGN(const std::span<const float> from, f32.HostData<float>());
      RML_ASSIGN(const std::span<std::byte> to, tensor.MutableHostBytes());
      quant::Quantize(dtype, from.data(), static_cast<int64_t>(from.size()), to.data());
      continue;
    }
    RML_ASSIGN(tensor, core::Convert(wide, dtype, core::Cpu()));
  }
  return tensors;
}

}  // namespace rml::ops
