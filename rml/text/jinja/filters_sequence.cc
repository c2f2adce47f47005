#include <algorithm>

#include "rml/text/jinja/args.h"
#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/cursor.h"
#include "rml/text/jinja/filters.h"
#include "rml/text/jinja/generator.h"
#include "rml/text/jinja/operators.h"
#include "rml/text/jinja/repr.h"
#include "rml/text/jinja/sorting.h"
#include "rml/text/jinja/subscript.h"
#include "rml/text/jinja/tests.h"
#include "rml/text/jinja/text_ops.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

using core::InvalidArgument;

// The path of attribute="a.0.b": each part is a key, all-digit ones are indices. None is no path.
Items AttributePath(const Value* attribute) {
  if (attribute == nullptr || attribute->is_none()) return {};
  if (!attribute->is_string()) return {*attribute};
  Items path;
  for (const std::string_view part : Split(attribute->text(), ".", -1)) {
    const bool digits = !part.empty() && part.size() < 18 &&
                        part.find_first_not_of("0123456789") == std::string_view::npos;
    path.push_back(digits ? Value(int64_t{std::stoll(std::string(part))}) : Value(part));
  }
  return path;
}

Expected<Value> Follow(Runtime& runtime, Value value, const Items& path,
                       const Value* fallback = nullptr) {
  for (const Value& part : path) {
    RML_ASSIGN(value, GetItem(runtime, value, part));
    if (fallback != nullptr && value.is_undefined()) value = *fallback;
  }
  return value;
}

// What sorting and comparing look at: the attribute, in lower case unless case matters.
Expected<Value> SortKey(Runtime& runtime, const Value& item, const Items& path, bool case_sensitive,
                        const Value* fallback = nullptr) {
  RML_ASSIGN(Value key, Follow(runtime, item, path, fallback));
  if (case_sensitive || !key.is_string()) return key;
  return runtime.MakeString(Lower(key.text()));
}

Expected<Value> MakeGenerator(Runtime& runtime, const Value& source, Generator::Step step,
                              const Items& kept = {}) {
  RML_TRY(RequireIterable(source));
  return runtime.MakeObject(std::make_shared<Generator>(source, std::move(step), kept));
}

Expected<Value> LengthFilter(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("length", args, {}));
  RML_ASSIGN(const int64_t length, Length(runtime, value));
  return Value(length);
}

Expected<Value> First(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("first", args, {}));
  RML_TRY(RequireIterable(value));
  Cursor cursor(value);
  RML_ASSIGN(std::optional<Value> item, cursor.Next(runtime));
  return item ? *std::move(item) : Value::Undefined("No first item, sequence was empty.");
}

Expected<Value> Last(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("last", args, {}));
  if (!IsIterable(value) || value.is_object()) {
    return InvalidArgument("'", value.type_name(), "' object is not reversible");
  }
  if (value.is_sequence() && !value.items().empty()) return value.items().back();
  if (value.is_string() && !value.text().empty()) return GetItem(runtime, value, Value(-1));
  RML_ASSIGN(const Items items, ToItems(runtime, value));
  return items.empty() ? Value::Undefined("No last item, sequence was empty.") : items.back();
}

Expected<Value> ListFilter(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("list", args, {}));
  RML_ASSIGN(Items items, ToItems(runtime, value));
  return runtime.MakeList(std::move(items));
}

Expected<Value> Join(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("join", args, {"d", "attribute"}));
  RML_TRY(RequireIterable(value));
  const Items path = AttributePath(bound[1]);
  std::string separator;
  if (bound.has(0)) {
    RML_ASSIGN(separator, ToStr(runtime, *bound[0]));
  }
  Cursor cursor(value);
  std::string out;
  for (bool first = true;; first = false) {
    RML_ASSIGN(std::optional<Value> item, cursor.Next(runtime));
    if (!item) break;
    RML_ASSIGN(const Value part, Follow(runtime, *std::move(item), path));
    if (!first) out += separator;
    RML_ASSIGN(const std::string text, ToStr(runtime, part));
    out += text;
    if (out.size() > runtime.limits().string_bytes) return runtime.CheckString(out.size());
  }
  return runtime.MakeString(std::move(out));
}

Expected<Value> Reverse(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("reverse", args, {}));
  if (value.is_string()) return GetSlice(runtime, value, Value(), Value(), Value(-1));
  RML_ASSIGN(Items items, ToItems(runtime, value));
  std::reverse(items.begin(), items.end());
  RML_ASSIGN(const Value reversed, runtime.MakeList(std::move(items)));
  return MakeGenerator(runtime, reversed,
                       [](Runtime& rt, Cursor& cursor) { return cursor.Next(rt); });
}

