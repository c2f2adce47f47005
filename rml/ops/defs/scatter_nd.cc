// y = x, and y[batch…, indices[batch…, i…]…, rest…] (+)= updates[batch…, i…, rest…]
#include <algorithm>

#include "rml/ops/elementwise.h"
#include "rml/ops/gather_nd.h"

namespace rml::ops {
namespace {

core::Status InferScatterNd(const ir::OpCall& call, ir::Types* outputs) {
  RML_TRY(CheckReduceName(call.text("reduce")));
  RML_ASSIGN(const ir::Dims dims, SlicesDims(call));
  if (!(call.input(2).dims == dims)) {
    return core::InvalidArgument("updates are ", call.input(2).dims.ToString(),
                                 ", and what the indices name is ", dims.ToString());
  }
  outputs->push_back(call.input(0));
  return {};
}

core::Status ReferenceScatterNd(ir::RefCall& call) {
  const std::string& how = call.call().text("reduce");
  return call.VisitIn(0, [&](auto zero) -> core::Status {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    const auto updates = call.in<T>(2);
    const auto y = call.out<T>(0);
    std::copy(x.begin(), x.end(), y.begin());
    return ForSlices(call, [&](int64_t to, int64_t from, int64_t width) {
      for (int64_t i = 0; i < width; ++i)
        y[to + i] = ScatterElement<T>(how, y[to + i], updates[from + i]);
    });
  });
}

class ScatterNdGradient {
 public:
  explicit ScatterNdGradient(const ir::ExprCall& call)
      : call_(call),
        e_(call.b()),
        g_(call.grad(0)),
        how_(call.call().text("reduce")),
        batch_dims_(call.call().integer("batch_dims")) {}

  ir::Values Run() const {
    const auto [dx, du] = how_ == "add"    ? std::pair(g_, Wanted(2) ? Gather(g_) : ir::Value())
                             : how_ == "none" ? Overwritten()
                          : how_ == "mul"  ? Product()
                                           : Extreme();
    return {dx, ir::Value(), du};
  }

 private:
  using Pair = std::pair<ir::Value, ir::Value>;

  // What was overwritten does not matter. Where several updates land on one place the last stays,
  // and its gradient is shared by all, as PyTorch and JAX have it.
  Pair Overwritten() const {
    ir::Value dx;
    if (Wanted(0)) dx = Scatter("none", g_, e_.zeros_like(call_.in(2)));
    return {dx, Wanted(2) ? Gather(g_) : ir::Value()};
  }

  // Those that are the extreme share its gradient.
  Pair Extreme() const {
    const ir::Value& y = call_.out(0);
    const ir::Value own = Mask(call_.in(0), y);
    const ir::Value theirs = Mask(call_.in(2), Gather(y));
    const ir::Value shares = e_.div(g_, Scatter("add", own, theirs));
    return {e_.mul(shares, own), e_.mul(Gather(shares), theirs)};
  }

  // The product of the others: by division, but for factors of zero, which get the product of those
  // that are not zero where they are the only one.
  Pair Product() const {
    const ir::Value& x = call_.in(0);
    const ir::Value& updates = call_.in(2);
    const ir::Value x_zero = IsZero(x);
    const ir::Value u_zero = IsZero(updates);
    const ir::Value zeros = Scatter("add", AsNumber(x_zero), AsNumber(u_zero));
    const ir::Value rest =
        e_.mul(g_, Scatter("mul", e_.where(x_zero, One(), x), e_.where(u_zero, One(), updates)));
    const ir::Value none = e_.mul(rest, Mask(zeros, e_.like(g_, 0)));
    const ir::Value only = e_.mul(rest, Mask(zeros, One()));
    const auto others = [&](const ir::Value& factor, const ir::Value& is_zero,
                            const ir::Value& where_none, const ir::Value& where_only) {
      return e_.where(is_zero, where_only, e_.div(where_none, e_.where(is_zero, One(), factor)));
    };
    return {others(x, x_zero, none, only), others(updates, u_zero, Gather(none), Gather(only))};
  }

