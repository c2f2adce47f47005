#include "rml/text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "rml/text/scanners.h"
#include "rml/text/unicode.h"

namespace rml::text {
namespace {

class StringMatcher : public Matcher {
 public:
  explicit StringMatcher(std::string_view needle) : needle_(needle) {}

  core::Status ForEach(std::string_view text,
                       core::FunctionRef<core::Status(size_t, size_t)> match) const override {
    if (needle_.empty()) return core::OkStatus();
    for (size_t at = text.find(needle_); at != std::string_view::npos;
         at = text.find(needle_, at + needle_.size())) {
      RML_TRY(match(at, at + needle_.size()));
    }
    return core::OkStatus();
  }

 private:
  const std::string needle_;
};

class ClassMatcher : public Matcher {
 public:
  ClassMatcher(uint8_t classes, bool joined) : classes_(classes), joined_(joined) {}

  core::Status ForEach(std::string_view text,
                       core::FunctionRef<core::Status(size_t, size_t)> match) const override {
    const char* begin = text.data();
    const char* end = begin + text.size();
    const char* p = begin;
    while (p < end) {
      const char* start = p;
      ClassifiedChar c = Classify(p, end);
      p += c.size;
      if (!(c.mask & classes_)) continue;
      while (joined_ && p < end && ((c = Classify(p, end)).mask & classes_)) p += c.size;
      RML_TRY(match(static_cast<size_t>(start - begin), static_cast<size_t>(p - begin)));
    }
    return core::OkStatus();
  }

 private:
  const uint8_t classes_;
  const bool joined_;
};

struct Span {
  size_t begin;
  size_t end;
  bool match;
};

// Joins or drops spans as the behaviour says; `spans` cover the text in order.
void Arrange(SplitBehavior behavior, std::vector<Span>* spans) {
  std::vector<Span> result;
  result.reserve(spans->size());
  switch (behavior) {
    case SplitBehavior::kIsolated:
      return;
    case SplitBehavior::kRemoved:
      std::erase_if(*spans, [](const Span& span) { return span.match; });
      return;
    case SplitBehavior::kContiguous:
      for (const Span& span : *spans) {
        if (!result.empty() && result.back().match == span.match) {
          result.back().end = span.end;
        } else {
          result.push_back(span);
        }
      }
      break;
    case SplitBehavior::kMergedWithPrevious: {
      bool previous_match = false;
      for (const Span& span : *spans) {
        if (span.match && !previous_match && !result.empty()) {
          result.back().end = span.end;
        } else {
          result.push_back(span);
        }
        previous_match = span.match;
      }
      break;
    }
    case SplitBehavior::kMergedWithNext: {
      bool next_match = false;
      for (auto span = spans->rbegin(); span != spans->rend(); ++span) {
        if (span->match && !next_match && !result.empty()) {
          result.back().begin = span->begin;
        } else {
          result.push_back(*span);
        }
        next_match = span->match;
      }
      std::reverse(result.begin(), result.end());
      break;
    }
  }
  *spans = std::move(result);
}

class MatcherSplit : public PreTokenizer {
 public:
  MatcherSplit(std::unique_ptr<const Matcher> matcher, SplitRule rule)
      : matcher_(std::move(matcher)), rule_(rule) {}

  core::Status Split(TextPart part, PieceSink sink) const override {
    std::vector<Span> spans;
    size_t last = 0;
    const auto add = [&](size_t begin, size_t end, bool match) {
      if (end > begin) spans.push_back({begin, end, match != rule_.invert});
    };
    RML_TRY(matcher_->ForEach(part.text, [&](size_t begin, size_t end) {
      add(last, begin, false);
      add(begin, end, true);
      last = end;
      return core::OkStatus();
    }));
    add(last, part.text.size(), false);
    Arrange(rule_.behavior, &spans);
    for (const Span& span : spans) {
      RML_TRY(sink(part.text.substr(span.begin, span.end - span.begin)));
    }
    return core::OkStatus();
  }

