// Tokenizers from Hugging Face's tokenizer.json, with the behaviour of their `tokenizers` library.
// `truncation` and `padding` are not applied: their transformers library resets them as well.
#include <algorithm>

#include "rml/text/json_components.h"
#include "rml/text/tokenizer_parts.h"

namespace rml::text {
namespace {

class JsonLoader {
 public:
  JsonLoader(const io::Json* tokenizer, const io::Json* config)
      : root_(tokenizer, ""), config_(config, "") {}

  core::Expected<std::unique_ptr<TokenizerParts>> Load() {
    if (core::Status status = LoadTokenizer(); !status.ok()) {
      return status.WithContext("tokenizer.json");
    }
    if (core::Status status = LoadConfig(); !status.ok()) {
      return status.WithContext("tokenizer_config.json");
    }
    return std::move(parts_);
  }

 private:
  core::Status LoadTokenizer() {
    RML_TRY(root_.ExpectObject());
    RML_TRY(LoadVocabulary());
    RML_ASSIGN(parts_->normalizers, ReadNormalizers(root_.Member("normalizer")));
    RML_ASSIGN(JsonPreTokenizer pre, ReadPreTokenizer(root_.Member("pre_tokenizer")));
    if (!pre.steps.empty()) parts_->pre_tokenizer = MakeSequence(std::move(pre.steps));
    RML_TRY(LoadModel(pre.byte_level));
    RML_TRY(LoadAddedTokens());
    RML_ASSIGN(Affixes affixes, ReadPostProcessor(root_.Member("post_processor"), vocabulary()));
    parts_->prefix = std::move(affixes.prefix);
    parts_->suffix = std::move(affixes.suffix);
    RML_ASSIGN(parts_->detokenizer, ReadDecoder(root_.Member("decoder")));
    return core::OkStatus();
  }

  Vocabulary& vocabulary() { return parts_->vocabulary; }

  // Places a token of the file under its id.
  core::Status Place(const JsonReader& where, int64_t id, std::string_view text, TokenKind kind) {
    if (id < 0 || id >= kMaxVocabularySize) {
      return where.Malformed("has the id ", id, ", and rml takes 0 … ", kMaxVocabularySize - 1);
    }
    const auto at = static_cast<size_t>(id);
    if (at >= pieces_.size()) {
      pieces_.resize(at + 1);
      kinds_.resize(at + 1, TokenKind::kAbsent);
    }
    if (kinds_[at] != TokenKind::kAbsent && pieces_[at] != text) {
      return where.Malformed("gives the id ", id, " to '", text, "', which '", pieces_[at],
                             "' has");
    }
    pieces_[at] = text;
    kinds_[at] = kind;
    return core::OkStatus();
  }

  core::Status LoadVocabulary() {
    const JsonReader model = root_.Member("model");
    RML_TRY(model.ExpectObject());
    RML_ASSIGN(const auto type, model.GetOr<std::string_view>("type", "BPE"));
    if (type != "BPE") {
      return model.Member("type").NotSupported("is '", type, "', and rml knows the model BPE");
    }
    const JsonReader vocab = model.Member("vocab");
    RML_TRY(vocab.ExpectObject());
    for (const io::Json::Member& member : vocab.json().members()) {
      auto id = member.value.As<int64_t>();
      if (!id.ok()) return vocab.Malformed("gives '", member.key, "' an id that is no integer");
      RML_TRY(Place(vocab, *id, member.key, TokenKind::kNormal));
    }
    const JsonReader added = root_.Member("added_tokens");
    if (!added.is_null()) RML_TRY(added.ExpectArray());
    for (size_t i = 0; i < added.size(); ++i) {
      const JsonReader token = added.Item(i);
      RML_ASSIGN(const auto id, token.Get<int64_t>("id"));
      RML_ASSIGN(const auto content, token.Get<std::string_view>("content"));
      RML_ASSIGN(const bool special, token.GetOr<bool>("special", false));
      if (content.empty()) return token.Malformed("has no content");
      RML_TRY(Place(token, id, content, special ? TokenKind::kControl : TokenKind::kUserDefined));
    }
    if (pieces_.empty()) return vocab.Malformed("is empty");
    size_t bytes = 0;
    for (const std::string_view piece : pieces_) bytes += piece.size();
    vocabulary().Reserve(pieces_.size(), bytes);
    for (size_t i = 0; i < pieces_.size(); ++i) vocabulary().Add(pieces_[i], kinds_[i]);
    return vocabulary().Index();
  }

