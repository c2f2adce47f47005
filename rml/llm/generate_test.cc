#include "rml/llm/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rml/llm/conversation.h"

namespace rml::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::shared_ptr<Engine> Stories(EngineOptions options = {}) {
  auto engine = Engine::Load(std::string(RML_TESTDATA) + "/stories260k.gguf", options, {});
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return *std::move(engine);
}

const std::string kPrompt = "Once upon a time";

GenerateResult Story(Engine& engine, const GenerateOptions& options,
                     std::string* streamed = nullptr) {
  Session session = engine.NewSession();
  const auto prompt = engine.tokenizer()->Encode(kPrompt);
  auto result = Generate(session, *prompt, options, [&](std::string_view text) {
    if (streamed != nullptr) *streamed += text;
    return true;
  });
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *std::move(result);
}

GenerateOptions Greedy(int64_t max_tokens) {
  return {.max_tokens = max_tokens, .sampler = {.temperature = 0}};
}

TEST(Generate, StreamsExactlyTheTextThatItReturns) {
  const auto engine = Stories();
  std::string streamed;
  const GenerateResult result = Story(*engine, Greedy(30), &streamed);
  EXPECT_EQ(streamed, result.text);
  EXPECT_THAT(result.text, StartsWith(", there was a little girl named Lily."));
  EXPECT_EQ(result.ids.size(), 30u);
  EXPECT_EQ(result.reason, StopReason::kTokenLimit);
  EXPECT_EQ(result.prompt_tokens, 5);
  EXPECT_EQ(result.prompt_computed, 5);
}

TEST(Generate, NoTokensIsAnEmptyText) {
  const auto engine = Stories();
  const GenerateResult result = Story(*engine, Greedy(0));
  EXPECT_EQ(result.text, "");
  EXPECT_TRUE(result.ids.empty());
}

TEST(Generate, AStopStringNeverShows) {
  const auto engine = Stories();
  GenerateOptions options = Greedy(100);
  options.stop = {"girl named"};
  std::string streamed;
  const GenerateResult result = Story(*engine, options, &streamed);
  EXPECT_EQ(result.text, ", there was a little ");
  EXPECT_EQ(streamed, result.text);
  EXPECT_EQ(result.reason, StopReason::kStopString);
}

TEST(Generate, TheSinkCanEndIt) {
  const auto engine = Stories();
  Session session = engine->NewSession();
  const auto prompt = engine->tokenizer()->Encode(kPrompt);
  const auto result =
      Generate(session, *prompt, Greedy(100), [](std::string_view text) { return text != " was"; });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  EXPECT_LT(result->ids.size(), 10u);
}

TEST(Generate, AFullContextEndsTheText) {
  const auto engine = Stories({.context_length = 20});
  GenerateOptions options = Greedy(-1);
  options.ignore_end = true;
  const GenerateResult result = Story(*engine, options);
  EXPECT_EQ(result.reason, StopReason::kContextFull);
  EXPECT_EQ(result.prompt_tokens + static_cast<int64_t>(result.ids.size()),
            21);  // the last one needs no room
}

TEST(Generate, CancellingAContextShiftKeepsTheAnswerSoFar) {
  const auto engine = Stories({.context_length = 24});
  GenerateOptions options = Greedy(60);
  options.ignore_end = true;
  options.context_shift = true;
  Session session = engine->NewSession();
  const auto prompt = *engine->tokenizer()->Encode(kPrompt);
  core::CancellationSource source;
  engine->SetCancellation(source.token());
  const auto result = Generate(session, prompt, options, [&](std::string_view) {
    if (session.length() == 24) source.Cancel();  // so that the shift is what fails
    return true;
  });
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->reason, StopReason::kCancelled);
  EXPECT_EQ(result->shifts, 1);
  EXPECT_FALSE(result->text.empty());
}

TEST(Generate, AContextShiftGoesOnAndKeepsWhatItIsTold) {
  const auto engine = Stories({.context_length = 24});
  GenerateOptions options = Greedy(60);
  options.ignore_end = true;
  options.context_shift = true;
  options.keep_tokens = 5;
  Session session = engine->NewSession();
  const auto prompt = *engine->tokenizer()->Encode(kPrompt);
  const auto result = Generate(session, prompt, options, [](std::string_view) { return true; });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->ids.size(), 60u);
  EXPECT_GE(result->shifts, 3);
  EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), session.tokens().begin()));
  // What follows are the newest tokens, in order, but the very last, which was never appended.
  const auto tail = session.tokens().subspan(5);
  EXPECT_TRUE(std::equal(tail.begin(), tail.end(),
                         result->ids.end() - 1 - static_cast<int64_t>(tail.size())));
}

