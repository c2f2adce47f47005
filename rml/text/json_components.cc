#include "rml/text/json_components.h"

#include <utility>

#include "rml/text/scanners.h"
#include "rml/text/utf8.h"

namespace rml::text {
namespace {

// Nesting of sequences; the JSON parser limits it too, this keeps the recursion shallow.
constexpr int kMaxDepth = 16;

struct PatternRef {
  std::string text;
  bool regex;
};

// {"String": "x"} or {"Regex": "x"}.
core::Expected<PatternRef> ReadPattern(const JsonReader& pattern) {
  if (const JsonReader text = pattern.Member("String"); !text.is_null()) {
    RML_ASSIGN(std::string value, text.As<std::string>());
    return PatternRef{std::move(value), false};
  }
  if (const JsonReader regex = pattern.Member("Regex"); !regex.is_null()) {
    RML_ASSIGN(std::string value, regex.As<std::string>());
    return PatternRef{std::move(value), true};
  }
  return pattern.Malformed("is neither a String nor a Regex");
}

core::Expected<std::unique_ptr<const Matcher>> MakeMatcher(const JsonReader& pattern) {
  RML_ASSIGN(const PatternRef ref, ReadPattern(pattern));
  if (!ref.regex) return MatchString(ref.text);
  auto matcher = CompilePattern(ref.text, /*multi_line=*/true);
  if (!matcher.ok()) return matcher.status().WithContext(pattern.path());
  return matcher;
}

core::Status ReadNormalizer(const JsonReader& json, int depth, std::vector<NormalizerPtr>* out) {
  RML_ASSIGN(const auto type, json.Get<std::string_view>("type"));
  if (type == "Sequence") {
    const JsonReader list = json.Member("normalizers");
    RML_TRY(list.ExpectArray());
    if (depth == kMaxDepth) return list.NotSupported("is nested too deeply");
    for (size_t i = 0; i < list.size(); ++i) RML_TRY(ReadNormalizer(list.Item(i), depth + 1, out));
    return core::OkStatus();
  }
  constexpr std::pair<std::string_view, NormalForm> kForms[] = {{"NFC", NormalForm::kNfc},
                                                                {"NFD", NormalForm::kNfd},
                                                                {"NFKC", NormalForm::kNfkc},
                                                                {"NFKD", NormalForm::kNfkd}};
  for (const auto& [name, form] : kForms) {
    if (type != name) continue;
    out->push_back(MakeNormalForm(form));
    return core::OkStatus();
  }
  if (type == "Lowercase") {
    out->push_back(MakeLowercase());
  } else if (type == "Prepend") {
    RML_ASSIGN(const auto prefix, json.Get<std::string>("prepend"));
    out->push_back(MakePrepend(prefix));
  } else if (type == "Strip") {
    RML_ASSIGN(const bool left, json.GetOr<bool>("strip_left", true));
    RML_ASSIGN(const bool right, json.GetOr<bool>("strip_right", true));
    out->push_back(MakeStripSpaces(left, right));
  } else if (type == "Replace") {
    const JsonReader pattern = json.Member("pattern");
    RML_ASSIGN(const PatternRef ref, ReadPattern(pattern));
    RML_ASSIGN(const auto content, json.Get<std::string>("content"));
    if (ref.regex) {
      RML_ASSIGN(auto matcher, MakeMatcher(pattern));
      out->push_back(MakeReplaceMatches(std::move(matcher), content));
    } else {
      out->push_back(MakeReplace(ref.text, content));
    }
  } else {
    return json.Member("type").NotSupported(
        "is '", type,
        "', and rml knows the normalizers Sequence, NFC, NFD, NFKC, NFKD, Lowercase, "
        "Prepend, Strip and Replace");
  }
  return core::OkStatus();
}

core::Expected<SplitRule> ReadSplitRule(const JsonReader& json) {
  SplitRule rule;
  RML_ASSIGN(rule.invert, json.GetOr<bool>("invert", false));
  RML_ASSIGN(const auto behavior, json.GetOr<std::string_view>("behavior", "Isolated"));
  constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  for (const auto& [name, value] : kBehaviors) {
    if (behavior != name) continue;
    rule.behavior = value;
    return rule;
  }
  return json.Member("behavior").NotSupported("is '", behavior, "', which rml does not know");
}

core::Expected<PreTokenizerPtr> ReadSplit(const JsonReader& json) {
  RML_ASSIGN(const SplitRule rule, ReadSplitRule(json));
  const JsonReader pattern = json.Member("pattern");
  RML_ASSIGN(const PatternRef ref, ReadPattern(pattern));
  if (!ref.regex) return MakeSplit(MatchString(ref.text), rule);
  auto split = MakePatternSplit(ref.text, rule, /*multi_line=*/true);
  if (!split.ok()) return split.status().WithContext(pattern.path());
  return split;
}

core::Expected<PreTokenizerPtr> ReadMetaspace(const JsonReader& json) {
  RML_ASSIGN(const auto replacement, json.GetOr<std::string>("replacement", "▁"));
  if (replacement.empty()) return json.Member("replacement").Malformed("is empty");
  RML_ASSIGN(const bool split, json.GetOr<bool>("split", true));
  // Before prepend_scheme existed, add_prefix_space said always or never.
  RML_ASSIGN(const bool prefix, json.GetOr<bool>("add_prefix_space", true));
  RML_ASSIGN(const auto scheme,
             json.GetOr<std::string_view>("prepend_scheme", prefix ? "always" : "never"));
  constexpr std::pair<std::string_view, PrependScheme> kSchemes[] = {
      {"never", PrependScheme::kNever},
      {"first", PrependScheme::kFirst},
      {"always", PrependScheme::kAlways}};
  for (const auto& [name, value] : kSchemes) {
    if (scheme == name) return MakeMetaspace(replacement, value, split);
  }
  return json.Member("prepend_scheme").NotSupported("is '", scheme, "', which rml does not know");
}

core::Status ReadPreTokenizerStep(const JsonReader& json, int depth, JsonPreTokenizer* out) {
  RML_ASSIGN(const auto type, json.Get<std::string_view>("type"));
  if (type == "Sequence") {
    const JsonReader list = json.Member("pretokenizers");
    RML_TRY(list.ExpectArray());
    if (depth == kMaxDepth) return list.NotSupported("is nested too deeply");
    for (size_t i = 0; i < list.size(); ++i) {
      RML_TRY(ReadPreTokenizerStep(list.Item(i), depth + 1, out));
    }
    return core::OkStatus();
  }
  if (out->byte_level) {
    return json.NotSupported("comes after ByteLevel, which rml only knows as the last step");
  }
  if (type == "ByteLevel") {
    out->byte_level = true;
    RML_ASSIGN(const bool prefix, json.GetOr<bool>("add_prefix_space", true));
    RML_ASSIGN(const bool regex, json.GetOr<bool>("use_regex", true));
    if (prefix) out->steps.push_back(MakeSpacePrefix());
    if (regex) out->steps.push_back(MakeScannerSplit(*FindScanner(kGpt2Pattern)));
  } else if (type == "Split") {
    RML_ASSIGN(auto step, ReadSplit(json));
    out->steps.push_back(std::move(step));
  } else if (type == "Metaspace") {
    RML_ASSIGN(auto step, ReadMetaspace(json));
    out->steps.push_back(std::move(step));
  } else if (type == "Digits") {
    RML_ASSIGN(const bool individual, json.GetOr<bool>("individual_digits", false));
    out->steps.push_back(individual ? MakeScannerSplit(*FindScanner(kDigitPattern))
                                    : MakeSplit(MatchClass(kNumber, true), {}));
  } else if (type == "Punctuation") {
    RML_ASSIGN(const SplitRule rule, ReadSplitRule(json));
    RML_ASSIGN(auto matcher, CompilePattern(R"([\p{P}!-/:-@\[-`{-~])", true));
    out->steps.push_back(MakeSplit(std::move(matcher), rule));
  } else if (type == "Whitespace") {
    RML_ASSIGN(auto step,
               MakePatternSplit(R"(\w+|[^\w\s]+)", {SplitBehavior::kRemoved, true}, true));
    out->steps.push_back(std::move(step));
  } else if (type == "WhitespaceSplit") {
    out->steps.push_back(MakeSplit(MatchClass(kSpace, false), {SplitBehavior::kRemoved, false}));
  } else {
    return json.Member("type").NotSupported(
        "is '", type,
        "', and rml knows the pre-tokenizers Sequence, Split, ByteLevel, Metaspace, "
        "Digits, Punctuation, Whitespace and WhitespaceSplit");
  }
  return core::OkStatus();
}

core::Status CheckId(const JsonReader& json, int64_t id, const Vocabulary& vocabulary) {
  if (id < 0 || id >= vocabulary.size()) {
    return json.Malformed("names the token ", id, ", and the vocabulary has ", vocabulary.size());
  }
  return core::OkStatus();
}

core::Status ReadTemplate(const JsonReader& json, const Vocabulary& vocabulary, Affixes* out) {
  const JsonReader single = json.Member("single");
  RML_TRY(single.ExpectArray());
  Affixes affixes;
  bool seen_text = false;
  for (size_t i = 0; i < single.size(); ++i) {
    const JsonReader item = single.Item(i);
    if (const JsonReader text = item.Member("Sequence"); !text.is_null()) {
      RML_ASSIGN(const auto which, text.Get<std::string_view>("id"));
      if (seen_text || which != "A") return item.NotSupported("is not the one text 'A'");
      seen_text = true;
      continue;
    }
    RML_ASSIGN(const auto name, item.Member("SpecialToken").Get<std::string>("id"));
    const JsonReader ids = json.Member("special_tokens").Member(name).Member("ids");
    RML_TRY(ids.ExpectArray());
    for (size_t k = 0; k < ids.size(); ++k) {
      RML_ASSIGN(const auto id, ids.Item(k).As<int64_t>());
      RML_TRY(CheckId(ids.Item(k), id, vocabulary));
      (seen_text ? affixes.suffix : affixes.prefix).push_back(static_cast<TokenId>(id));
    }
  }
  if (!seen_text) return single.NotSupported("has no place for the text");
  out->prefix.insert(out->prefix.begin(), affixes.prefix.begin(), affixes.prefix.end());
  out->suffix.insert(out->suffix.end(), affixes.suffix.begin(), affixes.suffix.end());
  return core::OkStatus();
}

// BertProcessing and RobertaProcessing: "cls" and "sep" are [text, id].
core::Status ReadClsSep(const JsonReader& json, const Vocabulary& vocabulary, Affixes* out) {
  for (const std::string_view key : {"cls", "sep"}) {
    const JsonReader pair = json.Member(key);
    RML_TRY(pair.ExpectArray());
    if (pair.size() != 2) return pair.Malformed("is not a text and an id");
    RML_ASSIGN(const auto id, pair.Item(1).As<int64_t>());
    RML_TRY(CheckId(pair.Item(1), id, vocabulary));
    if (key == "cls") {
      out->prefix.insert(out->prefix.begin(), static_cast<TokenId>(id));
    } else {
      out->suffix.push_back(static_cast<TokenId>(id));
    }
  }
  return core::OkStatus();
}

core::Status ReadPostProcessorStep(const JsonReader& json, const Vocabulary& vocabulary, int depth,
                                   Affixes* out) {
  RML_ASSIGN(const auto type, json.Get<std::string_view>("type"));
  if (type == "Sequence") {
    const JsonReader list = json.Member("processors");
    RML_TRY(list.ExpectArray());
    if (depth == kMaxDepth) return list.NotSupported("is nested too deeply");
    for (size_t i = 0; i < list.size(); ++i) {
      RML_TRY(ReadPostProcessorStep(list.Item(i), vocabulary, depth + 1, out));
    }
    return core::OkStatus();
  }
  if (type == "ByteLevel") return core::OkStatus();  // trims offsets, which rml has none of
  if (type == "TemplateProcessing") return ReadTemplate(json, vocabulary, out);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return ReadClsSep(json, vocabulary, out);
  }
  return json.Member("type").NotSupported(
      "is '", type,
      "', and rml knows the post-processors Sequence, ByteLevel, TemplateProcessing, "
      "BertProcessing and RobertaProcessing");
}

struct DecoderState {
  Detokenizer detokenizer;
  bool fused = false;  // the tokens are one text from here on
};

core::Status ReadDecoderStep(const JsonReader& json, int depth, DecoderState* out) {
  RML_ASSIGN(const auto type, json.Get<std::string_view>("type"));
  std::vector<DecodeStep>& steps = out->detokenizer.steps;
  if (type == "Sequence") {
    const JsonReader list = json.Member("decoders");
    RML_TRY(list.ExpectArray());
    if (depth == kMaxDepth) return list.NotSupported("is nested too deeply");
    for (size_t i = 0; i < list.size(); ++i) RML_TRY(ReadDecoderStep(list.Item(i), depth + 1, out));
    return core::OkStatus();
  }
  if (type == "Fuse") {
    out->fused = true;
    return core::OkStatus();
  }
  if (type == "Strip") {
    RML_ASSIGN(const auto start, json.GetOr<int64_t>("start", 0));
    RML_ASSIGN(const auto stop, json.GetOr<int64_t>("stop", 0));
    RML_ASSIGN(const auto content, json.GetOr<std::string>("content", " "));
    if (!out->fused || start != 1 || stop != 0 || !out->detokenizer.strip_start.empty()) {
      return json.NotSupported(
          "is not a single character stripped from the start of the fused text");
    }
    out->detokenizer.strip_start = content;
    return core::OkStatus();
  }
  if (out->fused) return json.NotSupported("comes after Fuse, where rml only knows Strip");
  if (type == "ByteLevel") {
    steps.push_back({DecodeStep::Kind::kByteAlphabet});
  } else if (type == "ByteFallback") {
    steps.push_back({DecodeStep::Kind::kByteFallback});
  } else if (type == "Replace") {
    RML_ASSIGN(const PatternRef ref, ReadPattern(json.Member("pattern")));
    RML_ASSIGN(auto content, json.Get<std::string>("content"));
    if (ref.regex)
      return json.Member("pattern").NotSupported("is a Regex, and rml decodes Strings");
    steps.push_back({DecodeStep::Kind::kReplace, ref.text, std::move(content)});
  } else if (type == "Metaspace") {
    RML_ASSIGN(const auto replacement, json.GetOr<std::string>("replacement", "▁"));
    RML_ASSIGN(const bool prefix, json.GetOr<bool>("add_prefix_space", true));
    RML_ASSIGN(const auto scheme,
               json.GetOr<std::string_view>("prepend_scheme", prefix ? "always" : "never"));
    if (scheme != "never") steps.push_back({DecodeStep::Kind::kDropAllFromFirst, replacement});
    steps.push_back({DecodeStep::Kind::kReplace, replacement, " "});
  } else {
    return json.Member("type").NotSupported(
        "is '", type,
        "', and rml knows the decoders Sequence, ByteLevel, ByteFallback, Replace, "
        "Metaspace, Fuse and Strip");
  }
  return core::OkStatus();
}

}  // namespace

core::Expected<std::vector<NormalizerPtr>> ReadNormalizers(const JsonReader& normalizer) {
  std::vector<NormalizerPtr> result;
  if (!normalizer.is_null()) RML_TRY(ReadNormalizer(normalizer, 0, &result));
  return result;
}

core::Expected<JsonPreTokenizer> ReadPreTokenizer(const JsonReader& pre_tokenizer) {
  JsonPreTokenizer result;
  if (!pre_tokenizer.is_null()) RML_TRY(ReadPreTokenizerStep(pre_tokenizer, 0, &result));
  return result;
}

core::Expected<Affixes> ReadPostProcessor(const JsonReader& post_processor,
                                          const Vocabulary& vocabulary) {
  Affixes result;
  if (!post_processor.is_null()) {
    RML_TRY(ReadPostProcessorStep(post_processor, vocabulary, 0, &result));
  }
  return result;
}

core::Expected<Detokenizer> ReadDecoder(const JsonReader& decoder) {
  DecoderState state;
  if (!decoder.is_null()) RML_TRY(ReadDecoderStep(decoder, 0, &state));
  return std::move(state.detokenizer);
}

}  // namespace rml::text
