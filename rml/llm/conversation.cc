#include "rml/llm/conversation.h"

#include <utility>

namespace rml::llm {

using core::Expected;
using core::Status;
using text::ChatMessage;

Conversation::Conversation(Session session, text::ChatTemplate chat_template,
                           std::string system_prompt)
    : session_(std::move(session)),
      template_(std::move(chat_template)),
      system_prompt_(std::move(system_prompt)) {
  Reset();
}

Expected<Conversation> Conversation::Start(std::shared_ptr<Engine> engine,
                                           std::string_view template_source,
                                           std::string system_prompt) {
  const auto& tokenizer = engine->tokenizer();
  if (tokenizer == nullptr)
    return core::FailedPrecondition("this engine has no tokenizer to talk with");
  const std::string_view source =
      template_source.empty() ? tokenizer->chat_template() : template_source;
  if (source.empty()) {
    return core::FailedPrecondition(
        "the model has no chat template: it was made to continue text, for which there is "
        "`rml generate`; or give a template with --chat-template-file");
  }
  RML_ASSIGN(auto chat_template,
             text::ChatTemplate::Parse(std::string(source), std::string(tokenizer->bos_text()),
                                       std::string(tokenizer->eos_text())));
  return Conversation(engine->NewSession(), std::move(chat_template), std::move(system_prompt));
}

void Conversation::Reset() {
  messages_.clear();
  if (!system_prompt_.empty()) messages_.push_back({.role = "system", .content = system_prompt_});
}

Expected<GenerateResult> Conversation::Send(std::string user_text, const GenerateOptions& options,
                                            TextSink sink) {
  const size_t before = messages_.size();
  messages_.push_back({.role = "user", .content = std::move(user_text)});
  const auto answer = [&]() -> Expected<GenerateResult> {
    RML_ASSIGN(const std::string prompt,
               template_.Render(messages_, {.add_generation_prompt = true}));
    // The template writes the special tokens itself, BOS included.
    RML_ASSIGN(const auto ids,
               session_.engine().tokenizer()->Encode(prompt, {.add_special = false}));
    return Generate(session_, ids, options, sink);
  }();
  if (!answer.ok()) {
    messages_.resize(before);
    return answer.status();
  }
  messages_.push_back({.role = "assistant", .content = answer->text});
  return answer;
}

io::Json Conversation::ToJson() const {
  io::Json list = io::Json::MakeArray();
  for (const ChatMessage& message : messages_) {
    io::Json entry = io::Json::MakeObject();
    entry.Set("role", message.role);
    entry.Set("content", message.content);
    list.Append(std::move(entry));
  }
  return list;
}

Status Conversation::Restore(const io::Json& messages) {
  if (!messages.is_array()) return core::DataLoss("a conversation is a JSON array of messages");
  std::vector<ChatMessage> read;
  for (const io::Json& message : messages.items()) {
    RML_ASSIGN(auto role, message.Get<std::string>("role"));
    RML_ASSIGN(auto content, message.Get<std::string>("content"));
    read.push_back({.role = std::move(role), .content = std::move(content)});
  }
  messages_ = std::move(read);
  return {};
}

}  // namespace rml::llm
