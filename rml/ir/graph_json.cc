#include "rml/ir/graph_json.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "rml/ir/verify.h"

namespace rml::ir {

using core::Expected;
using core::Status;
using core::StrCat;
using io::Json;

namespace {

constexpr std::string_view kFormat = "rml-graph";
constexpr int kVersion = 1;
constexpr int kMaxNesting = 16;  // of graphs in attributes
constexpr int64_t kMaxValues = int64_t{1} << 28;

// --- Writing.

Json DimToJson(Dim dim) { return dim.is_integer() ? Json(dim.value()) : Json(dim.ToString()); }

Json DimsToJson(const Dims& dims) {
  Json list = Json::MakeArray();
  for (const Dim dim : dims) list.Append(DimToJson(dim));
  return list;
}

// JSON has no infinities: they are text.
Json FloatToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

class GraphWriter {
 public:
  explicit GraphWriter(std::vector<NamedTensor>* constants) : constants_(constants) {}

  Json Write(const Graph& graph) {
    Json symbols = Json::MakeObject();
    Json values = Json::MakeArray();
    for (const GraphValue& value : graph.values()) {
      AddSymbols(value.type.dims, &symbols);
      Json v = Json::MakeObject();
      v.Set("kind", std::string(ValueKindName(value.kind)));
      v.Set("type", std::string(core::Name(value.type.dtype)))
          .Set("dims", DimsToJson(value.type.dims));
      if (!value.name.empty()) v.Set("name", value.name);
      if (value.kind == ValueKind::kConstant) {
        const std::string name = StrCat("constant.", constants_->size());
        constants_->push_back({name, value.constant});
        v.Set("tensor", name);
      }
      values.Append(std::move(v));
    }
    Json nodes = Json::MakeArray();
    for (const Node& node : graph.nodes()) nodes.Append(WriteNode(node, &symbols));
    Json updates = Json::MakeArray();
    for (const StateUpdate& update : graph.updates())
      updates.Append(Json::MakeArray().Append(update.state).Append(update.value));
    Json out = Json::MakeObject();
    out.Set("format", std::string(kFormat))
        .Set("version", kVersion)
        .Set("symbols", std::move(symbols));
    out.Set("values", std::move(values)).Set("nodes", std::move(nodes));
    out.Set("outputs", Ids(graph.outputs())).Set("updates", std::move(updates));
    return out;
  }

 private:
  static Json Ids(std::span<const ValueId> ids) {
    Json list = Json::MakeArray();
    for (const ValueId id : ids) list.Append(id);
    return list;
  }

  static void AddSymbols(const Dims& dims, Json* symbols) {
    for (const Dim dim : dims) {
      if (dim.is_integer()) continue;
      for (const Dim symbol : dim.Symbols()) {
        symbols->Set(symbol.symbol_name(),
                     Json::MakeArray().Append(symbol.min()).Append(symbol.max()));
      }
    }
  }

  Json WriteNode(const Node& node, Json* symbols) {
    Json attributes = Json::MakeObject();
    for (size_t i = 0; i < node.op->attributes.size(); ++i) {
      const AttrDef& def = node.op->attributes[i];
      const AttrValue& value = node.attributes.at(node.op->attributes, i);
      if (!def.required && AttrEqual(value, def.fallback)) continue;
      if (const auto* const dims = std::get_if<Dims>(&value)) AddSymbols(*dims, symbols);
      attributes.Set(def.name, WriteAttr(value));
    }
    Json out = Json::MakeObject();
    out.Set("op", std::string(node.op->name)).Set("op_version", node.op->version);
    out.Set("inputs", Ids(node.inputs)).Set("outputs", Ids(node.outputs));
    if (attributes.size() > 0) out.Set("attributes", std::move(attributes));
    if (!node.scope.empty()) out.Set("scope", node.scope);
    return out;
  }

  Json WriteAttr(const AttrValue& value) {
    struct Writer {
      GraphWriter* writer;
      Json operator()(bool v) const { return v; }
      Json operator()(int64_t v) const { return v; }
      Json operator()(double v) const { return FloatToJson(v); }
      Json operator()(const std::string& v) const { return v; }
      Json operator()(core::DType v) const { return std::string(core::Name(v)); }
      Json operator()(const Ints& v) const {
        Json list = Json::MakeArray();
        for (const int64_t item : v) list.Append(item);
        return list;
      }
      Json operator()(const Floats& v) const {
        Json list = Json::MakeArray();
        for (const double item : v) list.Append(FloatToJson(item));
        return list;
      }
      Json operator()(const Dims& v) const { return DimsToJson(v); }
      Json operator()(const GraphRef& v) const { return v == nullptr ? Json() : writer->Write(*v); }
    };
    return std::visit(Writer{this}, value);
  }

