#include "rml/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "rml/text/tokenizer_parts.h"

namespace rml::text {
namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;

// Gives the scratch back however the call ends.
class ScratchLease {
 public:
  explicit ScratchLease(ScratchPool* pool) : pool_(pool), scratch_(pool->Take()) {}
  ~ScratchLease() { pool_->Return(std::move(scratch_)); }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  EncodeScratch* get() { return scratch_.get(); }

 private:
  ScratchPool* pool_;
  std::unique_ptr<EncodeScratch> scratch_;
};

core::Status EncodePieces(const TokenizerParts& parts, TextPart part, EncodeScratch* scratch,
                          std::vector<TokenId>* out) {
  if (parts.pre_tokenizer == nullptr) {
    parts.model->Encode(part.text, scratch, out);
    return core::OkStatus();
  }
  return parts.pre_tokenizer->Split(part, [&](std::string_view piece) {
    parts.model->Encode(piece, scratch, out);
    return core::OkStatus();
  });
}

// A stretch of the input between the tokens that were found in it as it came.
core::Status EncodeText(const TokenizerParts& parts, TextPart part, bool parse_special,
                        EncodeScratch* scratch, std::vector<TokenId>* out) {
  std::string first, second;
  RML_ASSIGN(part.text, ApplyAll(parts.normalizers, part.text, &first, &second));
  if (parts.normalized_tokens.empty()) return EncodePieces(parts, part, scratch, out);
  std::vector<TextSegment> segments;
  parts.normalized_tokens.Split(part.text, parse_special, &segments);
  for (const TextSegment& segment : segments) {
    if (segment.token >= 0) {
      out->push_back(segment.token);
    } else {
      RML_TRY(EncodePieces(parts, {segment.text, part.at_start}, scratch, out));
    }
    part.at_start = false;
  }
  return core::OkStatus();
}

}  // namespace

std::unique_ptr<EncodeScratch> ScratchPool::Take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<EncodeScratch>();
  auto scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void ScratchPool::Return(std::unique_ptr<EncodeScratch> scratch) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(scratch));
}

Tokenizer::Tokenizer(std::unique_ptr<TokenizerParts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

core::Expected<std::shared_ptr<const Tokenizer>> Tokenizer::FromGguf(const io::GgufFile& file) {
  RML_ASSIGN(auto parts, LoadGgufTokenizer(file));
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(parts)));
}

core::Expected<std::shared_ptr<const Tokenizer>> Tokenizer::FromJson(
    std::string_view tokenizer_json, std::string_view tokenizer_config_json) {
  RML_ASSIGN(auto parts, LoadJsonTokenizer(tokenizer_json, tokenizer_config_json));
  return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(parts)));
}

core::Expected<std::vector<TokenId>> Tokenizer::Encode(std::string_view text,
                                                       EncodeOptions options) const {
  if (text.size() > kMaxTextBytes) {
    return core::InvalidArgument("the text has ", text.size(),
                                 " bytes, and at most 1 GiB can be tokenized at once");
  }
  const TokenizerParts& parts = *parts_;
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 8);
  if (options.add_special) ids = parts.prefix;
  ScratchLease scratch(&parts.scratch);
  std::vector<TextSegment> segments;
  parts.raw_tokens.Split(text, options.parse_special, &segments);
  for (const TextSegment& segment : segments) {
    if (segment.token >= 0) {
      ids.push_back(segment.token);
      continue;
    }
    const bool at_start = segment.text.data() == text.data();
    RML_TRY(
        EncodeText(parts, {segment.text, at_start}, options.parse_special, scratch.get(), &ids));
  }
  if (options.add_special) ids.insert(ids.end(), parts.suffix.begin(), parts.suffix.end());
  return ids;
}

std::string Tokenizer::Decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string text;
  bool at_start = true;
  for (const TokenId id : ids) {
    if (skip_special && IsSpecial(id)) continue;
    parts_->detokenizer.Append(parts_->vocabulary, id, &at_start, &text);
  }
  return text;
}

std::string_view Tokenizer::Piece(TokenId id) const {
  return parts_->vocabulary.Contains(id) ? parts_->vocabulary.piece(id) : std::string_view();
}

std::string Tokenizer::TokenBytes(TokenId id) const {
  std::string bytes;
  bool at_start = false;
  parts_->detokenizer.Append(parts_->vocabulary, id, &at_start, &bytes);
  return bytes;
}

std::optional<TokenId> Tokenizer::Find(std::string_view piece) const {
  return parts_->vocabulary.Find(piece);
}

int Tokenizer::vocab_size() const { return parts_->vocabulary.size(); }
std::optional<TokenId> Tokenizer::bos() const { return parts_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return parts_->eos; }
std::optional<TokenId> Tokenizer::unk() const { return parts_->unk; }
std::optional<TokenId> Tokenizer::pad() const { return parts_->pad; }
std::string_view Tokenizer::bos_text() const { return bos() ? Piece(*bos()) : std::string_view(); }
std::string_view Tokenizer::eos_text() const { return eos() ? Piece(*eos()) : std::string_view(); }

bool Tokenizer::adds_bos() const {
  return bos() && !parts_->prefix.empty() && parts_->prefix.front() == *bos();
}
bool Tokenizer::adds_eos() const {
  return eos() && !parts_->suffix.empty() && parts_->suffix.back() == *eos();
}

bool Tokenizer::IsSpecial(TokenId id) const {
  return parts_->vocabulary.Contains(id) && parts_->special[static_cast<size_t>(id)];
}

bool Tokenizer::IsEndOfGeneration(TokenId id) const {
  return std::binary_search(parts_->end_of_generation.begin(), parts_->end_of_generation.end(), id);
}
std::span<const TokenId> Tokenizer::end_of_generation() const { return parts_->end_of_generation; }
std::string_view Tokenizer::chat_template() const { return parts_->chat_template; }

}  // namespace rml::text
