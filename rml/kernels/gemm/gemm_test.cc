#include "rml/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rml/core/half.h"
#include "rml/kernels/float_test_util.h"

namespace rml::kernels {
namespace {

using core::DType;

struct GemmCase {
  GemmSizes sizes;
  DType dtype = DType::kF32;
  bool a_transposed = false;
  bool b_transposed = false;
  bool packed = false;
  bool accumulate = false;
};

// Operands with gaps between their lines, and C with a frame that has to stay as it is.
class GemmProblem {
 public:
  explicit GemmProblem(const GemmCase& c) : case_(c) {
    const auto [m, n, k] = c.sizes;
    a_ = Operand(m, k, c.a_transposed, &call_.a);
    b_ = Operand(k, n, c.b_transposed, &call_.b);
    ldc_ = n + 3;
    call_.sizes = c.sizes;
    call_.ldc = ldc_;
    call_.accumulate = c.accumulate;
  }

  // In chunks from the last to the first: their order does not matter.
  std::vector<float> Run(const GemmEpilogue& epilogue = {}, int threads = 3) {
    std::vector<float> c = Initial();
    GemmCall call = call_;
    call.c = c.data();
    call.epilogue = epilogue;
    const auto [m, n, k] = case_.sizes;
    std::vector<std::byte> space(static_cast<size_t>(PackedMatrix::PackedBytes(case_.dtype, k, n)));
    const PackedMatrix packed(call.b, k, n, space);
    if (case_.packed) {
      call.packed = &packed;
      call.b = {};
    }
    const GemmPlan plan(case_.dtype, case_.sizes, call.packed, threads);
    std::vector<std::byte> scratch(plan.scratch_bytes());
    for (int64_t chunk = plan.chunks(); chunk-- > 0;) plan.Run(call, chunk, scratch);
    return c;
  }

  std::vector<float> Reference() {
    std::vector<float> c = Initial();
    GemmCall call = call_;
    call.c = c.data();
    GemmReference(call);
    return c;
  }

  int64_t ldc() const { return ldc_; }

 private:
  std::vector<float> Initial() const {
    return std::vector<float>(static_cast<size_t>(case_.sizes.m * ldc_), 0.5f);
  }

  std::vector<std::byte> Operand(int64_t rows, int64_t columns, bool transposed,
                                 GemmMatrix* matrix) {
    const int64_t line = (transposed ? rows : columns) + 2;
    const int64_t count = line * (transposed ? columns : rows);
    std::vector<std::byte> bytes(static_cast<size_t>(count) * 4);
    for (int64_t i = 0; i < count; ++i) {
      const float value = random_.Uniform();
      if (core::Info(case_.dtype).block_bytes == 1) {
        bytes[static_cast<size_t>(i)] = static_cast<std::byte>(random_.Bits());
      } else if (case_.dtype == DType::kF32) {
        reinterpret_cast<float*>(bytes.data())[i] = value;
      } else {
        reinterpret_cast<uint16_t*>(bytes.data())[i] =
            case_.dtype == DType::kF16 ? core::F32ToF16(value) : core::F32ToBF16(value);
      }
    }
    *matrix = {case_.dtype, bytes.data(), transposed ? 1 : line, transposed ? line : 1};
    return bytes;
  }

  GemmCase case_;
  TestRandom random_{11};
  std::vector<std::byte> a_, b_;
  int64_t ldc_;
  GemmCall call_;
};

void ExpectGemm(const GemmCase& c) {
  SCOPED_TRACE(testing::Message() << Name(c.dtype) << " " << c.sizes.m << " x " << c.sizes.n
                                  << " x " << c.sizes.k << (c.a_transposed ? " aT" : "")
                                  << (c.b_transposed ? " bT" : "") << (c.packed ? " packed" : ""));
  GemmProblem problem(c);
  const std::vector<float> actual = problem.Run();
  const std::vector<float> expected = problem.Reference();
  // Products are below 1: partial sums, which are what rounds, walk to about sqrt(k).
  // Sums of pairs of bf16 round twice.
  const bool pairs = c.dtype == DType::kBF16 && ActiveIsa() == Isa::kAvx512Bf16;
  const double bound = (pairs ? 4e-7 : 1e-7) * (static_cast<double>(c.sizes.k) + 10.0);
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], bound) << i;
}

void ExpectEveryForm(const GemmSizes& sizes, DType dtype) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const bool packed : {false, true})
        ExpectGemm({sizes, dtype, a_transposed, b_transposed, packed, a_transposed});
    }
  }
}

TEST(Gemm, MatchesTheReferenceAtEveryTail) {
  ForEveryIsa([] {
    for (const int64_t n : kTails) {
      for (const int64_t m : {1, 2, 3, 5, 6, 7, 8, 9, 13, 17})
        ExpectEveryForm({m, n, 19}, DType::kF32);
    }
    for (const int64_t k : kTails) ExpectEveryForm({11, 35, k}, DType::kF32);
  });
}

TEST(Gemm, MatchesTheReferenceInNarrowDTypes) {
  ForEveryIsa([] {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      for (const int64_t n : {1, 15, 48, 50}) {
        for (const int64_t m : {1, 6, 9}) {
          for (const int64_t k : {1, 2, 37, 64}) ExpectEveryForm({m, n, k}, dtype);
        }
      }
      ExpectEveryForm({30, 70, 1600}, dtype);
    }
  });
}

