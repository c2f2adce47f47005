// Scope: the variables of a block. Loops, macros and such open one; what is set there ends with it.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

class Scope {
 public:
  explicit Scope(std::shared_ptr<Scope> parent) : parent_(std::move(parent)) {}

  const std::shared_ptr<Scope>& parent() const { return parent_; }

  // Here or in the scopes around; null when it is nowhere.
  const Value* Find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
      if (const Value* value = scope->FindHere(name)) return value;
    }
    return nullptr;
  }

  // The name must outlive the scope: it is the template's.
  void Set(std::string_view name, Value value) {
    if (Value* existing = const_cast<Value*>(FindHere(name))) {
      *existing = std::move(value);
      return;
    }
    if (few_.size() < kFew) {
      few_.emplace_back(name, std::move(value));
    } else {
      many_.emplace(name, std::move(value));
    }
  }

  void Clear() {
    few_.clear();
    many_.clear();
  }

 private:
  static constexpr size_t kFew = 24;  // searched one by one

  const Value* FindHere(std::string_view name) const {
    for (const auto& [key, value] : few_) {
      if (key == name) return &value;
    }
    if (many_.empty()) return nullptr;
    const auto it = many_.find(name);
    return it == many_.end() ? nullptr : &it->second;
  }

  std::shared_ptr<Scope> parent_;
  std::vector<std::pair<std::string_view, Value>> few_;
  std::map<std::string_view, Value> many_;
};

}  // namespace rml::text::jinja
