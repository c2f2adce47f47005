// Tokenizers from GGUF metadata, with llama.cpp's behaviour.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "rml/io/gguf.h"
#include "rml/text/scanners.h"
#include "rml/text/tokenizer_parts.h"
#include "rml/text/utf8.h"
#include "rml/text/word_starts.h"

namespace rml::text {
namespace {

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

// DeepSeek LLM's letters, as its tokenizer.json lists them: the cased letters of the BMP and
// beyond.
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293})"
    R"(\x{295}-\x{2af}\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386})"
    R"(\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f})"
    R"(\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba})"
    R"(\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15})"
    R"(\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b})"
    R"(\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4})"
    R"(\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4})"
    R"(\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124})"
    R"(\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139}\x{213c}-\x{213f})"
    R"(\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f})"
    R"(\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17})"
    R"(\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3})"
    R"(\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df})"
    R"(\x{1e900}-\x{1e943}]+)";

// What a value of tokenizer.ggml.pre means: the patterns that cut the text, one after the other.
struct PreTokenizerKind {
  std::string_view names;  // separated by spaces
  std::array<std::string_view, 6> patterns;
  bool ignore_merges = false;
  bool add_bos = false;
};

constexpr std::string_view kQwen35Pattern =
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4oPattern =
    R"([^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr PreTokenizerKind kKinds[] = {
    {"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2",
     {kLlama3AsciiPattern},
     true,
     true},
    {"dbrx smaug-bpe chatglm-bpe", {kLlama3AsciiPattern}},
    {"glm4", {kLlama3AsciiPattern}, true},
    {"qwen2 deepseek-r1-qwen megrez stablelm2 hunyuan solar-open grok-2", {kQwen2AsciiPattern}},
    {"qwen35", {kQwen35Pattern}},
    {"smollm starcoder refact command-r codeshell exaone minerva-7b",
     {kDigitPattern, kGpt2Pattern}},
    {"gpt-2 phi-2 mpt olmo jais trillion exaone4 gigachat granite-docling", {kGpt2Pattern}},
    {"tekken", {kTekkenAsciiPattern}, true, true},
    {"gpt-4o llama4 kanana2", {kGpt4oPattern}},
    {"deepseek-v3 hunyuan-dense", {kThreeDigitsPattern, kCjkPattern, kDeepSeek3Pattern}},
    {"deepseek-llm",
     {"[\r\n]", kDeepSeekLetters, "\\s?[!-/:-~！-／：-～‘-‟　-。]+", "\\s+$",
      "[一-龥ࠀ-一가-퟿]+", "\\p{N}+"}},
    {"deepseek-coder",
     {"[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+", kDigitPattern}},
    {"falcon", {"[\\p{P}\\$\\+<=>\\^~\\|`]+", kGpt2Pattern, "[0-9][0-9][0-9]"}},
    // Files from before the key existed.
    {"default", {"[\\p{P}\\$\\+<=>\\^~\\|]+", kGpt2Pattern, "\\p{N}+", "[0-9][0-9][0-9]"}},
};

