// One class of each row, with probabilities softmax(logits).
#include <limits>

#include "rml/ops/random_values.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status ReferenceRandomCategorical(ir::RefCall& call) {
  const auto logits = call.in<double>(1);
  const auto y = call.out<int64_t>(0);
  const random::Stream stream = StreamOf(call, 0);
  const GlobalPlaces place(call.call(), logits.shape());
  const int64_t classes = logits.dim(-1);
  for (int64_t row = 0; row < y.size(); ++row) {
    double best = -std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < classes; ++c) {
      const int64_t at = row * classes + c;
      const double value = logits[at] + stream.Gumbel(place(at));
      if (value > best) {
        best = value;
        y[row] = c;
      }
    }
  }
  return {};
}

}  // namespace

ir::OpDef RandomCategorical() {
  ir::OpDef op = RandomOfParameters("random_categorical", {"logits"}, {}, core::DType::kF32);
  op.doc =
      "A class for each row of `logits` [..., classes], with probabilities softmax(logits): the "
      "largest of logits + Gumbel noise, whose places are those of the logits. Logits of -∞ are "
      "never chosen; where all are, it is class 0.";
  op.outputs = {{"y", "i64"}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) -> core::Expected<ir::Axes> {
    ir::Axes axes;
    for (int i = 0; i + 1 < call.rank(1); ++i)
      axes.push_back({core::StrCat("d", i), ir::AxisRole::kFree, ir::Combine::kSum, {-1, i}, {i}});
    return axes;
  });
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(CheckRandom(call, 0, call.input(1).dims));
    ir::Dims rows = call.input(1).dims;
    if (rows.rank() == 0) return core::InvalidArgument("logits has no axis of classes");
    if (rows.dim(-1) == ir::Dim(0)) return core::InvalidArgument("there are no classes");
    rows.Erase(rows.rank() - 1);
    outputs->push_back({core::DType::kI64, rows});
    return {};
  };
  op.reference = ReferenceRandomCategorical;
  op.samples = [] {
    return std::vector<ir::Sample>{
        {{SampleKey(), {{7}}}},
        {{SampleKey(), {{5, 1}}}},
        {{SampleKey(), {{2, 3, 33}}}},
        {{SampleKey(), {{0, 4}}}},
        {{SampleKey(), {{4, 3}, ir::Fill::Values({0, -1e300, 1})}}},
        {{SampleKey(), {{2, 3}}}, {{"global_shape", ir::Dims{5, 3}}, {"start", ir::Ints{1, 0}}}},
    };
  };
  return op;
}

}  // namespace rml::ops