Expected<Value> ItemsFilter(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_TRY(Bind("items", args, {}));
  if (!value.is_undefined() && !value.is_dict()) {
    return InvalidArgument("can only get item pairs from a mapping, not ", value.type_name());
  }
  return MakeGenerator(runtime, value,
                       [value](Runtime& rt, Cursor& cursor) -> Expected<std::optional<Value>> {
                         RML_ASSIGN(std::optional<Value> key, cursor.Next(rt));
                         if (!key) return key;
                         const Value* item = value.as_dict().Find(*key);
                         RML_ASSIGN(Value pair, rt.MakeTuple({*key, *item}));
                         return std::optional<Value>(std::move(pair));
                       });
}

// What map, select and their kin walk through: nothing for what is false, None too, as in Jinja.
Expected<Value> ItemsOrNothing(Runtime& runtime, const Value& value) {
  if (value.Truthy()) return value;
  return runtime.MakeList({});
}

Expected<Value> Map(Runtime& runtime, const Value& subjects, const CallArgs& args) {
  RML_ASSIGN(const Value value, ItemsOrNothing(runtime, subjects));
  if (args.positional.empty() && !args.named.empty() &&
      std::any_of(args.named.begin(), args.named.end(),
                  [](const auto& named) { return named.first == "attribute"; })) {
    RML_ASSIGN(const BoundArgs bound, Bind("map", args, {"attribute", "default"}));
    const Items path = AttributePath(bound[0]);
    const bool has_fallback = bound.has(1) && !bound[1]->is_none();
    const Value fallback = bound.value_or(1, Value());
    return MakeGenerator(runtime, value,
                         [=](Runtime& rt, Cursor& cursor) -> Expected<std::optional<Value>> {
                           RML_ASSIGN(std::optional<Value> item, cursor.Next(rt));
                           if (!item) return item;
                           RML_ASSIGN(item,
                                      Follow(rt, *item, path, has_fallback ? &fallback : nullptr));
                           return item;
                         },
                         {fallback});
  }
  if (args.positional.empty()) return InvalidArgument("map requires a filter argument");
  if (!args.positional[0].is_string()) return InvalidArgument("map wants a filter's name");
  const std::string_view name = args.positional[0].text();
  const Filter* filter = FindFilter(name);
  CallArgs rest{Items(args.positional.begin() + 1, args.positional.end()), args.named};
  const Items kept = rest.positional;
  return MakeGenerator(
      runtime, value,
      [filter, rest = std::move(rest), name = std::string(name)](
          Runtime& rt, Cursor& cursor) -> Expected<std::optional<Value>> {
        RML_ASSIGN(std::optional<Value> item, cursor.Next(rt));
        if (!item) return item;
        if (filter == nullptr) return InvalidArgument("no filter named '", name, "'");
        RML_ASSIGN(item, filter->body(rt, *item, rest));
        return item;
      },
      kept);
}

// select, reject, selectattr and rejectattr.
template <bool kKeep, bool kAttribute>
Expected<Value> Select(Runtime& runtime, const Value& subjects, const CallArgs& args) {
  RML_ASSIGN(const Value value, ItemsOrNothing(runtime, subjects));
  constexpr size_t kFirst = kAttribute ? 1 : 0;
  if (args.positional.size() < kFirst) {
    return InvalidArgument("missing parameter for attribute name");
  }
  const Items path = kAttribute ? AttributePath(&args.positional[0]) : Items();
  const Test* test = nullptr;
  std::string name;
  CallArgs rest;
  if (args.positional.size() > kFirst) {
    if (!args.positional[kFirst].is_string()) return InvalidArgument("select wants a test's name");
    name = args.positional[kFirst].text();
    test = FindTest(name);
    rest = {Items(args.positional.begin() + kFirst + 1, args.positional.end()), args.named};
  }
  const Items kept = rest.positional;
  return MakeGenerator(
      runtime, value,
      [=](Runtime& rt, Cursor& cursor) -> Expected<std::optional<Value>> {
        while (true) {
          RML_ASSIGN(std::optional<Value> item, cursor.Next(rt));
          if (!item) return item;
          RML_ASSIGN(const Value subject, Follow(rt, *item, path));
          bool passes = subject.Truthy();
          if (!name.empty()) {
            if (test == nullptr) return InvalidArgument("no test named '", name, "'");
            RML_ASSIGN(passes, test->body(rt, subject, rest));
          }
          if (passes == kKeep) return item;
        }
      },
      kept);
}

Expected<Value> Unique(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("unique", args, {"case_sensitive", "attribute"}));
  const bool case_sensitive = bound.Bool(0, false);
  const Items path = AttributePath(bound[1]);
  return MakeGenerator(
      runtime, value,
      [=, seen = Dict()](Runtime& rt, Cursor& cursor) mutable -> Expected<std::optional<Value>> {
        while (true) {
          RML_ASSIGN(std::optional<Value> item, cursor.Next(rt));
          if (!item) return item;
          RML_ASSIGN(const Value key, SortKey(rt, *item, path, case_sensitive));
          RML_TRY(rt.Charge(key.weight()));
          if (seen.Find(key) != nullptr) continue;
          RML_TRY(rt.SetItem(&seen, key, Value()));
          return item;
        }
      });
}

