// y[batch…, lhs free…, rhs free…] = Σ over contracted axes of lhs · rhs
#include "rml/ops/elementwise.h"
#include "rml/ops/shape_ops.h"

namespace rml::ops {
namespace {

// The axes of one operand by what becomes of them.
struct Side {
  ir::Ints batch;
  ir::Ints free;
  ir::Ints contract;
};

core::Expected<Side> SideOf(const ir::OpCall& call, int input) {
  const bool left = input == 0;
  const int rank = call.rank(input);
  Side side;
  RML_ASSIGN(side.batch, AxesInOrder(call, left ? "lhs_batch" : "rhs_batch", rank));
  RML_ASSIGN(side.contract, AxesInOrder(call, left ? "lhs_contract" : "rhs_contract", rank));
  for (const int64_t axis : side.batch) {
    if (Contains(side.contract, axis)) {
      return core::InvalidArgument("axis ", axis, " of ", call.input_name(input),
                                   " is both a batch's and contracted");
    }
  }
  for (int axis = 0; axis < rank; ++axis) {
    if (!Contains(side.batch, axis) && !Contains(side.contract, axis)) side.free.push_back(axis);
  }
  return side;
}

core::Status CheckPairs(const ir::OpCall& call, const ir::Ints& left, const ir::Ints& right,
                        std::string_view what) {
  if (left.size() != right.size()) {
    return core::InvalidArgument("lhs has ", left.size(), " ", what, " axes and rhs ",
                                 right.size());
  }
  for (size_t i = 0; i < left.size(); ++i) {
    const ir::Dim a = call.dim(0, static_cast<int>(left[i]));
    const ir::Dim b = call.dim(1, static_cast<int>(right[i]));
    if (a == b) continue;
    return core::InvalidArgument("axis ", left[i], " of lhs is ", a.ToString(), " and axis ",
                                 right[i], " of rhs ", b.ToString());
  }
  return {};
}

core::Status InferDotGeneral(const ir::OpCall& call, ir::Types* outputs) {
  RML_ASSIGN(const Side left, SideOf(call, 0));
  RML_ASSIGN(const Side right, SideOf(call, 1));
  RML_TRY(CheckPairs(call, left.batch, right.batch, "batch"));
  RML_TRY(CheckPairs(call, left.contract, right.contract, "contracted"));
  RML_TRY(CheckRank(static_cast<int>(left.batch.size() + left.free.size() + right.free.size())));
  ir::Type type = {call.dtype(0), {}};
  for (const int64_t axis : left.batch) type.dims.Append(call.dim(0, static_cast<int>(axis)));
  for (const int64_t axis : left.free) type.dims.Append(call.dim(0, static_cast<int>(axis)));
  for (const int64_t axis : right.free) type.dims.Append(call.dim(1, static_cast<int>(axis)));
  outputs->push_back(type);
  return {};
}

core::Expected<ir::Axes> ResolveDot(const ir::OpCall& call) {
  RML_ASSIGN(const Side left, SideOf(call, 0));
  RML_ASSIGN(const Side right, SideOf(call, 1));
  RML_TRY(CheckPairs(call, left.batch, right.batch, "batch"));
  RML_TRY(CheckPairs(call, left.contract, right.contract, "contracted"));
  ir::Axes axes;
  int place = 0;
  const auto at = [](int64_t axis) { return static_cast<int>(axis); };
  for (size_t i = 0; i < left.batch.size(); ++i, ++place)
    axes.push_back(FreeAxis(place, {at(left.batch[i]), at(right.batch[i])}, {place}));
  for (const int64_t axis : left.free) {
    axes.push_back(FreeAxis(place, {at(axis), -1}, {place}));
    ++place;
  }
  for (const int64_t axis : right.free) {
    axes.push_back(FreeAxis(place, {-1, at(axis)}, {place}));
    ++place;
  }
  for (size_t i = 0; i < left.contract.size(); ++i, ++place) {
    axes.push_back(FreeAxis(place, {at(left.contract[i]), at(right.contract[i])}, {-1}));
    axes.back().role = ir::AxisRole::kReduced;
  }
  return axes;
}

// Both as matrices of a batch, [batch, rows, contracted] and [batch, contracted, columns].
ir::Values DecomposeDotGeneral(ir::ExprCall& call) {
  const Emit e(call.b());
  const Side left = *SideOf(call.call(), 0);
  const Side right = *SideOf(call.call(), 1);
  ir::Dims result;
  const auto product = [&](const ir::Value& x, const ir::Ints& axes, bool in_result) {
    ir::Dim elements = 1;
    for (const int64_t axis : axes) {
      const ir::Dim dim = x.dim(static_cast<int>(axis));
      elements = elements * dim;
      if (in_result) result.Append(dim);
    }
    return elements;
  };
  const auto joined = [](ir::Ints a, const ir::Ints& b, const ir::Ints& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  };
  const ir::Value& lhs = call.in(0);
  const ir::Value& rhs = call.in(1);
  const ir::Dim batch = product(lhs, left.batch, true);
  const ir::Dim rows = product(lhs, left.free, true);
  const ir::Dim columns = product(rhs, right.free, true);
  const ir::Dim inner = product(lhs, left.contract, false);
  const auto matrices = [&](const ir::Value& x, const ir::Ints& order, const ir::Dims& dims) {
    return e.reshape(order.empty() ? x : e.transpose(x, order), dims);
  };
  const ir::Value a =
      matrices(lhs, joined(left.batch, left.free, left.contract), {batch, rows, inner});
  const ir::Value b =
      matrices(rhs, joined(right.batch, right.contract, right.free), {batch, inner, columns});
  return {e.reshape(e.matmul(a, b), result)};
}

ir::Cost CostOfDot(const ir::OpCall& call) {
  const auto axes = ResolveDot(call);
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  ir::Cost cost;
  cost.flops = 2;
  cost.bytes_written = bytes;
  for (const ir::NamedAxis& axis : *axes) {
    const int input = axis.inputs[0] >= 0 ? 0 : 1;
    const auto size =
        static_cast<double>(call.dim(input, axis.inputs[static_cast<size_t>(input)]).max());
    cost.flops *= size;
    if (axis.outputs[0] >= 0) cost.bytes_written *= size;
  }
  for (int i = 0; i < 2; ++i)
    cost.bytes_read += bytes * static_cast<double>(call.input(i).dims.elements().max());
  return cost;
}

}  // namespace

ir::OpDef DotGeneral() {
  ir::OpDef op;
  op.name = "dot_general";
  op.doc =
      "Products of `lhs` and `rhs` summed over pairs of axes, `lhs_contract` and `rhs_contract`, "
      "for each place of the pairs `lhs_batch` and `rhs_batch`. The result has the batch's axes, "
      "then the other ones of lhs, then those of rhs: StableHLO's dot_general.";
  op.inputs = {{"lhs"}, {"rhs"}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"lhs_batch", ir::Ints()},
                   {"rhs_batch", ir::Ints()},
                   {"lhs_contract", ir::Ints()},
                   {"rhs_contract", ir::Ints()}};
  op.axes = ir::AxesRule(ResolveDot);
  op.infer = InferDotGeneral;
  op.decompose = DecomposeDotGeneral;
  op.cost = CostOfDot;
  op.samples = [] {
    const auto by = [](ir::Ints lhs_batch, ir::Ints rhs_batch, ir::Ints lhs_contract,
                       ir::Ints rhs_contract) {
      return ir::AttrList{{"lhs_batch", lhs_batch},
                          {"rhs_batch", rhs_batch},
                          {"lhs_contract", lhs_contract},
                          {"rhs_contract", rhs_contract}};
    };
    return std::vector<ir::Sample>{
        {{{{3, 4}}, {{4, 5}}}, by({}, {}, {1}, {0})},
        {{{{}}, {{}}}},
        {{{{3}}, {{2, 2}}}},
        {{{{2, 3, 4}}, {{4, 2, 5}}}, by({0}, {1}, {-1}, {0})},
        {{{{3, 2, 4, 5}}, {{5, 2, 7, 4}}}, by({1}, {1}, {2, 3}, {3, 0})},
        {{{{7, 33}}, {{17, 33}}}, by({}, {}, {1}, {1})},
        {{{{3, 0}}, {{0, 2}}}, by({}, {}, {1}, {0})},
        {{{{2, 3}}, {{2, 3}}}, by({1, 0}, {1, 0}, {}, {})},
    };
  };
  return op;
}

}  // namespace rml::ops
