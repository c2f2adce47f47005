// KernelCase: one call that `rml bench kernels` measures, as files in bench/shapes describe it:
//
//   [{"name": "square 512", "op": "matmul", "attributes": {},
//     "inputs": [{"dtype": "f32", "dims": [512, 512]},
//                {"dtype": "f32", "dims": [512, 512], "constant": true}]}, …]
//
// An input of null is left out. "values" of an input: "normal" (mean 0, variance 1; the default of
// floats), "uniform" (integers in [0, "high"); of integers), "zipf" (the same with falling
// probability, "exponent"), "offsets" (rising from 0 to the elements of the previous input).
// "transposed": the last two axes are swapped in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rml/core/dtype.h"
#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/core/tensor.h"
#include "rml/io/json.h"
#include "rml/ir/op_def.h"

namespace rml::cli {

struct CaseInput {
  bool given = true;
  core::DType dtype = core::DType::kF32;
  core::Shape shape;
  bool constant = false;
  bool transposed = false;
  std::string values;  // never empty where given
  double high = 128;
  double exponent = 1.05;
};

struct KernelCase {
  std::string name;
  const ir::OpDef* op = nullptr;
  std::vector<CaseInput> inputs;
  ir::Attributes attributes;
  io::Json attributes_json = io::Json::MakeObject();  // as the file has them
  bool generated = false;             // from a sample of the operator, not from a file
  std::vector<core::Tensor> tensors;  // of a generated case
};

// Messages say the file, the case and the nearest known key.
core::Expected<std::vector<KernelCase>> ParseCases(const io::Json& json, std::string_view file);
// A file, or all *.json of a folder in the order of their names.
core::Expected<std::vector<KernelCase>> ReadCases(const std::string& path);
// The files of bench/shapes, which this program carries.
core::Expected<std::vector<KernelCase>> BuiltInCases();
// The operator's samples, grown where that can be: for operators without a case in a file.
core::Expected<std::vector<KernelCase>> GeneratedCases(const ir::OpDef& op);

// Values depend on the case alone.
core::Expected<std::vector<core::Tensor>> TensorsOf(const KernelCase& c);

}  // namespace rml::cli
