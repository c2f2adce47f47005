// What operators on shapes, indices and equations give, in numbers: the checks of every operator
// (ops_check_test.cc) compare rules of one definition with each other, not with what NumPy and ONNX
// mean by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rml/core/error.h"
#include "rml/ir/backward.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/eager.h"
#include "rml/ops/expr.h"
#include "rml/ops/reference.h"

namespace rml::ops {
namespace {

using core::DType;
using ir::Dim;
using ir::Dims;
using ir::Ints;
using ir::Value;
using ir::Values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using F = std::vector<double>;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

class ShapeOps : public ::testing::Test {
 protected:
  static Value T(const core::Shape& shape, const F& values) {
    return Value(*core::Tensor::FromHost<double>(shape, values, core::Cpu()));
  }
  static Value I(const core::Shape& shape, const Ints& values) {
    return Value(*core::Tensor::FromHost<int64_t>(shape, values, core::Cpu()));
  }
  // 0, 1, 2, …
  static Value Count(const core::Shape& shape) {
    F values(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    return T(shape, values);
  }
  static F Numbers(const Value& value) {
    if (value.dtype() == DType::kI64) {
      const auto data = value.tensor().HostData<int64_t>();
      return F(data->begin(), data->end());
    }
    const auto data = value.tensor().HostData<double>();
    return F(data->begin(), data->end());
  }
  F Run(std::string_view op, std::initializer_list<Value> inputs, const ir::AttrList& attributes) {
    return Numbers(e_.one(op, inputs, attributes));
  }
  std::string Error(std::string_view op, std::initializer_list<Value> inputs,
                    const ir::AttrList& attributes) {
    return MessageOf([&] { e_.call(op, inputs, attributes); });
  }
  static std::string MessageOf(const std::function<void()>& run) {
    try {
      run();
    } catch (const rml::Error& error) {
      return error.what();
    }
    return "no error";
  }
  // Gradients of the sum of the first output.
  std::vector<F> Gradients(std::string_view op, Values inputs, const ir::AttrList& attributes) {
    Values leaves;
    for (Value& input : inputs) {
      if (input.dtype() != DType::kF64) continue;
      input.set_requires_grad(true);
      leaves.push_back(input);
    }
    const Value y = e_.call(op, std::span(inputs.begin(), inputs.size()), attributes)[0];
    const Value seed = e_.full(1, y.type());
    const auto grads = ir::TapeBackward(eager_, std::span(&y, 1), std::span(&seed, 1), leaves);
    EXPECT_TRUE(grads.ok()) << grads.status().message();
    std::vector<F> numbers;
    for (const Value& grad : *grads) numbers.push_back(Numbers(grad));
    return numbers;
  }
  static ir::AttrList Cut(int64_t start, int64_t end, int64_t step) {
    return {{"starts", Ints{start}}, {"ends", Ints{end}}, {"steps", Ints{step}}};
  }

  const core::RunContext context_;
  EagerBuilder eager_{context_, {&ReferenceProvider()}, BuiltinOps()};
  const Emit e_{eager_};
};

TEST_F(ShapeOps, SliceCutsPlacesAsOnnxDoes) {
  const Value x = Count({7});
  EXPECT_EQ(Run("slice", {x}, Cut(-3, kMax, 1)), (F{4, 5, 6}));
  EXPECT_EQ(Run("slice", {x}, Cut(-1, kMin, -2)), (F{6, 4, 2, 0}));
  EXPECT_EQ(Run("slice", {x}, Cut(100, kMin, -3)), (F{6, 3, 0}));
  EXPECT_EQ(Run("slice", {x}, Cut(-100, kMin, -1)), (F{0}));
  EXPECT_EQ(Run("slice", {x}, Cut(5, 2, -2)), (F{5, 3}));
  EXPECT_EQ(Run("slice", {x}, Cut(kMin, kMax, kMax)), (F{0}));
  EXPECT_EQ(Run("slice", {x}, Cut(kMax, kMin, kMin)), (F{6}));
  EXPECT_EQ(Run("slice", {x}, Cut(4, 2, 1)), F());
  EXPECT_THAT(Error("slice", {x}, Cut(0, 1, 0)), HasSubstr("the step of axis 0 is 0"));
}

TEST_F(ShapeOps, SliceOfASymbolicAxisIsThereForEverySize) {
  ir::Graph graph;
  ir::TraceBuilder trace(graph, BuiltinOps(), core::Cpu());
  const Emit t(trace);
  const Dim n = Dim::Symbol("n", 3, 100);
  const Value x = trace.Input({DType::kF32, {n}});
  const auto size = [&](int64_t start, int64_t end, int64_t step) {
    return t.one("slice", {x}, Cut(start, end, step)).dim(0);
  };
  EXPECT_EQ(size(0, kMax, 1), n);
  EXPECT_EQ(size(1, kMax, 1), n - 1);
  EXPECT_EQ(size(1, -1, 1), n - 2);
  EXPECT_EQ(size(-3, kMax, 1), Dim(3));
  EXPECT_EQ(size(-1, kMin, -1), n);
  EXPECT_EQ(size(-1, 0, -1), n - 1);
  EXPECT_EQ(size(-2, kMin, -1), n - 1);
  EXPECT_EQ(size(2, kMin, -1), Dim(3));
  EXPECT_EQ(size(0, kMax, 2), FloorDiv(n + 1, 2));
  EXPECT_EQ(size(100, kMax, 1), Dim(0));
  EXPECT_THAT(MessageOf([&] { size(0, 50, 1); }), HasSubstr("depends on its size n"));
  EXPECT_THAT(MessageOf([&] { size(3, -1, 1); }), HasSubstr("is empty depends on its size n"));
}

// The symbolic size and what the run takes agree, for every size and any cut that has one.
TEST_F(ShapeOps, SliceSizesWithSymbolsAreThoseOfTheRun) {
  ir::Graph graph;
  ir::TraceBuilder trace(graph, BuiltinOps(), core::Cpu());
  const Emit t(trace);
  int known = 0;
  for (const int64_t least : {0, 1, 3}) {
    const Dim n = Dim::Symbol("n", least, 6);
    const Value x = trace.Input({DType::kF64, {n}});
    const Ints places = {kMin, -7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 7, kMax};
    for (const int64_t start : places) {
      for (const int64_t end : places) {
        for (const int64_t step : {1, 2, -1, -3}) {
          Dim size;
          try {
            size = t.one("slice", {x}, Cut(start, end, step)).dim(0);
          } catch (const rml::Error&) {
            continue;
          }
          ++known;
          for (int64_t value = least; value <= 6; ++value) {
            const auto expected = size.Evaluate([&](Dim) { return value; });
            ASSERT_TRUE(expected.ok());
            const F taken = Run("slice", {Count({value})}, Cut(start, end, step));
            ASSERT_EQ(static_cast<int64_t>(taken.size()), *expected)
                << start << ":" << end << ":" << step << " of " << value << ", at least " << least;
          }
        }
      }
    }
  }
  EXPECT_GT(known, 500);
}

TEST_F(ShapeOps, NarrowTakesSymbolicPlaces) {
  ir::Graph graph;
  ir::TraceBuilder trace(graph, BuiltinOps(), core::Cpu());
  const Emit t(trace);
  const Dim n = Dim::Symbol("n", 0, 8);
  const Dim m = Dim::Symbol("m", 0, 8);
  const Value x = trace.Input({DType::kF32, {n}});
  const Value y = trace.Input({DType::kF32, {m}});
  const Value both = t.one("concat", {x, y});
  EXPECT_EQ(both.dim(0), n + m);
  EXPECT_EQ(t.one("narrow", {both}, {{"start", Dims{n}}, {"size", Dims{m}}}).dim(0), m);
  EXPECT_THAT(Error("narrow", {Count({3})}, {{"start", Dims{2}}, {"size", Dims{2}}}),
              HasSubstr("2 elements from 2 are outside an axis of 3"));
}

TEST_F(ShapeOps, PadModesAreNumPys) {
  const Value x = Count({3});
  const auto pad = [&](int64_t before, int64_t after, const char* mode) {
    return Run("pad", {x}, {{"pads", Ints{before, after}}, {"mode", mode}, {"value", 9.0}});
  };
  EXPECT_EQ(pad(1, 2, "constant"), (F{9, 0, 1, 2, 9, 9}));
  EXPECT_EQ(pad(4, 3, "reflect"), (F{0, 1, 2, 1, 0, 1, 2, 1, 0, 1}));
  EXPECT_EQ(pad(2, 1, "edge"), (F{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(pad(4, 3, "wrap"), (F{2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(pad(-1, 1, "constant"), (F{1, 2, 9}));
  EXPECT_THAT(Error("pad", {x}, {{"pads", Ints{-2, -2}}}), HasSubstr("leave nothing"));
  EXPECT_THAT(Error("pad", {Count({0})}, {{"pads", Ints{1, 0}}, {"mode", "edge"}}),
              HasSubstr("has nothing to repeat"));
  EXPECT_THAT(Error("pad", {I({1}, {0})}, {{"pads", Ints{1, 0}}, {"value", 0.5}}),
              HasSubstr("value 0.5 is no i64"));
}

TEST_F(ShapeOps, ArrangingIsNumPys) {
  EXPECT_EQ(Run("roll", {Count({5})}, {{"shifts", Ints{2}}, {"axes", Ints{0}}}),
            (F{3, 4, 0, 1, 2}));
  EXPECT_EQ(Run("roll", {Count({2, 3})}, {{"shifts", Ints{-1}}}), (F{1, 2, 3, 4, 5, 0}));
  EXPECT_EQ(Run("flip", {Count({2, 3})}, {{"axes", Ints{1}}}), (F{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(Run("tile", {Count({1, 2})}, {{"repeats", Ints{2, 2}}}), (F{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Run("repeat", {Count({2})}, {{"repeats", 2}}), (F{0, 0, 1, 1}));
  EXPECT_EQ(Run("stack", {Count({2}), Count({2})}, {{"axis", 1}}), (F{0, 0, 1, 1}));
  EXPECT_EQ(Run("concat", {Count({2, 1}), Count({2, 2})}, {{"axis", 1}}), (F{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(Run("triangular", {T({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"k", 1}}), (F{1, 2, 0, 4, 5, 6}));
  EXPECT_EQ(Run("triangular", {T({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"upper", true}, {"k", 1}}),
            (F{0, 2, 3, 0, 0, 6}));
  EXPECT_EQ(Run("eye", {}, {{"shape", Dims{2, 3}}, {"k", -1}, {"dtype", DType::kF64}}),
            (F{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(Run("range", {I({}, {5}), I({}, {-2})}, {{"count", Dims{3}}}), (F{5, 3, 1}));
  EXPECT_EQ(Run("shape_of", {Count({2, 0, 3})}, {}), (F{2, 0, 3}));
}

TEST_F(ShapeOps, SplitSizesAddUp) {
  const Values parts = e_.call("split", {Count({7})}, {{"parts", 3}});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(Numbers(parts[0]), (F{0, 1, 2}));
  EXPECT_EQ(Numbers(parts[2]), (F{6}));
  EXPECT_EQ(Numbers(e_.call("split", {Count({7})}, {{"sizes", Ints{2, -1, 1}}})[1]),
            (F{2, 3, 4, 5}));
  EXPECT_THAT(Error("split", {Count({7})}, {{"sizes", Ints{2, 4}}}),
              HasSubstr("sizes add up to 6, and the axis has 7 elements"));
  EXPECT_THAT(Error("split", {Count({7})}, {}), HasSubstr("either sizes or parts"));
}

TEST_F(ShapeOps, SqueezeTakesAxesOfOneOnly) {
  EXPECT_EQ(e_.one("squeeze", {Count({1, 3, 1})}, {}).type().dims, Dims{3});
  EXPECT_EQ(e_.one("unsqueeze", {Count({2, 3})}, {{"axes", Ints{0, -1}}}).type().dims,
            (Dims{1, 2, 3, 1}));
  EXPECT_THAT(Error("squeeze", {Count({1, 3})}, {{"axes", Ints{1}}}),
              HasSubstr("axis 1 is 3, expected 1"));
  EXPECT_THAT(Error("unsqueeze", {Count({1, 1, 1, 1, 1, 1, 1})}, {{"axes", Ints{0, 1}}}),
              HasSubstr("9 dimensions, and there are at most 8"));
}

TEST_F(ShapeOps, BlocksOfThePlaneAreChannelsInOnnxsOrder) {
  const Value x = Count({1, 2, 2, 2});
  const Value deep = e_.one("space_to_depth", {x}, {{"block", 2}});
  EXPECT_EQ(Numbers(deep), (F{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(Run("depth_to_space", {deep}, {{"block", 2}}), Numbers(x));
  EXPECT_EQ(Run("depth_to_space", {Count({1, 8, 1, 1})}, {{"block", 2}, {"mode", "crd"}}),
            (F{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Run("depth_to_space", {Count({1, 8, 1, 1})}, {{"block", 2}, {"mode", "dcr"}}),
            (F{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST_F(ShapeOps, GatherPutsTheIndicesAxesInPlaceOfItsOwn) {
  const Value y = e_.one("gather", {Count({2, 3}), I({2, 2}, {0, -1, 1, 1})}, {{"axis", 1}});
  EXPECT_EQ(y.type().dims, (Dims{2, 2, 2}));
  EXPECT_EQ(Numbers(y), (F{0, 2, 1, 1, 3, 5, 4, 4}));
  EXPECT_THAT(Error("gather", {Count({3}), I({2}, {0, 3})}, {}),
              HasSubstr("index 3 at [1] is outside an axis of 3 elements"));
}

TEST_F(ShapeOps, GatherNdReadsRowsOfIndices) {
  EXPECT_EQ(Run("gather_nd", {Count({2, 2}), I({2, 2}, {0, 0, 1, -1})}, {}), (F{0, 3}));
  EXPECT_EQ(Run("gather_nd", {Count({2, 2, 2}), I({2, 1}, {1, 0})}, {{"batch_dims", 1}}),
            (F{2, 3, 4, 5}));
  EXPECT_THAT(Error("gather_nd", {Count({2, 2}), I({1, 3}, {0, 0, 0})}, {}),
              HasSubstr("3 numbers for each slice, and x 2 axes"));
}

TEST_F(ShapeOps, ScatterNdReducesInOrder) {
  const auto scatter = [&](const char* how) {
    return Run("scatter_nd", {T({2}, {2, 3}), I({3, 1}, {0, 0, 1}), T({3}, {0, 5, 4})},
               {{"reduce", how}});
  };
  EXPECT_EQ(scatter("none"), (F{5, 4}));
  EXPECT_EQ(scatter("add"), (F{7, 7}));
  EXPECT_EQ(scatter("mul"), (F{0, 12}));
  EXPECT_EQ(scatter("max"), (F{5, 4}));
  EXPECT_EQ(scatter("min"), (F{0, 3}));
}

TEST_F(ShapeOps, ScatterNdGradientsAtZerosAndTies) {
  // The factors of places 0 and 1 are {2, 0, 5} and {3, 4}.
  EXPECT_THAT(Gradients("scatter_nd", {T({2}, {2, 3}), I({3, 1}, {0, 0, 1}), T({3}, {0, 5, 4})},
                        {{"reduce", "mul"}}),
              ElementsAre(F{0, 4}, F{10, 0, 3}));
  EXPECT_THAT(Gradients("scatter_nd", {T({1}, {1}), I({2, 1}, {0, 0}), T({2}, {1, 0})},
                        {{"reduce", "max"}}),
              ElementsAre(F{0.5}, F{0.5, 0}));
}

TEST_F(ShapeOps, OneHotLeavesOutWhatIsOutside) {
  EXPECT_EQ(Run("one_hot", {I({4}, {1, -1, 3, -4})},
                {{"depth", Dims{3}}, {"on", 2.0}, {"off", -1.0}, {"dtype", DType::kF64}}),
            (F{-1, 2, -1, -1, -1, 2, -1, -1, -1, -1, -1, -1}));
}

TEST_F(ShapeOps, NonzeroGivesColumnsOfPlaces) {
  const Value places = e_.one("nonzero", {T({2, 2}, {0, 1, std::nan(""), 0})}, {});
  EXPECT_EQ(places.type().dims, (Dims{2, 2}));
  EXPECT_EQ(Numbers(places), (F{0, 1, 1, 0}));
  EXPECT_EQ(e_.one("nonzero", {T({}, {1})}, {}).type().dims, (Dims{0, 1}));
}

TEST_F(ShapeOps, SortIsStableBothWaysAndPutsNanAtTheLargeEnd) {
  const Value x = T({5}, {2, std::nan(""), 1, 2, 1});
  EXPECT_EQ(Numbers(e_.call("sort", {x}, {})[1]), (F{2, 4, 0, 3, 1}));
  EXPECT_EQ(Numbers(e_.call("sort", {x}, {{"descending", true}})[1]), (F{1, 0, 3, 2, 4}));
  EXPECT_EQ(Run("argsort", {x}, {{"descending", true}}), (F{1, 0, 3, 2, 4}));
  const Value sorted = T({5}, {1, 1, 2, 4, std::nan("")});
  const Value values = T({4}, {1, 3, std::nan(""), 0});
  EXPECT_EQ(Run("searchsorted", {sorted, values}, {}), (F{0, 3, 4, 0}));
  EXPECT_EQ(Run("searchsorted", {sorted, values}, {{"right", true}}), (F{2, 3, 5, 0}));
}

TEST_F(ShapeOps, BitcastKeepsBits) {
  EXPECT_EQ(Run("bitcast", {T({2}, {1, -0.0})}, {{"dtype", DType::kI64}}),
            (F{static_cast<double>(0x3ff0000000000000), static_cast<double>(kMin)}));
  EXPECT_THAT(Error("bitcast", {Count({1})}, {{"dtype", DType::kF32}}),
              HasSubstr("f64 has 8 bytes and f32 4"));
}

TEST_F(ShapeOps, EinsumReadsEquationsAsNumPyDoes) {
  const auto einsum = [&](std::initializer_list<Value> inputs, const char* equation) {
    return Run("einsum", inputs, {{"equation", equation}});
  };
  const Value a = Count({2, 3});
  const Value b = Count({3, 2});
  EXPECT_EQ(einsum({a, b}, "ij,jk->ik"), (F{10, 13, 28, 40}));
  EXPECT_EQ(einsum({a, b}, "ij, jk"), (F{10, 13, 28, 40}));
  EXPECT_EQ(einsum({a}, "ba"), (F{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(einsum({a}, "Ba"), Numbers(a));  // capitals come first
  EXPECT_EQ(einsum({Count({3, 3})}, "ii"), F{12});
  EXPECT_EQ(einsum({Count({3, 3})}, "ii->i"), (F{0, 4, 8}));
  EXPECT_EQ(einsum({a}, "...i->i"), (F{3, 5, 7}));
  EXPECT_EQ(einsum({a, Count({2, 1, 3})}, "...i,...i->..."), (F{5, 14, 14, 50}));
  EXPECT_EQ(einsum({T({}, {2}), T({}, {3})}, ","), F{6});
}

TEST_F(ShapeOps, EinsumSaysWhatIsWrongWithAnEquation) {
  const auto error = [&](std::initializer_list<Value> inputs, const char* equation) {
    return Error("einsum", inputs, {{"equation", equation}});
  };
  const Value a = Count({2, 3});
  EXPECT_THAT(error({a}, "ij->ii"), HasSubstr("output index i stands twice"));
  EXPECT_THAT(error({a}, "ij->k"), HasSubstr("output index k is in no input"));
  EXPECT_THAT(error({a}, "ii"), HasSubstr("index i is 2, and 3 in inputs[0]"));
  EXPECT_THAT(error({a}, "ijk"), HasSubstr("names 3 axes of inputs[0], which has 2"));
  EXPECT_THAT(error({a, a}, "ij"), HasSubstr("1 terms, and there are 2 inputs"));
  EXPECT_THAT(error({a}, "i?"), HasSubstr("\"?\" is no index"));
  EXPECT_THAT(error({a}, "...i..."), HasSubstr("an ellipsis stands twice"));
  EXPECT_THAT(error({a}, "i-j"), HasSubstr("\"-\" is no index"));
}

TEST_F(ShapeOps, DotGeneralIsItsEinsum) {
  const Value a = Count({2, 3, 4});
  const Value b = Count({4, 2, 5});
  EXPECT_EQ(Run("dot_general", {a, b},
                {{"lhs_batch", Ints{0}},
                 {"rhs_batch", Ints{1}},
                 {"lhs_contract", Ints{2}},
                 {"rhs_contract", Ints{0}}}),
            Run("einsum", {a, b}, {{"equation", "bij,jbk->bik"}}));
  EXPECT_THAT(Error("dot_general", {a, b}, {{"lhs_contract", Ints{2}}, {"rhs_contract", Ints{1}}}),
              HasSubstr("axis 2 of lhs is 4 and axis 1 of rhs 2"));
}

TEST_F(ShapeOps, SparseGradientIsTheDenseOnesRows) {
  const Value grad = T({2, 2}, {1, 2, 3, 4});
  const Value indices = I({4}, {4, 0, 0, -1});
  const Value offsets = I({3}, {0, 2, 4});
  const ir::AttrList attributes = {{"rows", Dims{5}}};
  const Values sparse = e_.call("embedding_bag_sparse_grad", {grad, indices, offsets}, attributes);
  EXPECT_EQ(Numbers(sparse[0]), (F{0, 4}));
  EXPECT_EQ(Numbers(sparse[1]), (F{4, 6, 4, 6}));
  const Value dense = e_.one("embedding_bag_table_grad", {grad, indices, offsets}, attributes);
  EXPECT_EQ(Run("gather_rows", {dense, sparse[0]}, {}), Numbers(sparse[1]));
}

TEST_F(ShapeOps, SparseUpdatesAreTheirFormulas) {
  const Value table = T({2, 2}, {1, 1, 1, 1});
  const Value rows = I({1}, {1});
  const Value values = T({1, 2}, {3, 4});
  const float half = 0.5F;
  const Value rate(*core::Tensor::FromHost<float>({}, std::span(&half, 1), core::Cpu()));
  EXPECT_EQ(Run("sparse_sgd_update", {table, rows, values, rate}, {}), (F{1, 1, -0.5, -1}));
  const ir::AttrList exact = {{"eps", 0.0}};
  const Values full = e_.call("sparse_adagrad_update",
                              {table, T({2, 2}, {7, 7, 16, 9}), rows, values, rate}, exact);
  EXPECT_EQ(Numbers(full[0]), (F{1, 1, 0.7, 0.6}));
  EXPECT_EQ(Numbers(full[1]), (F{7, 7, 25, 25}));
  const Values rowwise =
      e_.call("sparse_adagrad_update", {table, T({2}, {7, 87.5}), rows, values, rate},
              {{"rowwise", true}, {"eps", 0.0}});
  EXPECT_EQ(Numbers(rowwise[0]), (F{1, 1, 0.85, 0.8}));
  EXPECT_EQ(Numbers(rowwise[1]), (F{7, 100}));
  EXPECT_THAT(
      Error("sparse_sgd_update", {table, I({2}, {1, -1}), T({2, 2}, {0, 0, 0, 0}), rate}, {}),
      HasSubstr("row 1 is named twice"));
}

}  // namespace
}  // namespace rml::ops
