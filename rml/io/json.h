// Json: one JSON value, for configuration, tokenizers and output. Parsing is strict (RFC 8259): a
// duplicate key, a lone surrogate, invalid UTF-8 or trailing text is an error that names line and
// byte; nesting and size are limited, so a hostile text cannot exhaust the stack.
//
// Numbers without fraction or exponent that fit are 64-bit integers; all others are doubles (also
// the 10^30 that Hugging Face writes for "no limit"). Objects keep the order of the text and find
// keys in constant time. Values copy deeply.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rml/core/expected.h"

namespace rml::io {

struct JsonLimits {
  int depth = 128;                       // arrays and objects inside one another
  uint64_t bytes = uint64_t{512} << 20;  // of the text
};

class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  struct Member;
  using Array = std::vector<Json>;

  static core::Expected<Json> Parse(std::string_view text, const JsonLimits& limits = {});
  // Reads and parses a file; messages begin with its path.
  static core::Expected<Json> ParseFile(std::string_view path, const JsonLimits& limits = {});

  Json();  // null
  Json(std::nullptr_t) : Json() {}
  template <typename T>
  requires std::same_as<T, bool> Json(T value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  static Json MakeArray();
  static Json MakeObject();

  Json(const Json& other);
  Json& operator=(const Json& other);
  Json(Json&& other) noexcept;  // leaves `other` null
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  std::string_view kind_name() const;  // "null", "bool", "integer", "number", "string", …
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_int() const { return kind() == Kind::kInt; }
  bool is_number() const { return kind() == Kind::kInt || kind() == Kind::kDouble; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Elements of an array, members of an object; empty for every other kind.
  std::span<const Json> items() const;
  std::span<const Member> members() const;
  // Number of items or members; 0 for every other kind.
  size_t size() const;

  // The member's value; null pointer when there is none or this is no object.
  const Json* Find(std::string_view key) const;

  // T: bool, an integer type, double, float, std::string, std::string_view (valid as long as this
  // value), Json, or a std::vector of one of these. An integer type takes integers in its range and
  // doubles that are whole; double takes integers too.
  template <typename T>
  core::Expected<T> As() const;

  // The member `key` as T; failures name the key.
  template <typename T>
  core::Expected<T> Get(std::string_view key) const;
  // `fallback` when the member is missing or null; another type is still an error.
  template <typename T>
  core::Expected<T> GetOr(std::string_view key, T fallback) const;

  // Building. Append wants an array and Set an object; null becomes one. Set replaces the value of
  // a key that exists.
  Json& Append(Json item) &;
  Json& Set(std::string_view key, Json value) &;
  // On a temporary, so that Json().Set("a", 1).Set("b", 2) is moved and not copied.
  Json&& Append(Json item) && { return std::move(Append(std::move(item))); }
  Json&& Set(std::string_view key, Json value) && { return std::move(Set(key, std::move(value))); }

  // The text: indent < 0 on one line, else that many spaces a level. Bytes that are not UTF-8
  // become U+FFFD; numbers that JSON cannot say (NaN, infinities) become null; doubles read back
  // equal.
  std::string Dump(int indent = -1) const;

  friend bool operator==(const Json& a, const Json& b);  // an object's order does not matter

 private:
  friend class JsonBuilder;
  class Object;
  struct DeleteObject {
    void operator()(Object* object) const;
  };

  core::Status WrongKind(std::string_view wanted) const;
  core::Expected<bool> AsBool() const;
  core::Expected<double> AsDouble() const;
  core::Expected<std::string_view> AsString() const;
  core::Expected<int64_t> AsSigned(int64_t min, int64_t max) const;
  core::Status MissingKey(std::string_view key) const;
  static core::Status InKey(std::string_view key, const core::Status& status);
  static core::Status InItem(size_t index, const core::Status& status);

  // In the order of Kind.
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array,
               std::unique_ptr<Object, DeleteObject>>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

namespace internal {
template <typename T>
inline constexpr bool kIsJsonVector = false;
template <typename T>
inline constexpr bool kIsJsonVector<std::vector<T>> = true;
}  // namespace internal

template <typename T>
core::Expected<T> Json::As() const {
  if constexpr (std::is_same_v<T, Json>) {
    return *this;
  } else if constexpr (std::is_same_v<T, bool>) {
    return AsBool();
  } else if constexpr (std::is_same_v<T, double>) {
    return AsDouble();
  } else if constexpr (std::is_same_v<T, float>) {
    RML_ASSIGN(const double wide, AsDouble());
    return static_cast<float>(wide);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return AsString();
  } else if constexpr (std::is_same_v<T, std::string>) {
    RML_ASSIGN(const std::string_view view, AsString());
    return std::string(view);
  } else if constexpr (internal::kIsJsonVector<T>) {
    if (!is_array()) return WrongKind("an array");
    T result;
    result.reserve(items().size());
    for (const Json& item : items()) {
      auto element = item.As<typename T::value_type>();
      if (!element.ok()) return InItem(result.size(), element.status());
      result.push_back(*std::move(element));
    }
    return result;
  } else {
    static_assert(std::integral<T>, "no JSON value is read as this type");
    constexpr int kBits = 8 * sizeof(T) - (std::is_signed_v<T> || sizeof(T) == 8 ? 1 : 0);
    constexpr int64_t kMax = static_cast<int64_t>((uint64_t{1} << kBits) - 1);
    RML_ASSIGN(const int64_t wide, AsSigned(std::is_signed_v<T> ? -kMax - 1 : 0, kMax));
    return static_cast<T>(wide);
  }
}

template <typename T>
core::Expected<T> Json::Get(std::string_view key) const {
  const Json* member = Find(key);
  if (member == nullptr) return MissingKey(key);
  auto result = member->As<T>();
  if (!result.ok()) return InKey(key, result.status());
  return result;
}

template <typename T>
core::Expected<T> Json::GetOr(std::string_view key, T fallback) const {
  if (!is_object()) return MissingKey(key);
  const Json* member = Find(key);
  if (member == nullptr || member->is_null()) return fallback;
  auto result = member->As<T>();
  if (!result.ok()) return InKey(key, result.status());
  return result;
}

}  // namespace rml::io