  bool Wanted(int i) const { return call_.needs(i); }
  ir::Value One() const { return e_.like(g_, 1); }
  ir::Value AsNumber(const ir::Value& flags) const { return e_.cast(flags, g_.dtype()); }
  ir::Value Mask(const ir::Value& a, const ir::Value& b) const {
    return AsNumber(e_.one("equal", {a, b}));
  }
  ir::Value IsZero(const ir::Value& x) const { return e_.one("equal", {x, e_.like(x, 0)}); }
  ir::Value Gather(const ir::Value& x) const {
    return e_.one("gather_nd", {x, call_.in(1)}, {{"batch_dims", batch_dims_}});
  }
  ir::Value Scatter(std::string_view how, const ir::Value& x, const ir::Value& updates) const {
    return e_.one("scatter_nd", {x, call_.in(1), updates},
                  {{"batch_dims", batch_dims_}, {"reduce", how}});
  }

  const ir::ExprCall& call_;
  const Emit e_;
  const ir::Value g_;
  const std::string how_;
  const int64_t batch_dims_;
};

}  // namespace

ir::OpDef ScatterNd() {
  ir::OpDef op;
  op.name = "scatter_nd";
  op.doc =
      "`x` with `updates` at the places that `gather_nd` reads with the same `indices` and "
      "`batch_dims`. `reduce`: none (the last update stays), add, mul, max, min; updates are "
      "taken in row-major order. The second gradient of mul leaves out factors that are exactly "
      "zero.";
  op.inputs = {{"x"}, {"indices", "I"}, {"updates"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}, {"I", ir::kIndices}};
  op.attributes = {{"reduce", "none"}, {"batch_dims", 0}};
  op.axes = ir::AxesRule([](const ir::OpCall& call) { return SlicesAxes(call, 2); });
  op.infer = InferScatterNd;
  op.reference = ReferenceScatterNd;
  op.vjp = [](ir::ExprCall& call) { return ScatterNdGradient(call).Run(); };
  op.aliases = {{0, 0}};
  op.samples = [] {
    const auto places = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    const ir::Fill near = ir::Fill::Uniform(0.5, 2);
    std::vector<ir::Sample> samples = {
        {{{{5}}, places({3, 1}, {4, 0, -3}), {{3}}}},
        {{{{3, 4}}, places({4, 2}, {0, 1, 2, -1, 1, 1, 2, 0}), {{4}}}},
        {{{{3, 17}}, places({2, 2, 1}, {2, 0, 2, 1}), {{2, 2, 17}}}, {{"reduce", "add"}}},
        {{{{2, 3, 4}}, places({2, 2, 1}, {2, 0, 1, 1}), {{2, 2, 4}}},
         {{"reduce", "add"}, {"batch_dims", 1}}},
        {{{{3, 2}}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}}}, {{"reduce", "max"}}},
        {{{{3, 2}}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}}}, {{"reduce", "min"}}},
        {{{{3, 2}, near}, places({4, 1}, {2, 0, 2, 2}), {{4, 2}, near}}, {{"reduce", "mul"}}},
        {{{{3, 2}}, places({0, 1}, {0}), {{0, 2}}}, {{"reduce", "add"}}},
    };
    // Ties and zeros.
    for (const char* how : {"max", "mul"}) {
      samples.push_back({{{{2, 2}, ir::Fill::Values({1, 0, 2, 3})},
                          places({3, 1}, {0, 1, 1}),
                          {{3, 2}, ir::Fill::Values({1, 2, 0, 3, 2, 0})}},
                         {{"reduce", how}},
                         false});
    }
    return samples;
  };
  op.tolerance = {1e-12, 1e-6, 2e-3, 2e-2, 0};
  return op;
}

}  // namespace rml::ops
