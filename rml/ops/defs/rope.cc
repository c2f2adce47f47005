// Rotary position embedding: pairs of elements turned by angles that grow with the position.
#include <cmath>

#include "rml/ops/elementwise.h"
#include "rml/ops/norm.h"

namespace rml::ops {
namespace {

enum { kX, kPositions, kCos, kSin };

// How many pairs of elements are turned.
core::Expected<ir::Dim> Pairs(const ir::OpCall& call) {
  const ir::Dim width = call.dim(kX, -1);
  const int64_t rotated = call.integer("rotated");
  if (rotated < 0) return core::InvalidArgument("rotated is ", rotated);
  if (call.has(kCos)) {
    const ir::Dim pairs = call.dim(kCos, -1);
    if (rotated != 0 && !(pairs * 2 == ir::Dim(rotated)))
      return core::InvalidArgument("rotated is ", rotated, ", and cos has angles of ",
                                   pairs.ToString(), " pairs");
    return pairs;
  }
  const ir::Dim turned = rotated == 0 ? width : ir::Dim(rotated);
  const ir::Dim pairs = ExactDiv(turned, 2);
  if (!pairs.valid()) return core::InvalidArgument(turned.ToString(), " elements make no pairs");
  return pairs;
}

core::Status InferRope(const ir::OpCall& call, ir::Types* outputs) {
  if (call.rank(kX) < 1) return core::InvalidArgument("x has no axis to rotate");
  const std::string& layout = call.text("layout");
  if (layout != "halves" && layout != "adjacent")
    return core::InvalidArgument("layout is \"", layout, "\", expected halves or adjacent");
  const bool angles = call.has(kCos) && call.has(kSin);
  if (call.has(kPositions) ? call.has(kCos) || call.has(kSin) : !angles)
    return core::InvalidArgument("it takes either positions, or both cos and sin");
  if (!(call.number("base") > 0)) return core::InvalidArgument("base is ", call.number("base"));
  if (angles && call.rank(kCos) < 1) return core::InvalidArgument("cos has no axis of pairs");
  RML_ASSIGN(const ir::Dim pairs, Pairs(call));
  const ir::Dim width = call.dim(kX, -1);
  if (!(width - pairs * 2).valid()) {
    return core::InvalidArgument("x has ", width.ToString(), " elements, and ",
                                 (pairs * 2).ToString(), " are to be turned");
  }
  ir::Dims rows = call.input(kX).dims;
  rows.Erase(rows.rank() - 1);
  ir::Dims turned = rows;
  turned.Append(pairs);
  for (const int i : {kPositions, kCos, kSin}) {
    if (!call.has(i)) continue;
    const ir::Dims& to = i == kPositions ? rows : turned;
    RML_ASSIGN(const ir::Dims both, BroadcastDims(call.input(i).dims, to));
    if (!(both == to)) {
      return core::InvalidArgument(call.input_name(i), " ", call.input(i).dims.ToString(),
                                   " does not broadcast to ", to.ToString());
    }
  }
  if (angles && !(call.input(kCos).dims == call.input(kSin).dims)) {
    return core::InvalidArgument("cos is ", call.input(kCos).dims.ToString(), " and sin ",
                                 call.input(kSin).dims.ToString());
  }
  return InferLikeFirst(call, outputs);
}

// The parts of x: the first and second elements of the pairs, and what stays (undefined: nothing).
struct Parts {
  ir::Value a, b, rest;
};

class Rotation {
 public:
  Rotation(const Emit& e, const ir::ExprCall& call)
      : e_(e),
        call_(call),
        stat_(StatType(call.in(kX).dtype())),
        pairs_(*Pairs(call.call())),
        adjacent_(call.call().text("layout") == "adjacent") {}

  core::DType dtype() const { return stat_; }

