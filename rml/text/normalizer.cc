#include "rml/text/normalizer.h"

#include <cstring>
#include <utility>

namespace rml::text {
namespace {

class NormalFormNormalizer : public Normalizer {
 public:
  explicit NormalFormNormalizer(NormalForm form) : form_(form) {}
  core::Expected<std::string_view> Apply(std::string_view text,
                                         std::string* buffer) const override {
    if (form_ == NormalForm::kNfc && IsSurelyNfc(text)) return text;
    *buffer = Normalize(text, form_);
    return std::string_view(*buffer);
  }

 private:
  const NormalForm form_;
};

class Lowercase : public Normalizer {
 public:
  core::Expected<std::string_view> Apply(std::string_view text,
                                         std::string* buffer) const override {
    *buffer = ToLower(text);
    return std::string_view(*buffer);
  }
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string_view prefix) : prefix_(prefix) {}
  core::Expected<std::string_view> Apply(std::string_view text,
                                         std::string* buffer) const override {
    if (text.empty()) return text;
    buffer->assign(prefix_).append(text);
    return std::string_view(*buffer);
  }

 private:
  const std::string prefix_;
};

// The hot one: spaces to '▁' over a whole prompt.
class ReplaceByte : public Normalizer {
 public:
  ReplaceByte(char needle, std::string_view content) : needle_(needle), content_(content) {}
  core::Expected<std::string_view> Apply(std::string_view text,
                                         std::string* buffer) const override {
    buffer->clear();
    buffer->reserve(text.size() + text.size() / 2);
    const char* p = text.data();
    const char* end = p + text.size();
    while (p < end) {
      const void* found = std::memchr(p, needle_, static_cast<size_t>(end - p));
      const char* stop = found == nullptr ? end : static_cast<const char*>(found);
      buffer->append(p, stop);
      if (stop == end) break;
      buffer->append(content_);
      p = stop + 1;
    }
    return std::string_view(*buffer);
  }

 private:
  const char needle_;
  const std::string content_;
};

class ReplaceMatches : public Normalizer {
 public:
  ReplaceMatches(std::unique_ptr<const Matcher> matcher, std::string_view content)
      : matcher_(std::move(matcher)), content_(content) {}
  core::Expected<std::string_view> Apply(std::string_view text,
                                         std::string* buffer) const override {
    buffer->clear();
    size_t last = 0;
    RML_TRY(matcher_->ForEach(text, [&](size_t begin, size_t end) {
      buffer->append(text.substr(last, begin - last)).append(content_);
      last = end;
      return core::OkStatus();
    }));
    if (last == 0) return text;
    buffer->append(text.substr(last));
    return std::string_view(*buffer);
  }

 private:
  const std::unique_ptr<const Matcher> matcher_;
  const std::string content_;
};

class StripSpaces : public Normalizer {
 public:
  StripSpaces(bool left, bool right) : left_(left), right_(right) {}
  core::Expected<std::string_view> Apply(std::string_view text, std::string*) const override {
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (left_) {
      while (begin < end) {
        const ClassifiedChar c = Classify(begin, end);
        if (!(c.mask & kSpace)) break;
        begin += c.size;
      }
    }
    const char* keep = right_ ? begin : end;  // behind the last character that is no space
    for (const char* p = begin; right_ && p < end;) {
      const ClassifiedChar c = Classify(p, end);
      p += c.size;
      if (!(c.mask & kSpace)) keep = p;
    }
    return std::string_view(begin, static_cast<size_t>(keep - begin));
  }

 private:
  const bool left_;
  const bool right_;
};

}  // namespace

NormalizerPtr MakeNormalForm(NormalForm form) {
  return std::make_unique<NormalFormNormalizer>(form);
}
NormalizerPtr MakeLowercase() { return std::make_unique<Lowercase>(); }
NormalizerPtr MakePrepend(std::string_view prefix) { return std::make_unique<Prepend>(prefix); }
NormalizerPtr MakeReplace(std::string_view needle, std::string_view content) {
  if (needle.size() == 1) return std::make_unique<ReplaceByte>(needle[0], content);
  return MakeReplaceMatches(MatchString(needle), content);
}
NormalizerPtr MakeReplaceMatches(std::unique_ptr<const Matcher> matcher, std::string_view content) {
  return std::make_unique<ReplaceMatches>(std::move(matcher), content);
}
NormalizerPtr MakeStripSpaces(bool left, bool right) {
  return std::make_unique<StripSpaces>(left, right);
}

core::Expected<std::string_view> ApplyAll(const std::vector<NormalizerPtr>& normalizers,
                                          std::string_view text, std::string* first,
                                          std::string* second) {
  for (const NormalizerPtr& normalizer : normalizers) {
    RML_ASSIGN(text, normalizer->Apply(text, first));
    // Keep the buffer that `text` may point into out of the next step's way.
    std::swap(first, second);
  }
  return text;
}

}  // namespace rml::text
