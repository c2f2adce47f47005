// Value: what a Jinja expression evaluates to, with Python's data model. A value is a small handle;
// strings, lists and dicts are shared and never change once made (Hugging Face's sandbox forbids
// mutation), so copying is cheap. Only a Namespace object changes.
//
// Containers know how deep and how large they are with everything inside counted, which is what
// keeps printing, comparing and destroying them bounded; Runtime enforces the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "rml/core/expected.h"

namespace rml::text::jinja {

using core::Expected;
using core::Status;

class Dict;
class Object;
class Value;
struct Sequence;

using Items = std::vector<Value>;

struct String {
  std::string text;
  bool ascii;  // then a character is a byte
  bool safe;   // Python's Markup: what | safe and | escape return; it escapes what is added to it
};

class Value {
 public:
  enum class Kind : uint8_t {
    kUndefined,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kList,
    kTuple,
    kView,  // range() and what dict.keys(), .values(), .items() return
    kDict,
    kObject,  // namespaces, macros, methods, generators, loop …
  };

  Value() : data_(std::in_place_index<1>) {}  // None
  explicit Value(bool value) : data_(std::in_place_index<2>, value) {}
  explicit Value(int64_t value) : data_(std::in_place_index<3>, value) {}
  explicit Value(int value) : Value(int64_t{value}) {}
  explicit Value(size_t value) : Value(static_cast<int64_t>(value)) {}
  explicit Value(double value) : data_(std::in_place_index<4>, value) {}
  explicit Value(std::string text, bool safe = false);
  explicit Value(std::string_view text) : Value(std::string(text)) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(Dict dict);
  explicit Value(std::shared_ptr<Object> object)
      : data_(std::in_place_index<10>, std::move(object)) {}

  // `why` is the message of the error that using it raises ("'x' is undefined").
  static Value Undefined(std::string why);
  static Value List(Items items);
  static Value Tuple(Items items);
  static Value Group(Value grouper, Value list);
  static Value View(Sequence sequence);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_undefined() const { return kind() == Kind::kUndefined; }
  bool is_none() const { return kind() == Kind::kNone; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_dict() const { return kind() == Kind::kDict; }
  bool is_object() const { return kind() == Kind::kObject; }
  bool is_sequence() const { return kind() >= Kind::kList && kind() <= Kind::kView; }
  bool is_integral() const { return kind() == Kind::kInt || kind() == Kind::kBool; }
  bool is_number() const { return is_integral() || kind() == Kind::kFloat; }

  // Each wants the kind it names; as_int takes a bool and as_double any number.
  bool as_bool() const { return std::get<2>(data_); }
  int64_t as_int() const { return is_bool() ? as_bool() : std::get<3>(data_); }
  double as_double() const;
  const String& as_string() const { return *std::get<5>(data_); }
  std::string_view text() const { return as_string().text; }
  const Sequence& as_sequence() const;  // list, tuple or view
  const Items& items() const;           // of a list, tuple or view
  const Dict& as_dict() const { return *std::get<9>(data_); }
  Object& as_object() const { return *std::get<10>(data_); }
  const std::shared_ptr<Object>& object() const { return std::get<10>(data_); }
  const std::string& undefined_message() const { return *std::get<0>(data_); }

  // Python's name of its type: "str", "NoneType", "dict_items" …
  std::string_view type_name() const;
  // bool(value).
  bool Truthy() const;
  // Containers inside one another; 0 for scalars and strings.
  int depth() const;
  // About what it costs to walk over: one for a scalar, one for each 32 bytes of a string, and
  // everything inside of a container.
  int64_t weight() const;
  // Whether both are one object, as Python's `is` says it.
  bool SameAs(const Value& other) const;

 private:
  template <size_t kIndex, typename T>
  Value(std::in_place_index_t<kIndex> index, T&& value) : data_(index, std::forward<T>(value)) {}

  // In the order of Kind.
  std::variant<std::shared_ptr<const std::string>, std::monostate, bool, int64_t, double,
               std::shared_ptr<const String>, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Sequence>, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Dict>, std::shared_ptr<Object>>
      data_;
};

// The body of a list, a tuple or a view.
struct Sequence {
  enum class Type : uint8_t { kList, kTuple, kGroup, kRange, kDictKeys, kDictValues, kDictItems };

  Items items;
  Type type = Type::kList;  // kGroup: a tuple (grouper, list) of | groupby
  std::string label;        // of a range: "range(0, 3)"
  int depth = 1;
  int64_t weight = 1;

  Sequence(Type type, Items items, std::string label = {});
};

// Insertion-ordered, as Python's. Keys are hashable values; True, 1 and 1.0 are one key.
class Dict {
 public:
  struct Entry {
    Value key;
    Value value;
  };

  Dict() = default;
  // For building from C++; later keys replace earlier ones.
  explicit Dict(std::vector<std::pair<std::string, Value>> members);

  std::span<const Entry> entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }
  int64_t weight() const { return weight_; }

  const Value* Find(std::string_view key) const;
  const Value* Find(const Value& key) const;  // null for an unhashable key too
  // The key must be hashable (IsHashable). depth() and weight() only grow.
  void Set(Value key, Value value);
  void Set(std::string_view key, Value value) { Set(Value(key), std::move(value)); }
  void Clear();

 private:
  static constexpr size_t kIndexFrom = 9;  // fewer entries are searched one by one

  const Entry* FindEntry(const Value& key) const;
  void IndexAll();

  std::vector<Entry> entries_;
  std::unordered_multimap<size_t, uint32_t> index_;  // hash of the key → place in entries_
  int depth_ = 1;
  int64_t weight_ = 1;
};

bool IsHashable(const Value& value);

}  // namespace rml::text::jinja