bool NameIn(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

core::Expected<const PreTokenizerKind*> FindKind(std::string_view name) {
  std::string known;
  for (const PreTokenizerKind& kind : kKinds) {
    if (NameIn(kind.names, name)) return &kind;
    known.append(known.empty() ? "" : " ").append(kind.names);
  }
  return core::Unsupported(kPreKey, " is '", name, "', and rml knows the pre-tokenizers ", known);
}

class GgufLoader {
 public:
  explicit GgufLoader(const io::GgufFile& file) : file_(file) {}

  core::Expected<std::unique_ptr<TokenizerParts>> Load() {
    RML_ASSIGN(const auto model, file_.Get<std::string_view>("tokenizer.ggml.model"));
    const bool sentence_piece = model == "llama";
    if (!sentence_piece && model != "gpt2") {
      return core::Unsupported("tokenizer.ggml.model is '", model,
                               "', and rml knows 'gpt2' (byte-level BPE) and 'llama' "
                               "(SentencePiece BPE)");
    }
    RML_TRY(LoadVocabulary());
    RML_TRY(LoadSpecialIds(sentence_piece));
    if (sentence_piece) {
      RML_TRY(LoadSentencePiece());
    } else {
      RML_TRY(LoadByteBpe());
    }
    RML_TRY(LoadAffixes());
    MarkControlTokens();
    RML_TRY(CollectSpecialTokens());
    RML_ASSIGN(parts_->chat_template,
               file_.GetOr<std::string>("tokenizer.chat_template", std::string()));
    return std::move(parts_);
  }

 private:
  Vocabulary& vocabulary() { return parts_->vocabulary; }

  core::Status LoadVocabulary() {
    RML_ASSIGN(const auto pieces, file_.GetStrings(kTokensKey));
    if (pieces.empty()) return core::DataLoss(kTokensKey, " is empty");
    if (pieces.size() > static_cast<size_t>(kMaxVocabularySize)) {
      return core::Unsupported(kTokensKey, " has ", pieces.size(), " tokens, and rml takes ",
                               kMaxVocabularySize, " at most");
    }
    RML_ASSIGN(const auto kinds, LoadKinds(pieces.size()));
    size_t bytes = 0;
    for (const std::string_view piece : pieces) bytes += piece.size();
    vocabulary().Reserve(pieces.size(), bytes);
    for (size_t id = 0; id < pieces.size(); ++id) {
      if (kinds[id] == TokenKind::kByte && ParseByteToken(pieces[id]) < 0) {
        return core::DataLoss(kTokensKey, ": token ", id, " is marked as a byte and reads '",
                              ToValidUtf8(pieces[id].substr(0, 40)), "', not '<0x00>' … '<0xFF>'");
      }
      vocabulary().Add(pieces[id], kinds[id]);
    }
    return vocabulary().Index().WithContext(kTokensKey);
  }

  core::Expected<std::vector<TokenKind>> LoadKinds(size_t count) const {
    std::vector<TokenKind> kinds(count, TokenKind::kNormal);
    const io::GgufValue* types = file_.Find(kTypesKey);
    if (types == nullptr) return kinds;
    if (!types->is_array() || types->element_type() != io::GgufType::kI32) {
      return core::DataLoss(kTypesKey, " is no array of 32-bit integers");
    }
    if (types->size() < count) {
      return core::DataLoss(kTypesKey, " has ", types->size(), " elements for ", count, " tokens");
    }
    constexpr TokenKind kByNumber[] = {
        TokenKind::kUnused,      TokenKind::kNormal, TokenKind::kUnknown, TokenKind::kControl,
        TokenKind::kUserDefined, TokenKind::kUnused, TokenKind::kByte};
    for (size_t i = 0; i < count; ++i) {
      int32_t number = 0;
      std::memcpy(&number, types->raw().data() + i * sizeof(number), sizeof(number));
      const bool known = number >= 0 && number < static_cast<int32_t>(std::size(kByNumber));
      kinds[i] = known ? kByNumber[number] : TokenKind::kUnused;
    }
    return kinds;
  }

  core::Expected<std::optional<TokenId>> SpecialId(std::string_view name,
                                                   std::optional<TokenId> fallback) {
    const std::string key = core::StrCat("tokenizer.ggml.", name, "_token_id");
    if (!file_.Has(key)) {
      if (fallback && !vocabulary().Contains(*fallback)) fallback.reset();
      return fallback;
    }
    RML_ASSIGN(const auto id, file_.Get<uint32_t>(key));
    if (id >= static_cast<uint32_t>(vocabulary().size())) {
      return core::DataLoss(key, " is ", id, ", and the vocabulary has ", vocabulary().size(),
                            " tokens");
    }
    return std::optional(static_cast<TokenId>(id));
  }

  core::Status LoadSpecialIds(bool sentence_piece) {
    using Id = std::optional<TokenId>;
    RML_ASSIGN(parts_->bos, SpecialId("bos", sentence_piece ? Id(1) : Id()));
    RML_ASSIGN(parts_->eos, SpecialId("eos", sentence_piece ? Id(2) : Id()));
    RML_ASSIGN(parts_->unk, SpecialId("unknown", sentence_piece ? Id(0) : Id()));
    RML_ASSIGN(parts_->pad, SpecialId("padding", Id()));
    RML_ASSIGN(const Id eot, SpecialId("eot", Id()));
    RML_ASSIGN(const Id eom, SpecialId("eom", Id()));
    parts_->end_of_generation = FindEndOfGeneration(vocabulary(), parts_->eos, eot, eom);
    return core::OkStatus();
  }

  core::Status LoadSentencePiece() {
    RML_ASSIGN(const auto scores, LoadScores());
    add_bos_ = true;
    parts_->model = MakeSentencePieceBpe(&vocabulary(), scores, parts_->unk);
    RML_ASSIGN(const bool prefix, file_.GetOr<bool>("tokenizer.ggml.add_space_prefix", true));
    if (prefix) parts_->normalizers.push_back(MakePrepend(kSpaceMark));
    parts_->normalizers.push_back(MakeReplace(" ", kSpaceMark));
    parts_->detokenizer = {.steps = {{DecodeStep::Kind::kReplace, std::string(kSpaceMark), " "}},
                           .by_kind = true,
                           .strip_start = prefix ? " " : ""};
    return core::OkStatus();
  }

  core::Expected<std::vector<float>> LoadScores() const {
    const auto count = static_cast<size_t>(parts_->vocabulary.size());
    std::vector<float> scores(count, 0.0f);
    const io::GgufValue* value = file_.Find(kScoresKey);
    if (value == nullptr) return scores;
    if (!value->is_array() || value->element_type() != io::GgufType::kF32) {
      return core::DataLoss(kScoresKey, " is no array of 32-bit floats");
    }
    if (value->size() < count) {
      return core::DataLoss(kScoresKey, " has ", value->size(), " elements for ", count, " tokens");
    }
    std::memcpy(scores.data(), value->raw().data(), count * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
      if (std::isnan(scores[i]))
        return core::DataLoss(kScoresKey, ": score ", i, " is not a number");
    }
    return scores;
  }

  core::Status LoadByteBpe() {
    RML_ASSIGN(const auto name, file_.GetOr<std::string_view>(kPreKey, "default"));
    RML_ASSIGN(const PreTokenizerKind* kind, FindKind(name));
    std::vector<PreTokenizerPtr> steps;
    for (const std::string_view pattern : kind->patterns) {
      if (pattern.empty()) break;
      RML_ASSIGN(auto step, MakePatternSplit(pattern, {}, /*multi_line=*/false));
      steps.push_back(std::move(step));
    }
    parts_->pre_tokenizer = MakeSequence(std::move(steps));
    add_bos_ = kind->add_bos;
    RML_ASSIGN(auto merges, LoadMerges());
    parts_->model = MakeByteBpe(
        &vocabulary(), std::move(merges),
        {.ignore_merges = kind->ignore_merges, .missing_bytes_separate = true, .unknown = {}});
    parts_->detokenizer = {.steps = {{DecodeStep::Kind::kByteAlphabet}}, .by_kind = true};
    return core::OkStatus();
  }

  core::Expected<MergeTable> LoadMerges() {
    RML_ASSIGN(const auto rules, file_.GetStrings(kMergesKey));
    if (rules.size() > MergeTable::kMaxMerges) {
      return core::Unsupported(kMergesKey, " has ", rules.size(), " rules, and rml takes ",
                               MergeTable::kMaxMerges, " at most");
    }
    MergeTable merges;
    merges.Reserve(rules.size());
    std::string joined;
    for (size_t i = 0; i < rules.size(); ++i) {
      const std::string_view rule = rules[i];
      const size_t space = rule.find(' ', 1);
      if (space == std::string_view::npos || space + 1 == rule.size()) {
        return core::DataLoss(kMergesKey, ": rule ", i, " is '", ToValidUtf8(rule.substr(0, 80)),
                              "', not two tokens with a space between");
      }
      const std::string_view left = rule.substr(0, space);
      const std::string_view right = rule.substr(space + 1);
      joined.assign(left).append(right);
      const TokenId ids[] = {vocabulary().Lookup(left), vocabulary().Lookup(right),
                             vocabulary().Lookup(joined)};
      if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0) {
        const std::string_view missing = ids[0] < 0 ? left : ids[1] < 0 ? right : joined;
        return core::DataLoss(kMergesKey, ": rule ", i, " ('", ToValidUtf8(rule.substr(0, 80)),
                              "') needs the token '", ToValidUtf8(missing.substr(0, 80)),
                              "', which ", kTokensKey, " lacks");
      }
      merges.Add(ids[0], ids[1], ids[2], MergeTable::Repeated::kFirstWins);
    }
    return merges;
  }

  core::Status LoadAffixes() {
    RML_ASSIGN(const bool add_bos, file_.GetOr<bool>("tokenizer.ggml.add_bos_token", add_bos_));
    RML_ASSIGN(const bool add_eos, file_.GetOr<bool>("tokenizer.ggml.add_eos_token", false));
    if (add_bos && parts_->bos) parts_->prefix = {*parts_->bos};
    if (add_eos && parts_->eos) parts_->suffix = {*parts_->eos};
    return core::OkStatus();
  }

  // Tokens known by name to steer are control tokens, whatever their file says.
  void MarkControlTokens() {
    constexpr std::string_view kNames[] = {
        "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
        "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>",  "<SUF>", "▁<SUF>",
        "<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>",   "<MID>", "▁<MID>",
    };
    for (const TokenId id : parts_->end_of_generation)
      vocabulary().set_kind(id, TokenKind::kControl);
    for (const std::string_view name : kNames) {
      if (const auto id = vocabulary().Find(name)) vocabulary().set_kind(*id, TokenKind::kControl);
    }
    // GPT-OSS's channel marks are to be seen.
    for (const std::string_view name :
         {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}) {
      if (const auto id = vocabulary().Find(name)) {
        vocabulary().set_kind(*id, TokenKind::kUserDefined);
      }
    }
  }

  core::Status CollectSpecialTokens() {
    RML_ASSIGN(const bool phi3, IsPhi3());
    std::vector<SpecialToken> tokens;
    parts_->special.assign(static_cast<size_t>(vocabulary().size()), false);
    for (TokenId id = 0; id < vocabulary().size(); ++id) {
      const TokenKind kind = vocabulary().kind(id);
      const bool control = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
      parts_->special[static_cast<size_t>(id)] = control;
      if (!control && kind != TokenKind::kUserDefined) continue;
      const std::string_view text = vocabulary().piece(id);
      if (text.empty()) continue;
      const bool keeps_space = text == "<unk>" || text == "<s>" || text == "<|endoftext|>";
      tokens.push_back({.id = id,
                        .text = std::string(text),
                        .control = control,
                        .strip_right = phi3 && !keeps_space});
    }
    parts_->raw_tokens = SpecialTokens(std::move(tokens), SpecialTokens::Order::kLongestFirst);
    return core::OkStatus();
  }

  // Phi-3's special tokens take the white space behind them along; GGUF has no key that says so,
  // and llama.cpp goes by the model's name.
  core::Expected<bool> IsPhi3() const {
    RML_ASSIGN(std::string name, file_.GetOr<std::string>("general.name", std::string()));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c; });
    return name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
  }

  const io::GgufFile& file_;
  std::unique_ptr<TokenizerParts> parts_ = std::make_unique<TokenizerParts>();
  bool add_bos_ = false;  // unless the file says
};

}  // namespace

core::Expected<std::unique_ptr<TokenizerParts>> LoadGgufTokenizer(const io::GgufFile& file) {
  auto parts = GgufLoader(file).Load();
  if (!parts.ok()) return parts.status().WithContext(file.name());
  return parts;
}

}  // namespace rml::text
