// Runtime: what built-ins (filters, tests, methods, operators) are given while a template renders:
// the clock, and the purse that every loop, string and list is paid from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rml/core/expected.h"
#include "rml/text/jinja/limits.h"
#include "rml/text/jinja/object.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

// A moment on the wall clock, without a time zone.
struct CivilTime {
  int year = 1970;
  int month = 1;  // 1–12
  int day = 1;    // 1–31
  int hour = 0;
  int minute = 0;
  int second = 0;
};

class Runtime {
 public:
  explicit Runtime(const Limits& limits, std::optional<CivilTime> now = {})
      : limits_(limits), now_(now) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  // Namespaces may hold themselves; they are emptied so that nothing stays behind.
  ~Runtime();

  const Limits& limits() const { return limits_; }
  // The time that was given, else the local time at the first call.
  const CivilTime& Now();

  Status Charge(int64_t steps) {
    steps_ += steps;
    return steps_ <= limits_.steps ? core::OkStatus() : OutOfSteps();
  }
  Status CountIteration();
  // To be asked before a string of so many bytes is built; MakeString is what charges for it.
  Status CheckString(size_t bytes);
  // For each level of recursion of the evaluator; Leave must follow a successful Enter.
  Status Enter();
  void Leave() { --recursion_; }

  // Values are made through these, which check size and nesting.
  Expected<Value> MakeString(std::string text, bool safe = false);
  Expected<Value> MakeList(Items items);
  Expected<Value> MakeTuple(Items items);
  Expected<Value> MakeView(Sequence sequence);
  Expected<Value> MakeDict(Dict dict);
  Expected<Value> MakeObject(std::shared_ptr<Object> object);
  Expected<Value> MakeNamespace(Dict attributes);
  // dict[key] = value of a dict being built.
  Status SetItem(Dict* dict, const Value& key, Value value);

 private:
  Status OutOfSteps() const;
  Status Spend(size_t bytes);
  Expected<Value> Checked(Value value);

  Limits limits_;
  std::optional<CivilTime> now_;
  int64_t steps_ = 0;
  int64_t iterations_ = 0;
  size_t bytes_ = 0;
  int recursion_ = 0;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
};

}  // namespace rml::text::jinja