Expected<Value> Batch(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("batch", args, {"linecount", "fill_with"}, 1));
  RML_ASSIGN(const int64_t size, bound.Int(0, 0));
  const Value fill = bound.value_or(1, Value());
  if (size > runtime.limits().value_items) {
    return core::ResourceExhausted("a batch of ", size, " is larger than the limit of ",
                                   runtime.limits().value_items);
  }
  return MakeGenerator(runtime, value,
                       [=](Runtime& rt, Cursor& cursor) -> Expected<std::optional<Value>> {
                         Items batch;
                         while (size < 1 || static_cast<int64_t>(batch.size()) < size) {
                           RML_ASSIGN(std::optional<Value> item, cursor.Next(rt));
                           if (!item) break;
                           batch.push_back(*std::move(item));
                         }
                         if (batch.empty()) return std::optional<Value>();
                         if (!fill.is_none() && static_cast<int64_t>(batch.size()) < size) {
                           RML_TRY(rt.Charge(size));
                           batch.resize(static_cast<size_t>(size), fill);
                         }
                         RML_ASSIGN(Value list, rt.MakeList(std::move(batch)));
                         return std::optional<Value>(std::move(list));
                       },
                       {fill});
}

Expected<Value> Slice(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("slice", args, {"slices", "fill_with"}, 1));
  RML_ASSIGN(const int64_t slices, bound.Int(0, 0));
  const Value fill = bound.value_or(1, Value());
  if (slices == 0) return InvalidArgument("integer division or modulo by zero");
  RML_ASSIGN(const Items items, ToItems(runtime, value));
  RML_TRY(runtime.Charge(std::max<int64_t>(slices, 0)));
  if (slices > runtime.limits().value_items) {
    return core::ResourceExhausted("slice(", slices, ") is more than the limit of ",
                                   runtime.limits().value_items);
  }
  const int64_t each = static_cast<int64_t>(items.size()) / slices;
  const int64_t longer = static_cast<int64_t>(items.size()) % slices;
  Items lists;
  auto at = items.begin();
  for (int64_t i = 0; i < slices; ++i) {
    const auto end = at + each + (i < longer ? 1 : 0);
    Items part(at, end);
    at = end;
    if (!fill.is_none() && i >= longer) part.push_back(fill);
    RML_ASSIGN(Value list, runtime.MakeList(std::move(part)));
    lists.push_back(std::move(list));
  }
  RML_ASSIGN(const Value all, runtime.MakeList(std::move(lists)));
  return MakeGenerator(runtime, all, [](Runtime& rt, Cursor& cursor) { return cursor.Next(rt); });
}

Expected<Value> InOrder(Runtime& runtime, const Items& items, const Items& keys, bool descending) {
  RML_ASSIGN(const std::vector<uint32_t> order, SortedOrder(runtime, keys, descending));
  Items sorted;
  sorted.reserve(items.size());
  for (const uint32_t i : order) sorted.push_back(items[i]);
  return runtime.MakeList(std::move(sorted));
}

Expected<Value> Sort(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("sort", args, {"reverse", "case_sensitive", "attribute"}));
  RML_ASSIGN(const Items items, ToItems(runtime, value));
  std::vector<Items> paths;  // attribute="a,b" sorts by a, then by b
  if (bound.has(2) && bound[2]->is_string()) {
    for (const std::string_view part : Split(bound[2]->text(), ",", -1)) {
      const Value attribute(part);
      paths.push_back(AttributePath(&attribute));
    }
  } else {
    paths.push_back(AttributePath(bound[2]));
  }
  Items keys;
  for (const Value& item : items) {
    Items parts;
    for (const Items& path : paths) {
      RML_ASSIGN(Value part, SortKey(runtime, item, path, bound.Bool(1, false)));
      parts.push_back(std::move(part));
    }
    RML_ASSIGN(Value key, runtime.MakeTuple(std::move(parts)));
    keys.push_back(std::move(key));
  }
  return InOrder(runtime, items, keys, bound.Bool(0, false));
}

