#include "rml/io/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "rml/core/check.h"
#include "rml/io/json_object.h"

namespace rml::io {
namespace {

using core::Expected;
using core::Status;
using core::StrCat;

// A text from outside must not be able to choose keys that collide, so the hash has a seed that
// differs between processes. Nothing visible depends on it.
uint64_t HashSeed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32) | device();
  }();
  return seed;
}

uint64_t FoldedMultiply(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint32_t Hash(std::string_view text) {
  uint64_t hash = HashSeed() ^ text.size();
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    hash = FoldedMultiply(hash ^ word, 0x9e3779b97f4a7c15);
  }
  uint64_t word = 0;
  std::memcpy(&word, text.data() + i, text.size() - i);
  hash = FoldedMultiply(hash ^ word, 0xd6e8feb86659fd93);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

// Below this many members a scan of the keys beats the index.
constexpr size_t kIndexFrom = 16;  // a power of two

}  // namespace

size_t Json::Object::FindSlot(std::string_view key, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].index != kEmpty &&
         (slots_[i].hash != hash || members_[slots_[i].index].key != key)) {
    i = (i + 1) & mask;
  }
  return i;
}

void Json::Object::Place(Slot slot) {
  const size_t mask = slots_.size() - 1;
  size_t i = slot.hash & mask;
  while (slots_[i].index != kEmpty) i = (i + 1) & mask;
  slots_[i] = slot;
}

void Json::Object::Grow(size_t slot_count) {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slot_count));
  for (const Slot& slot : old) {
    if (slot.index != kEmpty) Place(slot);
  }
}

const Json* Json::Object::Find(std::string_view key) const {
  if (!slots_.empty()) {
    const uint32_t index = slots_[FindSlot(key, Hash(key))].index;
    return index == kEmpty ? nullptr : &members_[index].value;
  }
  for (const Member& member : members_) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json* Json::Object::Add(std::string key) {
  RML_CHECK(members_.size() < kEmpty);
  if (slots_.empty()) {
    if (Find(key) != nullptr) return nullptr;
    members_.emplace_back().key = std::move(key);
    if (members_.size() == kIndexFrom) {
      Grow(4 * kIndexFrom);
      for (uint32_t i = 0; i < kIndexFrom; ++i) Place({Hash(members_[i].key), i});
    }
  } else {
    if (2 * (members_.size() + 1) > slots_.size()) Grow(4 * slots_.size());
    const uint32_t hash = Hash(key);
    Slot& slot = slots_[FindSlot(key, hash)];
    if (slot.index != kEmpty) return nullptr;
    slot = {hash, static_cast<uint32_t>(members_.size())};
    members_.emplace_back().key = std::move(key);
  }
  return &members_.back().value;
}

void Json::DeleteObject::operator()(Object* object) const { delete object; }

Json::Json() : value_(nullptr) {}
Json::~Json() = default;

Json::Json(const Json& other) : Json() { *this = other; }

Json& Json::operator=(const Json& other) {
  if (this == &other) return *this;
  Json copy;
  switch (other.kind()) {
    case Kind::kNull:
      break;
    case Kind::kBool:
      copy.value_ = std::get<bool>(other.value_);
      break;
    case Kind::kInt:
      copy.value_ = std::get<int64_t>(other.value_);
      break;
    case Kind::kDouble:
      copy.value_ = std::get<double>(other.value_);
      break;
    case Kind::kString:
      copy.value_ = std::get<std::string>(other.value_);
      break;
    case Kind::kArray:
      copy.value_ = std::get<Array>(other.value_);
      break;
    case Kind::kObject: {
      const auto& object = std::get<std::unique_ptr<Object, DeleteObject>>(other.value_);
      copy.value_ = std::unique_ptr<Object, DeleteObject>(new Object(*object));
      break;
    }
  }
  return *this = std::move(copy);
}

Json::Json(Json&& other) noexcept : value_(std::move(other.value_)) { other.value_ = nullptr; }

Json& Json::operator=(Json&& other) noexcept {
  if (this != &other) {
    // By way of a local: `other` may live inside the value that is being replaced.
    auto value = std::move(other.value_);
    other.value_ = nullptr;
    value_ = std::move(value);
  }
  return *this;
}

Json Json::MakeArray() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::MakeObject() {
  Json json;
  json.value_ = std::unique_ptr<Object, DeleteObject>(new Object);
  return json;
}

std::string_view Json::kind_name() const {
  static constexpr std::array<std::string_view, 7> kNames = {"null",   "bool",  "integer", "number",
                                                             "string", "array", "object"};
  return kNames[value_.index()];
}

std::span<const Json> Json::items() const {
  if (const auto* array = std::get_if<Array>(&value_)) return *array;
  return {};
}

std::span<const Json::Member> Json::members() const {
  if (const auto* object = std::get_if<std::unique_ptr<Object, DeleteObject>>(&value_)) {
    return (*object)->members();
  }
  return {};
}

size_t Json::size() const { return is_object() ? members().size() : items().size(); }

const Json* Json::Find(std::string_view key) const {
  const auto* object = std::get_if<std::unique_ptr<Object, DeleteObject>>(&value_);
  return object == nullptr ? nullptr : (*object)->Find(key);
}

Json& Json::Append(Json item) & {
  if (is_null()) *this = MakeArray();
  RML_CHECK(is_array());
  std::get<Array>(value_).push_back(std::move(item));
  return *this;
}

Json& Json::Set(std::string_view key, Json value) & {
  if (is_null()) *this = MakeObject();
  RML_CHECK(is_object());
  Object& object = *std::get<std::unique_ptr<Object, DeleteObject>>(value_);
  if (Json* existing = object.Find(key)) {
    *existing = std::move(value);
  } else {
    *object.Add(std::string(key)) = std::move(value);
  }
  return *this;
}

Status Json::WrongKind(std::string_view wanted) const {
  return core::InvalidArgument("is of type ", kind_name(), ", not ", wanted);
}

Expected<bool> Json::AsBool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  return WrongKind("a bool");
}

