// The float kernels against values that numpy computed in f64 (testdata/golden/numerics).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rml/kernels/attention.h"
#include "rml/kernels/convert.h"
#include "rml/kernels/elementwise.h"
#include "rml/kernels/float_gemm.h"
#include "rml/kernels/float_test_util.h"
#include "rml/kernels/gates.h"
#include "rml/kernels/rms_norm.h"
#include "rml/kernels/rope.h"
#include "rml/kernels/sampling_ops.h"
#include "rml/kernels/softmax.h"

namespace rml::kernels {
namespace {

using Json = nlohmann::json;

Json Golden(const std::string& name) {
  std::ifstream file(std::string(RML_TESTDATA) + "/golden/numerics/" + name + ".json");
  EXPECT_TRUE(file.good()) << name;
  return Json::parse(file);
}

// By value: a reference into the whole would outlive it in a range-for.
Json GoldenCases(const std::string& name) { return Golden(name).at("cases"); }

struct Array {
  std::vector<int64_t> shape;
  std::vector<float> data;
  int64_t size() const { return static_cast<int64_t>(data.size()); }
};
// Infinities are text.
float Number(const Json& value) {
  return value.is_string() ? std::stof(value.get<std::string>()) : value.get<float>();
}

Array At(const Json& arrays, const char* name) {
  Array array = {arrays.at(name).at("shape").get<std::vector<int64_t>>(), {}};
  for (const Json& value : arrays.at(name).at("data")) array.data.push_back(Number(value));
  return array;
}

// |actual - expected| <= relative * |expected| + absolute, element by element.
void ExpectClose(const std::vector<float>& actual, const Array& expected, double relative,
                 double absolute) {
  ASSERT_EQ(actual.size(), expected.data.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected.data[i], relative * std::fabs(expected.data[i]) + absolute)
        << "at " << i;
  }
}

TEST(Goldens, RmsNorm) {
  for (const Json& c : GoldenCases("norm")) {
    const Array x = At(c.at("inputs"), "x");
    const Array weight = At(c.at("inputs"), "weight");
    ForEveryIsa([&] {
      std::vector<float> y(x.data.size());
      RmsNormRows(x.data.data(), weight.data.data(), c.at("eps").get<float>(), x.shape[0],
                  x.shape[1], x.shape[1], y.data(), x.shape[1]);
      ExpectClose(y, At(c.at("outputs"), "rms_norm"), 1e-6, 1e-12);
    });
  }
}

TEST(Goldens, SoftmaxAndLogSumExp) {
  for (const Json& c : GoldenCases("softmax")) {
    const Array x = At(c.at("inputs"), "x");
    const Array sums = At(c.at("outputs"), "logsumexp");
    ForEveryIsa([&] {
      std::vector<float> y(x.data.size());
      std::vector<float> logs(sums.data.size());
      const int64_t n = x.shape[1];
      for (int64_t row = 0; row < x.shape[0]; ++row) {
        Softmax(x.data.data() + row * n, n, y.data() + row * n);
        logs[static_cast<size_t>(row)] = LogSumExp(x.data.data() + row * n, n);
      }
      ExpectClose(y, At(c.at("outputs"), "softmax"), 3e-6, 1e-12);
      ExpectClose(logs, sums, 1e-6, 1e-6);
    });
  }
}

TEST(Goldens, Activations) {
  using Unary = void (*)(const float*, int64_t, float*);
  using Gate = void (*)(const float*, const float*, int64_t, float*);
  for (const Json& c : GoldenCases("activation")) {
    const Array x = At(c.at("inputs"), "x");
    const Array up = At(c.at("inputs"), "up");
    ForEveryIsa([&] {
      std::vector<float> y(x.data.size());
      for (const auto& [name, function] : {std::pair<const char*, Unary>{"silu", Silu},
                                           {"gelu_tanh", GeluTanh},
                                           {"gelu_erf", GeluErf},
                                           {"tanh", Tanh}}) {
        SCOPED_TRACE(name);
        function(x.data.data(), x.size(), y.data());
        ExpectClose(y, At(c.at("outputs"), name), 2e-5, 1e-9);
      }
      for (const auto& [name, function] : {std::pair<const char*, Gate>{"silu_times_up", SiluMul},
                                           {"gelu_tanh_times_up", GeluTanhMul}}) {
        SCOPED_TRACE(name);
        function(x.data.data(), up.data.data(), x.size(), y.data());
        ExpectClose(y, At(c.at("outputs"), name), 2e-5, 1e-9);
      }
    });
  }
}

TEST(Goldens, Rope) {
  for (const Json& c : GoldenCases("rope")) {
    SCOPED_TRACE(c.at("scaling").dump());
    RopeScaling scaling;
    const Json& s = c.at("scaling");
    if (!s.empty()) {
      const auto type = s.at("type").get<std::string>();
      scaling.kind = type == "llama3"   ? RopeScalingKind::kLlama3
                     : type == "yarn"   ? RopeScalingKind::kYarn
                     : type == "linear" ? RopeScalingKind::kLinear
                                        : RopeScalingKind::kNone;
      ASSERT_NE(scaling.kind, RopeScalingKind::kNone) << type;
      scaling.factor = s.at("factor");
      scaling.original_context = s.value("original_context", 0);
      scaling.low_frequency_factor = s.value("low_freq_factor", 1.0);
      scaling.high_frequency_factor = s.value("high_freq_factor", 4.0);
      scaling.beta_fast = s.value("beta_fast", 32.0);
      scaling.beta_slow = s.value("beta_slow", 1.0);
      scaling.attention_factor = s.value("attention_factor", 0.0);
    }
    const RopeFrequencyTable table = RopeFrequencies(c.at("n_rot"), c.at("base"), scaling);
    const auto frequencies =
        c.at("outputs").at("frequencies").at("data").get<std::vector<double>>();
    ASSERT_EQ(table.inverse.size(), frequencies.size());
    for (size_t i = 0; i < frequencies.size(); ++i) {
      EXPECT_NEAR(table.inverse[i], frequencies[i], 1e-9 * frequencies[i]);
    }
    EXPECT_NEAR(table.magnitude, c.at("magnitude").get<double>(), 1e-6);

    const auto positions = c.at("positions").get<std::vector<int64_t>>();
    std::vector<float> cos(positions.size() * frequencies.size());
    std::vector<float> sin(cos.size());
    RopeAngles(positions, table.inverse, table.magnitude, cos.data(), sin.data());
    const Array x = At(c.at("inputs"), "x");
    ForEveryIsa([&] {
      for (const auto& [name, layout] :
           {std::pair{"norm", RopeLayout::kAdjacent}, std::pair{"neox", RopeLayout::kHalves}}) {
        SCOPED_TRACE(name);
        std::vector<float> y = x.data;
        ApplyRope(y.data(), x.shape[0], x.shape[1], x.shape[2], c.at("n_rot"),
                  x.shape[1] * x.shape[2], cos.data(), sin.data(), layout);
        ExpectClose(y, At(c.at("outputs"), name), 0, 1e-6);
      }
    });
  }
}

TEST(Goldens, Attention) {
  for (const Json& c : GoldenCases("attention")) {
    const Array q = At(c.at("inputs"), "q");
    const Array k = At(c.at("inputs"), "k");
    const Array v = At(c.at("inputs"), "v");
    const int64_t length = k.shape[0];
    for (const core::DType dtype : {core::DType::kF32, core::DType::kF16}) {
      const AttentionParams params = {.kv = {.dtype = dtype,
                                             .kv_heads = static_cast<int>(k.shape[1]),
                                             .head_dim = static_cast<int>(k.shape[2])},
                                      .heads = static_cast<int>(q.shape[1]),
                                      .scale = c.at("scale").get<float>(),
                                      .window = c.at("window").get<int64_t>(),
                                      .soft_cap = c.at("softcap").get<float>()};
      ASSERT_LE(length, kPageTokens);
      std::vector<float> page(params.kv.PageBytes() / 4);
      void* pages[] = {page.data()};
      ForEveryIsa([&] {
        StoreKv(params.kv, k.data.data(), v.data.data(), k.shape[1] * k.shape[2], length, 0, pages);
        const AttentionSequence sequence = {0, q.shape[0], length - q.shape[0], pages};
        core::ThreadPool pool(2);
        std::vector<std::byte> workspace(AttentionWorkspaceBytes(params, q.shape[0], length, 2));
        std::vector<float> y(q.data.size());
        Attention(params, {&sequence, 1}, q.data.data(), y.data(), workspace, pool);
        ExpectClose(y, At(c.at("outputs"), "y"), 0, dtype == core::DType::kF32 ? 2e-6 : 4e-3);
      });
    }
  }
}

TEST(Goldens, MatMul) {
  for (const Json& c : GoldenCases("matmul")) {
    const Array x = At(c.at("inputs"), "x");
    const Array w = At(c.at("inputs"), "w");
    ForEveryIsa([&] {
      std::vector<float> y(static_cast<size_t>(x.shape[0] * w.shape[0]));
      std::vector<std::byte> scratch(kFloatGemmScratchBytes);
      FloatGemmRange(core::DType::kF32, w.data.data(), 0, w.shape[0], w.shape[1], x.data.data(),
                     x.shape[1], x.shape[0], y.data(), w.shape[0], false, scratch);
      ExpectClose(y, At(c.at("outputs"), "x_times_w_transposed"), 1e-6, 1e-5);
    });
  }
}

TEST(Goldens, F16AndBF16) {
  const Json formats = Golden("float_formats").at("formats");
  for (const auto& [name, dtype] :
       {std::pair{"f16", core::DType::kF16}, std::pair{"bf16", core::DType::kBF16}}) {
    SCOPED_TRACE(name);
    const auto inputs = formats.at(name).at("encode").at("float32_bits").get<std::vector<Json>>();
    const auto codes =
        formats.at(name).at("encode").at("codes").get<std::vector<Json>>();  // or "nan"
    std::vector<float> x;
    for (const Json& bits : inputs) {
      x.push_back(bits.is_string() ? NAN : std::bit_cast<float>(bits.get<uint32_t>()));
    }
    ForEveryIsa([&] {
      std::vector<uint16_t> y(x.size());
      FromF32(dtype, x.data(), static_cast<int64_t>(x.size()), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        if (codes[i].is_string()) {
          ASSERT_EQ(codes[i], "nan");
          std::vector<float> back(1);
          ToF32(dtype, &y[i], 1, back.data());
          EXPECT_TRUE(std::isnan(back[0]));
        } else {
          EXPECT_EQ(y[i], codes[i].get<uint16_t>()) << x[i];
        }
      }
    });
  }
}

}  // namespace
}  // namespace rml::kernels
