#include "rml/text/jinja/value.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "rml/text/jinja/compare.h"
#include "rml/text/jinja/object.h"
#include "rml/text/jinja/unicode.h"

namespace rml::text::jinja {
namespace {

size_t HashOf(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return std::hash<std::string_view>()(value.text());
    case Value::Kind::kBool:
    case Value::Kind::kInt:
      return std::hash<int64_t>()(value.as_int());
    case Value::Kind::kFloat: {
      const double number = value.as_double();
      constexpr double kExact = 9.2e18;  // 1.0 must hash as 1
      if (number == std::floor(number) && std::abs(number) < kExact) {
        return std::hash<int64_t>()(static_cast<int64_t>(number));
      }
      return std::hash<double>()(number);
    }
    case Value::Kind::kTuple: {
      size_t hash = 0x345678;
      for (const Value& item : value.items()) hash = hash * 1000003 ^ HashOf(item);
      return hash;
    }
    case Value::Kind::kObject:
      return std::hash<const void*>()(&value.as_object());
    default:
      return static_cast<size_t>(value.kind());
  }
}

}  // namespace

Value::Value(std::string text, bool safe) {
  const bool ascii = IsAscii(text);
  data_.emplace<5>(std::make_shared<const String>(String{std::move(text), ascii, safe}));
}

Value::Value(Dict dict)
    : data_(std::in_place_index<9>, std::make_shared<const Dict>(std::move(dict))) {}

Value Value::Undefined(std::string why) {
  return Value(std::in_place_index<0>, std::make_shared<const std::string>(std::move(why)));
}

Value Value::List(Items items) {
  return Value(std::in_place_index<6>,
               std::make_shared<const Sequence>(Sequence::Type::kList, std::move(items)));
}

Value Value::Tuple(Items items) {
  return Value(std::in_place_index<7>,
               std::make_shared<const Sequence>(Sequence::Type::kTuple, std::move(items)));
}

Value Value::Group(Value grouper, Value list) {
  Items items = {std::move(grouper), std::move(list)};
  return Value(std::in_place_index<7>,
               std::make_shared<const Sequence>(Sequence::Type::kGroup, std::move(items)));
}

Value Value::View(Sequence sequence) {
  return Value(std::in_place_index<8>, std::make_shared<const Sequence>(std::move(sequence)));
}

double Value::as_double() const {
  return kind() == Kind::kFloat ? std::get<4>(data_) : static_cast<double>(as_int());
}

const Sequence& Value::as_sequence() const {
  switch (kind()) {
    case Kind::kList:
      return *std::get<6>(data_);
    case Kind::kTuple:
      return *std::get<7>(data_);
    default:
      return *std::get<8>(data_);
  }
}

const Items& Value::items() const { return as_sequence().items; }

std::string_view Value::type_name() const {
  switch (kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return as_string().safe ? "Markup" : "str";
    case Kind::kDict:
      return "dict";
    case Kind::kObject:
      return as_object().type_name();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      break;
  }
  switch (as_sequence().type) {
    case Sequence::Type::kList:
      return "list";
    case Sequence::Type::kTuple:
    case Sequence::Type::kGroup:
      return "tuple";
    case Sequence::Type::kRange:
      return "range";
    case Sequence::Type::kDictKeys:
      return "dict_keys";
    case Sequence::Type::kDictValues:
      return "dict_values";
    case Sequence::Type::kDictItems:
      return "dict_items";
  }
  return "object";
}

bool Value::Truthy() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return as_bool();
    case Kind::kInt:
      return as_int() != 0;
    case Kind::kFloat:
      return as_double() != 0;
    case Kind::kString:
      return !text().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kView:
      return !items().empty();
    case Kind::kDict:
      return as_dict().size() != 0;
    case Kind::kObject:
      return true;
  }
  return false;
}

int Value::depth() const {
  if (is_sequence()) return as_sequence().depth;
  if (is_dict()) return as_dict().depth();
  if (is_object()) return as_object().depth();
  return 0;
}

int64_t Value::weight() const {
  if (is_sequence()) return as_sequence().weight;
  if (is_dict()) return as_dict().weight();
  if (is_string()) return 1 + static_cast<int64_t>(text().size() / 32);
  return 1;
}

bool Value::SameAs(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kUndefined:
      return &undefined_message() == &other.undefined_message();
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return as_int() == other.as_int();
    case Kind::kFloat:
      return as_double() == other.as_double();
    case Kind::kString:
      return &as_string() == &other.as_string() || text() == other.text();
    case Kind::kDict:
      return &as_dict() == &other.as_dict();
    case Kind::kObject:
      return &as_object() == &other.as_object();
    default:
      return &as_sequence() == &other.as_sequence();
  }
}

Sequence::Sequence(Type sequence_type, Items sequence_items, std::string sequence_label)
    : items(std::move(sequence_items)), type(sequence_type), label(std::move(sequence_label)) {
  for (const Value& item : items) {
    depth = std::max(depth, item.depth() + 1);
    weight += item.weight();
  }
}

Dict::Dict(std::vector<std::pair<std::string, Value>> members) {
  for (auto& [key, value] : members) Set(Value(std::move(key)), std::move(value));
}

const Dict::Entry* Dict::FindEntry(const Value& key) const {
  if (entries_.size() < kIndexFrom) {
    for (const Entry& entry : entries_) {
      if (Equal(entry.key, key)) return &entry;
    }
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(HashOf(key));
  for (auto it = first; it != last; ++it) {
    if (Equal(entries_[it->second].key, key)) return &entries_[it->second];
  }
  return nullptr;
}

const Value* Dict::Find(const Value& key) const {
  if (!IsHashable(key)) return nullptr;
  const Entry* entry = FindEntry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

const Value* Dict::Find(std::string_view key) const {
  const auto matches = [&](const Entry& entry) {
    return entry.key.is_string() && entry.key.text() == key;
  };
  if (entries_.size() < kIndexFrom) {
    for (const Entry& entry : entries_) {
      if (matches(entry)) return &entry.value;
    }
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(std::hash<std::string_view>()(key));
  for (auto it = first; it != last; ++it) {
    if (matches(entries_[it->second])) return &entries_[it->second].value;
  }
  return nullptr;
}

void Dict::Set(Value key, Value value) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  weight_ += key.weight() + value.weight();
  if (const Entry* entry = FindEntry(key)) {
    const_cast<Entry*>(entry)->value = std::move(value);
    return;
  }
  entries_.push_back({std::move(key), std::move(value)});
  if (entries_.size() > kIndexFrom) {
    index_.emplace(HashOf(entries_.back().key), static_cast<uint32_t>(entries_.size() - 1));
  } else if (entries_.size() == kIndexFrom) {
    IndexAll();
  }
}

void Dict::IndexAll() {
  for (uint32_t i = 0; i < entries_.size(); ++i) index_.emplace(HashOf(entries_[i].key), i);
}

void Dict::Clear() {
  entries_.clear();
  index_.clear();
  depth_ = 1;
  weight_ = 1;
}

bool IsHashable(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kList:
    case Value::Kind::kDict:
      return false;
    case Value::Kind::kView:
      return value.as_sequence().type == Sequence::Type::kRange;
    case Value::Kind::kTuple:
      for (const Value& item : value.items()) {
        if (!IsHashable(item)) return false;
      }
      return true;
    default:
      return true;
  }
}

}  // namespace rml::text::jinja
