#include "rml/ops/scatter_gradient.h"

#include <string>
#include <utility>

#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

class ScatterRule {
 public:
  ScatterRule(const ir::ExprCall& call, std::string_view gather, ir::AttrList places)
      : call_(call),
        e_(call.b()),
        g_(call.grad(0)),
        how_(call.call().text("reduce")),
        gather_(gather),
        places_(std::move(places)) {}

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
  ir::Value Gather(const ir::Value& x) const { return e_.one(gather_, {x, call_.in(1)}, places_); }
  ir::Value Scatter(std::string_view how, const ir::Value& x, const ir::Value& updates) const {
    ir::AttrList attributes = places_;
    attributes.push_back({"reduce", how});
    return e_.one(call_.call().op().name, {x, call_.in(1), updates}, attributes);
  }

  const ir::ExprCall& call_;
  const Emit e_;
  const ir::Value g_;
  const std::string how_;
  const std::string_view gather_;
  const ir::AttrList places_;
};

}  // namespace

ir::Values ScatterGradient(const ir::ExprCall& call, std::string_view gather, ir::AttrList places) {
  return ScatterRule(call, gather, std::move(places)).Run();
}

}  // namespace rml::ops
