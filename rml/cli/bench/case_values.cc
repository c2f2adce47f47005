// The values of a case's inputs: cheap, the same on every machine, and free of the long runs of
// equal or denormal numbers that would flatter a kernel.
#include <cmath>
#include <cstring>

#include "rml/cli/bench/kernel_case.h"
#include "rml/core/convert.h"
#include "rml/core/device.h"
#include "rml/quant/quantize.h"

namespace rml::cli {

using core::DType;
using core::Expected;
using core::Tensor;

namespace {

// splitmix64 of a position.
uint64_t HashAt(uint64_t position) {
  uint64_t z = (position + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double UniformAt(uint64_t position) {
  return static_cast<double>(HashAt(position) >> 11) * 0x1p-53;
}

// Four 16-bit uniforms added: near normal, variance 1, and exact, without a library's logarithm.
float NormalAt(uint64_t position) {
  const uint64_t bits = HashAt(position);
  const auto sum = static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                       (bits >> 32 & 0xffff) + (bits >> 48));
  return static_cast<float>((sum - 131070.0) * (1.7320508 / 65536.0));
}

// The continuous Zipf law's inverse distribution, cut to a whole rank.
double ZipfAt(uint64_t position, double high, double exponent) {
  const double u = UniformAt(position);
  const double power = 1 - exponent;
  const double rank = std::abs(power) < 1e-9
                          ? std::pow(high, u)
                          : std::pow((std::pow(high, power) - 1) * u + 1, 1 / power);
  return std::min(std::floor(rank) - 1, high - 1);
}

Expected<Tensor> Normals(const CaseInput& input, const core::Shape& shape, uint64_t seed) {
  RML_ASSIGN(const Tensor floats, Tensor::Empty(DType::kF32, shape, core::Cpu()));
  RML_ASSIGN(const std::span<float> data, floats.MutableHostData<float>());
  for (size_t i = 0; i < data.size(); ++i) data[i] = NormalAt(seed + i);
  if (input.dtype == DType::kF32) return floats;
  if (!core::IsQuantized(input.dtype)) return core::Convert(floats, input.dtype, core::Cpu());
  RML_ASSIGN(const Tensor blocks, Tensor::Empty(input.dtype, shape, core::Cpu()));
  RML_ASSIGN(const std::span<std::byte> bytes, blocks.MutableHostBytes());
  // Choosing scales is slow, and one stretch of rows is as good as another: it repeats.
  const core::DTypeInfo& info = core::Info(input.dtype);
  const int64_t some = std::min<int64_t>(static_cast<int64_t>(data.size()), 256 * 1024);
  if (some == 0) return blocks;
  const size_t pattern = static_cast<size_t>(some / info.block_elements * info.block_bytes);
  quant::Quantize(input.dtype, data.data(), some, bytes.data());
  for (size_t at = pattern; at < bytes.size(); at += pattern)
    std::memcpy(bytes.data() + at, bytes.data(), std::min(pattern, bytes.size() - at));
  return blocks;
}

Expected<Tensor> Integers(const CaseInput& input, const core::Shape& shape, uint64_t seed,
                          int64_t previous) {
  RML_ASSIGN(const Tensor whole, Tensor::Empty(DType::kI64, shape, core::Cpu()));
  RML_ASSIGN(const std::span<int64_t> data, whole.MutableHostData<int64_t>());
  const auto count = static_cast<double>(std::max<size_t>(data.size(), 2) - 1);
  for (size_t i = 0; i < data.size(); ++i) {
    const double at = static_cast<double>(i);
    double value = std::floor(UniformAt(seed + i) * input.high);
    if (input.values == "zipf") value = ZipfAt(seed + i, input.high, input.exponent);
    if (input.values == "offsets") value = std::floor(static_cast<double>(previous) * at / count);
    data[i] = static_cast<int64_t>(value);
  }
  return core::Convert(whole, input.dtype, core::Cpu());
}

}  // namespace

Expected<std::vector<Tensor>> TensorsOf(const KernelCase& c) {
  if (c.generated) return c.tensors;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    if (!input.given) {
      tensors.emplace_back();
      continue;
    }
    core::Shape shape = input.shape;
    if (input.transposed) {
      std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      RML_ASSIGN(shape, core::Shape::Make(dims));
    }
    const uint64_t seed = (static_cast<uint64_t>(i) + 1) << 40;
    const int64_t previous =
        i > 0 && tensors.back().defined() ? tensors.back().elements() : int64_t{0};
    auto made = input.values == "normal" ? Normals(input, shape, seed)
                                         : Integers(input, shape, seed, previous);
    if (!made.ok()) return made.status().WithContext(core::StrCat(c.name, ": inputs[", i, "]"));
    if (input.transposed) {
      RML_ASSIGN(*made, made->Transpose(-1, -2));
    }
    tensors.push_back(*std::move(made));
  }
  return tensors;
}

}  // namespace rml::cli
