#include <algorithm>
#include <limits>

#include "rml/ops/check/checks.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/reference.h"

namespace rml::ops {

using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using ir::OpCall;
using ir::Values;

namespace {

using Inputs = std::vector<OpCall::Input>;

template <typename... Args>
Status Wrong(const OpCase& c, const Args&... args) {
  return core::Internal(c.ToString(), ": ", args...);
}

// The same values with gaps between them.
Expected<Tensor> Strided(const Tensor& tensor) {
  if (!tensor.defined() || tensor.rank() == 0 || core::Info(tensor.dtype()).block_elements > 1)
    return tensor;
  std::array<int64_t, core::kMaxRank> dims = {};
  for (int axis = 0; axis < tensor.rank(); ++axis)
    dims[static_cast<size_t>(axis)] = tensor.dim(axis) * (axis + 1 == tensor.rank() ? 2 : 1);
  RML_ASSIGN(const core::Shape shape,
             core::Shape::Make({dims.data(), static_cast<size_t>(tensor.rank())}));
  RML_ASSIGN(const Tensor wide, Tensor::Zeros(tensor.dtype(), shape, core::Cpu()));
  RML_ASSIGN(const Tensor view, wide.Slice(-1, 0, shape.dim(-1), 2));
  RML_TRY(tensor.CopyTo(view));
  return view;
}

// One kernel on these inputs.
Expected<std::vector<Tensor>> RunKernel(const Kernel& kernel, const OpCase& c,
                                        std::span<const Tensor> inputs,
                                        const core::RunContext& context, bool in_place) {
  const Inputs known = c.known();
  const OpCall call(*c.op, known, c.attributes);
  ir::Types types;
  RML_TRY(ir::InferTypes(call, &types));
  std::shared_ptr<const Prepared> prepared;
  if (kernel.prepare != nullptr) {
    RML_ASSIGN(prepared, kernel.prepare(call, context));
  }
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  std::vector<Tensor> outputs;
  std::vector<core::Shape> extents;
  for (const ir::Type& type : types) {
    std::array<int64_t, core::kMaxRank> dims = {};
    for (int axis = 0; axis < type.rank(); ++axis)
      dims[static_cast<size_t>(axis)] = type.dims[axis].max();
    RML_ASSIGN(extents.emplace_back(),
               core::Shape::Make({dims.data(), static_cast<size_t>(type.rank())}));
    RML_ASSIGN(outputs.emplace_back(), Tensor::Empty(type.dtype, extents.back(), core::Cpu()));
    // What a kernel forgets to write must not look right by chance.
    RML_ASSIGN(const std::span<std::byte> bytes, outputs.back().MutableHostBytes());
    std::fill(bytes.begin(), bytes.end(),
              std::byte{type.dtype == core::DType::kBool ? uint8_t{1} : uint8_t{0xa5}});
  }
  for (const ir::Alias& alias : c.op->aliases) {
    const auto out = static_cast<size_t>(alias.out);
    const auto in = static_cast<size_t>(alias.in);
    if (!call.has(alias.in)) continue;
    RML_TRY(given[in].CopyTo(outputs[out]));
    if (in_place) given[in] = outputs[out];
  }
  KernelArgs args;
  args.call = &call;
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : given) pointers.push_back(tensor.defined() ? &tensor : nullptr);
  args.inputs = pointers;
  args.outputs = outputs;
  args.prepared = prepared.get();
  args.context = &context;
  args.extents = extents;
  std::shared_ptr<core::Buffer> workspace;
  if (kernel.workspace != nullptr) {
    const int64_t bytes = kernel.workspace(call, prepared.get(), context);
    if (bytes > 0) {
      RML_ASSIGN(workspace, core::Buffer::Allocate(core::Cpu(), bytes));
      RML_ASSIGN(args.workspace, workspace->MutableHostView());
    }
  }
  RML_TRY(kernel.run(args));
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (int axis = 0; axis < outputs[i].rank(); ++axis) {
      if (extents[i][axis] == outputs[i].dim(axis)) continue;
      RML_ASSIGN(outputs[i], outputs[i].Slice(axis, 0, extents[i][axis]));
    }
  }
  return outputs;
}

Status CompareAll(const OpCase& c, std::span<const Tensor> actual, const Values& expected,
                  bool bits, std::string_view what) {
  for (size_t i = 0; i < actual.size(); ++i) {
    auto difference = Compare(actual[i], expected[i].tensor());
    if (!difference.ok())
      return Wrong(c, what, ": output ", i, ": ", difference.status().message());
    // A grown axis may be summed over, and rounding grows with the root of a sum's length.
    const double tolerance =
        bits ? 0 : ToleranceFor(c.op->tolerance, actual[i].dtype()) * (c.grown ? 2 : 1);
    if (difference->worst > tolerance) {
      return Wrong(c, what, ": output ", i, " is off by ", difference->worst, " (", tolerance,
                   " is allowed) ", difference->where);
    }
  }
  return {};
}