Expected<double> Json::AsDouble() const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  return WrongKind("a number");
}

Expected<std::string_view> Json::AsString() const {
  if (const std::string* value = std::get_if<std::string>(&value_)) return std::string_view(*value);
  return WrongKind("a string");
}

Expected<int64_t> Json::AsSigned(int64_t min, int64_t max) const {
  int64_t integer = 0;
  if (const int64_t* value = std::get_if<int64_t>(&value_)) {
    integer = *value;
  } else if (const double* real = std::get_if<double>(&value_)) {
    // 2^63 is exact as a double, and the first value above the range.
    if (*real != std::trunc(*real)) return WrongKind("an integer");
    if (!(*real >= -0x1p63 && *real < 0x1p63)) {
      return core::OutOfRange("is ", *real, ", outside of ", min, " … ", max);
    }
    integer = static_cast<int64_t>(*real);
  } else {
    return WrongKind("an integer");
  }
  if (integer < min || integer > max) {
    return core::OutOfRange("is ", integer, ", outside of ", min, " … ", max);
  }
  return integer;
}

Status Json::MissingKey(std::string_view key) const {
  if (!is_object()) {
    return core::InvalidArgument("a JSON value of type ", kind_name(),
                                 " was searched for the key \"", key, "\"; an object is expected");
  }
  return core::NotFound("there is no key \"", key, "\"");
}

Status Json::InKey(std::string_view key, const Status& status) {
  return Status(status.code(), StrCat("\"", key, "\" ", status.message()));
}

Status Json::InItem(size_t index, const Status& status) {
  return Status(status.code(), StrCat("item ", index, " ", status.message()));
}

bool operator==(const Json& a, const Json& b) {
  if (a.kind() != b.kind()) return false;
  if (!a.is_object()) {
    return a.is_array() ? std::ranges::equal(a.items(), b.items()) : a.value_ == b.value_;
  }
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a.members(), [&](const Json::Member& member) {
    const Json* other = b.Find(member.key);
    return other != nullptr && *other == member.value;
  });
}

}  // namespace rml::io
