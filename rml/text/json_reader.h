// JsonReader: a place in a JSON document that knows its own path, so that every failure names it
// ("tokenizer.json: pre_tokenizer.pretokenizers[1].type …").
#pragma once

#include <string>
#include <string_view>

#include "rml/core/expected.h"
#include "rml/io/json.h"

namespace rml::text {

class JsonReader {
 public:
  JsonReader(const io::Json* json, std::string path) : json_(json), path_(std::move(path)) {}

  const io::Json& json() const { return *json_; }
  const std::string& path() const { return path_; }
  bool is_null() const { return json_->is_null(); }

  // The member `key`, or null JSON when it is missing.
  JsonReader Member(std::string_view key) const {
    static const io::Json* const null = new io::Json();
    const io::Json* found = json_->Find(key);
    return {found == nullptr ? null : found,
            path_.empty() ? std::string(key) : core::StrCat(path_, ".", key)};
  }
  JsonReader Item(size_t index) const {
    return {&json_->items()[index], core::StrCat(path_, "[", index, "]")};
  }
  size_t size() const { return json_->size(); }

  template <typename T>
  core::Expected<T> As() const {
    auto value = json_->As<T>();
    if (!value.ok()) return value.status().WithContext(Name());
    return value;
  }
  // `fallback` when the member is missing or null.
  template <typename T>
  core::Expected<T> GetOr(std::string_view key, T fallback) const {
    const JsonReader member = Member(key);
    if (member.is_null()) return fallback;
    return member.As<T>();
  }
  template <typename T>
  core::Expected<T> Get(std::string_view key) const {
    return Member(key).As<T>();
  }

  core::Status ExpectArray() const {
    return json_->is_array() ? core::OkStatus() : Malformed("is no array");
  }
  core::Status ExpectObject() const {
    return json_->is_object() ? core::OkStatus() : Malformed("is no object");
  }

  template <typename... Args>
  core::Status Malformed(const Args&... args) const {
    return core::DataLoss(Name(), " ", args...);
  }
  // The value stands for something that exists and that rml cannot do.
  template <typename... Args>
  core::Status NotSupported(const Args&... args) const {
    return core::Unsupported(Name(), " ", args...);
  }

 private:
  std::string_view Name() const { return path_.empty() ? "the document" : std::string_view(path_); }

  const io::Json* json_;
  std::string path_;
};

}  // namespace rml::text