  std::vector<NamedTensor>* constants_;
};

}  // namespace

Json GraphToJson(const Graph& graph, std::vector<NamedTensor>* constants) {
  return GraphWriter(constants).Write(graph);
}

// --- Reading.

// Builds a graph's lists directly: a file numbers its values itself.
struct GraphAccess {
  static Status AddValue(Graph* graph, GraphValue value) {
    const auto id = static_cast<ValueId>(graph->values_.size());
    if (!value.name.empty() && !graph->names_.emplace(value.name, id).second) {
      return core::DataLoss("the name \"", value.name, "\" is taken");
    }
    if (value.kind == ValueKind::kInput) graph->inputs_.push_back(id);
    if (value.kind == ValueKind::kParameter) graph->parameters_.push_back(id);
    if (value.kind == ValueKind::kState) graph->states_.push_back(id);
    graph->values_.push_back(std::move(value));
    return {};
  }

  static Status AddNode(Graph* graph, Node node) {
    const auto id = static_cast<NodeId>(graph->nodes_.size());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId output = node.outputs[i];
      if (output < 0 || static_cast<size_t>(output) >= graph->values_.size())
        return core::DataLoss("outputs[", i, "]: there is no value ", output);
      GraphValue& value = graph->values_[static_cast<size_t>(output)];
      value.producer = id;
      value.output = static_cast<int>(i);
    }
    graph->nodes_.push_back(std::move(node));
    return {};
  }
};

namespace {

class GraphReader {
 public:
  GraphReader(const OpSource& operators,
              const std::function<Expected<core::Tensor>(std::string_view)>& tensor)
      : operators_(operators), tensor_(tensor) {}

  Expected<Graph> Read(const Json& json, int depth) {
    if (depth > kMaxNesting)
      return core::DataLoss("graphs are nested more than ", kMaxNesting, " deep");
    RML_ASSIGN(const std::string_view format, json.Get<std::string_view>("format"));
    if (format != kFormat) return core::DataLoss("format: \"", format, "\" is not ", kFormat);
    RML_ASSIGN(const int64_t version, json.Get<int64_t>("version"));
    if (version < 1 || version > kVersion)
      return core::Unsupported("version: ", version, " is newer than this program reads, ",
                               kVersion);
    RML_TRY(ReadSymbols(json));
    Graph graph;
    RML_TRY(ReadValues(json, &graph));
    RML_TRY(ReadNodes(json, depth, &graph));
    RML_ASSIGN(const std::vector<int64_t> outputs, json.Get<std::vector<int64_t>>("outputs"));
    for (size_t i = 0; i < outputs.size(); ++i) {
      RML_ASSIGN(const ValueId id, Id(graph, outputs[i], false, StrCat("outputs[", i, "]")));
      graph.AddOutput(id);
    }
    if (const Json* updates = json.Find("updates"); updates != nullptr) {
      for (size_t i = 0; i < updates->items().size(); ++i) {
        auto pair = updates->items()[i].As<std::vector<int64_t>>();
        const std::string where = StrCat("updates[", i, "]");
        if (!pair.ok() || pair->size() != 2) return core::DataLoss(where, ": expected two values");
        RML_ASSIGN(const ValueId state, Id(graph, (*pair)[0], false, where));
        RML_ASSIGN(const ValueId value, Id(graph, (*pair)[1], false, where));
        graph.AddUpdate(state, value);
      }
    }
    return graph;
  }

 private:
  static Expected<ValueId> Id(const Graph& graph, int64_t id, bool optional,
                              const std::string& where) {
    if (optional && id == kNoValue) return kNoValue;
    if (id < 0 || static_cast<size_t>(id) >= graph.values().size())
      return core::DataLoss(where, ": there is no value ", id);
    return static_cast<ValueId>(id);
  }

  Status ReadSymbols(const Json& json) {
    const Json* const symbols = json.Find("symbols");
    if (symbols == nullptr) return {};
    for (const Json::Member& member : symbols->members()) {
      const auto bounds = member.value.As<std::vector<int64_t>>();
      if (!bounds.ok() || bounds->size() != 2 || (*bounds)[0] < 0 || (*bounds)[0] > (*bounds)[1] ||
          member.key.empty()) {
        return core::DataLoss("symbols: \"", member.key,
                              "\" has no two ascending bounds from 0 on");
      }
      symbols_.insert_or_assign(member.key, Dim::Symbol(member.key, (*bounds)[0], (*bounds)[1]));
    }
    return {};
  }

