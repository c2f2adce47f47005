#include "rml/text/jinja/runtime.h"

#include <ctime>

namespace rml::text::jinja {

using core::ResourceExhausted;

Runtime::~Runtime() {
  for (const auto& space : namespaces_) space->Clear();
}

const CivilTime& Runtime::Now() {
  if (!now_) {
    const std::time_t seconds = std::time(nullptr);
    std::tm local = {};
    localtime_r(&seconds, &local);
    now_ = CivilTime{local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                     local.tm_hour,        local.tm_min,     local.tm_sec};
  }
  return *now_;
}

Status Runtime::OutOfSteps() const {
  return ResourceExhausted("the template takes more than ", limits_.steps,
                           " steps; raise the limit if it should");
}

Status Runtime::CountIteration() {
  if (++iterations_ <= limits_.loop_iterations) return core::OkStatus();
  return ResourceExhausted("the template's loops run more than ", limits_.loop_iterations,
                           " times in total; raise the limit if they should");
}

Status Runtime::Spend(size_t bytes) {
  if (bytes > limits_.total_bytes - bytes_) {
    return ResourceExhausted("the template makes more than ", limits_.total_bytes,
                             " bytes of values; raise the limit if it should");
  }
  bytes_ += bytes;
  return core::OkStatus();
}

Status Runtime::CheckString(size_t bytes) {
  if (bytes <= limits_.string_bytes) return core::OkStatus();
  return ResourceExhausted("a string of ", bytes, " bytes is longer than the limit of ",
                           limits_.string_bytes);
}

Status Runtime::Enter() {
  if (recursion_ >= limits_.recursion) {
    return ResourceExhausted("macro calls and expressions are nested deeper than ",
                             limits_.recursion);
  }
  ++recursion_;
  return core::OkStatus();
}

Expected<Value> Runtime::Checked(Value value) {
  if (value.depth() > limits_.value_depth) {
    return ResourceExhausted("values are nested deeper than ", limits_.value_depth);
  }
  if (value.weight() > limits_.value_items) {
    return ResourceExhausted("a ", value.type_name(), " holds more than ", limits_.value_items,
                             " values");
  }
  return value;
}

Expected<Value> Runtime::MakeString(std::string text, bool safe) {
  RML_TRY(CheckString(text.size()));
  RML_TRY(Charge(static_cast<int64_t>(text.size() / 32)));
  RML_TRY(Spend(text.size()));
  return Value(std::move(text), safe);
}

Expected<Value> Runtime::MakeList(Items items) {
  RML_TRY(Spend(items.size() * sizeof(Value)));
  return Checked(Value::List(std::move(items)));
}

Expected<Value> Runtime::MakeTuple(Items items) {
  RML_TRY(Spend(items.size() * sizeof(Value)));
  return Checked(Value::Tuple(std::move(items)));
}

Expected<Value> Runtime::MakeView(Sequence sequence) {
  RML_TRY(Spend(sequence.items.size() * sizeof(Value)));
  return Checked(Value::View(std::move(sequence)));
}

Expected<Value> Runtime::MakeDict(Dict dict) {
  RML_TRY(Spend(dict.size() * sizeof(Dict::Entry)));
  return Checked(Value(std::move(dict)));
}

Expected<Value> Runtime::MakeObject(std::shared_ptr<Object> object) {
  return Checked(Value(std::move(object)));
}

Expected<Value> Runtime::MakeNamespace(Dict attributes) {
  RML_TRY(Spend(sizeof(Namespace) + attributes.size() * sizeof(Dict::Entry)));
  auto space = std::make_shared<Namespace>(std::move(attributes));
  namespaces_.push_back(space);
  return Value(std::shared_ptr<Object>(std::move(space)));
}

Status Runtime::SetItem(Dict* dict, const Value& key, Value value) {
  if (!IsHashable(key)) return core::InvalidArgument("unhashable type: '", key.type_name(), "'");
  RML_TRY(Charge(key.weight()));
  dict->Set(key, std::move(value));
  return core::OkStatus();
}

}  // namespace rml::text::jinja
