#include "rml/ops/check/ways.h"

#include "rml/core/strcat.h"

namespace rml::ops {

std::string Way::ToString() const {
  return core::StrCat(kernels::IsaName(isa), strided ? ", strided, " : ", ", threads,
                      threads == 1 ? " thread" : " threads");
}

std::vector<Way> KernelWays(bool quick) {
  std::vector<Way> ways;
  const auto isas = kernels::SupportedIsas();
  for (size_t i = 0; i < isas.size(); ++i) {
    for (const bool strided : {false, true}) {
      for (const int threads : {1, 2, 3}) {
        // With one instruction set alone, pairs of the other two choices are all there are.
        const bool chosen = (static_cast<size_t>(threads) + i) % 2 == (strided ? 1 : 0);
        if (!quick || isas.size() == 1 || chosen) ways.push_back({isas[i], strided, threads});
      }
    }
  }
  return ways;
}

}  // namespace rml::ops
