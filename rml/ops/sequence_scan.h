// How the inputs of a scan are divided, and how its sequences lie: along which axis and in which
// direction the steps go.
#pragma once

#include <vector>

#include "rml/ir/expr_call.h"
#include "rml/ir/op_call.h"
#include "rml/ops/expr.h"

namespace rml::ops {

struct ScanSequence {
  int64_t axis = 0;  // negative: counted from the end
  bool backward = false;

  bool plain() const { return axis == 0 && !backward; }
};

// Carries, sequences, and constants that every step gets, in this order.
struct ScanLayout {
  size_t carries = 0;
  size_t xs = 0;
  size_t constants = 0;
  ir::Dim length;
  std::vector<ScanSequence> x;  // of each sequence
  std::vector<ScanSequence> y;  // of each output behind the states; none: all are plain

  size_t inputs() const { return carries + xs + constants; }
  bool plain() const;  // all sequences go forward along their first axis
};

// "scan_input_axes", "scan_input_directions" and the same of outputs: ONNX's.
std::vector<ir::AttrDef> ScanSequenceAttributes();

core::Expected<ScanLayout> ScanLayoutOf(const ir::OpCall& call);

// The types of the body's inputs: sequences without their axis of steps.
ir::Types ScanStepTypes(const ScanLayout& layout, const ir::OpCall& call);

// A sequence as one that goes forward along its first axis; and back.
ir::Value ToPlainSequence(const Emit& e, const ir::Value& value, const ScanSequence& sequence);
ir::Value FromPlainSequence(const Emit& e, const ir::Value& value, const ScanSequence& sequence);

// The gradient of a scan whose sequences are plain.
ir::Values PlainScanGradient(ir::ExprCall& call);

}  // namespace rml::ops
