// Options of neural-network operators against what ONNX Runtime 1.32, the reference of onnx 1.23,
// PyTorch 1.13 and the references of Mamba and HSTU computed for the same inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rml/ir/graph.h"
#include "rml/ir/trace_builder.h"
#include "rml/ops/testing/eager_calls.h"

namespace rml::ops {
namespace {

using ir::Value;
using testing::Call;
using testing::Doubles;
using testing::Eager;
using testing::ExpectNear;
using testing::Floats;
using testing::Integers;
using testing::Waves;

TEST(NeuralNetworkOptions, ResizeIsThatOfOnnx) {
  const auto resize = [](const ir::Dims& sizes, ir::AttrList attributes,
                         const std::vector<double>& expected) {
    attributes.push_back({"sizes", sizes});
    ExpectNear(Call("resize", {Waves({1, 1, 4, 5}, 1)}, attributes)[0], expected);
  };
  resize({7, 3}, {{"mode", "cubic"}},
         {1.088821,   0.6115306, -0.8057621, 0.2022199,  0.4607571, 0.01105063, -0.8726968,
          0.1714401,  0.9520512, -0.3607441, -0.5155809, 0.1220973, 0.5255229,  -0.6676261,
          -0.8345469, 0.3714807, 0.3591844,  -0.2052251, 0.1578364, 1.170211,   0.3838189});
  resize({7, 3}, {{"mode", "cubic"}, {"coordinates", "align_corners"}, {"cubic_coeff_a", -0.5}},
         {0.841471,   0.5659562, -0.8066177, -0.1778825, 0.3884396,   0.2018037, -0.9905465,
          0.1066117,  0.997112,  -0.235831,  -0.447265,  0.2082872,   0.6629692, -0.7278779,
          -0.7077941, 0.4266444, 0.08334939, -0.4215115, -0.01636988, 0.9988878, 0.07788431});
  resize({7, 3}, {{"mode", "cubic"}, {"exclude_outside", true}},
         {1.124729,   0.6222371, -0.8616837, 0.2641081,  0.4712418, -0.06489481, -0.8753247,
          0.172837,   0.9483899, -0.351855,  -0.5155809, 0.1338978, 0.5416855,   -0.6617258,
          -0.8214242, 0.3461206, 0.4229397,  -0.1673265, 0.1259832, 1.210459,    0.3857276});
  resize({2, 3}, {{"mode", "linear"}, {"antialias", true}},
         {0.1776949, 0.2028896, -0.04386459, 0.1659709, 0.2097497, -0.02761557});
  resize({2, 7}, {{"mode", "cubic"}, {"antialias", true}},
         {0.06608582, 0.1269602, 0.1794131, 0.164345, 0.1097677, 0.004461051, -0.07374331,
          0.0881973, 0.1418717, 0.1809668, 0.1537331, 0.08954126, -0.01893643, -0.09536033});
  resize(
      {2, 3},
      {{"mode", "cubic"}, {"antialias", true}, {"exclude_outside", true}, {"cubic_coeff_a", -0.5}},
      {0.06372857, 0.1717916, 0.05271143, 0.1678008, 0.1082657, -0.09441858});
  resize({2, 3},
         {{"mode", "linear"},
          {"coordinates", "half_pixel_symmetric"},
          {"scales", ir::Floats{0.6, 0.7}}},
         {-0.2106195, 0.2597265, 0.4305721, 0.3002006, -0.1522893, -0.4291686});
  resize({1, 3}, {{"mode", "linear"}, {"coordinates", "pytorch_half_pixel"}},
         {0.8877221, 0.5659562, -0.5936159});
  resize({2, 3},
         {{"mode", "linear"}, {"coordinates", "align_corners"}, {"scales", ir::Floats{0.6, 0.7}}},
         {0.841471, 0.7316635, -0.2954136, 0.5659209, -0.2651156, -0.7190472});
  resize(
      {3, 4},
      {{"mode", "linear"},
       {"coordinates", "tf_crop_and_resize"},
       {"roi", ir::Floats{-0.2, 0.1, 0.7, 1.3}},
       {"extrapolation_value", 10.0}},
      {10, 10, 10, 10, -0.4061918, 0.2214478, 0.541558, 10, 0.3681184, -0.5552014, -0.7075011, 10});
  resize({1, 4},
         {{"mode", "nearest"},
          {"coordinates", "tf_crop_and_resize"},
          {"roi", ir::Floats{-0.2, 0.1, 0.7, 1.3}},
          {"extrapolation_value", 10.0}},
         {-0.9905465, 0.1066117, 0.997112, 10});
}

TEST(NeuralNetworkOptions, LpPoolRoundsUpAsInOnnxRuntime) {
  const auto y = Call("lp_pool", {Waves({1, 1, 6, 7}, 2)},
                      {{"kernel", ir::Ints{3, 2}},
                       {"strides", ir::Ints{2, 3}},
                       {"pads", ir::Ints{1, 0, 0, 1}},
                       {"dilation", ir::Ints{1, 2}},
                       {"ceil_mode", true},
                       {"p", 3}});
  ExpectNear(y[0], {1.235968, 1.173413, 0.7148011, 1.343135, 1.298753, 0.5004718, 1.323839,
                    1.399013, 1.112444});
}

// Both directions, the batch first.
std::vector<Value> RecurrentInputs(int64_t gates, int states) {
  const Emit e(Eager());
  const auto batch_first = [&](const Value& value) { return e.transpose(value, {1, 0, 2}); };
  std::vector<Value> inputs = {batch_first(Waves({3, 2, 2}, 1, 3)),
                               Waves({2, gates * 2, 2}, 2),
                               Waves({2, gates * 2, 2}, 3),
                               Waves({2, 4 * gates}, 4, 0.5),
                               Integers({2}, {2, 3}),
                               batch_first(Waves({2, 2, 2}, 5))};
  if (states > 1) inputs.push_back(batch_first(Waves({2, 2, 2}, 6)));
  return inputs;
}

TEST(NeuralNetworkOptions, LstmIsThatOfOnnxRuntime) {
  {
    std::vector<Value> inputs = RecurrentInputs(4, 2);
    inputs.push_back(Waves({2, 6}, 7));
    const auto y =
        Call("lstm", inputs,
             {{"direction", "bidirectional"},
              {"layout", 1},
              {"clip", 0.7},
              {"activations", "hard_sigmoid, leaky_relu, scaled_tanh, sigmoid, softsign, elu"},
              {"activation_alpha", ir::Floats{0.3, 0.02, 1.5, 0.8}},
              {"activation_beta", ir::Floats{0.4, 0.7}}});
    ExpectNear(y[0], {-0.03552153, 0.1734241,   -0.07333335, -0.06848339, -0.02292341, 0.03152066,
                      -0.1527238,  -0.1491134,  0,           0,           0,           0,
                      0.106076,    0.007297545, 0.1088409,   0.09031427,  0.07720566,  0.0002237979,
                      0.06323751,  0.009341382, 0.01299129,  0.08501401,  0.1098905,   0.3032887});
    ExpectNear(y[1], {-0.02292341, 0.03152066, -0.07333335, -0.06848339, 0.01299129, 0.08501401,
                      0.1088409, 0.09031427});
    ExpectNear(y[2], {-0.03579739, 0.1586473, -0.1475573, -0.1370967, 0.06516447, 0.1331147,
                      0.3280194, 0.14597});
  }
  {
    const auto y = Call("lstm", RecurrentInputs(4, 2),
                        {{"direction", "bidirectional"}, {"layout", 1}, {"input_forget", true}});
    ExpectNear(y[0], {-0.05462068, 0.6288828,    -0.03827392, -0.7246315, -0.6830449, -0.01415247,
                      -0.08591951, -0.008498826, 0,           0,          0,          0,
                      0.1747466,   0.02463006,   0.1912819,   -0.1441423, 0.2870324,  -0.216466,
                      0.1795244,   -0.02656021,  -0.113387,   -0.1989498, 0.1685681,  0.6712195});
    ExpectNear(y[1], {-0.6830449, -0.01415247, -0.03827392, -0.7246315, -0.113387, -0.1989498,
                      0.1912819, -0.1441423});
    ExpectNear(y[2], {-0.8967794, -0.9499018, -0.04595947, -0.955043, -0.6310699, -0.2256567,
                      0.6067103, -0.2312942});
  }
}

TEST(NeuralNetworkOptions, GruIsThatOfOnnxRuntime) {
  const auto y = Call("gru", RecurrentInputs(3, 1),
                      {{"direction", "bidirectional"},
                       {"layout", 1},
                       {"clip", 0.7},
                       {"linear_before_reset", true},
                       {"activations", "hard_sigmoid, softplus, sigmoid, affine"},
                       {"activation_alpha", ir::Floats{0.3, 0.5}},
                       {"activation_beta", ir::Floats{0.4, 0.1}}});
  ExpectNear(y[0], {-0.1547013,  0.282676,   0.2542507,  -0.1251953, 0.3612732,  0.6026748,
                    -0.02532903, -0.4108289, 0,          0,          0,          0,
                    0.9271864,   0.6062829,  0.05756733, 0.06943309, 0.5027461,  1.008774,
                    -0.04588757, -0.1542306, 0.7657658,  0.5182478,  -0.2892013, 0.005864769});
  ExpectNear(y[1], {0.3612732, 0.6026748, 0.2542507, -0.1251953, 0.7657658, 0.5182478, 0.05756733,
                    0.06943309});
}

TEST(NeuralNetworkOptions, RnnIsThatOfOnnxRuntime) {
  const auto y = Call("rnn", RecurrentInputs(1, 1),
                      {{"direction", "bidirectional"},
                       {"layout", 1},
                       {"clip", 0.7},
                       {"activation", "thresholded_relu, softsign"},
                       {"activation_alpha", ir::Floats{0.25}}});
  ExpectNear(y[0], {0.7, 0, -0.4117647, 0.4117647,  0,         0.7, 0.4117647,  -0.4117647,
                    0,   0, 0,          0,          0.2954179, 0,   -0.4117647, 0.4117647,
                    0,   0, 0.4117647,  -0.4117647, 0.7,       0,   -0.4117647, 0.1591287});
  ExpectNear(y[1], {0, 0.7, -0.4117647, 0.4117647, 0.7, 0, -0.4117647, 0.4117647});
}

// s' = (s + a) · b, y = s' and s' - a.
TEST(NeuralNetworkOptions, ScanGoesAlongTheAxesOfOnnxRuntime) {
  const ir::Type vector = {core::DType::kF32, {2}};
  auto body = std::make_shared<ir::Graph>();
  ir::TraceBuilder trace(*body, BuiltinOps(), core::Cpu());
  const Emit t(trace);
  const Value s = trace.Input(vector);
  const Value a = trace.Input(vector);
  const Value next = t.mul(t.add(s, a), trace.Input(vector));
  for (const Value& value : {next, next, t.sub(next, a)}) body->AddOutput(value.id());
  const auto y = Call("scan", {Waves({2}, 1), Waves({2, 3}, 2), Waves({3, 2}, 3)},
                      {{"body", ir::GraphRef(body)},
                       {"carries", 1},
                       {"xs", 2},
                       {"scan_input_axes", ir::Ints{1, -2}},
                       {"scan_input_directions", ir::Ints{1, 0}},
                       {"scan_output_axes", ir::Ints{-1, 0}},
                       {"scan_output_directions", ir::Ints{0, 1}}});
  ExpectNear(y[0], {0.1983472, -0.2241704});
  ExpectNear(y[1], {0.04638638, -0.3414412, 0.1983472, -0.6235008, 0.7466083, -0.2241704});
  ExpectNear(y[2], {-0.7109501, 0.7573799, -0.6384826, 1.544136, 0.5591556, -0.5404114});
}

TEST(NeuralNetworkOptions, QuantizesByBlocksAsOnnx) {
  const Value scale = Floats({3, 2}, {1.5, 2.5, 3, 4.9, 5.1, 6.9});
  const Value zero_point = Integers({3, 2}, {0, 1, 1, 0, 2, 3});
  const auto y = Call("quantize",
                      {Floats({3, 4}, {6, 12, 50, 5, 1, 8, 4, 5, 0, 20, 10, 4}), scale, zero_point},
                      {{"block_size", 2}});
  ExpectNear(y[0], {4, 8, 21, 3, 1, 4, 1, 1, 2, 6, 4, 4});
  const auto x = Call("dequantize", {y[0], scale, zero_point}, {{"block_size", 2}});
  ExpectNear(x[0], {6, 12, 50, 5, 0, 9, 4.9, 4.9, 0, 20.4, 6.9, 6.9});
}

TEST(NeuralNetworkOptions, CrossEntropyIsThatOfPyTorch) {
  const auto loss = [](std::string_view reduction, double smoothing) {
    return Call("cross_entropy",
                {Waves({2, 4, 3}, 3), Integers({2, 3}, {1, 3, 0, 2, 0, 1}),
                 Floats({4}, {0.5, 1.5, 2, 0.25})},
                {{"axis", 1},
                 {"ignore_index", 0},
                 {"label_smoothing", smoothing},
                 {"reduction", reduction}})[0];
  };
  ExpectNear(loss("mean", 0), {1.630474});
  ExpectNear(loss("mean", 0.2), {1.526857});
  ExpectNear(loss("sum", 0.2), {8.015999});
  ExpectNear(loss("none", 0), {3.007991, 0.4334268, 0, 2.450516, 0, 2.668057});
  ExpectNear(loss("none", 0.2), {2.686827, 0.6109276, 0, 2.315422, 0, 2.402823});
}

TEST(NeuralNetworkOptions, SelectiveScanIsThatOfMamba) {
  const auto y =
      Call("selective_scan",
           {Waves({1, 2, 3}, 1), Waves({1, 2, 3}, 2, 0.3), Waves({2, 2}, 3), Waves({1, 2, 2, 3}, 4),
            Waves({2, 2}, 5), Waves({2}, 6), Value(), Waves({1, 2, 3}, 7), Waves({2}, 8)},
           {{"dt_softplus", true}});
  ExpectNear(y[0], {0.2199714, 1.162239, 0.05953673, 0.030293, 0.1639719, -0.2425054});
  ExpectNear(y[1], {-3.132143, 1.053708, 0.7597689, -0.9533484});
}

// Of the second sequence the last two tokens are past its end.
TEST(NeuralNetworkOptions, HstuAttentionHidesWhatMetasDoes) {
  const auto attend = [](const Value& targets, ir::AttrList attributes,
                         const std::vector<double>& expected) {
    attributes.push_back({"scale", 0.5});
    const Value y = Call("hstu_attention",
                         {Waves({2, 1, 7, 2}, 1), Waves({2, 1, 7, 2}, 2), Waves({2, 1, 7, 1}, 3),
                          Value(), Integers({2}, {7, 5}), targets},
                         attributes)[0];
    ExpectNear(
        Emit(Eager()).one("narrow", {Emit(Eager()).reshape(y, {14})}, {{"size", ir::Dims{12}}}),
        expected);
  };
  const Value targets = Integers({2}, {2, 1});
  attend(targets, {},
         {0.006697939, 0.005635447, -0.08012722, -0.02153502, 0.01544654, 0.008906366, -0.06169715,
          -0.00109622, 0.01290622, 0.0199249, -0.0694041, -0.04529619});
  attend(targets, {{"max_attn_len", 2}, {"contextual_seq_len", 2}, {"min_full_attn_seq_len", 1}},
         {0.01706943, 0.02042643, -0.08012722, -0.02153502, 0.01544654, 0.008906366, -0.06169715,
          -0.0262026, 0.03341028, 0.0199249, -0.0694041, -0.04529619});
  attend(Value(), {{"causal", false}, {"max_attn_len", 1}, {"contextual_seq_len", 2}},
         {-0.01873487, 0.002091181, -0.06181394, -0.0183327, -0.06790842, -0.01780316, 0.07346612,
          -0.03524155, 0.05970138, 0.01963128, -0.07005952, -0.009573697});
  attend(Value(), {{"max_attn_len", 2}},
         {0.006697939, 0.005635447, -0.08012722, -0.01922269, -0.01361115, -0.01750252, 0.06961789,
          -0.00109622, 0.01290622, 0.0199249, -0.06753284, -0.04745503});
}

TEST(EmbeddingBag, GradientWantsAWeightForEachIndex) {
  for (const char* const op : {"embedding_bag_table_grad", "embedding_bag_sparse_grad"}) {
    const auto gradient = [&](int64_t weights) {
      return Call(op,
                  {Waves({2, 3}, 1), Integers({3}, {1, 1, 0}), Integers({3}, {0, 1, 3}),
                   Waves({weights}, 2)},
                  {{"rows", ir::Dims{4}}});
    };
    EXPECT_NO_THROW(gradient(3));
    EXPECT_THROW(gradient(2), Error);
  }
}

TEST(EmbeddingBag, MaxTakesNoWeightsAndHasAGradientOfItsOwn) {
  const Value table = Waves({4, 2}, 1);
  const Value indices = Integers({3}, {1, 1, 0});
  const Value offsets = Integers({3}, {0, 1, 3});
  EXPECT_NO_THROW(Call("embedding_bag", {table, indices, offsets}, {{"mode", "max"}}));
  EXPECT_THROW(Call("embedding_bag", {table, indices, offsets, Waves({3}, 2)}, {{"mode", "max"}}),
               Error);
  EXPECT_THROW(Call("embedding_bag_table_grad", {Waves({2, 2}, 1), indices, offsets},
                    {{"mode", "max"}, {"rows", ir::Dims{4}}}),
               Error);
}

TEST(Cast, SaturatesToSmallFloatsOnly) {
  const Value x = Waves({4}, 1);
  EXPECT_NO_THROW(Call("cast", {x}, {{"dtype", core::DType::kF8E4M3}, {"saturate", true}}));
  EXPECT_THROW(Call("cast", {x}, {{"dtype", core::DType::kF16}, {"saturate", true}}), Error);
}

TEST(DynamicSlice, TakesNoMoreThanThereIs) {
  const Value x = Waves({4, 3}, 1);
  const auto slice = [&](ir::Dims sizes, ir::Ints axes, std::vector<int64_t> starts) {
    const auto count = static_cast<int64_t>(starts.size());
    return Call("dynamic_slice", {x, Integers({count}, starts)},
                {{"sizes", sizes}, {"axes", axes}});
  };
  EXPECT_NO_THROW(slice({4, 3}, {}, {0, 0}));
  EXPECT_THROW(slice({5}, {}, {0}), Error);
  EXPECT_THROW(slice({1}, {}, {0, 0}), Error);
  EXPECT_THROW(slice({1, 1}, {0}, {0, 0}), Error);
  EXPECT_THROW(slice({1, 1, 1}, {}, {0, 0, 0}), Error);
}

}  // namespace
}  // namespace rml::ops
