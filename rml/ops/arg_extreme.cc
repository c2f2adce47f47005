#include "rml/ops/arg_extreme.h"

#include <cmath>
#include <limits>

#include "rml/ir/op_call.h"
#include "rml/ir/ref_call.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {

using core::Status;

namespace {

Status Infer(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  if (call.dim(0, axis).max() == 0)
    return core::InvalidArgument("axis ", axis, " has no elements to choose from");
  ir::Dims dims = call.input(0).dims;
  if (call.flag("keep_dims")) {
    dims[axis] = 1;
  } else {
    dims.Erase(axis);
  }
  outputs->push_back({core::DType::kI64, dims});
  return {};
}

core::Expected<ir::Axes> Resolve(const ir::OpCall& call) {
  RML_ASSIGN(const int axis, call.axis("axis", call.rank(0)));
  ir::Axes axes;
  int out = 0;
  for (int i = 0; i < call.rank(0); ++i) {
    axes.push_back({core::StrCat("d", i),
                    i == axis ? ir::AxisRole::kWhole : ir::AxisRole::kFree,
                    ir::Combine::kSum,
                    {i},
                    {i == axis ? -1 : out}});
    if (i != axis || call.flag("keep_dims")) ++out;
  }
  return axes;
}

// -1: a comes before b, 0: they are equal, 1: after it. NaN is before all.
template <typename T>
int Order(T a, T b, bool largest) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) || std::isnan(b)) return (std::isnan(b) ? 1 : 0) - (std::isnan(a) ? 1 : 0);
  }
  if (a == b) return 0;
  return (a > b) == largest ? -1 : 1;
}

Status Reference(ir::RefCall& call, bool largest) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.in_shape(0).rank()));
  const bool last = call.call().flag("select_last_index");
  const auto y = call.out<int64_t>(0);
  const AxisView view(call.in_shape(0), axis);
  if (view.size == 0 && y.size() > 0)
    return core::InvalidArgument("axis ", axis, " has no elements to choose from");
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t in = 0; in < view.inner; ++in) {
        int64_t best = 0;
        for (int64_t i = 1; i < view.size; ++i) {
          const int order = Order(x[view.at(o, i, in)], x[view.at(o, best, in)], largest);
          if (order < 0 || (order == 0 && last)) best = i;
        }
        y[o * view.inner + in] = best;
      }
    }
  });
  return {};
}

}  // namespace

ir::OpDef ArgExtreme(std::string_view name, std::string_view doc, bool largest) {
  ir::OpDef op;
  op.name = name;
  op.doc = doc;
  op.inputs = {{"x"}};
  op.outputs = {{"y", "i64"}};
  op.types = {{"T", ir::kNumbers | ir::kBools}};
  op.attributes = {{"axis", -1}, {"keep_dims", false}, {"select_last_index", false}};
  op.axes = ir::AxesRule(Resolve);
  op.infer = Infer;
  op.reference = [largest](ir::RefCall& call) { return Reference(call, largest); };
  op.no_gradient = true;
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(0).dims.elements().max());
    const double size = static_cast<double>(call.dim(0, *call.axis("axis", call.rank(0))).max());
    return ir::Cost{elements, elements * core::Info(call.dtype(0)).block_bytes,
                    8 * elements / size};
  };
  op.samples = [] {
    using ir::Fill;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const ir::SampleInput ties = {{3, 4}, Fill::Values({1, 2, 2, 1, 3, 3, 3})};
    const ir::SampleInput special = {
        {3, 3}, Fill::Values({1, kNaN, kNaN, -kInfinity, kInfinity, -kInfinity, 0, -0.0, 0})};
    return std::vector<ir::Sample>{
        {{{{1}}}},
        {{{{7}}}, {{"axis", 0}, {"keep_dims", true}}},
        {{{{2, 17, 3}}}, {{"axis", 1}}},
        {{{{4, 33}}}, {{"keep_dims", true}}},
        {{{{0, 3}}}},
        {{ties}},
        {{ties}, {{"select_last_index", true}}},
        {{special}},
        {{special}, {{"select_last_index", true}}},
    };
  };
  return op;
}

}  // namespace rml::ops