  Expected<Dims> ReadDims(const Json& json) const {
    if (!json.is_array()) return core::DataLoss("dims are ", json.kind_name(), ", expected a list");
    if (json.size() > core::kMaxRank)
      return core::DataLoss(json.size(), " dimensions are more than ", core::kMaxRank);
    Dims dims;
    for (const Json& item : json.items()) {
      if (item.is_string()) {
        RML_ASSIGN(const std::string_view text, item.As<std::string_view>());
        RML_ASSIGN(const Dim dim, ParseDim(text, [&](std::string_view name) -> Expected<Dim> {
                     const auto place = symbols_.find(name);
                     if (place == symbols_.end())
                       return core::DataLoss("dimension \"", name, "\" is not in symbols");
                     return place->second;
                   }));
        dims.Append(dim);
      } else {
        RML_ASSIGN(const int64_t value, item.As<int64_t>());
        dims.Append(value);
      }
    }
    RML_TRY(dims.Check());
    return dims;
  }

  static Expected<core::DType> ReadDType(std::string_view name) {
    const auto dtype = core::ParseDType(name);
    if (!dtype) return core::DataLoss("\"", name, "\" is no dtype");
    return *dtype;
  }

  Expected<GraphValue> ReadValue(const Json& json) const {
    GraphValue value;
    RML_ASSIGN(const std::string_view kind, json.Get<std::string_view>("kind"));
    constexpr ValueKind kKinds[] = {ValueKind::kInput, ValueKind::kParameter, ValueKind::kState,
                                    ValueKind::kConstant, ValueKind::kResult};
    bool known = false;
    for (const ValueKind candidate : kKinds) {
      if (ValueKindName(candidate) != kind) continue;
      value.kind = candidate;
      known = true;
    }
    if (!known) return core::DataLoss("kind: \"", kind, "\" is unknown");
    RML_ASSIGN(const std::string_view type, json.Get<std::string_view>("type"));
    RML_ASSIGN(value.type.dtype, ReadDType(type));
    const Json* const dims = json.Find("dims");
    if (dims == nullptr) return core::DataLoss("dims are missing");
    RML_ASSIGN(value.type.dims, ReadDims(*dims));
    auto name = json.GetOr<std::string>("name", "");
    if (!name.ok()) return name.status();
    value.name = *std::move(name);
    if (value.kind == ValueKind::kConstant) {
      RML_ASSIGN(const std::string_view tensor, json.Get<std::string_view>("tensor"));
      RML_ASSIGN(value.constant, tensor_(tensor));
      const Type actual = {value.constant.dtype(), Dims(value.constant.shape())};
      if (!(actual == value.type))
        return core::DataLoss("tensor \"", tensor, "\" is ", actual.ToString(), ", expected ",
                              value.type.ToString());
    }
    return value;
  }

  Status ReadValues(const Json& json, Graph* graph) const {
    const Json* const values = json.Find("values");
    if (values == nullptr || !values->is_array()) return core::DataLoss("values: expected a list");
    if (static_cast<int64_t>(values->size()) > kMaxValues)
      return core::DataLoss("values: too many");
    for (size_t i = 0; i < values->items().size(); ++i) {
      auto value = ReadValue(values->items()[i]);
      Status status = value.status();
      if (value.ok()) status = GraphAccess::AddValue(graph, *std::move(value));
      if (!status.ok()) return status.WithContext(StrCat("values[", i, "]"));
    }
    return {};
  }

  Status ReadNodes(const Json& json, int depth, Graph* graph) {
    const Json* const nodes = json.Find("nodes");
    if (nodes == nullptr || !nodes->is_array()) return core::DataLoss("nodes: expected a list");
    for (size_t i = 0; i < nodes->items().size(); ++i) {
      const std::string where = StrCat("nodes[", i, "]");
      auto node = ReadNode(nodes->items()[i], depth, *graph);
      Status status = node.status();
      if (node.ok()) status = GraphAccess::AddNode(graph, *std::move(node));
      if (!status.ok()) return status.WithContext(where);
    }
    return {};
  }