TEST(Generate, MistakesAreErrors) {
  const auto engine = Stories();
  Session session = engine->NewSession();
  const auto ignore = [](std::string_view) { return true; };
  EXPECT_THAT(std::string(Generate(session, {}, Greedy(1), ignore).status().message()),
              HasSubstr("no tokens"));
  const auto prompt = *engine->tokenizer()->Encode(kPrompt);
  GenerateOptions options = Greedy(1);
  options.stop = {""};
  EXPECT_THAT(std::string(Generate(session, prompt, options, ignore).status().message()),
              HasSubstr("stop string"));
  options = Greedy(1);
  options.sampler.top_k = -3;
  EXPECT_THAT(std::string(Generate(session, prompt, options, ignore).status().message()),
              HasSubstr("--top-k"));
}

constexpr std::string_view kTemplate =
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools "
    "here') }}{% endif %}"
    "{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif "
    "%}";

Conversation Talk(const std::shared_ptr<Engine>& engine, std::string system = "") {
  auto conversation = Conversation::Start(engine, kTemplate, std::move(system));
  EXPECT_TRUE(conversation.ok()) << conversation.status().message();
  return *std::move(conversation);
}

TEST(Conversation, EachTurnComputesOnlyWhatIsNew) {
  const auto engine = Stories();
  Conversation conversation = Talk(engine, "Tell a story.");
  const auto ignore = [](std::string_view) { return true; };
  const auto first = conversation.Send("About a dog.", Greedy(8), ignore);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->prompt_computed, first->prompt_tokens);
  const auto second = conversation.Send("And a cat.", Greedy(8), ignore);
  ASSERT_TRUE(second.ok());
  EXPECT_LT(second->prompt_computed, second->prompt_tokens - first->prompt_tokens + 1);
  ASSERT_EQ(conversation.messages().size(), 5u);
  EXPECT_EQ(conversation.messages()[0].role, "system");
  EXPECT_EQ(conversation.messages()[2].content, first->text);
}

TEST(Conversation, ResetKeepsOnlyTheSystemPrompt) {
  const auto engine = Stories();
  Conversation conversation = Talk(engine, "Tell a story.");
  ASSERT_TRUE(conversation.Send("Hello.", Greedy(4), [](std::string_view) { return true; }).ok());
  conversation.Reset();
  ASSERT_EQ(conversation.messages().size(), 1u);
  EXPECT_EQ(conversation.messages()[0].content, "Tell a story.");
}

TEST(Conversation, RestoresWhatItSaved) {
  const auto engine = Stories();
  Conversation one = Talk(engine);
  ASSERT_TRUE(one.Send("Hello \"you\".", Greedy(4), [](std::string_view) { return true; }).ok());
  Conversation other = Talk(Stories());
  ASSERT_TRUE(other.Restore(one.ToJson()).ok());
  EXPECT_EQ(other.ToJson(), one.ToJson());
}

TEST(Conversation, WhatIsNoConversationIsNotRestored) {
  Conversation conversation = Talk(Stories());
  for (const char* text :
       {"{}", "[1]", R"([{"role": "user"}])", R"([{"role": "user", "content": 5}])"}) {
    EXPECT_FALSE(conversation.Restore(*io::Json::Parse(text)).ok()) << text;
  }
  EXPECT_TRUE(conversation.messages().empty());
}

TEST(Conversation, ATurnThatFailsIsTakenBack) {
  const auto engine = Stories({.context_length = 32});
  Conversation conversation = Talk(engine);
  const auto too_long =
      conversation.Send(std::string(500, 'x'), Greedy(4), [](std::string_view) { return true; });
  EXPECT_EQ(too_long.status().code(), core::StatusCode::kOutOfRange);
  EXPECT_TRUE(conversation.messages().empty());
  ASSERT_TRUE(conversation.Restore(*io::Json::Parse(R"([{"role": "tool", "content": "x"}])")).ok());
  const auto refused = conversation.Send("Hi.", Greedy(4), [](std::string_view) { return true; });
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("no tools here"));
  EXPECT_EQ(conversation.messages().size(), 1u);
}

TEST(Conversation, AModelWithoutATemplateSaysWhatToDo) {
  const auto conversation = Conversation::Start(Stories(), "", "");
  EXPECT_THAT(std::string(conversation.status().message()), HasSubstr("--chat-template-file"));
}

}  // namespace
}  // namespace rml::llm
