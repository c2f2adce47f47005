#include "rml/text/jinja/methods.h"

#include <algorithm>
#include <iterator>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/runtime.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

Expected<Value> MakeDictView(Runtime& runtime, const Value& self, const CallArgs& args,
                             Sequence::Type type) {
  RML_TRY(Bind("dict view", args, {}));
  Items items;
  items.reserve(self.as_dict().size());
  for (const Dict::Entry& entry : self.as_dict().entries()) {
    switch (type) {
      case Sequence::Type::kDictKeys:
        items.push_back(entry.key);
        break;
      case Sequence::Type::kDictValues:
        items.push_back(entry.value);
        break;
      default: {
        RML_ASSIGN(Value pair, runtime.MakeTuple({entry.key, entry.value}));
        items.push_back(std::move(pair));
      }
    }
  }
  RML_TRY(runtime.Charge(static_cast<int64_t>(items.size())));
  return runtime.MakeView(Sequence(type, std::move(items)));
}

Expected<Value> DictKeys(Runtime& runtime, const Value& self, const CallArgs& args) {
  return MakeDictView(runtime, self, args, Sequence::Type::kDictKeys);
}

Expected<Value> DictValues(Runtime& runtime, const Value& self, const CallArgs& args) {
  return MakeDictView(runtime, self, args, Sequence::Type::kDictValues);
}

Expected<Value> DictItems(Runtime& runtime, const Value& self, const CallArgs& args) {
  return MakeDictView(runtime, self, args, Sequence::Type::kDictItems);
}

Expected<Value> DictGet(Runtime& runtime, const Value& self, const CallArgs& args) {
  if (!args.named.empty()) return InvalidArgument("dict.get() takes no keyword arguments");
  RML_ASSIGN(const BoundArgs bound, Bind("get", args, {"key", "default"}, 1));
  if (!IsHashable(*bound[0])) {
    return InvalidArgument("unhashable type: '", bound[0]->type_name(), "'");
  }
  RML_TRY(runtime.Charge(bound[0]->weight()));
  const Value* found = self.as_dict().Find(*bound[0]);
  return found != nullptr ? *found : bound.value_or(1, Value());
}

Expected<Value> Copy(Runtime&, const Value& self, const CallArgs& args) {
  RML_TRY(Bind("copy", args, {}));
  return self;  // values never change, so one is as good as another
}

Expected<Value> Count(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("count", args, {"value"}, 1));
  RML_TRY(runtime.Charge(self.weight()));
  return Value(static_cast<int64_t>(
      std::count_if(self.items().begin(), self.items().end(),
                    [&](const Value& item) { return Equal(item, *bound[0]); })));
}

Expected<Value> Index(Runtime& runtime, const Value& self, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("index", args, {"value", "start", "stop"}, 1));
  RML_TRY(runtime.Charge(self.weight()));
  const int64_t length = static_cast<int64_t>(self.items().size());
  RML_ASSIGN(int64_t start, bound.Int(1, 0));
  RML_ASSIGN(int64_t stop, bound.Int(2, length));
  if (start < 0) start = std::max<int64_t>(0, start + length);
  if (stop < 0) stop += length;
  for (int64_t i = start; i < std::min(stop, length); ++i) {
    if (Equal(self.items()[static_cast<size_t>(i)], *bound[0])) return Value(i);
  }
  return InvalidArgument("the value is not in the ", self.type_name());
}

constexpr Method kDictMethods[] = {
    {"get", DictGet},       {"items", DictItems}, {"keys", DictKeys},
    {"values", DictValues}, {"copy", Copy},
};

constexpr Method kListMethods[] = {{"copy", Copy}, {"count", Count}, {"index", Index}};

constexpr Method kTupleMethods[] = {{"count", Count}, {"index", Index}};

constexpr std::string_view kListMutators[] = {"append", "clear",  "extend",  "insert",
                                              "pop",    "remove", "reverse", "sort"};
constexpr std::string_view kDictMutators[] = {"clear", "pop", "popitem", "setdefault", "update"};

constexpr std::string_view kInternals[] = {
    "__class__",  "__delattr__",   "__dir__",         "__doc__",
    "__eq__",     "__format__",    "__ge__",          "__getattribute__",
    "__gt__",     "__hash__",      "__init__",        "__init_subclass__",
    "__le__",     "__lt__",        "__ne__",          "__new__",
    "__reduce__", "__reduce_ex__", "__repr__",        "__setattr__",
    "__sizeof__", "__str__",       "__subclasshook__"};

template <size_t kCount>
bool Has(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <size_t kCount>
const Method* Find(const Method (&methods)[kCount], std::string_view name) {
  for (const Method& method : methods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace

const Method* FindMethod(Value::Kind kind, std::string_view name) {
  switch (kind) {
    case Value::Kind::kString:
      return FindStringMethod(name);
    case Value::Kind::kList:
      return Find(kListMethods, name);
    case Value::Kind::kTuple:
      return Find(kTupleMethods, name);
    case Value::Kind::kDict:
      return Find(kDictMethods, name);
    default:
      return nullptr;
  }
}

bool IsMutator(Value::Kind kind, std::string_view name) {
  if (kind == Value::Kind::kList) return Has(kListMutators, name);
  if (kind == Value::Kind::kDict) return Has(kDictMutators, name);
  return false;
}

bool IsPythonInternal(std::string_view name) { return Has(kInternals, name); }

}  // namespace rml::text::jinja
