// y[output indices] = Σ over all other indices of Π inputs
#include "rml/ops/einsum.h"

#include <algorithm>

#include "rml/core/error.h"
#include "rml/ops/elementwise.h"

namespace rml::ops {
namespace {

core::Status InferEinsum(const ir::OpCall& call, ir::Types* outputs) {
  if (call.inputs() == 0) return core::InvalidArgument("there are no inputs");
  RML_ASSIGN(const Equation equation, ReadEquation(call));
  ir::Type type = {call.dtype(0), {}};
  for (const int index : equation.output)
    type.dims.Append(equation.sizes[static_cast<size_t>(index)]);
  outputs->push_back(type);
  return {};
}

template <typename T>
class Contraction {
 public:
  Contraction(const ir::RefCall& call, const Equation& equation) : equation_(equation) {
    for (int k = 0; k < call.inputs(); ++k) {
      const auto x = call.in<T>(k);
      inputs_.push_back(x.data());
      at_.push_back(0);
      // How far one step of each index goes: along a diagonal, on several axes at once.
      std::vector<int64_t>& steps = steps_.emplace_back(equation.sizes.size());
      for (int axis = 0; axis < x.rank(); ++axis) {
        const int index = equation.inputs[static_cast<size_t>(k)][static_cast<size_t>(axis)];
        if (index >= 0) steps[static_cast<size_t>(index)] += x.stride(axis);
      }
    }
  }

  void Run(T* y) {
    const std::vector<int> summed = equation_.Summed();
    y_ = y;
    ForEach(equation_.output, [&] {
      *y_ = 0;
      ForEach(summed, [this] { AddProduct(); });
      ++y_;
    });
  }

 private:
  // Calls body with the places at every combination of these indices.
  template <typename Body>
  void ForEach(std::span<const int> indices, const Body& body) {
    if (indices.empty()) return body();
    const auto index = static_cast<size_t>(indices[0]);
    const int64_t size = equation_.sizes[index].value();
    for (int64_t i = 0; i < size; ++i) {
      ForEach(indices.subspan(1), body);
      for (size_t k = 0; k < at_.size(); ++k) at_[k] += steps_[k][index];
    }
    for (size_t k = 0; k < at_.size(); ++k) at_[k] -= size * steps_[k][index];
  }

  void AddProduct() {
    T product = 1;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if constexpr (std::is_same_v<T, int64_t>) {
        product = ir::WrapMul(product, inputs_[k][at_[k]]);
      } else {
        product *= inputs_[k][at_[k]];
      }
    }
    if constexpr (std::is_same_v<T, int64_t>) {
      *y_ = ir::WrapAdd(*y_, product);
    } else {
      *y_ += product;
    }
  }

  const Equation& equation_;
  std::vector<const T*> inputs_;
  std::vector<int64_t> at_;  // the place in each
  std::vector<std::vector<int64_t>> steps_;
  T* y_ = nullptr;
};

core::Status ReferenceEinsum(ir::RefCall& call) {
  RML_ASSIGN(const Equation equation, ReadEquation(call.call()));
  call.VisitNumber(0, [&](auto zero) {
    using T = decltype(zero);
    Contraction<T>(call, equation).Run(call.out<T>(0).data());
  });
  return {};
}

// The gradient of one input is the einsum of the output's gradient and the other inputs that has
// that input's indices. An index that none of them has is brought in by a vector of ones, and the
// second axis of a diagonal by an identity.
class EinsumGradient {
 public:
  explicit EinsumGradient(const ir::ExprCall& call) : call_(call), e_(call.b()) {
    auto equation = ReadEquation(call.call());
    if (!equation.ok()) throw Error(equation.status());
    equation_ = *std::move(equation);
  }

  ir::Values Run() {
    ir::Values grads(static_cast<size_t>(call_.inputs()));
    for (int k = 0; k < call_.inputs(); ++k) {
      if (call_.needs(k)) grads[static_cast<size_t>(k)] = For(k);
    }
    return grads;
  }

 private:
  ir::Value For(int k) {
    text_.clear();
    factors_.clear();
    indices_ = static_cast<int>(equation_.sizes.size());
    AddFactor(call_.grad(0), equation_.output);
    std::vector<int> present = equation_.output;
    for (int j = 0; j < call_.inputs(); ++j) {
      if (j == k) continue;
      const std::vector<int> axes = AddInput(j);
      present.insert(present.end(), axes.begin(), axes.end());
    }
    std::vector<int> result;
    for (const int index : equation_.inputs[static_cast<size_t>(k)]) {
      if (index < 0) continue;
      const ir::Dim size = equation_.sizes[static_cast<size_t>(index)];
      const core::DType dtype = call_.grad(0).dtype();
      if (std::ranges::count(present, index) == 0) {
        AddFactor(e_.full(1, {dtype, {size}}), {index});
        present.push_back(index);
      }
      if (std::ranges::count(result, index) == 0) {
        result.push_back(index);
        continue;
      }
      const int fresh = indices_++;
      AddFactor(e_.one("eye", {}, {{"shape", ir::Dims{size, size}}, {"dtype", dtype}}),
                {index, fresh});
      result.push_back(fresh);
    }
    const std::string text = core::StrCat(text_, "->", Letters(result));
    const ir::Value grad =
        e_.call("einsum", std::span(factors_.begin(), factors_.size()), {{"equation", text}})[0];
    return e_.reshape(grad, call_.in(k).type().dims);  // with the axes that were broadcast
  }

