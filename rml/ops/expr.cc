#include "rml/ops/expr.h"

#include <algorithm>
#include <numeric>

#include "rml/core/convert.h"

namespace rml::ops {

using core::Tensor;
using ir::Dims;
using ir::Ints;
using ir::Value;
using ir::Values;

Values Emit::call(std::string_view op, std::span<const Value> inputs,
                  const ir::AttrList& attributes) const {
  return builder_.CallByName(op, inputs, attributes);
}

Values Emit::call(std::string_view op, std::initializer_list<Value> inputs,
                  const ir::AttrList& attributes) const {
  return call(op, std::span(inputs.begin(), inputs.size()), attributes);
}

Value Emit::one(std::string_view op, std::initializer_list<Value> inputs,
                const ir::AttrList& attributes) const {
  return call(op, inputs, attributes)[0];
}

Value Emit::scalar(double number, core::DType dtype) const {
  const Tensor wide = OrThrow(Tensor::FromHost<double>({}, std::span(&number, 1), core::Cpu()));
  const Tensor here = OrThrow(core::Convert(wide, dtype, core::Cpu()));
  return OrThrow(builder_.Constant(OrThrow(here.Contiguous(builder_.allocator()))));
}

Value Emit::size(ir::Dim dim, core::DType dtype) const {
  if (dim.is_integer()) return scalar(static_cast<double>(dim.value()), dtype);
  return cast(one("dim_value", {}, {{"dim", Dims{dim}}}), dtype);
}

Value Emit::full(double number, const ir::Type& type) const {
  return broadcast(scalar(number, type.dtype), type.dims);
}

Value Emit::reshape(const Value& x, const Dims& dims) const {
  return x.type().dims == dims ? x : one("reshape", {x}, {{"shape", dims}});
}

Value Emit::broadcast(const Value& x, const Dims& dims) const {
  return x.type().dims == dims ? x : one("broadcast_to", {x}, {{"shape", dims}});
}

Value Emit::transpose(const Value& x, Ints order) const {
  return one("transpose", {x}, {{"order", std::move(order)}});
}

Value Emit::swap_last(const Value& x) const {
  Ints order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, std::move(order));
}

Value Emit::sum(const Value& x, Ints axes, bool keep_dims) const {
  return one("sum", {x}, {{"axes", std::move(axes)}, {"keep_dims", keep_dims}});
}

Value Emit::mean(const Value& x, Ints axes, bool keep_dims) const {
  return one("mean", {x}, {{"axes", std::move(axes)}, {"keep_dims", keep_dims}});
}

Value Emit::sum_to(const Value& x, const Dims& dims) const {
  const Dims from = x.type().dims;
  if (from == dims) return x;
  Ints axes;
  const int lead = from.rank() - dims.rank();
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool broadcast_here = axis < lead || !(dims[axis - lead] == from[axis]);
    if (broadcast_here) axes.push_back(axis);
  }
  return reshape(axes.empty() ? x : sum(x, std::move(axes)), dims);
}

Value Emit::restore(const Value& x, const Ints& axes, int rank) const {
  Dims dims = x.type().dims;
  if (dims.rank() == rank) return x;
  for (const int64_t axis : axes) dims.Insert(static_cast<int>(axis), 1);
  return reshape(x, dims);
}

Value AddGradients(const Emit& e, const Value& a, const Value& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return e.add(a, b);
}

}  // namespace rml::ops
