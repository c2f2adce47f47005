#include "rml/text/stream_decoder.h"

#include <utility>

#include "rml/text/tokenizer_parts.h"
#include "rml/text/utf8.h"

namespace rml::text {

StreamDecoder::StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

std::string StreamDecoder::Push(TokenId id) {
  if (skip_special_ && tokenizer_->IsSpecial(id)) return {};
  const TokenizerParts& parts = *tokenizer_->parts_;
  parts.detokenizer.Append(parts.vocabulary, id, &at_start_, &waiting_);
  const size_t complete = waiting_.size() - IncompleteTail(waiting_);
  std::string text = ToValidUtf8(std::string_view(waiting_).substr(0, complete));
  waiting_.erase(0, complete);
  return text;
}

std::string StreamDecoder::Flush() {
  std::string text = ToValidUtf8(waiting_);
  waiting_.clear();
  at_start_ = true;
  return text;
}

}  // namespace rml::text