  Parts Split(const ir::Value& x) const {
    const ir::Value wide = e_.cast(x, stat_);
    const ir::Dim width = x.dim(-1);
    const ir::Dim rest = width - pairs_ * 2;
    Parts parts;
    if (!(rest == ir::Dim(0))) parts.rest = Narrow(wide, pairs_ * 2, rest);
    const ir::Value turned = parts.rest.defined() ? Narrow(wide, 0, pairs_ * 2) : wide;
    if (!adjacent_) {
      parts.a = Narrow(turned, 0, pairs_);
      parts.b = Narrow(turned, pairs_, pairs_);
      return parts;
    }
    ir::Dims dims = turned.type().dims;
    dims[dims.rank() - 1] = pairs_;
    ir::Dims split = dims;
    split.Append(2);
    const ir::Value couples = e_.reshape(turned, split);
    parts.a = e_.reshape(Narrow(couples, 0, 1), dims);
    parts.b = e_.reshape(Narrow(couples, 1, 1), dims);
    return parts;
  }

  ir::Value Join(const Parts& parts) const {
    ir::Value turned;
    if (adjacent_) {
      ir::Dims dims = parts.a.type().dims;
      ir::Dims couple = dims;
      couple.Append(1);
      dims[dims.rank() - 1] = pairs_ * 2;
      turned = e_.reshape(Concat(e_.reshape(parts.a, couple), e_.reshape(parts.b, couple)), dims);
    } else {
      turned = Concat(parts.a, parts.b);
    }
    if (parts.rest.defined()) turned = Concat(turned, parts.rest);
    return e_.cast(turned, call_.in(kX).dtype());
  }

  // Cosine and sine of the angles: [..., pairs].
  std::pair<ir::Value, ir::Value> Angles() const {
    ir::Value cos, sin;
    if (call_.in(kCos).defined()) {
      cos = e_.cast(call_.in(kCos), stat_);
      sin = e_.cast(call_.in(kSin), stat_);
    } else {
      // positions · base^(-pair / pairs)
      const ir::Value pair = e_.one("iota", {}, {{"shape", ir::Dims{pairs_}}, {"dtype", stat_}});
      const ir::Value power = e_.div(pair, e_.size(pairs_, stat_));
      const ir::Value turns = e_.exp(e_.mul(power, -std::log(call_.call().number("base"))));
      const ir::Value positions = e_.cast(call_.in(kPositions), stat_);
      ir::Dims dims = positions.type().dims;
      dims.Append(1);
      const ir::Value angles = e_.mul(e_.reshape(positions, dims), turns);
      cos = e_.one("cos", {angles});
      sin = e_.one("sin", {angles});
    }
    return {cos, call_.call().flag("inverse") ? e_.neg(sin) : sin};
  }

 private:
  ir::Value Narrow(const ir::Value& x, ir::Dim start, ir::Dim size) const {
    return e_.one("narrow", {x},
                  {{"axis", -1}, {"start", ir::Dims{start}}, {"size", ir::Dims{size}}});
  }
  ir::Value Concat(const ir::Value& a, const ir::Value& b) const {
    return e_.one("concat", {a, b}, {{"axis", -1}});
  }