  core::Status LoadModel(bool byte_level) {
    const JsonReader model = root_.Member("model");
    for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      RML_ASSIGN(const auto affix, model.GetOr<std::string>(key, std::string()));
      if (!affix.empty()) return model.Member(key).NotSupported("is '", affix, "', not empty");
    }
    RML_ASSIGN(const double dropout, model.GetOr<double>("dropout", 0.0));
    if (dropout != 0.0) return model.Member("dropout").NotSupported("is ", dropout, ", not 0");
    UnknownRule unknown;
    RML_ASSIGN(unknown.fuse, model.GetOr<bool>("fuse_unk", false));
    RML_ASSIGN(unknown.byte_fallback, model.GetOr<bool>("byte_fallback", false));
    RML_ASSIGN(const auto unk, model.GetOr<std::string>("unk_token", std::string()));
    if (!unk.empty()) {
      unknown.unknown = vocabulary().Find(unk);
      if (!unknown.unknown) {
        return model.Member("unk_token").Malformed("is '", unk, "', which the vocabulary lacks");
      }
    }
    parts_->unk = unknown.unknown;
    RML_ASSIGN(const bool ignore_merges, model.GetOr<bool>("ignore_merges", false));
    RML_ASSIGN(MergeTable merges, LoadMerges(model.Member("merges")));
    if (byte_level && unknown.byte_fallback) {
      return model.Member("byte_fallback").NotSupported("is true beside a ByteLevel pre-tokenizer");
    }
    if (byte_level) {
      parts_->model = MakeByteBpe(&vocabulary(), std::move(merges),
                                  {.ignore_merges = ignore_merges, .unknown = unknown});
    } else {
      parts_->model = MakeCharBpe(&vocabulary(), std::move(merges), ignore_merges, unknown);
    }
    return core::OkStatus();
  }

  // Rules are "left right" or, since tokens may hold spaces, ["left", "right"].
  core::Expected<MergeTable> LoadMerges(const JsonReader& rules) {
    RML_TRY(rules.ExpectArray());
    if (rules.size() > MergeTable::kMaxMerges) {
      return rules.NotSupported("has ", rules.size(), " rules, and rml takes ",
                                MergeTable::kMaxMerges, " at most");
    }
    MergeTable merges;
    merges.Reserve(rules.size());
    std::string joined;
    const std::span<const io::Json> items = rules.json().items();
    for (size_t i = 0; i < items.size(); ++i) {
      std::string_view left, right;
      if (!SplitRuleText(items[i], &left, &right)) {
        return rules.Item(i).Malformed("is neither \"left right\" nor [\"left\", \"right\"]");
      }
      joined.assign(left).append(right);
      const TokenId ids[] = {vocabulary().Lookup(left), vocabulary().Lookup(right),
                             vocabulary().Lookup(joined)};
      if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0) {
        const std::string_view missing = ids[0] < 0 ? left : ids[1] < 0 ? right : joined;
        return rules.Item(i).Malformed("needs the token '", missing, "', which model.vocab lacks");
      }
      merges.Add(ids[0], ids[1], ids[2], MergeTable::Repeated::kLastWins);
    }
    return merges;
  }

  static bool SplitRuleText(const io::Json& rule, std::string_view* left, std::string_view* right) {
    if (rule.is_array()) {
      if (rule.size() != 2) return false;
      const auto first = rule.items()[0].As<std::string_view>();
      const auto second = rule.items()[1].As<std::string_view>();
      if (!first.ok() || !second.ok()) return false;
      *left = *first;
      *right = *second;
      return true;
    }
    const auto text = rule.As<std::string_view>();
    if (!text.ok()) return false;
    const size_t space = text->find(' ');
    if (space == std::string_view::npos || text->find(' ', space + 1) != std::string_view::npos) {
      return false;
    }
    *left = text->substr(0, space);
    *right = text->substr(space + 1);
    return true;
  }