// With aliased outputs in their inputs' own memory, the same bits.
Status CheckInPlace(const OpCase& c, const Kernel& kernel, std::span<const Tensor> inputs,
                    const core::RunContext& context, const Values& expected,
                    std::string_view what) {
  if (c.op->aliases.empty()) return {};
  const auto outputs = RunKernel(kernel, c, inputs, context, true);
  if (!outputs.ok()) return Wrong(c, what, ": ", outputs.status().message());
  return CompareAll(c, *outputs, expected, true, what);
}

}  // namespace

Status CheckInference(const OpCase& c) {
  const Inputs known = c.known();
  const OpCall call(*c.op, known, c.attributes);
  ir::Types types;
  if (const Status status = ir::InferTypes(call, &types); !status.ok())
    return Wrong(c, status.message());
  const auto values = RunReferenceCase(c);
  if (!values.ok()) return Wrong(c, values.status().message());
  if (values->size() != types.size())
    return Wrong(c, values->size(), " outputs, and ", types.size(), " were inferred");
  for (size_t i = 0; i < types.size(); ++i) {
    const ir::Type actual = (*values)[i].type();
    bool fits = actual.dtype == types[i].dtype && actual.rank() == types[i].rank();
    for (int axis = 0; fits && axis < actual.rank(); ++axis) {
      fits = actual.dims[axis].value() >= types[i].dims[axis].min() &&
             actual.dims[axis].value() <= types[i].dims[axis].max();
    }
    if (!fits)
      return Wrong(c, "output ", i, " is ", actual.ToString(), ", and ", types[i].ToString(),
                   " was inferred");
  }
  const ir::Cost cost = ir::CostOf(call, types);
  if (!(cost.flops >= 0 && cost.bytes_read >= 0 && cost.bytes_written >= 0))
    return Wrong(c, "its cost is negative");
  return {};
}

Status CheckKernel(const OpCase& c, const Provider& provider, const Kernel& kernel,
                   std::span<const Way> ways, int* ran) {
  const Inputs known = c.known();
  const OpCall call(*c.op, known, c.attributes);
  // What a kernel takes may depend on the ISA level.
  const auto refuses = [&](const Way& way) {
    const kernels::ScopedIsa isa(way.isa);
    return kernel.accepts != nullptr && kernel.accepts(call).has_value();
  };
  if (std::ranges::all_of(ways, refuses)) return {};
  if (ran != nullptr) ++*ran;
  const auto expected = RunReferenceCase(c);
  if (!expected.ok()) return Wrong(c, expected.status().message());
  std::vector<Tensor> strided;
  for (const Tensor& tensor : c.inputs) {
    RML_ASSIGN(strided.emplace_back(), Strided(tensor));
  }
  Values first;  // of the ways that differ in threads alone
  for (size_t w = 0; w < ways.size(); ++w) {
    const Way& way = ways[w];
    if (refuses(way)) continue;
    const kernels::ScopedIsa isa(way.isa);
    core::ThreadPool pool(way.threads);
    const core::RunContext context = {.pool = &pool};
    const std::string what = StrCat(provider.name(), " ", kernel.name, ", ", way.ToString());
    const auto outputs = RunKernel(kernel, c, way.strided ? strided : c.inputs, context, false);
    if (!outputs.ok()) return Wrong(c, what, ": ", outputs.status().message());
    RML_TRY(CompareAll(c, *outputs, *expected, false, what));
    if (w == 0 || ways[w - 1].isa != way.isa || ways[w - 1].strided != way.strided) {
      first = ValuesOf(*outputs);
    } else {
      RML_TRY(CompareAll(c, *outputs, first, true, StrCat(what, ", against fewer threads")));
    }
    RML_TRY(CheckInPlace(c, kernel, way.strided ? strided : c.inputs, context, ValuesOf(*outputs),
                         StrCat(what, ", in place")));
  }
  return {};
}

Status CheckAliases(const OpCase& c) {
  if (c.op->aliases.empty()) return {};
  const auto expected = RunReferenceCase(c);
  if (!expected.ok()) return Wrong(c, expected.status().message());
  return CheckInPlace(c, ReferenceProvider().Kernels(c.op->name)[0], c.inputs, core::RunContext(),
                      *expected, "in place");
}

}  // namespace rml::ops
