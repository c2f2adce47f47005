// New keys or values written into a cache, behind what it holds.
#include <algorithm>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferKvAppend(const ir::OpCall& call, ir::Types* outputs) {
  for (const int axis : {0, 1, 3}) {
    if (call.dim(0, axis) == call.dim(1, axis)) continue;
    return core::InvalidArgument("axis ", axis, " is ", call.dim(0, axis).ToString(),
                                 " in cache and ", call.dim(1, axis).ToString(), " in x");
  }
  outputs->push_back(call.input(0));
  return {};
}

core::Status ReferenceKvAppend(ir::RefCall& call) {
  const auto cache = call.in<double>(0);
  const auto x = call.in<double>(1);
  const auto position = call.in<int64_t>(2);
  const auto y = call.out<double>(0);
  std::copy(cache.begin(), cache.end(), y.begin());
  for (int64_t b = 0; b < x.dim(0); ++b) {
    if (position[b] < 0 || position[b] > cache.dim(2) - x.dim(2)) {
      return core::OutOfRange("position ", position[b], " of sequence ", b, " leaves no room for ",
                              x.dim(2), " tokens in a cache of ", cache.dim(2));
    }
    for (int64_t h = 0; h < x.dim(1); ++h) {
      for (int64_t t = 0; t < x.dim(2); ++t) {
        for (int64_t d = 0; d < x.dim(3); ++d) y(b, h, position[b] + t, d) = x(b, h, t, d);
      }
    }
  }
  return {};
}

ir::Values VjpKvAppend(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::Dims x = call.in(1).type().dims;
  const ir::Value tokens = e.one("iota", {}, {{"shape", ir::Dims{x[2]}}});  // [t]
  const ir::Value position =
      e.reshape(e.cast(call.in(2), core::DType::kI64), {x[0], 1, 1, 1});         // [b, 1, 1, 1]
  const ir::Value places = e.add(e.reshape(tokens, {1, 1, x[2], 1}), position);  // [b, 1, t, 1]
  const ir::Value index = e.broadcast(places, x);
  ir::Values grads(size_t{3});
  if (call.needs(0)) {
    grads[0] = e.one("scatter_along_axis", {call.grad(0), index, e.zeros_like(call.in(1))},
                     {{"axis", 2}, {"reduce", "none"}});
  }
  if (call.needs(1)) grads[1] = e.one("take_along_axis", {call.grad(0), index}, {{"axis", 2}});
  return grads;
}

}  // namespace

ir::OpDef KvAppend() {
  ir::OpDef op;
  op.name = "kv_append";
  op.doc =
      "A cache of keys or values [batch, heads, capacity, width] with `x` [batch, heads, tokens, "
      "width] written at each sequence's `position`. The update is in place where the cache dies "
      "with the call.";
  op.inputs = {{"cache"}, {"x"}, {"position", "I"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}};
  op.axes = "b h capacity! d, b h tokens! d, b -> b h capacity! d";
  op.infer = InferKvAppend;
  op.reference = ReferenceKvAppend;
  op.vjp = VjpKvAppend;
  op.aliases = {{0, 0}};
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{{{1, 1, 4, 2}}, {{1, 1, 1, 2}}, {{1}, ir::Fill::Values({0})}}},
        {{{{2, 3, 5, 4}}, {{2, 3, 2, 4}}, {{2}, ir::Fill::Values({3, 1})}}},
        {{{{2, 1, 3, 2}}, {{2, 1, 0, 2}}, {{2}, ir::Fill::Values({3, 0})}}},
    };
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
