#include "rml/text/chat_template.h"

#include "rml/core/strcat.h"

namespace rml::text {
namespace {

core::Status Located(const core::Status& status) {
  return core::Status(status.code(), core::StrCat("chat template, ", status.message()));
}

}  // namespace

ChatTemplate::ChatTemplate(jinja::Template parsed, std::string bos_token, std::string eos_token)
    : template_(std::move(parsed)),
      bos_token_(std::move(bos_token)),
      eos_token_(std::move(eos_token)) {}

core::Expected<ChatTemplate> ChatTemplate::Parse(std::string_view source, std::string bos_token,
                                                 std::string eos_token,
                                                 const jinja::Limits& limits) {
  core::Expected<jinja::Template> parsed = jinja::Template::Parse(source, limits);
  if (!parsed.ok()) return Located(parsed.status());
  return ChatTemplate(*std::move(parsed), std::move(bos_token), std::move(eos_token));
}

core::Expected<std::string> ChatTemplate::Render(const jinja::Value& messages,
                                                 const Options& options) const {
  jinja::Dict variables;
  variables.Set("messages", messages);
  variables.Set("tools", options.tools);
  variables.Set("documents", options.documents);
  variables.Set("add_generation_prompt", jinja::Value(options.add_generation_prompt));
  variables.Set("bos_token", jinja::Value(bos_token_));
  variables.Set("eos_token", jinja::Value(eos_token_));
  for (const auto& [name, value] : options.variables) variables.Set(name, value);
  core::Expected<std::string> text = template_.Render(variables, options.now);
  if (!text.ok()) return Located(text.status());
  return text;
}

core::Expected<std::string> ChatTemplate::Render(std::span<const ChatMessage> messages,
                                                 const Options& options) const {
  jinja::Items list;
  list.reserve(messages.size());
  for (const ChatMessage& message : messages) {
    jinja::Dict dict;
    dict.Set("role", jinja::Value(message.role));
    dict.Set("content", jinja::Value(message.content));
    list.emplace_back(std::move(dict));
  }
  return Render(jinja::Value::List(std::move(list)), options);
}

core::Expected<std::string> ChatTemplate::Render(std::span<const ChatMessage> messages) const {
  return Render(messages, Options());
}

}  // namespace rml::text
