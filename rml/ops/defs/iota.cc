// 0, 1, 2, … along an axis
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_math.h"

namespace rml::ops {
namespace {

core::Status ReferenceIota(ir::RefCall& call) {
  RML_ASSIGN(const int axis, call.call().axis("axis", call.out_shape(0).rank()));
  call.VisitOut(0, [&](auto zero) {
    using T = decltype(zero);
    const auto y = call.out<T>(0);
    const AxisView view(y.shape(), axis);
    const int64_t start = call.call().integer("start");
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.size; ++i) {
        for (int64_t in = 0; in < view.inner; ++in)
          y[view.at(o, i, in)] = static_cast<T>(start + i);
      }
    }
  });
  return {};
}

core::Expected<ir::Axes> ResolveIota(const ir::OpCall& call) {
  ir::Axes axes;
  for (int i = 0; i < call.attr<ir::Dims>("shape").rank(); ++i)
    axes.push_back({core::StrCat("d", i), ir::AxisRole::kFree, ir::Combine::kSum, {}, {i}});
  return axes;
}

core::Expected<ir::AttrList> Localize(const ir::OpCall& call, const ir::AxisPiece& piece) {
  ir::Dims dims = call.attr<ir::Dims>("shape");
  RML_ASSIGN(const int along, call.axis("axis", dims.rank()));
  int64_t start = call.integer("start");
  for (int axis = 0; axis < dims.rank(); ++axis) {
    if (core::StrCat("d", axis) != piece.axis) continue;
    dims[axis] = piece.size;
    if (axis == along) start += piece.begin;
  }
  return ir::AttrList{{"shape", dims},
                      {"dtype", call.attr<core::DType>("dtype")},
                      {"axis", call.integer("axis")},
                      {"start", start}};
}

}  // namespace

ir::OpDef Iota() {
  ir::OpDef op;
  op.name = "iota";
  op.doc =
      "`start`, start + 1, … along `axis` of a value of dimensions `shape`, repeated along the "
      "others.";
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"shape", ir::RequiredAttr{ir::Dims()}},
                   {"dtype", core::DType::kI64},
                   {"axis", 0},
                   {"start", 0}};
  op.axes = ir::AxesRule(ResolveIota);
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    const ir::Dims& dims = call.attr<ir::Dims>("shape");
    if (dims.rank() == 0) return core::InvalidArgument("shape has no axis to count along");
    RML_TRY(call.axis("axis", dims.rank()));
    const auto dtype = call.attr<core::DType>("dtype");
    if (!ir::kNumbers.Has(dtype))
      return core::Unsupported("dtype is ", core::Name(dtype), ", expected one of ",
                               ir::kNumbers.ToString());
    outputs->push_back({dtype, dims});
    return {};
  };
  op.reference = ReferenceIota;
  op.no_gradient = true;
  op.localize = Localize;
  op.samples = [] {
    std::vector<ir::Sample> samples;
    for (const core::DType dtype : ir::kNumbers.list())
      samples.push_back(
          {{}, {{"shape", ir::Dims{2, 5}}, {"dtype", dtype}, {"axis", 1}, {"start", 3}}});
    samples.push_back({{}, {{"shape", ir::Dims{4, 1}}, {"axis", -2}}});
    samples.push_back({{}, {{"shape", ir::Dims{0}}}});
    return samples;
  };
  op.tolerance = {0, 0, 0, 0, 0};
  return op;
}

}  // namespace rml::ops
