#include "rml/ir/ref_call.h"

namespace rml::ir {

WideType WideTypeOf(core::DType dtype) {
  switch (core::Info(dtype).kind) {
    case core::DTypeKind::kSigned:
      return WideType::kSigned;
    case core::DTypeKind::kUnsigned:
      return WideType::kUnsigned;
    case core::DTypeKind::kBool:
      return WideType::kBool;
    case core::DTypeKind::kFloat:
    case core::DTypeKind::kQuantized:
      break;
  }
  return WideType::kFloat;
}

}  // namespace rml::ir