TEST(Gemm, BytesGiveExactSums) {
  ForEveryIsa([] {
    for (const DType dtype : {DType::kI8, DType::kU8}) {
      if (!HasGemm(dtype)) continue;
      const uint32_t mask = dtype == DType::kI8 ? ~0u : 0xffu;  // what is promised to be exact
      for (const GemmSizes& sizes : {GemmSizes{1, 1, 1},
                                     {3, 17, 5},
                                     {9, 50, 64},
                                     {17, 100, 39},
                                     {8, 48, 4000},
                                     {70, 130, 1601}}) {
        for (int form = 0; form < 8; ++form) {
          GemmCase c{.sizes = sizes, .dtype = dtype};
          c.a_transposed = form % 2 != 0;
          c.b_transposed = form / 2 % 2 != 0;
          c.packed = form / 4 != 0;
          GemmProblem problem(c);
          const auto actual = BitsOf(problem.Run());
          const auto expected = BitsOf(problem.Reference());
          for (size_t i = 0; i < actual.size(); ++i)
            ASSERT_EQ(actual[i] & mask, expected[i] & mask) << i << " form " << form;
        }
      }
    }
  });
}

TEST(Gemm, MatchesTheReferenceAcrossBlocksOfEveryAxis) {
  ForEveryIsa([] {
    ExpectEveryForm({30, 515, 421}, DType::kF32);
    ExpectEveryForm({150, 60, 1025}, DType::kF32);
    ExpectEveryForm({2, 70, 4100}, DType::kF32);
  });
}

TEST(Gemm, ReadsStridesOfBothAxes) {
  ForEveryIsa([] {
    TestRandom random(3);
    const std::vector<float> values = random.Vector(40 * 40);
    std::vector<float> actual(7 * 9);
    std::vector<float> expected(7 * 9);
    GemmCall call;
    call.sizes = {7, 9, 11};
    call.a = {DType::kF32, values.data(), 80, 3};
    call.b = {DType::kF32, values.data() + 5, 2, 90};
    call.ldc = 9;
    call.c = actual.data();
    const GemmPlan plan(DType::kF32, call.sizes, nullptr, 1);
    std::vector<std::byte> scratch(plan.scratch_bytes());
    for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) plan.Run(call, chunk, scratch);
    call.c = expected.data();
    GemmReference(call);
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-6) << i;
  });
}

// Counts how often each element was final, and doubles it.
struct EpilogueLog {
  std::vector<int> seen;
  int64_t n;

  static void Apply(const void* context, float* c, int64_t ldc, int64_t row, int64_t column,
                    int64_t rows, int64_t columns) {
    auto& self = *const_cast<EpilogueLog*>(static_cast<const EpilogueLog*>(context));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        ++self.seen[static_cast<size_t>((row + i) * self.n + column + j)];
        c[i * ldc + j] *= 2;
      }
    }
  }
};

TEST(Gemm, ThePartsOfTheEpilogueCoverEachElementOnce) {
  ForEveryIsa([] {
    for (const GemmSizes& sizes : {GemmSizes{1, 100, 30}, {300, 530, 700}, {5, 33, 900}}) {
      for (const bool b_transposed : {false, true}) {
        GemmCase c{.sizes = sizes};
        c.b_transposed = b_transposed;
        GemmProblem problem(c);
        const std::vector<float> plain = problem.Run();
        EpilogueLog log{std::vector<int>(static_cast<size_t>(sizes.m * sizes.n)), sizes.n};
        const std::vector<float> doubled = problem.Run({EpilogueLog::Apply, &log});
        EXPECT_EQ(std::ranges::count(log.seen, 1), sizes.m * sizes.n);
        for (int64_t i = 0; i < sizes.m * problem.ldc(); ++i) {
          const bool inside = i % problem.ldc() < sizes.n;
          const auto at = static_cast<size_t>(i);
          ASSERT_EQ(doubled[at], inside ? 2 * plain[at] : plain[at]) << i;
        }
      }
    }
  });
}

TEST(Gemm, AnyNumberOfThreadsGivesTheSameBits) {
  ForEveryIsa([] {
    for (const GemmSizes& sizes : {GemmSizes{20, 800, 700}, {3, 1000, 700}, {500, 300, 400}}) {
      GemmProblem problem({.sizes = sizes});
      const auto one = BitsOf(problem.Run({}, 1));
      for (const int threads : {2, 5, 64}) EXPECT_EQ(BitsOf(problem.Run({}, threads)), one);
    }
  });
}

TEST(Gemm, PackedWeightsGiveTheSameBits) {
  ForEveryIsa([] {
    for (const GemmSizes& sizes : {GemmSizes{20, 100, 700}, {3, 100, 700}, {300, 300, 300}}) {
      GemmCase c{.sizes = sizes};
      GemmProblem plain(c);
      c.packed = true;
      GemmProblem packed(c);
      EXPECT_EQ(BitsOf(plain.Run()), BitsOf(packed.Run()));
    }
  });
}

}  // namespace
}  // namespace rml::kernels
