// y[t] = a[t] y[t - 1] + b[t]
#include "rml/ops/scan.h"

namespace rml::ops {
namespace {

core::Status ReferenceLinearScan(ir::RefCall& call) {
  const auto a = call.in<double>(0);
  const auto b = call.in<double>(1);
  const auto y = call.out<double>(0);
  const bool exclusive = call.call().flag("exclusive");
  return ForScanLines(call, [&](const ScanLine& line) {
    double state = 0;
    for (int64_t i = 0; i < line.size; ++i) {
      const double before = state;
      state = a[line(i)] * state + b[line(i)];
      y[line(i)] = exclusive ? before : state;
    }
  });
}

// The exclusive form is its own adjoint in the other direction: with z[t] the state before t, and q
// the gradient of the state after t, q[t - 1] = a[t] q[t] + (the output's), dA = q z and dB = q.
ir::Values VjpLinearScan(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  const ir::Value a = call.in(0);
  const ir::Value& g = call.grad(0);
  const bool reverse = c.flag("reverse");
  const bool exclusive = c.flag("exclusive");
  const auto back = ScanAttributes(c, true, !reverse);
  const ir::Value q = exclusive ? e.one("linear_scan", {a, g}, back)
                                : e.add(g, e.one("linear_scan", {a, e.mul(a, g)}, back));
  ir::Values grads(size_t{2});
  if (call.needs(0)) {
    const ir::Value before =
        exclusive ? call.out(0)
                  : e.one("linear_scan", {a, call.in(1)}, ScanAttributes(c, true, reverse));
    grads[0] = e.mul(q, before);
  }
  if (call.needs(1)) grads[1] = q;
  return grads;
}

}  // namespace

ir::OpDef LinearScan() {
  ir::OpDef op = LineScan();
  op.name = "linear_scan";
  op.doc =
      "Linear recurrence along `axis`: `y[t] = a[t] y[t - 1] + b[t]` from a state of 0, as in "
      "state-space models and exponential averages. If `exclusive`, `y[t]` is the state before t; "
      "if `reverse`, time runs from the end.";
  op.inputs = {{"a"}, {"b"}};
  op.infer = [](const ir::OpCall& call, ir::Types* outputs) -> core::Status {
    RML_TRY(call.axis("axis", call.rank(0)));
    if (!(call.input(0).dims == call.input(1).dims))
      return core::InvalidArgument("a has the shape ", call.input(0).dims.ToString(), ", and b ",
                                   call.input(1).dims.ToString());
    outputs->push_back(call.input(0));
    return {};
  };
  op.reference = ReferenceLinearScan;
  op.vjp = VjpLinearScan;
  op.cost = [](const ir::OpCall& call) {
    const double elements = static_cast<double>(call.input(0).dims.elements().max());
    const double bytes = elements * core::Info(call.dtype(0)).block_bytes;
    return ir::Cost{2 * elements, 2 * bytes, bytes};
  };
  op.samples = [] {
    auto samples = ScanSamples();
    for (ir::Sample& sample : samples)
      sample.inputs.insert(sample.inputs.begin(),
                           {sample.inputs[0].shape, ir::Fill::Uniform(-1, 1)});
    samples.push_back({{{{6}, ir::Fill::Values({0, 1, -1})}, {{6}, ir::Fill::Normal(0, 100)}}});
    return samples;
  };
  return op;
}

}  // namespace rml::ops
