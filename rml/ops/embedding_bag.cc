#include "rml/ops/embedding_bag.h"

namespace rml::ops {

core::Status CheckBagMode(std::string_view mode) {
  if (mode == "sum" || mode == "mean" || mode == "sqrtn") return {};
  return core::InvalidArgument("mode is \"", mode, "\", expected sum, mean or sqrtn");
}

}  // namespace rml::ops
