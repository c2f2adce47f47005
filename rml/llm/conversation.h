// Conversation: turns of user and model, formatted by the model's own chat template. Nothing about
// the format is known here: each turn renders the whole conversation and the session computes only
// what differs from what it already holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/io/json.h"
#include "rml/llm/engine.h"
#include "rml/llm/generate.h"
#include "rml/text/chat_template.h"

namespace rml::llm {

class Conversation {
 public:
  // `template_source` replaces the model's own template unless it is empty. Fails when there is
  // neither, with what to do about it.
  static core::Expected<Conversation> Start(std::shared_ptr<Engine> engine,
                                            std::string_view template_source,
                                            std::string system_prompt);

  // Adds a user's turn and the model's answer. A turn that fails is taken back; one that is
  // cancelled keeps what was said until then.
  core::Expected<GenerateResult> Send(std::string user_text, const GenerateOptions& options,
                                      TextSink sink);

  // Forgets everything but the system prompt.
  void Reset();

  std::span<const text::ChatMessage> messages() const { return messages_; }
  int64_t tokens() const { return session_.length(); }
  const Engine& engine() const { return session_.engine(); }

  // The messages as the array of {"role", "content"} objects that chat APIs use, and back.
  io::Json ToJson() const;
  core::Status Restore(const io::Json& messages);

 private:
  Conversation(Session session, text::ChatTemplate chat_template, std::string system_prompt);

  Session session_;
  text::ChatTemplate template_;
  std::string system_prompt_;
  std::vector<text::ChatMessage> messages_;
};

}  // namespace rml::llm
