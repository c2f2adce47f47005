#include "rml/ops/elementwise.h"

namespace rml::ops {

using core::Status;
using ir::Fill;
using ir::OpDef;
using ir::RefCall;
using ir::Sample;

namespace {

template <typename T, typename F>
void Map(RefCall& call, F f) {
  const auto x = call.in<T>(0);
  const auto y = call.out<T>(0);
  for (int64_t i = 0; i < y.size(); ++i) y[i] = f(x[i]);
}

template <typename T, typename F>
void Zip(RefCall& call, F f) {
  const auto a = call.in<T>(0);
  const auto b = call.in<T>(1);
  const auto y = call.out<T>(0);
  ForBroadcast<2>(
      call, [&](int64_t out, const std::array<int64_t, 2>& in) { y[out] = f(a[in[0]], b[in[1]]); });
}

}  // namespace

ir::Cost PassCost(const ir::OpCall& call, double operations) {
  const double elements = static_cast<double>(call.input(0).dims.elements().max());
  const double bytes = elements * core::Info(call.dtype(0)).block_bytes;
  return {operations * elements, bytes, bytes};
}

Status InferLikeFirst(const ir::OpCall& call, ir::Types* outputs) {
  outputs->push_back(call.input(0));
  return {};
}

Status InferBroadcast(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const ir::Dims dims, BroadcastInputs(call));
  outputs->push_back({call.dtype(0), dims});
  return {};
}

OpDef Unary(std::string_view name, std::string_view doc, double (*f)(double)) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.inputs = {{"x"}};
  op.outputs = {{"y"}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = InferLikeFirst;
  op.reference = [f](RefCall& call) -> Status {
    Map<double>(call, f);
    return {};
  };
  op.samples = [] { return UnarySamples(); };
  return op;
}

OpDef Unary(std::string_view name, std::string_view doc, double (*f)(double),
            int64_t (*fi)(int64_t), uint64_t (*fu)(uint64_t)) {
  OpDef op = Unary(name, doc, f);
  op.types = {{"T", ir::kNumbers}};
  op.reference = [f, fi, fu](RefCall& call) -> Status {
    if (call.in_type(0) == ir::WideType::kFloat) Map<double>(call, f);
    if (call.in_type(0) == ir::WideType::kSigned) Map<int64_t>(call, fi);
    if (call.in_type(0) == ir::WideType::kUnsigned) Map<uint64_t>(call, fu);
    return {};
  };
  return op;
}

OpDef Binary(std::string_view name, std::string_view doc, double (*f)(double, double)) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y"}};
  op.axes = ir::AxesRule(BroadcastAxes);
  op.infer = InferBroadcast;
  op.reference = [f](RefCall& call) -> Status {
    Zip<double>(call, f);
    return {};
  };
  op.samples = [] { return BinarySamples(); };
  return op;
}

OpDef Binary(std::string_view name, std::string_view doc, double (*f)(double, double),
             int64_t (*fi)(int64_t, int64_t), uint64_t (*fu)(uint64_t, uint64_t)) {
  OpDef op = Binary(name, doc, f);
  op.types = {{"T", ir::kNumbers}};
  op.reference = [f, fi, fu](RefCall& call) -> Status {
    if (call.in_type(0) == ir::WideType::kFloat) Zip<double>(call, f);
    if (call.in_type(0) == ir::WideType::kSigned) Zip<int64_t>(call, fi);
    if (call.in_type(0) == ir::WideType::kUnsigned) Zip<uint64_t>(call, fu);
    return {};
  };
  return op;
}

std::vector<Sample> UnarySamples(const Fill& fill) {
  std::vector<Sample> samples;
  for (const core::Shape& shape : {core::Shape{}, {1}, {0}, {7}, {2, 0, 3}, {3, 5}, {2, 3, 33}})
    samples.push_back({{{shape, fill}}});
  return samples;
}

std::vector<Sample> BinarySamples(const Fill& a, const Fill& b) {
  const std::vector<std::pair<core::Shape, core::Shape>> shapes = {
      {{}, {}},      {{3}, {}},        {{0}, {1}},          {{7}, {7}},
      {{2, 3}, {3}}, {{2, 1}, {1, 5}}, {{4, 1, 3}, {2, 1}}, {{2, 33}, {2, 33}}};
  std::vector<Sample> samples;
  for (const auto& [left, right] : shapes) samples.push_back({{{left, a}, {right, b}}});
  return samples;
}

ir::Values BinaryGradients(const ir::ExprCall& call,
                           const std::function<ir::Value(const Emit&)>& da,
                           const std::function<ir::Value(const Emit&)>& db) {
  const Emit e(call.b());
  ir::Values grads(size_t{2});
  if (call.needs(0)) grads[0] = e.sum_to(da(e), call.in(0).type().dims);
  if (call.needs(1)) grads[1] = e.sum_to(db(e), call.in(1).type().dims);
  return grads;
}

}  // namespace rml::ops