  void AddFactor(const ir::Value& x, const std::vector<int>& axes) {
    text_ += core::StrCat(factors_.empty() ? "" : ",", Letters(axes));
    factors_.push_back(x);
  }

  // Without the axes that are broadcast; returns the others.
  std::vector<int> AddInput(int j) {
    const ir::Value x = call_.in(j);
    std::vector<int> axes;
    ir::Dims dims;
    for (int axis = 0; axis < x.rank(); ++axis) {
      const int index = equation_.inputs[static_cast<size_t>(j)][static_cast<size_t>(axis)];
      if (index < 0) continue;
      axes.push_back(index);
      dims.Append(x.dim(axis));
    }
    AddFactor(e_.reshape(x, dims), axes);
    return axes;
  }

  static std::string Letters(const std::vector<int>& axes) {
    std::string letters;
    for (const int index : axes) {
      if (index >= kMostIndices)
        throw Error(core::Unsupported("its gradient takes more than ", kMostIndices, " indices"));
      letters += IndexLetter(index);
    }
    return letters;
  }

  const ir::ExprCall& call_;
  const Emit e_;
  Equation equation_;
  std::string text_;
  ir::Values factors_;
  int indices_ = 0;
};

ir::Cost CostOfEinsum(const ir::OpCall& call) {
  const auto equation = ReadEquation(call);
  const double bytes = core::Info(call.dtype(0)).block_bytes;
  ir::Cost cost;
  cost.flops = static_cast<double>(std::max(call.inputs(), 2));
  cost.bytes_written = bytes;
  for (const ir::Dim size : equation->sizes) cost.flops *= static_cast<double>(size.max());
  for (const int index : equation->output)
    cost.bytes_written *= static_cast<double>(equation->sizes[static_cast<size_t>(index)].max());
  for (int i = 0; i < call.inputs(); ++i)
    cost.bytes_read += bytes * static_cast<double>(call.input(i).dims.elements().max());
  return cost;
}

}  // namespace

ir::OpDef Einsum() {
  ir::OpDef op;
  op.name = "einsum";
  op.doc =
      "Sums of products by an `equation`, as NumPy's and ONNX's: `\"bij,bjk->bik\"` names the "
      "axes of each input and of the result, and what the result does not name is summed. Without "
      "`->` it names what occurs once, in alphabetical order. An index twice in one input takes "
      "its diagonal; `...` stands for axes that broadcast, aligned at the right, and is summed "
      "where the result has none. Sums are in f32 for f16 and bf16.";
  op.inputs = {{"inputs", "T", ir::Arity::kMany}};
  op.outputs = {{"y"}};
  op.types = {{"T", ir::kNumbers}};
  op.attributes = {{"equation", ir::RequiredAttr{std::string()}}};
  op.axes = ir::AxesRule(EinsumAxes);
  op.infer = InferEinsum;
  op.reference = ReferenceEinsum;
  op.vjp = [](ir::ExprCall& call) { return EinsumGradient(call).Run(); };
  op.cost = CostOfEinsum;
  op.samples = [] {
    const auto by = [](const char* equation) { return ir::AttrList{{"equation", equation}}; };
    return std::vector<ir::Sample>{
        {{{{3, 4}}, {{4, 5}}}, by("ij,jk->ik")},
        {{{{3, 4}}, {{4, 5}}}, by("ij, jk")},
        {{{{}}, {{7}}}, by(",i->i")},
        {{{{5, 3}}}, by("ba")},
        {{{{4, 4}}}, by("ii")},
        {{{{4, 4, 3, 4}}}, by("iiji->ij")},
        {{{{3, 5}}}, by("ij->i")},
        {{{{2, 3, 4}}, {{2, 4, 5}}}, by("...ij,...jk->...ik")},
        {{{{2, 1, 3}}, {{5, 3}}}, by("...i,...i->...")},
        {{{{2, 3}}, {{4, 1, 3}}}, by("...,...")},
        {{{{2, 3, 4}}}, by("...i->i")},
        {{{{3, 4}}, {{5}}}, by("ij,k->i")},
        {{{{3, 3}}, {{3, 4}}, {{4, 2}}}, by("ii,ij,jk->k")},
        {{{{2, 17}}, {{2, 33}}, {{17, 33}}}, by("bi,bj,ij->b")},
        {{{{3, 0}}, {{0, 2}}}, by("ij,jk->ik")},
        {{{{0, 4}}, {{4, 2}}}, by("ij,jk->ik")},
        {{{{1, 1}}, {{1, 1}}}, by("aB,Bc->ca")},
    };
  };
  return op;
}

}  // namespace rml::ops
