// The form of argmax and argmin.
#pragma once

#include "rml/ir/op_def.h"

namespace rml::ops {

ir::OpDef ArgExtreme(std::string_view name, std::string_view doc, bool largest);

}  // namespace rml::ops
