// For the tests of this folder only: reference rows, random texts, and vocabularies built in
// memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "rml/io/gguf.h"
#include "rml/io/gguf_writer.h"
#include "rml/io/json.h"
#include "rml/text/tokenizer.h"
#include "rml/text/utf8.h"

namespace rml::text {

// The folder that an environment variable names, or "".
inline std::string EnvironmentFolder(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

#define RML_FOLDER_OR_SKIP(variable, name)              \
  const std::string variable = EnvironmentFolder(name); \
  if (variable.empty()) GTEST_SKIP() << "set " name " to run this test on real files"

struct ReferenceRow {
  std::string name;
  std::string text;
  std::vector<TokenId> ids;
  std::vector<TokenId> ids_special;
  std::optional<std::vector<TokenId>> ids_unparsed;
  std::string decoded;
};

inline std::vector<ReferenceRow> ReadReferenceRows(const std::string& path) {
  std::vector<ReferenceRow> rows;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  for (std::string line; std::getline(file, line);) {
    auto json = io::Json::Parse(line);
    EXPECT_TRUE(json.ok()) << json.status().message();
    if (!json.ok()) break;
    ReferenceRow row;
    row.name = json->Get<std::string>("name").value_or("?");
    row.text = *json->Get<std::string>("text");
    row.ids = *json->Get<std::vector<TokenId>>("ids");
    row.ids_special = *json->Get<std::vector<TokenId>>("ids_special");
    if (json->Find("ids_unparsed")) {
      row.ids_unparsed = *json->Get<std::vector<TokenId>>("ids_unparsed");
    }
    row.decoded = *json->Get<std::string>("decoded");
    rows.push_back(std::move(row));
  }
  return rows;
}

// All rows, in every way that they can be encoded and decoded. Returns how many there were.
inline int ExpectReferenceRows(const Tokenizer& tokenizer, const std::string& path) {
  const auto rows = ReadReferenceRows(path);
  for (const ReferenceRow& row : rows) {
    SCOPED_TRACE(row.name + ": " + row.text.substr(0, 200));
    EXPECT_EQ(*tokenizer.Encode(row.text, {.add_special = false}), row.ids);
    EXPECT_EQ(*tokenizer.Encode(row.text, {.add_special = true}), row.ids_special);
    if (row.ids_unparsed) {
      EXPECT_EQ(*tokenizer.Encode(row.text, {.add_special = false, .parse_special = false}),
                *row.ids_unparsed);
    }
    EXPECT_EQ(tokenizer.Decode(row.ids), row.decoded);
  }
  return static_cast<int>(rows.size());
}

// Characters that pre-tokenisers treat in different ways, and invalid bytes when `invalid`.
inline std::string RandomText(std::mt19937& random, size_t characters, bool invalid = false) {
  static constexpr std::string_view kParts[] = {"a",
                                                "b",
                                                "Z",
                                                "Q",
                                                "e",
                                                "s",
                                                "t",
                                                "l",
                                                "r",
                                                "v",
                                                "m",
                                                "d",
                                                "S",
                                                "LL",
                                                "'",
                                                "'s",
                                                "'RE",
                                                "’",
                                                "ſ",
                                                "K",
                                                " ",
                                                " ",
                                                " ",
                                                "  ",
                                                "\t",
                                                "\n",
                                                "\r",
                                                "\r\n",
                                                "\n\n",
                                                "\v",
                                                "\f",
                                                "\xC2\x85",
                                                "\xC2\xA0",
                                                "\xE2\x80\xA8",
                                                "\xE3\x80\x80",
                                                "\xE1\xA0\x8E",
                                                "\xEF\xBB\xBF",
                                                "0",
                                                "1",
                                                "9",
                                                "٣",
                                                "½",
                                                "Ⅷ",
                                                "²",
                                                "〇",
                                                ".",
                                                ",",
                                                "!",
                                                "/",
                                                "//",
                                                "_",
                                                "-",
                                                "<",
                                                "$",
                                                "+",
                                                "`",
                                                "~",
                                                "^",
                                                "|",
                                                "€",
                                                "…",
                                                "«",
                                                "。",
                                                "！",
                                                "é",
                                                "e\xCC\x81",
                                                "\xCC\x88",
                                                "ß",
                                                "Ä",
                                                "Ǆ",
                                                "ǅ",
                                                "ǆ",
                                                "ʰ",
                                                "ª",
                                                "ƻ",
                                                "я",
                                                "Ж",
                                                "中",
                                                "文",
                                                "龥",
                                                "龦",
                                                "ひ",
                                                "カ",
                                                "・",
                                                "ー",
                                                "゛",
                                                "\xE3\x82\x99",
                                                "한",
                                                "ᄀ",
                                                "ᅡ",
                                                "ᆨ",
                                                "ا",
                                                "\xD9\x8B",
                                                "न",
                                                "\xE0\xA4\xBE",
                                                "ไ",
                                                "\xE0\xB9\x89",
                                                "😀",
                                                "👩\xE2\x80\x8D👩",
                                                "🏽",
                                                "\xEF\xB8\x8F",
                                                "𝒳",
                                                "𐐀",
                                                "𐐨",
                                                "\x01",
                                                "\x7F",
                                                "\xE2\x80\x8B",
                                                "\xCD\xB8",
                                                "\xF4\x8F\xBF\xBF",
                                                "▁",
                                                "Ġ",
                                                "</s>",
                                                "<0x0A>"};
  std::string text;
  std::uniform_int_distribution<size_t> pick(0, std::size(kParts) - 1);
  std::uniform_int_distribution<int> percent(0, 99);
  for (size_t i = 0; i < characters; ++i) {
    const int dice = percent(random);
    if (dice < 85) {
      text += kParts[pick(random)];
    } else if (dice < 97 || !invalid) {
      char32_t code =
          std::uniform_int_distribution<char32_t>(1, dice < 95 ? 0x3FFF : 0x10FFFF)(random);
      if (code >= 0xD800 && code < 0xE000) code = '?';
      AppendUtf8(code, &text);
    } else {
      text += static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
    }
  }
  return text;
}

// What a GGUF vocabulary consists of; tests change one thing and look what happens.
struct VocabularySpec {
  std::string model = "gpt2";
  std::string pre = "gpt-2";
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::vector<float> scores;
  std::vector<std::string> merges;
  std::vector<std::pair<std::string, uint32_t>> numbers;  // further keys
  std::vector<std::pair<std::string, bool>> switches;
};

inline core::Expected<std::shared_ptr<const Tokenizer>> LoadSpec(const VocabularySpec& spec) {
  RML_ASSIGN(auto writer, io::GgufWriter::Create());
  RML_TRY(writer.Set("general.architecture", "llama"));
  RML_TRY(writer.Set("tokenizer.ggml.model", spec.model));
  if (!spec.pre.empty()) RML_TRY(writer.Set("tokenizer.ggml.pre", spec.pre));
  RML_TRY(writer.Set("tokenizer.ggml.tokens", spec.tokens));
  if (!spec.types.empty()) RML_TRY(writer.Set("tokenizer.ggml.token_type", spec.types));
  if (!spec.scores.empty()) RML_TRY(writer.Set("tokenizer.ggml.scores", spec.scores));
  if (spec.model == "gpt2") RML_TRY(writer.Set("tokenizer.ggml.merges", spec.merges));
  for (const auto& [key, value] : spec.numbers) RML_TRY(writer.Set(key, value));
  for (const auto& [key, value] : spec.switches) RML_TRY(writer.Set(key, value));
  RML_ASSIGN(const std::vector<std::byte> bytes, writer.ToBytes());
  // Parse wants 32-byte alignment.
  std::vector<std::byte> storage(bytes.size() + 32);
  void* start = storage.data();
  size_t space = storage.size();
  std::align(32, bytes.size(), start, space);
  std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(start));
  RML_ASSIGN(const io::GgufFile file,
             io::GgufFile::Parse({static_cast<std::byte*>(start), bytes.size()}, "test.gguf"));
  return Tokenizer::FromGguf(file);
}

}  // namespace rml::text