  core::Status LoadAddedTokens() {
    parts_->special.assign(static_cast<size_t>(vocabulary().size()), false);
    const JsonReader added = root_.Member("added_tokens");
    std::vector<SpecialToken> raw, normalized;
    std::string first, second;
    for (size_t i = 0; i < added.size(); ++i) {
      const JsonReader json = added.Item(i);
      SpecialToken token;
      RML_ASSIGN(token.id, json.Get<TokenId>("id"));
      RML_ASSIGN(token.text, json.Get<std::string>("content"));
      RML_ASSIGN(token.control, json.GetOr<bool>("special", false));
      RML_ASSIGN(token.strip_left, json.GetOr<bool>("lstrip", false));
      RML_ASSIGN(token.strip_right, json.GetOr<bool>("rstrip", false));
      RML_ASSIGN(token.single_word, json.GetOr<bool>("single_word", false));
      RML_ASSIGN(const bool is_normalized, json.GetOr<bool>("normalized", !token.control));
      parts_->special[static_cast<size_t>(token.id)] = token.control;
      if (!is_normalized) {
        raw.push_back(std::move(token));
        continue;
      }
      RML_ASSIGN(const auto text, ApplyAll(parts_->normalizers, token.text, &first, &second));
      token.text = std::string(text);
      if (!token.text.empty()) normalized.push_back(std::move(token));
    }
    parts_->raw_tokens = SpecialTokens(std::move(raw), SpecialTokens::Order::kLeftmostLongest);
    parts_->normalized_tokens =
        SpecialTokens(std::move(normalized), SpecialTokens::Order::kLeftmostLongest);
    return core::OkStatus();
  }

  core::Status LoadConfig() {
    RML_ASSIGN(parts_->bos, ConfigToken("bos_token"));
    RML_ASSIGN(parts_->eos, ConfigToken("eos_token"));
    RML_ASSIGN(parts_->pad, ConfigToken("pad_token"));
    if (!parts_->unk) {
      RML_ASSIGN(parts_->unk, ConfigToken("unk_token"));
    }
    // Without a configuration, what the post-processor puts first is the BOS.
    if (config_.is_null() && parts_->prefix.size() == 1) parts_->bos = parts_->prefix[0];
    parts_->end_of_generation =
        FindEndOfGeneration(vocabulary(), parts_->eos, std::nullopt, std::nullopt);
    RML_ASSIGN(parts_->chat_template, ConfigTemplate());
    return core::OkStatus();
  }

  // A token of the configuration: its text, or an object that holds it as "content".
  core::Expected<std::optional<TokenId>> ConfigToken(std::string_view key) {
    JsonReader value = config_.Member(key);
    if (value.json().is_object()) value = value.Member("content");
    if (value.is_null()) return std::optional<TokenId>();
    RML_ASSIGN(const auto text, value.As<std::string_view>());
    return vocabulary().Find(text);
  }

  // One template, or a list of named ones, of which "default" is meant.
  core::Expected<std::string> ConfigTemplate() {
    const JsonReader value = config_.Member("chat_template");
    if (value.is_null()) return std::string();
    if (!value.json().is_array()) return value.As<std::string>();
    for (size_t i = 0; i < value.size(); ++i) {
      RML_ASSIGN(const auto name, value.Item(i).Get<std::string>("name"));
      if (name == "default") return value.Item(i).Get<std::string>("template");
    }
    return std::string();
  }

  const JsonReader root_;
  const JsonReader config_;
  std::unique_ptr<TokenizerParts> parts_ = std::make_unique<TokenizerParts>();
  std::vector<std::string_view> pieces_;  // by id, into the JSON
  std::vector<TokenKind> kinds_;
};

}  // namespace

core::Expected<std::unique_ptr<TokenizerParts>> LoadJsonTokenizer(
    std::string_view tokenizer_json, std::string_view tokenizer_config_json) {
  auto tokenizer = io::Json::Parse(tokenizer_json);
  if (!tokenizer.ok()) return tokenizer.status().WithContext("tokenizer.json");
  io::Json config;
  if (!tokenizer_config_json.empty()) {
    auto parsed = io::Json::Parse(tokenizer_config_json);
    if (!parsed.ok()) return parsed.status().WithContext("tokenizer_config.json");
    config = *std::move(parsed);
  }
  return JsonLoader(&*tokenizer, &config).Load();
}

}  // namespace rml::text
