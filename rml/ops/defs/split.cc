// An axis cut into pieces.
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

// The sizes of the pieces of an axis.
core::Expected<std::vector<ir::Dim>> SizesOf(const ir::OpCall& call, ir::Dim dim) {
  const ir::Ints& sizes = call.ints("sizes");
  const int64_t parts = call.integer("parts");
  std::vector<ir::Dim> result;
  if (sizes.empty() == (parts == 0))
    return core::InvalidArgument("either sizes or parts must be given");
  if (sizes.empty()) {
    constexpr int64_t kMost = 1 << 16;
    if (parts < 1 || parts > kMost)
      return core::InvalidArgument("parts is ", parts, ", expected 1 to ", kMost);
    if (!dim.is_integer()) {
      const ir::Dim each = ExactDiv(dim, parts);
      if (!each.valid())
        return core::Unsupported(dim.ToString(), " is not ", parts, " equal parts for every size");
      result.assign(static_cast<size_t>(parts), each);
      return result;
    }
    const int64_t each = dim.value() / parts + (dim.value() % parts != 0 ? 1 : 0);
    int64_t left = dim.value();
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t size = std::min(each, left);
      result.push_back(size);
      left -= size;
    }
    return result;
  }
  int rest_at = -1;
  ir::Dim sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && rest_at < 0) {
      rest_at = static_cast<int>(i);
      result.push_back(0);
      continue;
    }
    result.push_back(sizes[i]);
    if (!result.back().valid()) return core::InvalidArgument("size ", i, " is ", sizes[i]);
    sum = sum + result.back();
  }
  const ir::Dim rest = dim - sum;
  if (rest_at < 0 ? !(rest == ir::Dim(0)) : !rest.valid()) {
    return core::InvalidArgument("sizes add up to ", sum.ToString(), ", and the axis has ",
                                 dim.ToString(), " elements");
  }
  if (rest_at >= 0) result[static_cast<size_t>(rest_at)] = rest;
  return result;
}

core::Status InferSplit(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  RML_ASSIGN(const std::vector<ir::Dim> sizes, SizesOf(call, call.dim(0, axis)));
  for (const ir::Dim size : sizes) {
    ir::Type type = call.input(0);
    type.dims[axis] = size;
    outputs->push_back(type);
  }
  return {};
}

core::Status ReferenceSplit(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const AxisView from(x.shape(), axis);
    int64_t start = 0;
    for (int k = 0; k < call.outputs(); ++k) {
      const auto y = call.out<T>(k);
      const AxisView to(y.shape(), axis);
      for (int64_t o = 0; o < to.outer; ++o) {
        for (int64_t i = 0; i < to.size; ++i) {
          for (int64_t in = 0; in < to.inner; ++in)
            y[to.at(o, i, in)] = x[from.at(o, start + i, in)];
        }
      }
      start += to.size;
    }
  });
  return {};
}

ir::Values VjpSplit(ir::ExprCall& call) {
  const Emit e(call.b());
  ir::Values grads;
  for (size_t i = 0; i < call.all_grads().size(); ++i) {
    const ir::Value& grad = call.all_grads()[i];
    grads.push_back(grad.defined() ? grad : e.zeros_like(call.out(static_cast<int>(i))));
  }
  return {e.call("concat", std::span(grads.begin(), grads.size()),
                 {{"axis", call.call().integer("axis")}})[0]};
}

}  // namespace

ir::OpDef Split() {
  ir::OpDef op;
  op.name = "split";
  op.doc =
      "Pieces of `axis`: of the `sizes` given, of which one may be -1 for what is left; or "
      "`parts` equal ones, the last smaller (or the last ones empty) where they cannot be.";
  op.inputs = {{"x"}};
  op.outputs = {{"pieces", "T", ir::OutputKind::kResult, ir::Arity::kMany}};
  op.types = {{"T", ir::kPlain}};
  op.attributes = {{"axis", 0}, {"sizes", ir::Ints()}, {"parts", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    RML_ASSIGN(const int64_t axis, call.axis("axis", call.rank(0)));
    RML_ASSIGN(const auto sizes, SizesOf(call, call.dim(0, static_cast<int>(axis))));
    return SameAxes(call, static_cast<int>(sizes.size()), std::span(&axis, 1));
  });
  op.infer = InferSplit;
  op.reference = ReferenceSplit;
  op.vjp = VjpSplit;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1}}}, {{"parts", 1}}},
        {{{{7}}}, {{"sizes", ir::Ints{3, 0, 4}}}},
        {{{{2, 33}}}, {{"axis", -1}, {"parts", 4}}},
        {{{{2, 6, 3}}}, {{"axis", 1}, {"sizes", ir::Ints{1, -1, 2}}}},
        {{{{2, 12}}}, {{"axis", 1}, {"sizes", ir::Ints{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}}},
        {{{{0, 3}}}, {{"axis", 0}, {"parts", 2}}},
        {{{{4}}}, {{"parts", 3}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
