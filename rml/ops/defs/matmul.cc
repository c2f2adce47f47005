// y[..., m, n] = Σ_k a[..., m, k] · b[..., k, n]
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

// Leading axes, which broadcast.
ir::Dims Batch(const ir::Dims& dims) {
  return ir::Dims(dims.span().first(static_cast<size_t>(dims.rank() - 2)));
}

core::Status InferMatmul(const ir::OpCall& call, ir::Types* outputs) {
  for (int i = 0; i < 2; ++i) {
    if (call.rank(i) >= 2) continue;
    return core::InvalidArgument(call.input_name(i), " has ", call.rank(i),
                                 " dimensions, expected at least 2");
  }
  if (!(call.dim(0, -1) == call.dim(1, -2))) {
    return core::InvalidArgument("inner dimensions ", call.dim(0, -1).ToString(), " and ",
                                 call.dim(1, -2).ToString(), " differ");
  }
  RML_ASSIGN(ir::Dims dims, BroadcastDims(Batch(call.input(0).dims), Batch(call.input(1).dims)));
  dims.Append(call.dim(0, -2));
  dims.Append(call.dim(1, -1));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

core::Expected<ir::Axes> ResolveMatmul(const ir::OpCall& call) {
  RML_ASSIGN(const ir::Dims batch,
             BroadcastDims(Batch(call.input(0).dims), Batch(call.input(1).dims)));
  const int rank = batch.rank() + 2;
  ir::Axes axes;
  for (int axis = 0; axis < batch.rank(); ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("b", axis);
    named.role = ir::AxisRole::kFree;
    for (int i = 0; i < 2; ++i) {
      const int place = axis - (rank - call.rank(i));
      named.inputs.push_back(place >= 0 && call.dim(i, place) == batch[axis] ? place : -1);
    }
    named.outputs = {axis};
  }
  const int a = call.rank(0);
  const int b = call.rank(1);
  axes.push_back({"m", ir::AxisRole::kFree, ir::Combine::kSum, {a - 2, -1}, {rank - 2}});
  axes.push_back({"n", ir::AxisRole::kFree, ir::Combine::kSum, {-1, b - 1}, {rank - 1}});
  axes.push_back({"k", ir::AxisRole::kReduced, ir::Combine::kSum, {a - 1, b - 2}, {-1}});
  return axes;
}

template <typename T>
void Multiply(ir::RefCall& call) {
  const auto a = call.in<T>(0);
  const auto b = call.in<T>(1);
  const auto y = call.out<T>(0);
  const int64_t m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
  const core::Shape batch = Batch(ir::Dims(y.shape())).shape();
  const auto a_strides = BroadcastStrides(Batch(ir::Dims(a.shape())).shape(), batch);
  const auto b_strides = BroadcastStrides(Batch(ir::Dims(b.shape())).shape(), batch);
  const auto r = static_cast<size_t>(batch.rank());
  const core::StridedLoop<2> loop(batch,
                                  {std::span(a_strides).first(r), std::span(b_strides).first(r)});
  int64_t at = 0;
  loop.ForEachRow([&](const std::array<int64_t, 2>& begin) {
    for (int64_t step = 0; step < loop.row_elements(); ++step, ++at) {
      const T* const pa = a.data() + (begin[0] + step * loop.row_strides()[0]) * m * k;
      const T* const pb = b.data() + (begin[1] + step * loop.row_strides()[1]) * k * n;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          T sum = 0;
          for (int64_t l = 0; l < k; ++l) {
            if constexpr (std::is_same_v<T, int64_t>) {
              sum = ir::WrapAdd(sum, ir::WrapMul(pa[i * k + l], pb[l * n + j]));
            } else {
              sum += pa[i * k + l] * pb[l * n + j];
            }
          }
          y[(at * m + i) * n + j] = sum;
        }
      }
    }
  });
}

core::Status ReferenceMatmul(ir::RefCall& call) {
  call.VisitNumber(0, [&](auto zero) { Multiply<decltype(zero)>(call); });
  return {};
}

ir::Values VjpMatmul(ir::ExprCall& call) {
  return BinaryGradients(
      call, [&](const Emit& e) { return e.matmul(call.grad(0), e.swap_last(call.in(1))); },
      [&](const Emit& e) { return e.matmul(e.swap_last(call.in(0)), call.grad(0)); });
}

ir::Cost CostOfMatmul(const ir::OpCall& call) {
  const auto batch = BroadcastDims(Batch(call.input(0).dims), Batch(call.input(1).dims));
  const auto size = [](ir::Dim dim) { return static_cast<double>(dim.max()); };
  const double outputs = size(batch->elements()) * size(call.dim(0, -2)) * size(call.dim(1, -1));
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  return {2 * outputs * size(call.dim(0, -1)),
          bytes * (size(call.input(0).dims.elements()) + size(call.input(1).dims.elements())),
          bytes * outputs};
}

}  // namespace

ir::OpDef Matmul() {
  ir::OpDef op;
  op.name = "matmul";
  op.doc =
      "Matrix product over the last two axes, `y[..., m, n] = Σₖ a[..., m, k] · b[..., k, n]`; "
      "leading axes broadcast. Sums are in f32 for f16 and bf16.";
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.axes = ir::AxesRule(ResolveMatmul);
  op.infer = InferMatmul;
  op.reference = ReferenceMatmul;
  op.vjp = VjpMatmul;
  op.cost = CostOfMatmul;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1, 1}}, {{1, 1}}}},          {{{{3, 4}}, {{4, 5}}}},    {{{{2, 3, 4}}, {{2, 4, 5}}}},
        {{{{2, 1, 3, 4}}, {{5, 4, 2}}}}, {{{{3, 0}}, {{0, 2}}}},    {{{{0, 3}}, {{3, 2}}}},
        {{{{7, 33}}, {{33, 17}}}},       {{{{1, 64}}, {{64, 31}}}}, {{{{4, 3, 4}}, {{4, 6}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
