// Further forms of elementwise operators, beside those of elementwise.h: functions with parameters,
// predicates, and operators on bits.
#pragma once

#include "rml/ops/elementwise.h"

namespace rml::ops {

// y = f(x) where f depends on attributes: `make` reads them once for each call.
using UnaryFunction = std::function<double(double)>;
ir::OpDef UnaryWith(std::string_view name, std::string_view doc,
                    std::vector<ir::AttrDef> attributes,
                    std::function<UnaryFunction(const ir::OpCall&)> make);

// A bool for each element of a float.
ir::OpDef Predicate(std::string_view name, std::string_view doc, bool (*f)(double));

// On the bits of two integers of one dtype; booleans, of one bit, where `bools` says so.
ir::OpDef Bitwise(std::string_view name, std::string_view doc, bool bools,
                  int64_t (*fi)(int64_t, int64_t), uint64_t (*fu)(uint64_t, uint64_t));

// UnarySamples, and zeros, infinities, NaN and numbers beside the ends of f32 and f16, where finite
// differences see nothing.
std::vector<ir::Sample> UnaryEdgeSamples(const ir::Fill& fill = ir::Fill::Normal());

// x where it is not positive, else 0: what an exponential of one branch may see. Unlike minimum, it
// has one gradient at 0.
ir::Value NegativePart(const Emit& e, const ir::Value& x);

}  // namespace rml::ops
