// ChatTemplate: a conversation → the text that a model was trained to read, by the Jinja template
// that came with the model. Rendered as Hugging Face's apply_chat_template renders it, byte for
// byte.
//
//   RML_ASSIGN(auto chat, ChatTemplate::Parse(source, "<s>", "</s>"));
//   RML_ASSIGN(std::string prompt, chat.Render({{{"user", "Hello"}}}));
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/core/expected.h"
#include "rml/text/jinja/template.h"

namespace rml::text {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" …
  std::string content;
};

class ChatTemplate {
 public:
  struct Options {
    bool add_generation_prompt = true;  // end with the opening of the assistant's turn
    // A list of tool definitions. Hugging Face passes None when there are no tools, so that `tools
    // is defined` holds; jinja::Value::Undefined(...) makes a template see none at all.
    jinja::Value tools;
    jinja::Value documents;  // for retrieval; the same
    // What else the template may ask for: enable_thinking, reasoning_effort …
    std::vector<std::pair<std::string, jinja::Value>> variables;
    std::optional<jinja::CivilTime> now;  // for templates that print the date
  };

  // Failures read "chat template, line 3, column 7: …".
  static core::Expected<ChatTemplate> Parse(std::string_view source, std::string bos_token,
                                            std::string eos_token,
                                            const jinja::Limits& limits = {});

  core::Expected<std::string> Render(std::span<const ChatMessage> messages,
                                     const Options& options) const;
  core::Expected<std::string> Render(std::span<const ChatMessage> messages) const;
  // Messages in full, a list of dicts: tool calls, content in parts … (jinja::FromJson makes one.)
  core::Expected<std::string> Render(const jinja::Value& messages, const Options& options) const;

 private:
  ChatTemplate(jinja::Template parsed, std::string bos_token, std::string eos_token);

  jinja::Template template_;
  std::string bos_token_;
  std::string eos_token_;
};

}  // namespace rml::text
