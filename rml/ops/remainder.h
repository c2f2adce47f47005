// What mod and fmod share.
#pragma once

#include "rml/ops/elementwise.h"

namespace rml::ops {

ir::OpDef Remainder(std::string_view name, std::string_view doc, double (*f)(double, double),
                    int64_t (*fi)(int64_t, int64_t));

// a % b, defined everywhere: by zero it is a, as in XLA.
int64_t TruncatedRemainder(int64_t a, int64_t b);

}  // namespace rml::ops