Expected<Value> DictSort(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("dictsort", args, {"case_sensitive", "by", "reverse"}));
  if (value.is_undefined()) return InvalidArgument(value.undefined_message());
  if (!value.is_dict()) {
    return InvalidArgument("dictsort wants a mapping, not ", value.type_name());
  }
  RML_ASSIGN(const std::string_view by, bound.Text(1, "key"));
  if (by != "key" && by != "value") {
    return InvalidArgument("dictsort can only sort by either \"key\" or \"value\"");
  }
  Items pairs;
  Items keys;
  for (const Dict::Entry& entry : value.as_dict().entries()) {
    RML_ASSIGN(Value pair, runtime.MakeTuple({entry.key, entry.value}));
    pairs.push_back(std::move(pair));
    RML_ASSIGN(Value key,
               SortKey(runtime, by == "key" ? entry.key : entry.value, {}, bound.Bool(0, false)));
    keys.push_back(std::move(key));
  }
  return InOrder(runtime, pairs, keys, bound.Bool(2, false));
}

template <bool kMax>
Expected<Value> Extreme(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound,
             Bind(kMax ? "max" : "min", args, {"case_sensitive", "attribute"}));
  RML_TRY(RequireIterable(value));
  const Items path = AttributePath(bound[1]);
  Cursor cursor(value);
  std::optional<Value> best;
  Value best_key;
  while (true) {
    RML_ASSIGN(std::optional<Value> item, cursor.Next(runtime));
    if (!item) break;
    RML_ASSIGN(Value key, SortKey(runtime, *item, path, bound.Bool(0, false)));
    if (best) {
      RML_TRY(runtime.Charge(std::min(key.weight(), best_key.weight())));
      RML_ASSIGN(const int order, Compare(key, best_key, kMax ? ">" : "<"));
      if (order != (kMax ? 1 : -1)) continue;
    }
    best = std::move(item);
    best_key = std::move(key);
  }
  return best ? *std::move(best) : Value::Undefined("No aggregated item, sequence was empty.");
}

Expected<Value> Sum(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound, Bind("sum", args, {"attribute", "start"}));
  RML_TRY(RequireIterable(value));
  const Items path = AttributePath(bound[0]);
  Value total = bound.value_or(1, Value(0));
  if (total.is_string()) return InvalidArgument("sum() can't sum strings");
  Cursor cursor(value);
  while (true) {
    RML_ASSIGN(std::optional<Value> item, cursor.Next(runtime));
    if (!item) return total;
    RML_ASSIGN(const Value part, Follow(runtime, *std::move(item), path));
    RML_ASSIGN(total, ApplyBinary(runtime, BinaryOp::kAdd, total, part));
  }
}

// A list of (key, [items]) in the order of the keys.
Expected<Value> GroupBy(Runtime& runtime, const Value& value, const CallArgs& args) {
  RML_ASSIGN(const BoundArgs bound,
             Bind("groupby", args, {"attribute", "default", "case_sensitive"}, 1));
  const Items path = AttributePath(bound[0]);
  const Value* fallback = bound.has(1) && !bound[1]->is_none() ? bound[1] : nullptr;
  RML_ASSIGN(const Items items, ToItems(runtime, value));
  Items keys;
  for (const Value& item : items) {
    RML_ASSIGN(Value key, SortKey(runtime, item, path, bound.Bool(2, false), fallback));
    keys.push_back(std::move(key));
  }
  RML_ASSIGN(const std::vector<uint32_t> order, SortedOrder(runtime, keys, false));
  Items groups;
  for (size_t begin = 0; begin < order.size();) {
    Items members;
    size_t end = begin;
    RML_TRY(runtime.Charge(keys[order[begin]].weight()));
    while (end < order.size() && Equal(keys[order[begin]], keys[order[end]])) {
      RML_TRY(runtime.Charge(keys[order[begin]].weight()));
      members.push_back(items[order[end++]]);
    }
    if (end == begin) return InvalidArgument("groupby met a key that does not equal itself");
    RML_ASSIGN(Value key, Follow(runtime, items[order[begin]], path, fallback));
    RML_ASSIGN(Value list, runtime.MakeList(std::move(members)));
    groups.push_back(Value::Group(std::move(key), std::move(list)));
    begin = end;
  }
  return runtime.MakeList(std::move(groups));
}

constexpr Filter kSequenceFilters[] = {
    {"batch", Batch},
    {"count", LengthFilter},
    {"dictsort", DictSort},
    {"first", First},
    {"groupby", GroupBy},
    {"items", ItemsFilter},
    {"join", Join},
    {"last", Last},
    {"length", LengthFilter},
    {"list", ListFilter},
    {"map", Map},
    {"max", Extreme<true>},
    {"min", Extreme<false>},
    {"reject", Select<false, false>},
    {"rejectattr", Select<false, true>},
    {"reverse", Reverse},
    {"select", Select<true, false>},
    {"selectattr", Select<true, true>},
    {"slice", Slice},
    {"sort", Sort},
    {"sum", Sum},
    {"unique", Unique},
};

}  // namespace

std::span<const Filter> SequenceFilters() { return kSequenceFilters; }

}  // namespace rml::text::jinja
