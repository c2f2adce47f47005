// y = x · keep / (1 - rate), keep ~ Bernoulli(1 - rate)
#include "rml/ops/elementwise.h"
#include "rml/ops/random_op.h"

namespace rml::ops {
namespace {

core::Status ReferenceDropout(ir::RefCall& call) {
  const auto x = call.in<double>(0);
  const auto y = call.out<double>(0);
  const double rate = call.call().number("rate");
  const random::Stream stream = StreamOf(call, 1);
  const GlobalPlaces place(call.call(), x.shape());
  for (int64_t i = 0; i < x.size(); ++i) {
    // In f32, so that every kernel decides alike.
    const bool keep = stream.UniformF32(place(i)) >= static_cast<float>(rate);
    y[i] = keep ? x[i] / (1 - rate) : 0;
  }
  return {};
}

}  // namespace

ir::OpDef Dropout() {
  ir::OpDef op;
  op.name = "dropout";
  op.doc =
      "Zeros a share `rate` of the elements of `x`, and divides the others by 1 - rate "
      "(Srivastava et al. 2014). Which ones depends on `key` and on each element's place in the "
      "global value alone.";
  op.inputs = {{"x"}, {"key", "u32"}};
  op.outputs = {{"y"}};
  op.attributes = RandomAttributes();
  op.attributes.push_back({"rate", 0.5});
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int i = 0; i < call.rank(0); ++i)
      axes.push_back({core::StrCat("d", i), ir::AxisRole::kFree, ir::Combine::kSum, {i, -1}, {i}});
    return axes;
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckRandom(call, 1, call.input(0).dims));
    const double rate = call.number("rate");
    if (!(rate >= 0 && rate < 1))
      return core::InvalidArgument("rate is ", rate, ", expected 0 ≤ rate < 1");
    return InferLikeFirst(call, outputs);
  };
  op.reference = ReferenceDropout;
  op.vjp = [](ir::ExprCall& call) -> ir::Values {
    const ir::OpCall& c = call.call();
    const ir::AttrList same = {{"rate", c.number("rate")},
                               {"global_shape", c.attr<ir::Dims>("global_shape")},
                               {"start", c.ints("start")}};
    return {Emit(call.b()).one("dropout", {call.grad(0), call.in(1)}, same), ir::Value()};
  };
  op.localize = [](const ir::OpCall& call,
                   const ir::AxisPiece& piece) -> core::Expected<ir::AttrList> {
    for (int axis = 0; axis < call.rank(0); ++axis) {
      if (core::StrCat("d", axis) != piece.axis) continue;
      ir::AttrList attributes = RandomPiece(call, call.input(0).dims, axis, piece);
      attributes.push_back({"rate", call.number("rate")});
      return attributes;
    }
    return core::Internal("there is no axis ", piece.axis);
  };
  op.samples = [] {
    const ir::SampleInput key = {{2}, ir::Fill::Values({12345, 678})};
    return std::vector<ir::Sample>{
        {{{{7}}, key}},
        {{{{4, 33}}, key}, {{"rate", 0.1}}},
        {{{{2, 3, 4}}, key}, {{"rate", 0.0}}},
        {{{{0, 2}}, key}},
        {{{{2, 3}}, key}, {{"global_shape", ir::Dims{4, 9}}, {"start", ir::Ints{2, 5}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
