#include "rml/text/jinja/globals.h"

#include <algorithm>

#include "rml/core/strcat.h"
#include "rml/text/jinja/args.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/strftime.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;
using core::StrCat;

Expected<Value> Range(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("range", args, {"start", "stop", "step"}, 1));
  RML_ASSIGN(int64_t start, bound.Int(0, 0));
  RML_ASSIGN(int64_t stop, bound.Int(1, 0));
  RML_ASSIGN(const int64_t step, bound.Int(2, 1));
  if (!bound.has(1)) std::swap(start, stop);
  if (step == 0) return InvalidArgument("range() arg 3 must not be zero");
  // As unsigned, so that neither the distance nor -step overflows.
  uint64_t count = 0;
  if (step > 0 && start < stop) {
    count = (static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1) /
                static_cast<uint64_t>(step) +
            1;
  } else if (step < 0 && start > stop) {
    count = (static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1) /
                (~static_cast<uint64_t>(step) + 1) +
            1;
  }
  if (count > static_cast<uint64_t>(std::max<int64_t>(runtime.limits().range_items, 0))) {
    return core::ResourceExhausted("a range of ", count, " numbers is larger than the limit of ",
                                   runtime.limits().range_items);
  }
  RML_TRY(runtime.Charge(static_cast<int64_t>(count)));
  Items items;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    items.emplace_back(
        static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step)));
  }
  std::string label = step == 1 ? StrCat("range(", start, ", ", stop, ")")
                                : StrCat("range(", start, ", ", stop, ", ", step, ")");
  return runtime.MakeView(Sequence(Sequence::Type::kRange, std::move(items), std::move(label)));
}

// dict(mapping or pairs, name=value …)
Expected<Dict> MakeMembers(Runtime& runtime, std::string_view function, const CallArgs& args) {
  Dict dict;
  if (args.positional.size() > 1) {
    return InvalidArgument(function, " expected at most 1 argument, got ", args.positional.size());
  }
  if (!args.positional.empty()) {
    const Value& source = args.positional[0];
    if (source.is_dict()) {
      RML_TRY(runtime.Charge(static_cast<int64_t>(source.as_dict().size())));
      dict = source.as_dict();
    } else {
      RML_ASSIGN(const Items pairs, ToItems(runtime, source));
      for (const Value& pair : pairs) {
        RML_ASSIGN(const Items parts, ToItems(runtime, pair));
        if (parts.size() != 2) {
          return InvalidArgument(function, " wants pairs, got ", parts.size(), " items");
        }
        RML_TRY(runtime.SetItem(&dict, parts[0], parts[1]));
      }
    }
  }
  for (const auto& [name, value] : args.named) dict.Set(name, value);
  return dict;
}

Expected<Value> MakeDict(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(Dict dict, MakeMembers(runtime, "dict", args));
  return runtime.MakeDict(std::move(dict));
}

Expected<Value> MakeNamespace(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(Dict dict, MakeMembers(runtime, "namespace", args));
  return runtime.MakeNamespace(std::move(dict));
}

class Cycler : public Object, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(Items items) : items_(std::move(items)) {
    for (const Value& item : items_) Keeps(item);
  }

  std::string_view type_name() const override { return "Cycler"; }
  std::string qualified_name() const override { return "jinja2.utils.Cycler object"; }

  Expected<std::optional<Value>> Attribute(Runtime& runtime, std::string_view name) override {
    if (name == "current") return std::optional<Value>(items_[at_]);
    if (name == "next") return Method(runtime, "next", Next);
    if (name == "reset") return Method(runtime, "reset", Reset);
    return std::optional<Value>();
  }

 private:
  static Expected<Value> Next(Runtime&, const Value& self, const CallArgs& args) {
    RML_TRY(Bind("next", args, {}));
    Cycler& cycler = static_cast<Cycler&>(self.as_object());
    const Value current = cycler.items_[cycler.at_];
    cycler.at_ = (cycler.at_ + 1) % cycler.items_.size();
    return current;
  }

  static Expected<Value> Reset(Runtime&, const Value& self, const CallArgs& args) {
    RML_TRY(Bind("reset", args, {}));
    static_cast<Cycler&>(self.as_object()).at_ = 0;
    return Value();
  }

  Expected<std::optional<Value>> Method(Runtime& runtime, std::string_view name,
                                        Function::Body body) {
    const Value self{std::shared_ptr<Object>(shared_from_this())};
    RML_ASSIGN(Value method, runtime.MakeObject(std::make_shared<Function>(name, body, self)));
    return std::optional<Value>(std::move(method));
  }

  Items items_;
  size_t at_ = 0;
};

Expected<Value> MakeCycler(Runtime& runtime, const Value&, const CallArgs& args) {
  if (args.positional.empty()) return InvalidArgument("at least one item has to be provided");
  if (!args.named.empty()) return InvalidArgument("cycler() takes no keyword arguments");
  return runtime.MakeObject(std::make_shared<Cycler>(args.positional));
}

// Prints nothing the first time that it is called, and its separator ever after.
class Joiner : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) { Keeps(separator_); }

  std::string_view type_name() const override { return "Joiner"; }
  std::string qualified_name() const override { return "jinja2.utils.Joiner object"; }
  bool is_callable() const override { return true; }
  Expected<Value> Call(Runtime&, const CallArgs& args) override {
    RML_TRY(Bind("joiner", args, {}));
    return std::exchange(used_, true) ? separator_ : Value("");
  }

 private:
  Value separator_;
  bool used_ = false;
};

Expected<Value> MakeJoiner(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("joiner", args, {"sep"}));
  return runtime.MakeObject(std::make_shared<Joiner>(bound.value_or(0, Value(", "))));
}

Expected<Value> RaiseException(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("raise_exception", args, {"message"}, 1));
  RML_ASSIGN(const std::string message, ToStr(runtime, *bound[0]));
  return InvalidArgument(message);
}

Expected<Value> StrftimeNow(Runtime& runtime, const Value&, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("strftime_now", args, {"format"}, 1));
  if (!bound[0]->is_string()) {
    return InvalidArgument("strftime_now wants a string, not ", bound[0]->type_name());
  }
  RML_TRY(runtime.CheckString(bound[0]->text().size()));
  return runtime.MakeString(FormatTime(bound[0]->text(), runtime.Now()));
}

struct Global {
  std::string_view name;
  Function::Body body;
};

constexpr Global kGlobals[] = {
    {"range", Range},
    {"namespace", MakeNamespace},
    {"dict", MakeDict},
    {"raise_exception", RaiseException},
    {"strftime_now", StrftimeNow},
    {"joiner", MakeJoiner},
    {"cycler", MakeCycler},
};

}  // namespace

std::optional<Value> FindGlobal(std::string_view name) {
  for (const Global& global : kGlobals) {
    if (global.name == name) {
      return Value(std::shared_ptr<Object>(std::make_shared<Function>(global.name, global.body)));
    }
  }
  return std::nullopt;
}

}  // namespace rml::text::jinja
