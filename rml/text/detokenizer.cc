#include "rml/text/detokenizer.h"

#include "rml/text/byte_alphabet.h"
#include "rml/text/subword_model.h"

namespace rml::text {
namespace {

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  size_t at = from.empty() ? std::string::npos : text->find(from);
  if (at == std::string::npos) return;
  std::string result;
  size_t last = 0;
  for (; at != std::string::npos; at = text->find(from, last)) {
    result.append(*text, last, at - last).append(to);
    last = at + from.size();
  }
  result.append(*text, last);
  *text = std::move(result);
}

void ApplySteps(const std::vector<DecodeStep>& steps, bool first, std::string* text) {
  for (const DecodeStep& step : steps) {
    switch (step.kind) {
      case DecodeStep::Kind::kByteAlphabet: {
        std::string bytes;
        if (AppendFromAlphabet(*text, &bytes)) *text = std::move(bytes);
        break;
      }
      case DecodeStep::Kind::kReplace:
        ReplaceAll(step.from, step.to, text);
        break;
      case DecodeStep::Kind::kByteFallback:
        if (const int byte = ParseByteToken(*text); byte >= 0)
          text->assign(1, static_cast<char>(byte));
        break;
      case DecodeStep::Kind::kDropAllFromFirst:
        if (first) ReplaceAll(step.from, "", text);
        break;
    }
  }
}

}  // namespace

void Detokenizer::Append(const Vocabulary& vocabulary, TokenId id, bool* at_start,
                         std::string* out) const {
  if (!vocabulary.Contains(id)) return;
  std::string text(vocabulary.piece(id));
  const TokenKind kind = vocabulary.kind(id);
  if (!by_kind || kind == TokenKind::kNormal) {
    ApplySteps(steps, *at_start, &text);
  } else if (kind == TokenKind::kByte) {
    const int byte = ParseByteToken(text);
    text.assign(1, static_cast<char>(byte));
  } else if (kind == TokenKind::kUnused || kind == TokenKind::kAbsent) {
    text.clear();
  }
  std::string_view bytes = text;
  if (*at_start && !strip_start.empty() && bytes.starts_with(strip_start)) {
    bytes.remove_prefix(strip_start.size());
  }
  *at_start = *at_start && text.empty();
  out->append(bytes);
}

}  // namespace rml::text
