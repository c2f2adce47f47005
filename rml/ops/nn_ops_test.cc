// Operators of neural networks against what ONNX Runtime 1.32 and (rope) the reference of onnx 1.23
// computed for the same inputs; random operators against their distributions.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/core/error.h"
#include "rml/ir/graph.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/testing/eager_calls.h"

namespace rml::ops {
namespace {

using ir::Value;
using testing::Call;
using testing::Doubles;
using testing::Eager;
using ::testing::ElementsAre;
using testing::ExpectNear;
using testing::Floats;
using testing::Integers;
using testing::Waves;

Value Key(uint64_t seed) {
  const std::vector<uint32_t> words = {static_cast<uint32_t>(seed), 0};
  return Value(*core::Tensor::FromHost<uint32_t>({2}, words, core::Cpu()));
}

TEST(NeuralNetwork, LstmIsThatOfOnnx) {
  const auto y =
      Call("lstm",
           {Waves({3, 2, 2}, 1), Waves({2, 8, 2}, 2), Waves({2, 8, 2}, 3), Waves({2, 16}, 4, 0.5),
            Integers({2}, {2, 3}), Waves({2, 2, 2}, 5), Waves({2, 2, 2}, 6), Waves({2, 6}, 7)},
           {{"direction", "bidirectional"}});
  ExpectNear(y[0], {-0.1698387, 0.3863848,   0.2761006, -0.08038153, 0.210586,   0.03828461,
                    0.1763732,  0.1528518,   -0.359586, -0.09311,    0.08347598, -0.2345513,
                    -0.1508999, -0.1814065,  0.1736753, 0.04859306,  0,          0,
                    -0.1290498, -0.03169063, 0,         0,           0.1125547,  0.342843});
  ExpectNear(y[1], {-0.359586, -0.09311, -0.1290498, -0.03169063, 0.210586, 0.03828461, 0.1763732,
                    0.1528518});
  ExpectNear(y[2], {-0.4910726, -0.2873781, -0.3381146, -0.04117548, 0.4662319, 0.0524461,
                    0.6391592, 0.6789877});
}

TEST(NeuralNetwork, GruIsThatOfOnnx) {
  {
    const auto y = Call("gru",
                        {Waves({3, 2, 2}, 1), Waves({1, 6, 2}, 2), Waves({1, 6, 2}, 3),
                         Waves({1, 12}, 4, 0.5), Integers({2}, {2, 3}), Waves({1, 2, 2}, 5)},
                        {{"direction", "reverse"}, {"linear_before_reset", false}});
    ExpectNear(y[0], {0.5980495, -0.7372793, 0.504266, 0.5055302, 0.4411271, -0.006113574,
                      0.1975365, 0.6866051, 0, 0, 0.4748934, 0.3456855});
    ExpectNear(y[1], {0.5980495, -0.7372793, 0.504266, 0.5055302});
  }
  {
    const auto y = Call("gru",
                        {Waves({3, 2, 2}, 1), Waves({1, 6, 2}, 2), Waves({1, 6, 2}, 3),
                         Waves({1, 12}, 4, 0.5), Integers({2}, {2, 3}), Waves({1, 2, 2}, 5)},
                        {{"direction", "reverse"}, {"linear_before_reset", true}});
    ExpectNear(y[0], {0.4960518, -0.7763168, 0.4683068, 0.3790528, 0.3460824, -0.01037858,
                      0.1356246, 0.5797434, 0, 0, 0.4992155, 0.2009445});
    ExpectNear(y[1], {0.4960518, -0.7763168, 0.4683068, 0.3790528});
  }
}

TEST(NeuralNetwork, RnnIsThatOfOnnx) {
  const auto y = Call(
      "rnn", {Waves({3, 2, 2}, 1), Waves({1, 2, 2}, 2), Waves({1, 2, 2}, 3), Waves({1, 4}, 4, 0.5)},
      {});
  ExpectNear(y[0], {0.4770198, -0.9171091, -0.07223481, -0.2936801, -0.6963528, 0.8386379,
                    -0.7020884, 0.2545238, -0.219514, -0.861229, -0.220097, 0.09156144});
  ExpectNear(y[1], {-0.219514, -0.861229, -0.220097, 0.09156144});
}

TEST(NeuralNetwork, ResizeIsThatOfOnnx) {
  {
    const auto y =
        Call("resize", {Waves({1, 1, 3, 4}, 1)}, {{"sizes", ir::Dims{5, 3}}, {"mode", "linear"}});
    ExpectNear(y[0], {0.8645965, 0.7730904, -0.04535093, 0.1838489, 0.1426188, -0.03271535,
                      -0.8372725, -0.8030883, -0.013762, 0.1491551, 0.1767893, 0.03818885,
                      0.8067732, 0.8300406, 0.07282273});
  }
  {
    const auto y =
        Call("resize", {Waves({1, 1, 3, 4}, 1)},
             {{"sizes", ir::Dims{5, 7}}, {"mode", "linear"}, {"coordinates", "align_corners"}});
    ExpectNear(y[0],
               {0.841471,    0.9108477,   0.9802245,   0.7730904,    0.5659562,    0.1991719,
                -0.1676124,  0.01742661,  0.006132796, -0.005161017, -0.01499897,  -0.02483693,
                -0.02766865, -0.03050037, -0.8066177,  -0.8985821,   -0.9905465,   -0.8030883,
                -0.6156301,  -0.2545092,  0.1066117,   -0.01895615,  -0.007836714, 0.003282726,
                0.01347615,  0.02366957,  0.02718605,  0.03070253,   0.7687054,    0.8829087,
                0.997112,    0.8300406,   0.6629692,   0.3088813,    -0.04520663});
  }
  {
    const auto y =
        Call("resize", {Waves({1, 1, 3, 4}, 1)},
             {{"sizes", ir::Dims{5, 2}}, {"mode", "linear"}, {"scales", ir::Floats{1.7, 0.6}}});
    ExpectNear(y[0], {0.8877221, 0.5659562, 0.2164444, 0.1141733, -0.8162906, -0.5808775,
                      0.08920796, 0.09888136, 0.8448409, 0.6629692});
  }
  {
    const auto y =
        Call("resize", {Waves({1, 1, 3, 4}, 1)}, {{"sizes", ir::Dims{6, 7}}, {"mode", "nearest"}});
    ExpectNear(y[0], {0.841471,   0.841471,   0.9802245,  0.9802245,   0.5659562,   -0.1676124,
                      -0.1676124, 0.841471,   0.841471,   0.9802245,   0.9802245,   0.5659562,
                      -0.1676124, -0.1676124, -0.8066177, -0.8066177,  -0.9905465,  -0.9905465,
                      -0.6156301, 0.1066117,  0.1066117,  -0.8066177,  -0.8066177,  -0.9905465,
                      -0.9905465, -0.6156301, 0.1066117,  0.1066117,   0.7687054,   0.7687054,
                      0.997112,   0.997112,   0.6629692,  -0.04520663, -0.04520663, 0.7687054,
                      0.7687054,  0.997112,   0.997112,   0.6629692,   -0.04520663, -0.04520663});
  }
  {
    const auto y =
        Call("resize", {Waves({1, 1, 3, 4}, 1)},
             {{"sizes", ir::Dims{7, 6}}, {"coordinates", "asymmetric"}, {"rounding", "floor"}});
    ExpectNear(y[0], {0.841471,   0.841471,   0.9802245,  0.5659562,  0.5659562,  -0.1676124,
                      0.841471,   0.841471,   0.9802245,  0.5659562,  0.5659562,  -0.1676124,
                      0.841471,   0.841471,   0.9802245,  0.5659562,  0.5659562,  -0.1676124,
                      -0.8066177, -0.8066177, -0.9905465, -0.6156301, -0.6156301, 0.1066117,
                      -0.8066177, -0.8066177, -0.9905465, -0.6156301, -0.6156301, 0.1066117,
                      0.7687054,  0.7687054,  0.997112,   0.6629692,  0.6629692,  -0.04520663,
                      0.7687054,  0.7687054,  0.997112,   0.6629692,  0.6629692,  -0.04520663});
  }
  {
    const auto y = Call(
        "resize", {Waves({1, 1, 3, 4}, 1)},
        {{"sizes", ir::Dims{5, 6}}, {"coordinates", "align_corners"}, {"rounding", "prefer_ceil"}});
    ExpectNear(y[0], {0.841471,   0.9802245,  0.9802245,  0.5659562,  0.5659562,  -0.1676124,
                      -0.8066177, -0.9905465, -0.9905465, -0.6156301, -0.6156301, 0.1066117,
                      -0.8066177, -0.9905465, -0.9905465, -0.6156301, -0.6156301, 0.1066117,
                      0.7687054,  0.997112,   0.997112,   0.6629692,  0.6629692,  -0.04520663,
                      0.7687054,  0.997112,   0.997112,   0.6629692,  0.6629692,  -0.04520663});
  }
}

TEST(NeuralNetwork, PoolingIsThatOfOnnx) {
  {
    const auto y = Call("max_pool", {Waves({1, 1, 5, 4}, 2)},
                        {{"kernel", ir::Ints{3, 2}},
                         {"strides", ir::Ints{2, 2}},
                         {"pads", ir::Ints{1, 1, 0, 1}},
                         {"ceil_mode", true}});
    ExpectNear(y[0], {0.9092974, 0.9996616, 0.6478647, 0.9996616, 0.3463049, 0.9297118});
    ExpectNear(y[1], {0, 7, 8, 7, 13, 14});
  }
  {
    const auto y = Call("avg_pool", {Waves({1, 1, 5, 4}, 2)},
                        {{"kernel", ir::Ints{3, 2}},
                         {"strides", ir::Ints{2, 2}},
                         {"pads", ir::Ints{1, 1, 0, 1}},
                         {"ceil_mode", true},
                         {"count_include_pad", true}});
    ExpectNear(y[0], {0.05428701, 0.03199186, -0.08144632, 0.2854451, -0.06628221, 0.01004777});
  }
  {
    const auto y = Call("avg_pool", {Waves({1, 1, 5, 4}, 2)},
                        {{"kernel", ir::Ints{3, 2}},
                         {"strides", ir::Ints{2, 2}},
                         {"pads", ir::Ints{1, 1, 0, 1}},
                         {"ceil_mode", true}});
    ExpectNear(y[0], {0.08143051, 0.04798779, -0.08144632, 0.2854451, -0.09942332, 0.01507166});
  }
  {
    const auto y =
        Call("lp_pool", {Waves({1, 1, 5, 4}, 2)}, {{"kernel", ir::Ints{2, 2}}, {"p", 3}});
    ExpectNear(y[0], {1.087426, 0.7858425, 1.339454, 0.9213881, 0.9633462, 1.410036, 0.7477155,
                      1.122643, 1.442375, 0.684602, 1.252853, 1.434434});
  }
}

TEST(NeuralNetwork, NormalisationsAreThoseOfOnnx) {
  {
    const auto y = Call("layer_norm", {Waves({2, 4, 3}, 3), Waves({4, 3}, 1), Waves({4, 3}, 2)},
                        {{"axis", 1}});
    ExpectNear(y[0], {1.266436,   -0.5355126, -1.251457,   -0.8824934, -1.395683, -1.730402,
                      -0.2131889, 1.030882,   -0.07497906, -1.41641,   -1.143123, -1.009305,
                      2.027221,   1.326088,   -0.5291863,  -0.8014482, 0.2341787, 0.3969414,
                      0.2586888,  1.143452,   1.394556,    -0.2798851, -1.582986, -0.9141393});
  }
  {
    const auto y =
        Call("group_norm", {Waves({2, 4, 3}, 3), Waves({4}, 1), Waves({4}, 2)}, {{"groups", 2}});
    ExpectNear(y[0], {1.247239,   0.1986384,  -0.1766312,  -0.283039,  0.9948329,  1.878499,
                      0.3418407,  -0.3350971, -1.049355,   -0.7634612, -0.9023579, -1.132027,
                      2.110522,   1.873066,   0.953995,    -0.6884568, -0.8914401, -0.1030345,
                      -0.1674026, 0.2004884,  -0.01190883, -0.9437172, -0.778102,  -0.7609777});
  }
  {
    const auto y = Call("instance_norm", {Waves({2, 4, 3}, 3), Waves({4}, 1), Waves({4}, 2)}, {});
    ExpectNear(y[0], {2.060186,  0.5958744,  0.07183146, -0.9694462,  0.4421992,  1.418371,
                      0.1740938, -0.5003745, -1.212027,  -0.7949997,  -0.948181,  -1.20147,
                      1.693257,  1.29263,    -0.2579949, -0.07677722, -0.6720014, 1.639902,
                      -1.167495, 0.2131398,  -0.5839524, -1.217727,   -0.8808769, -0.8460473});
  }
}

TEST(NeuralNetwork, QuantizeRoundsHalvesToEvenAndSaturates) {
  const auto y = Call("quantize",
                      {Floats({2, 4}, {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75}),
                       Floats({2}, {0.1, 0.5}), Integers({2}, {3, -7})},
                      {{"dtype", core::DType::kI8}, {"axis", 0}});
  ExpectNear(y[0], {-7, -5, -2, 1, -7, -7, -6, -5});
}

TEST(NeuralNetwork, CrossEntropyIsThatOfOnnx) {
  const auto y = Call("cross_entropy", {Waves({2, 4, 3}, 3), Integers({2, 3}, {1, 3, 0, 2, -1, 1})},
                      {{"axis", 1}, {"ignore_index", -1}});
  ExpectNear(y[0], {1.868235});
}

TEST(NeuralNetwork, RopeIsThatOfOnnx) {
  {
    const auto y =
        Call("rope", {Waves({1, 3, 2, 4}, 5), Integers({2}, {0, 1})}, {{"layout", "halves"}});
    ExpectNear(y[0], {-0.9589243, -0.2310778, 0.728969,   0.9565055, 0.9232074, -0.7325149,
                      -0.3279034, -0.2220224, 0.7403759,  0.9514655, 0.2064675, -0.746001,
                      -1.14509,   -0.2076856, -0.3923482, 0.9441268, 0.1899867, -0.7570927,
                      -0.9434015, -0.1817258, 0.2660571,  0.9482124, 0.7353874, -0.7585263});
  }
  {
    const auto y =
        Call("rope", {Waves({1, 3, 2, 4}, 5), Integers({2}, {0, 1})}, {{"layout", "adjacent"}});
    ExpectNear(y[0], {-0.9589243, -0.2310778, 0.728969,   0.9565055, 0.7386553, -0.2094038,
                      -0.9518247, -0.2242156, 0.7403759,  0.9514655, 0.2064675, -0.746001,
                      -0.3458546, -0.9055314, 0.7420744,  0.9536247, 0.1899867, -0.7570927,
                      -0.9434015, -0.1817258, -0.3794585, 1.149868,  0.1811231, -0.7661974});
  }
}

TEST(NeuralNetwork, RopeRefusesAnglesOfAnotherWidthThanIsRotated) {
  const Value angles = Waves({2, 2}, 1);
  const std::vector<Value> inputs = {Waves({2, 8}, 5), Value(), angles, angles};
  EXPECT_EQ(Call("rope", inputs, {{"rotated", 4}})[0].dim(1), 8);
  EXPECT_THROW(Call("rope", inputs, {{"rotated", 8}}), Error);
}

// Shares of draws, and moments, within five standard errors.
TEST(Random, DrawsHaveTheirDistributions) {
  const Value key = Key(7);
  const auto mean_of = [](const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) sum += value;
    return sum / static_cast<double>(x.size());
  };
  const std::vector<double> normal =
      Doubles(Call("random_normal", {key}, {{"shape", ir::Dims{100, 100}}, {"mean", 2.0}})[0]);
  EXPECT_NEAR(mean_of(normal), 2, 0.05);
  const std::vector<double> cut =
      Doubles(Call("random_truncated_normal", {key},
                   {{"shape", ir::Dims{10000}}, {"low", 0.0}, {"high", 9.0}})[0]);
  EXPECT_NEAR(mean_of(cut), std::sqrt(2 / std::numbers::pi), 0.03);
  const Value logits = Floats({3}, {0, std::log(2.0), std::log(5.0)});
  const Emit e(Eager());
  const std::vector<double> classes =
      Doubles(Call("random_categorical", {key, e.broadcast(logits, {8000, 3})}, {})[0]);
  EXPECT_NEAR(mean_of(classes), (2 + 2 * 5) / 8.0, 0.04);
  const std::vector<double> chosen =
      Doubles(Call("random_choice", {key, Floats({3}, {1, 2, 5})}, {{"shape", ir::Dims{8000}}})[0]);
  EXPECT_NEAR(mean_of(chosen), (2 + 2 * 5) / 8.0, 0.04);
  const std::vector<double> gamma =
      Doubles(Call("random_gamma", {key, e.full(0.5, {core::DType::kF32, {10000}})}, {})[0]);
  EXPECT_NEAR(mean_of(gamma), 0.5, 0.04);
  const std::vector<double> poisson =
      Doubles(Call("random_poisson", {key, e.full(30, {core::DType::kF32, {10000}})}, {})[0]);
  EXPECT_NEAR(mean_of(poisson), 30, 0.3);
}

TEST(Random, AChoiceWithoutReplacementIsAPermutation) {
  for (const uint64_t seed : {1, 2, 3}) {
    std::vector<double> order =
        Doubles(Call("random_choice", {Key(seed)},
                     {{"shape", ir::Dims{5}}, {"size", ir::Dims{5}}, {"replace", false}})[0]);
    std::ranges::sort(order);
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
    std::vector<double> weighted =
        Doubles(Call("random_choice", {Key(seed), Floats({4}, {1, 0, 3, 2})},
                     {{"shape", ir::Dims{3}}, {"replace", false}})[0]);
    std::ranges::sort(weighted);
    EXPECT_THAT(weighted, ElementsAre(0, 2, 3));
  }
}

// Of a body that adds: sums so far, whatever the direction.
TEST(Scan, GoesEitherWayAndKeepsPlaces) {
  const ir::Type step[] = {{core::DType::kF32, {}}, {core::DType::kF32, {}}};
  auto graph = std::make_shared<ir::Graph>();
  ir::TraceBuilder trace(*graph, BuiltinOps(), core::Cpu());
  const Value state = trace.Input(step[0]);
  const Value sum = Emit(trace).add(state, trace.Input(step[1]));
  graph->AddOutput(sum.id());
  graph->AddOutput(sum.id());
  for (const bool reverse : {false, true}) {
    const auto y =
        Call("scan", {Floats({}, {0}), Floats({3}, {1, 2, 4})},
             {{"body", ir::GraphRef(graph)}, {"carries", 1}, {"xs", 1}, {"reverse", reverse}});
    EXPECT_THAT(Doubles(y[0]), ElementsAre(7));
    if (reverse) {
      EXPECT_THAT(Doubles(y[1]), ElementsAre(7, 6, 4));
    } else {
      EXPECT_THAT(Doubles(y[1]), ElementsAre(1, 3, 7));
    }
  }
}

TEST(SelectiveScan, ContinuesFromItsState) {
  const auto part = [](const Value& whole, int64_t begin, int64_t size) {
    return Emit(Eager()).one("narrow", {whole},
                             {{"axis", -1}, {"start", ir::Dims{begin}}, {"size", ir::Dims{size}}});
  };
  const Value x = Waves({1, 2, 5}, 1), dt = Waves({1, 2, 5}, 2, 0.3), a = Waves({2, 3}, 3);
  const Value b = Waves({1, 3, 5}, 4), c = Waves({1, 3, 5}, 5);
  const auto all = Call("selective_scan", {x, dt, a, b, c}, {});
  const auto first =
      Call("selective_scan", {part(x, 0, 3), part(dt, 0, 3), a, part(b, 0, 3), part(c, 0, 3)}, {});
  const auto second =
      Call("selective_scan",
           {part(x, 3, 2), part(dt, 3, 2), a, part(b, 3, 2), part(c, 3, 2), Value(), first[1]}, {});
  ExpectNear(part(all[0], 0, 3), Doubles(first[0]));
  ExpectNear(part(all[0], 3, 2), Doubles(second[0]));
  ExpectNear(all[1], Doubles(second[1]));
}

}  // namespace
}  // namespace rml::ops
