#include "rml/text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "rml/io/json.h"
#include "rml/text/jinja/json.h"

namespace rml::text {
namespace {

using ::testing::HasSubstr;

constexpr std::span<const ChatMessage> kNoMessages;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ReadGzip(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[1 << 16];
  for (int bytes = 0; (bytes = gzread(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, bytes);
  gzclose(file);
  return text;
}

TEST(ChatTemplate, RendersRolesAndContents) {
  const auto chat = ChatTemplate::Parse(
      "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m['content'] }}{{ eos_token }}\n"
      "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
      "<s>", "</s>");
  ASSERT_TRUE(chat.ok()) << chat.status().message();
  const ChatMessage messages[] = {{"system", "Be brief."}, {"user", "naïve 🚀"}};
  const auto text = chat->Render(messages);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, "<s>[system]Be brief.</s>\n[user]naïve 🚀</s>\n[assistant]");
  ChatTemplate::Options options;
  options.add_generation_prompt = false;
  EXPECT_EQ(chat->Render(messages, options).value(),
            "<s>[system]Be brief.</s>\n[user]naïve 🚀</s>\n");
}

TEST(ChatTemplate, ToolsAndDocumentsAreNoneUnlessGiven) {
  const auto chat =
      ChatTemplate::Parse("{{ tools is none }}{{ documents is none }}{{ x is defined }}", "", "");
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat->Render(kNoMessages).value(), "TrueTrueFalse");
  ChatTemplate::Options options;
  options.tools = jinja::Value::List({jinja::Value("f")});
  options.variables = {{"x", jinja::Value(1)}};
  EXPECT_EQ(chat->Render(kNoMessages, options).value(), "FalseTrueTrue");
}

TEST(ChatTemplate, VariablesReplaceTheStandardOnes) {
  const auto chat = ChatTemplate::Parse("{{ bos_token }}", "<s>", "");
  ASSERT_TRUE(chat.ok());
  ChatTemplate::Options options;
  options.variables = {{"bos_token", jinja::Value("")}};
  EXPECT_EQ(chat->Render(kNoMessages, options).value(), "");
}

TEST(ChatTemplate, SyntaxErrorNamesLineAndColumn) {
  const auto chat = ChatTemplate::Parse("line one\n  {{ 1 + }}", "", "");
  ASSERT_FALSE(chat.ok());
  EXPECT_EQ(chat.status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_EQ(chat.status().message(),
            "chat template, line 2, column 10: expected an expression, found '}}'");
}

TEST(ChatTemplate, RaiseExceptionCarriesItsMessage) {
  const auto chat = ChatTemplate::Parse(
      "{% for m in messages %}\n  {{ raise_exception('No ' ~ m.role ~ ' here') }}{% endfor %}", "",
      "");
  ASSERT_TRUE(chat.ok());
  const ChatMessage messages[] = {{"tool", "x"}};
  const auto text = chat->Render(messages);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().code(), core::StatusCode::kInvalidArgument);
  EXPECT_EQ(text.status().message(), "chat template, line 2, column 6: No tool here");
}

TEST(ChatTemplate, PrintsTheTimeItIsGiven) {
  const auto chat = ChatTemplate::Parse("{{ strftime_now('%d %b %Y, %-I %p') }}", "", "");
  ASSERT_TRUE(chat.ok());
  ChatTemplate::Options options;
  options.now = jinja::CivilTime{2024, 7, 5, 15, 4, 5};
  EXPECT_EQ(chat->Render(kNoMessages, options).value(), "05 Jul 2024, 3 PM");
}

TEST(ChatTemplate, ContentThatLooksLikeATemplateIsNotRun) {
  const auto chat = ChatTemplate::Parse("{{ messages[0].content }}", "", "");
  ASSERT_TRUE(chat.ok());
  const ChatMessage messages[] = {{"user", "{{ bos_token }}{% if %}\r\n"}};
  EXPECT_EQ(chat->Render(messages).value(), "{{ bos_token }}{% if %}\r\n");
}

// What Python's jinja2 made of the templates of the two models of the first release.
TEST(ChatTemplate, AgreesWithTheGoldenRenderings) {
  for (const std::string model : {"smollm2", "gemma3"}) {
    const auto golden = io::Json::ParseFile(RML_TESTDATA "/golden/templates/" + model + ".json");
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    const auto chat = ChatTemplate::Parse(*golden->Get<std::string>("template"),
                                          *golden->Get<std::string>("bos_token"),
                                          *golden->Get<std::string>("eos_token"));
    ASSERT_TRUE(chat.ok()) << chat.status().message();
    const io::Json& rows = *golden->Find("rows");
    ASSERT_GT(rows.size(), 10u);
    for (const io::Json& row : rows.items()) {
      const std::string name = *row.Get<std::string>("name");
      ChatTemplate::Options options;
      options.add_generation_prompt = *row.Get<bool>("add_generation_prompt");
      const auto text = chat->Render(jinja::FromJson(*row.Find("messages")), options);
      if (const io::Json* error = row.Find("error")) {
        ASSERT_FALSE(text.ok()) << model << ": " << name << " printed " << *text;
        std::string why = *error->As<std::string>();  // "TemplateError: …"
        why.erase(0, why.find(": ") + 2);
        EXPECT_THAT(std::string(text.status().message()), HasSubstr(why)) << model << ": " << name;
        continue;
      }
      ASSERT_TRUE(text.ok()) << model << ": " << name << ": " << text.status().message();
      EXPECT_EQ(*text, *row.Get<std::string>("output")) << model << ": " << name;
    }
  }
}

// The templates of the wild: 72 of them with 19 conversations each, and what Python's jinja2, set
// up as transformers does, made of them. They belong to their models' vendors, so they are not in
// the repository.
TEST(ChatTemplate, AgreesWithPythonOnTemplatesOfTheWild) {
  const char* data = std::getenv("RML_DATA_DIR");
  if (data == nullptr) GTEST_SKIP() << "RML_DATA_DIR is not set: the wild templates are not tested";
  const std::string folder = std::string(data) + "/chat-templates/";

  const auto cases = io::Json::ParseFile(folder + "cases.json");
  ASSERT_TRUE(cases.ok()) << cases.status().message();
  const auto tokens = io::Json::ParseFile(folder + "tokens.json");
  ASSERT_TRUE(tokens.ok()) << tokens.status().message();
  std::map<std::string, const io::Json*> conversations;
  for (const io::Json& item : cases->items()) {
    conversations[*item.Get<std::string>("case")] = &item;
  }
  std::map<std::string, ChatTemplate> templates;
  for (const io::Json::Member& member : tokens->members()) {
    std::string file = member.key;
    if (file.starts_with("hf/")) file = "hf-" + file.substr(3) + ".jinja";
    auto chat = ChatTemplate::Parse(ReadFile(folder + file),
                                    *member.value.GetOr<std::string>("bos_token", ""),
                                    *member.value.GetOr<std::string>("eos_token", ""));
    ASSERT_TRUE(chat.ok()) << member.key << ": " << chat.status().message();
    templates.emplace(member.key, *std::move(chat));
  }
  EXPECT_EQ(templates.size(), 72u);

  std::istringstream rows(ReadGzip(folder + "renderings.jsonl.gz"));
  int same = 0;
  int refused = 0;
  for (std::string line; std::getline(rows, line);) {
    const auto row = io::Json::Parse(line);
    ASSERT_TRUE(row.ok()) << row.status().message();
    const std::string name = *row->Get<std::string>("template");
    const std::string case_name = *row->Get<std::string>("case");
    const io::Json& conversation = *conversations.at(case_name);
    ChatTemplate::Options options;
    options.now = jinja::CivilTime{2024, 7, 26, 12, 0, 0};
    options.tools = jinja::Value::Undefined("'tools' is undefined");  // as these were rendered
    options.documents = jinja::Value::Undefined("'documents' is undefined");
    for (const io::Json::Member& member : conversation.Find("kwargs")->members()) {
      options.variables.emplace_back(member.key, jinja::FromJson(member.value));
    }
    const auto text =
        templates.at(name).Render(jinja::FromJson(*conversation.Find("messages")), options);
    if (const io::Json* output = row->Find("output")) {
      ASSERT_TRUE(text.ok()) << name << ", " << case_name << ": " << text.status().message();
      ASSERT_EQ(*text, *output->As<std::string_view>()) << name << ", " << case_name;
      ++same;
    } else {
      ASSERT_FALSE(text.ok()) << name << ", " << case_name << " should fail with "
                              << *row->Get<std::string>("error") << " but printed\n"
                              << *text;
      ++refused;
    }
  }
  EXPECT_EQ(same, 1269);
  EXPECT_EQ(refused, 99);
}

}  // namespace
}  // namespace rml::text
