#include "rml/ops/resample.h"

#include "rml/ir/expr_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/expr.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

using core::Status;
using ir::Dims;

namespace {

Dims SizesOf(const Dims& dims) { return Dims(dims.span().subspan(2)); }

// `backward`: the input is y's gradient, and `sizes` are x's.
Status InferResampling(const Resampling& form, bool backward, const ir::OpCall& call,
                       ir::Types* outputs) {
  const Dims& given = call.input(0).dims;
  const Dims& sizes = call.attr<Dims>("sizes");
  if (given.rank() < 3)
    return core::InvalidArgument("there are ", given.rank(), " dimensions, expected at least 3");
  if (sizes.rank() != given.rank() - 2)
    return core::InvalidArgument("sizes has ", sizes.rank(), " numbers, expected ",
                                 given.rank() - 2);
  Dims made = {given[0], given[1]};
  for (const ir::Dim size : sizes) made.Append(size);
  const Dims& x = backward ? made : given;
  const Dims& y = backward ? given : made;
  for (int axis = 2; axis < x.rank(); ++axis) {
    if (x[axis] == ir::Dim(0) && !(y[axis] == ir::Dim(0)))
      return core::InvalidArgument("axis ", axis, " has no elements to make ", y[axis].ToString(),
                                   " of");
  }
  if (form.check) RML_TRY(form.check(call));
  outputs->push_back({call.dtype(0), made});
  return {};
}

// Calls body(y position, x position, weight) for every product.
template <typename Body>
void ForTaps(const core::Shape& x, const core::Shape& y, const std::vector<AxisTaps>& taps,
             Body&& body) {
  for (int64_t at = 0; at < y.elements(); ++at) {
    const Coordinates to = CoordinatesOf(at, y);
    int64_t count = 1;
    for (size_t s = 0; s < taps.size(); ++s)
      count *= static_cast<int64_t>(taps[s][static_cast<size_t>(to[s + 2])].size());
    for (int64_t k = 0; k < count; ++k) {
      Coordinates from = {to[0], to[1]};
      double weight = 1;
      int64_t rest = k;
      for (size_t s = taps.size(); s-- > 0;) {
        const std::vector<Tap>& here = taps[s][static_cast<size_t>(to[s + 2])];
        const Tap& tap = here[static_cast<size_t>(rest) % here.size()];
        rest /= static_cast<int64_t>(here.size());
        from[s + 2] = tap.from;
        weight *= tap.weight;
      }
      body(at, PositionOf(from, x), weight);
    }
  }
}

std::vector<AxisTaps> TapsOf(const Resampling& form, const ir::OpCall& call, const core::Shape& x,
                             const core::Shape& y) {
  std::vector<AxisTaps> taps;
  for (int axis = 2; axis < x.rank(); ++axis)
    taps.push_back(form.taps(call, axis - 2, x[axis], y[axis]));
  return taps;
}

void ReferenceForward(const Resampling& form, ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  const std::vector<AxisTaps> taps = TapsOf(form, call.call(), x.shape(), y.shape());
  const double empty = form.empty.empty() ? 0 : call.call().number(form.empty);
  for (int64_t at = 0; empty != 0 && at < y.size(); ++at) {
    const Coordinates to = CoordinatesOf(at, y.shape());
    for (size_t s = 0; s < taps.size(); ++s) {
      if (taps[s][static_cast<size_t>(to[s + 2])].empty()) y[at] = empty;
    }
  }
  ForTaps(x.shape(), y.shape(), taps,
          [&](int64_t to, int64_t from, double weight) { y[to] += weight * x[from]; });
}

void ReferenceBackward(const Resampling& form, ir::RefCall& call) {
  const auto dy = call.in<double>(0);
  const auto dx = call.out<double>(0);
  ForTaps(dx.shape(), dy.shape(), TapsOf(form, call.call(), dx.shape(), dy.shape()),
          [&](int64_t to, int64_t from, double weight) { dx[from] += weight * dy[to]; });
}

// The attributes that both operators have, with these `sizes`. What y holds where nothing reaches
// it is a constant: the gradient, which is linear, has none.
ir::AttrList WithSizes(const Resampling& form, const ir::OpCall& call, const Dims& sizes) {
  ir::AttrList list;
  const std::vector<ir::AttrDef>& defs = call.op().attributes;
  for (size_t i = 0; i < defs.size(); ++i) {
    if (defs[i].name != "sizes" && defs[i].name != form.empty)
      list.push_back({defs[i].name, call.attributes().at(defs, i)});
  }
  list.push_back({"sizes", sizes});
  return list;
}

ir::OpDef ResamplingOp(const Resampling& form, bool backward) {
  ir::OpDef op;
  op.attributes = form.attributes;
  if (!backward && !form.empty.empty()) op.attributes.push_back({form.empty, 0.0});
  op.attributes.push_back({"sizes", ir::RequiredAttr{Dims()}});
  op.axes = ir::AxesRule([](const ir::OpCall&) -> core::Expected<ir::Axes> {
    return ir::Axes{{"batch", ir::AxisRole::kFree, ir::Combine::kSum, {0}, {0}},
                    {"channels", ir::AxisRole::kFree, ir::Combine::kSum, {1}, {1}}};
  });
  op.infer = [form, backward](const ir::OpCall& call, ir::Types* outputs) {
    return InferResampling(form, backward, call, outputs);
  };
  op.reference = [form, backward](ir::RefCall& call) -> Status {
    backward ? ReferenceBackward(form, call) : ReferenceForward(form, call);
    return {};
  };
  op.vjp = [form, backward](ir::ExprCall& call) -> ir::Values {
    return {Emit(call.b()).one(backward ? form.forward : form.gradient, {call.grad(0)},
                               WithSizes(form, call.call(), SizesOf(call.in(0).type().dims)))};
  };
  op.samples = [cases = form.cases, empty = form.empty, backward] {
    std::vector<ir::Sample> samples;
    for (const Resampling::Case& c : cases) {
      ir::AttrList attributes;
      for (const ir::NamedAttr& attr : c.attributes) {
        if (!backward || attr.name != empty) attributes.push_back(attr);
      }
      attributes.push_back({"sizes", SizesOf(Dims(backward ? c.x : c.y))});
      samples.push_back({{{backward ? c.y : c.x}}, attributes});
    }
    return samples;
  };
  return op;
}

}  // namespace

ir::OpDef ResamplingForward(const Resampling& form) {
  ir::OpDef op = ResamplingOp(form, false);
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  return op;
}

ir::OpDef ResamplingGradient(const Resampling& form) {
  ir::OpDef op = ResamplingOp(form, true);
  op.inputs = {{"y"}};
  op.outputs = {{"x"}};
  return op;
}

}  // namespace rml::ops
