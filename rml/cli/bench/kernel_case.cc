#include "rml/cli/bench/kernel_case.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "embedded/kernel_cases.h"
#include "rml/core/checked_math.h"
#include "rml/core/nearest_name.h"
#include "rml/ops/check/op_case.h"
#include "rml/ops/registry.h"

namespace rml::cli {

using core::Expected;
using core::Status;
using io::Json;

namespace {

constexpr int64_t kMostBytes = int64_t{8} << 30;  // of one input

Status CheckKeys(const Json& json, std::span<const std::string_view> known) {
  if (!json.is_object())
    return core::InvalidArgument("expected an object, found a ", json.kind_name());
  for (const Json::Member& member : json.members()) {
    if (std::ranges::find(known, member.key) != known.end()) continue;
    return core::InvalidArgument("unknown key \"", member.key, "\"",
                                 core::DidYouMean(member.key, known));
  }
  return {};
}

Status CheckInput(const CaseInput& input, bool first) {
  constexpr std::array<std::string_view, 4> kValues = {"normal", "uniform", "zipf", "offsets"};
  if (std::ranges::find(kValues, input.values) == kValues.end()) {
    return core::InvalidArgument("unknown values \"", input.values, "\"",
                                 core::DidYouMean(input.values, kValues));
  }
  const bool numeric = input.values == "normal";
  const core::DTypeKind kind = core::Info(input.dtype).kind;
  const bool real = kind == core::DTypeKind::kFloat || kind == core::DTypeKind::kQuantized;
  if (numeric && !real) return core::InvalidArgument("integers have no values \"normal\"");
  if (!numeric && kind == core::DTypeKind::kQuantized)
    return core::InvalidArgument("block-quantised inputs have values \"normal\" only");
  if (input.values == "offsets" && first)
    return core::InvalidArgument("\"offsets\" needs an input before it");
  if (!(input.high >= 1 && input.high <= 9e15))
    return core::InvalidArgument("high is ", input.high, ", expected 1 to 9e15");
  if (!(input.exponent > 0 && input.exponent <= 10))
    return core::InvalidArgument("exponent is ", input.exponent, ", expected up to 10");
  const core::DTypeInfo& info = core::Info(input.dtype);
  if (info.block_elements > 1 && (input.transposed || input.shape.rank() == 0 ||
                                  input.shape.dim(-1) % info.block_elements != 0)) {
    return core::InvalidArgument("rows of ", info.name, " are whole blocks of ",
                                 info.block_elements, " and are not transposed");
  }
  if (input.transposed && input.shape.rank() < 2)
    return core::InvalidArgument("\"transposed\" needs two axes");
  const auto bytes = core::StorageBytes(input.dtype, input.shape.elements());
  if (!bytes || *bytes > kMostBytes)
    return core::InvalidArgument("an input of more than ", kMostBytes, " bytes");
  return {};
}

Expected<CaseInput> ParseInput(const Json& json, bool first) {
  CaseInput input;
  if (json.is_null()) {
    input.given = false;
    return input;
  }
  constexpr std::array<std::string_view, 7> kKeys = {"dtype",      "dims", "constant", "values",
                                                     "transposed", "high", "exponent"};
  RML_TRY(CheckKeys(json, kKeys));
  RML_ASSIGN(const auto name, json.Get<std::string>("dtype"));
  const auto dtype = core::ParseDType(name);
  if (!dtype) return core::InvalidArgument("unknown dtype \"", name, "\"");
  input.dtype = *dtype;
  RML_ASSIGN(const auto dims, json.Get<std::vector<int64_t>>("dims"));
  RML_ASSIGN(input.shape, core::Shape::Make(dims));
  RML_ASSIGN(input.constant, json.GetOr<bool>("constant", false));
  RML_ASSIGN(input.transposed, json.GetOr<bool>("transposed", false));
  const bool real = core::IsFloat(*dtype) || core::IsQuantized(*dtype);
  RML_ASSIGN(input.values, json.GetOr<std::string>("values", real ? "normal" : "uniform"));
  RML_ASSIGN(input.high, json.GetOr<double>("high", *dtype == core::DType::kBool ? 2 : 128));
  RML_ASSIGN(input.exponent, json.GetOr<double>("exponent", 1.05));
  RML_TRY(CheckInput(input, first));
  return input;
}

// What the text says, as the kind of value that the operator declares.
Expected<ir::AttrValue> ParseAttribute(const Json& json, const ir::AttrValue& like) {
  if (json.is_array()) {
    if (std::holds_alternative<ir::Floats>(like)) {
      RML_ASSIGN(auto values, json.As<std::vector<double>>());
      return ir::AttrValue(std::move(values));
    }
    RML_ASSIGN(auto values, json.As<std::vector<int64_t>>());
    return ir::AttrValue(std::move(values));
  }
  if (json.is_bool()) {
    RML_ASSIGN(const bool value, json.As<bool>());
    return ir::AttrValue(value);
  }
  if (json.is_string()) {
    RML_ASSIGN(auto text, json.As<std::string>());
    if (!std::holds_alternative<core::DType>(like)) return ir::AttrValue(std::move(text));
    const auto dtype = core::ParseDType(text);
    if (!dtype) return core::InvalidArgument("unknown dtype \"", text, "\"");
    return ir::AttrValue(*dtype);
  }
  if (json.is_int()) {
    RML_ASSIGN(const auto value, json.As<int64_t>());
    return ir::AttrValue(value);
  }
  RML_ASSIGN(const double value, json.As<double>());
  return ir::AttrValue(value);
}

Expected<ir::Attributes> ParseAttributes(const Json& json, const ir::OpDef& op) {
  std::vector<std::string_view> names;
  for (const ir::AttrDef& def : op.attributes) names.push_back(def.name);
  RML_TRY(CheckKeys(json, names));
  ir::AttrList list;
  for (const Json::Member& member : json.members()) {
    const int place = op.attribute_place(member.key);
    const ir::AttrDef& def = op.attributes[static_cast<size_t>(place)];
    auto value = ParseAttribute(member.value, def.fallback);
    if (!value.ok()) return value.status().WithContext(member.key);
    list.emplace_back(def.name, *std::move(value));
  }
  return ir::Attributes::Bind(op.attributes, list);
}

Expected<KernelCase> ParseCase(const Json& json) {
  constexpr std::array<std::string_view, 4> kKeys = {"name", "op", "inputs", "attributes"};
  RML_TRY(CheckKeys(json, kKeys));
  KernelCase c;
  RML_ASSIGN(c.name, json.Get<std::string>("name"));
  RML_ASSIGN(const auto op, json.Get<std::string>("op"));
  RML_ASSIGN(c.op, ops::BuiltinOps().Find(op));
  RML_ASSIGN(const auto inputs, json.Get<std::vector<Json>>("inputs"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto input = ParseInput(inputs[i], i == 0);
    if (!input.ok()) return input.status().WithContext(core::StrCat("inputs[", i, "]"));
    c.inputs.push_back(*std::move(input));
  }
  const Json* const attributes = json.Find("attributes");
  if (attributes != nullptr) c.attributes_json = *attributes;
  auto bound = ParseAttributes(c.attributes_json, *c.op);
  if (!bound.ok()) return bound.status().WithContext("attributes");
  c.attributes = *std::move(bound);
  std::vector<ir::OpCall::Input> known;
  for (const CaseInput& input : c.inputs)
    known.push_back({.type = {input.dtype, ir::Dims(input.shape)}, .given = input.given});
  ir::Types types;
  RML_TRY(ir::InferTypes(ir::OpCall(*c.op, known, c.attributes), &types));
  return c;
}

}  // namespace

Expected<std::vector<KernelCase>> ParseCases(const Json& json, std::string_view file) {
  if (!json.is_array()) {
    return core::InvalidArgument(file, ": expected a list of cases, found a ", json.kind_name());
  }
  std::vector<KernelCase> cases;
  for (const Json& item : json.items()) {
    auto parsed = ParseCase(item);
    if (!parsed.ok()) {
      const auto name = item.GetOr<std::string>("name", "");
      const std::string place = name.ok() && !name->empty() ? core::StrCat("case \"", *name, "\"")
                                                            : core::StrCat("case ", cases.size());
      return parsed.status().WithContext(core::StrCat(file, ": ", place));
    }
    cases.push_back(*std::move(parsed));
  }
  return cases;
}

Expected<std::vector<KernelCase>> ReadCases(const std::string& path) {
  std::vector<std::string> files = {path};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    files.clear();
    auto entry = std::filesystem::directory_iterator(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == ".json") files.push_back(entry->path().string());
    }
    if (error) return core::IoError(core::StrCat("cannot list ", path), error.value());
    std::ranges::sort(files);
    if (files.empty()) return core::NotFound(path, ": the folder has no *.json");
  }
  std::vector<KernelCase> cases;
  for (const std::string& file : files) {
    RML_ASSIGN(const Json json, Json::ParseFile(file));
    RML_ASSIGN(const std::vector<KernelCase> more, ParseCases(json, file));
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

Expected<std::vector<KernelCase>> BuiltInCases() {
  const std::span<const std::byte> bytes = embedded::kernel_cases();
  RML_ASSIGN(const Json files,
             Json::Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  std::vector<KernelCase> cases;
  for (const Json::Member& file : files.members()) {
    RML_ASSIGN(const std::vector<KernelCase> more,
               ParseCases(file.value, core::StrCat("bench/shapes/", file.key)));
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

Expected<std::vector<KernelCase>> GeneratedCases(const ir::OpDef& op) {
  RML_ASSIGN(const std::vector<ops::OpCase> samples, ops::CasesOf(op, false));
  std::vector<KernelCase> cases;
  for (const ops::OpCase& sample : samples) {
    RML_ASSIGN(const std::optional<ops::OpCase> grown, ops::GrownCase(sample));
    const ops::OpCase& used = grown ? *grown : sample;
    bool empty = false;
    for (const core::Tensor& tensor : used.inputs)
      empty = empty || (tensor.defined() && tensor.elements() == 0);
    if (empty) continue;
    KernelCase c;
    c.name = core::StrCat("generated: ", used.ToString());
    c.op = &op;
    c.attributes = used.attributes;
    c.generated = true;
    c.tensors = used.inputs;
    for (const core::Tensor& tensor : used.inputs) {
      CaseInput& input = c.inputs.emplace_back();
      input.given = tensor.defined();
      if (!input.given) continue;
      input.dtype = tensor.dtype();
      input.shape = tensor.shape();
      input.values = "sample";
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace rml::cli