  Expected<Node> ReadNode(const Json& json, int depth, const Graph& graph) {
    Node node;
    RML_ASSIGN(const std::string_view op, json.Get<std::string_view>("op"));
    RML_ASSIGN(node.op, operators_.Find(op));
    RML_ASSIGN(const int64_t version, json.GetOr<int64_t>("op_version", 1));
    if (version != node.op->version) {
      return core::Unsupported(op, " of version ", version,
                               " cannot be read; this program has version ", node.op->version);
    }
    RML_ASSIGN(const std::vector<int64_t> inputs, json.Get<std::vector<int64_t>>("inputs"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      RML_ASSIGN(const ValueId id, Id(graph, inputs[i], true, StrCat("inputs[", i, "]")));
      node.inputs.push_back(id);
    }
    RML_ASSIGN(const std::vector<int64_t> outputs, json.Get<std::vector<int64_t>>("outputs"));
    for (size_t i = 0; i < outputs.size(); ++i) {
      RML_ASSIGN(const ValueId id, Id(graph, outputs[i], false, StrCat("outputs[", i, "]")));
      node.outputs.push_back(id);
    }
    AttrList list;
    const Json* const attributes = json.Find("attributes");
    for (size_t i = 0; attributes != nullptr && i < attributes->members().size(); ++i) {
      const Json::Member& member = attributes->members()[i];
      const int place = node.op->attribute_place(member.key);
      if (place < 0) return core::DataLoss("attributes: ", op, " has no \"", member.key, "\"");
      const AttrDef& def = node.op->attributes[static_cast<size_t>(place)];
      auto value = ReadAttr(member.value, def.fallback, depth);
      if (!value.ok()) return value.status().WithContext(StrCat("attributes.", member.key));
      list.push_back({def.name, *std::move(value)});
    }
    RML_ASSIGN(node.attributes, Attributes::Bind(node.op->attributes, list));
    auto scope = json.GetOr<std::string>("scope", "");
    if (!scope.ok()) return scope.status();
    node.scope = *std::move(scope);
    return node;
  }

  static Expected<double> ReadFloat(const Json& json) {
    if (!json.is_string()) return json.As<double>();
    RML_ASSIGN(const std::string_view text, json.As<std::string_view>());
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return core::DataLoss("\"", text, "\" is no number");
  }

  // A value of the type that `like` has.
  Expected<AttrValue> ReadAttr(const Json& json, const AttrValue& like, int depth) {
    if (std::holds_alternative<bool>(like)) {
      RML_ASSIGN(const bool value, json.As<bool>());
      return AttrValue(value);
    }
    if (std::holds_alternative<int64_t>(like)) {
      RML_ASSIGN(const int64_t value, json.As<int64_t>());
      return AttrValue(value);
    }
    if (std::holds_alternative<double>(like)) {
      RML_ASSIGN(const double value, ReadFloat(json));
      return AttrValue(value);
    }
    if (std::holds_alternative<std::string>(like)) {
      auto value = json.As<std::string>();
      if (!value.ok()) return value.status();
      return AttrValue(*std::move(value));
    }
    if (std::holds_alternative<core::DType>(like)) {
      RML_ASSIGN(const std::string_view name, json.As<std::string_view>());
      RML_ASSIGN(const core::DType dtype, ReadDType(name));
      return AttrValue(dtype);
    }
    if (std::holds_alternative<Ints>(like)) {
      RML_ASSIGN(Ints value, json.As<Ints>());
      return AttrValue(std::move(value));
    }
    if (std::holds_alternative<Floats>(like)) {
      if (!json.is_array()) return core::DataLoss("is ", json.kind_name(), ", expected a list");
      Floats value;
      for (const Json& item : json.items()) {
        RML_ASSIGN(const double number, ReadFloat(item));
        value.push_back(number);
      }
      return AttrValue(std::move(value));
    }
    if (std::holds_alternative<Dims>(like)) {
      RML_ASSIGN(const Dims value, ReadDims(json));
      return AttrValue(value);
    }
    if (json.is_null()) return AttrValue(GraphRef());
    GraphReader inner(operators_, tensor_);
    RML_ASSIGN(Graph graph, inner.Read(json, depth + 1));
    // Checked before anything infers through it.
    RML_TRY(Verify(graph));
    return AttrValue(GraphRef(std::make_shared<Graph>(std::move(graph))));
  }

  const OpSource& operators_;
  const std::function<Expected<core::Tensor>(std::string_view)>& tensor_;
  std::map<std::string, Dim, std::less<>> symbols_;
};

}  // namespace

Expected<Graph> GraphFromJson(
    const Json& json, const OpSource& operators,
    const std::function<Expected<core::Tensor>(std::string_view name)>& tensor) {
  RML_ASSIGN(Graph graph, GraphReader(operators, tensor).Read(json, 0));
  RML_TRY(Verify(graph));
  return graph;
}

}  // namespace rml::ir