  const Emit& e_;
  const ir::ExprCall& call_;
  const core::DType stat_;
  const ir::Dim pairs_;
  const bool adjacent_;
};

ir::Values DecomposeRope(ir::ExprCall& call) {
  const Emit e(call.b());
  const Rotation rotation(e, call);
  const auto [cos, sin] = rotation.Angles();
  const Parts x = rotation.Split(call.in(kX));
  return {rotation.Join(
      {e.sub(e.mul(x.a, cos), e.mul(x.b, sin)), e.add(e.mul(x.b, cos), e.mul(x.a, sin)), x.rest})};
}

// x's gradient turns back.
ir::Values VjpRope(ir::ExprCall& call) {
  const Emit e(call.b());
  const ir::OpCall& c = call.call();
  ir::Values grads(size_t{4});
  if (call.needs(kX)) {
    grads[kX] = e.one("rope", {call.grad(0), call.in(kPositions), call.in(kCos), call.in(kSin)},
                      {{"base", c.number("base")},
                       {"layout", c.text("layout")},
                       {"rotated", c.integer("rotated")},
                       {"inverse", !c.flag("inverse")}});
  }
  if (!call.needs(kCos) && !call.needs(kSin)) return grads;
  const Rotation rotation(e, call);
  const Parts x = rotation.Split(call.in(kX));
  const Parts g = rotation.Split(call.grad(0));
  const auto to = [&](int i, const ir::Value& full) {
    const ir::Type type = call.in(i).type();
    grads[static_cast<size_t>(i)] = e.cast(e.sum_to(full, type.dims), type.dtype);
  };
  if (call.needs(kCos)) to(kCos, e.add(e.mul(g.a, x.a), e.mul(g.b, x.b)));
  if (call.needs(kSin)) {
    const ir::Value turned = e.sub(e.mul(g.b, x.a), e.mul(g.a, x.b));
    to(kSin, c.flag("inverse") ? e.neg(turned) : turned);
  }
  return grads;
}

core::Expected<ir::Axes> ResolveRope(const ir::OpCall& call) {
  ir::Axes axes;
  const int rows = call.rank(kX) - 1;
  for (int axis = 0; axis < rows; ++axis) {
    ir::NamedAxis& named = axes.emplace_back();
    named.name = core::StrCat("d", axis);
    named.role = ir::AxisRole::kFree;
    named.outputs = {axis};
    for (int i = 0; i < call.inputs(); ++i) {
      const int lead = call.has(i) ? call.rank(i) - (i == kPositions ? 0 : 1) : 0;
      const int place = axis - (rows - lead);
      const bool here = call.has(i) && place >= 0 && call.dim(i, place) == call.dim(kX, axis);
      named.inputs.push_back(here ? place : -1);
    }
  }
  return axes;
}

}  // namespace

ir::OpDef Rope() {
  ir::OpDef op;
  op.name = "rope";
  op.doc =
      "Rotary position embedding (Su et al. 2021) of `x` [..., tokens, width]: pair i of the "
      "elements (a, b) becomes (a · cos - b · sin, b · cos + a · sin). Angles are `positions` · "
      "base^(-2i / rotated), or given by `cos` and `sin` [..., rotated / 2]; both broadcast to x. "
      "`layout`: halves, element i with i + rotated / 2 (GPT-NeoX, Llama in Hugging Face); "
      "adjacent, 2i with 2i + 1 (GPT-J, Llama in GGUF). Elements from `rotated` on (0: none) "
      "stay. `inverse` turns back.";
  op.inputs = {{"x"},
               {"positions", "I", ir::Arity::kOptional},
               {"cos", "S", ir::Arity::kOptional},
               {"sin", "S", ir::Arity::kOptional}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kFloats}, {"I", ir::kIndices}, {"S", ir::kFloats}};
  op.attributes = {{"base", 10000.0}, {"layout", "halves"}, {"rotated", 0}, {"inverse", false}};
  op.axes = ir::AxesRule(ResolveRope);
  op.infer = InferRope;
  op.decompose = DecomposeRope;
  op.vjp = VjpRope;
  op.cost = [](const ir::OpCall& call) { return PassCost(call, 3); };
  op.samples = [] {
    const ir::SampleInput none = {{}, ir::Fill::None()};
    const auto positions = [](core::Shape shape, std::vector<double> values) {
      return ir::SampleInput(shape, ir::Fill::Values(std::move(values)));
    };
    std::vector<ir::Sample> samples;
    for (const char* layout : {"halves", "adjacent"}) {
      samples.push_back({{{{2, 3, 4, 6}}, positions({4}, {0, 1, 2, 3})}, {{"layout", layout}}});
      samples.push_back({{{{2, 2, 3, 10}}, positions({2, 1, 3}, {0, 1, 2, 700, 701, 702})},
                         {{"layout", layout}, {"rotated", 4}, {"base", 100.0}}});
      samples.push_back(
          {{{{2, 3, 5}}, none, {{3, 2}}, {{3, 2}}}, {{"layout", layout}, {"inverse", true}}});
    }
    samples.push_back({{{{1, 1, 34}}, positions({1}, {17})}});
    samples.push_back({{{{7, 2}}, none, {{7, 1}}, {{7, 1}}}});
    samples.push_back({{{{0, 4}}, positions({0}, {0})}});
    return samples;
  };
  op.tolerance = {1e-10, 2e-5, 1e-2, 8e-2, 0};
  return op;
}

}  // namespace rml::ops