 private:
  const std::unique_ptr<const Matcher> matcher_;
  const SplitRule rule_;
};

class SequenceSplit : public PreTokenizer {
 public:
  explicit SequenceSplit(std::vector<PreTokenizerPtr> steps) : steps_(std::move(steps)) {}

  core::Status Split(TextPart part, PieceSink sink) const override {
    return SplitFrom(0, part, sink);
  }

 private:
  core::Status SplitFrom(size_t step, TextPart part, PieceSink sink) const {
    if (step == steps_.size()) return sink(part.text);
    if (step + 1 == steps_.size()) return steps_[step]->Split(part, sink);
    bool first = part.at_start;
    return steps_[step]->Split(part, [&](std::string_view piece) {
      return SplitFrom(step + 1, {piece, std::exchange(first, false)}, sink);
    });
  }

  const std::vector<PreTokenizerPtr> steps_;
};

class SpacePrefix : public PreTokenizer {
 public:
  core::Status Split(TextPart part, PieceSink sink) const override {
    if (part.text.empty() || part.text.front() == ' ') return sink(part.text);
    std::string text = " ";
    text += part.text;
    return sink(text);
  }
};

class Metaspace : public PreTokenizer {
 public:
  Metaspace(std::string_view replacement, PrependScheme scheme, bool split)
      : replacement_(replacement), scheme_(scheme), split_(split) {}

  core::Status Split(TextPart part, PieceSink sink) const override {
    std::string text;
    text.reserve(part.text.size() + part.text.size() / 2 + replacement_.size());
    for (const char c : part.text) {
      if (c == ' ') {
        text += replacement_;
      } else {
        text += c;
      }
    }
    const bool prepend =
        scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && part.at_start);
    if (prepend && !text.starts_with(replacement_)) text.insert(0, replacement_);
    if (!split_) return text.empty() ? core::OkStatus() : sink(text);
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t next = rest.find(replacement_, 1);
      RML_TRY(sink(rest.substr(0, next)));
      if (next == std::string_view::npos) break;
      rest.remove_prefix(next);
    }
    return core::OkStatus();
  }

 private:
  const std::string replacement_;
  const PrependScheme scheme_;
  const bool split_;
};

}  // namespace

std::unique_ptr<const Matcher> MatchString(std::string_view text) {
  return std::make_unique<StringMatcher>(text);
}

std::unique_ptr<const Matcher> MatchClass(uint8_t classes, bool joined) {
  return std::make_unique<ClassMatcher>(classes, joined);
}

PreTokenizerPtr MakeSplit(std::unique_ptr<const Matcher> matcher, SplitRule rule) {
  return std::make_unique<MatcherSplit>(std::move(matcher), rule);
}

core::Expected<PreTokenizerPtr> MakePatternSplit(std::string_view pattern, SplitRule rule,
                                                 bool multi_line) {
  if (const Scanner* scanner = FindScanner(pattern)) {
    // Where everything matches, keeping matches and dropping the rest is the same as isolating.
    const bool isolates =
        rule.behavior == SplitBehavior::kIsolated ||
        (rule.behavior == SplitBehavior::kRemoved && rule.invert && scanner->covers_all);
    if (isolates) return MakeScannerSplit(*scanner);
  }
  RML_ASSIGN(auto matcher, CompilePattern(pattern, multi_line));
  return MakeSplit(std::move(matcher), rule);
}

PreTokenizerPtr MakeSequence(std::vector<PreTokenizerPtr> steps) {
  if (steps.size() == 1) return std::move(steps.front());
  return std::make_unique<SequenceSplit>(std::move(steps));
}

PreTokenizerPtr MakeSpacePrefix() { return std::make_unique<SpacePrefix>(); }

PreTokenizerPtr MakeMetaspace(std::string_view replacement, PrependScheme scheme, bool split) {
  return std::make_unique<Metaspace>(replacement, scheme, split);
}

}  // namespace rml::text
