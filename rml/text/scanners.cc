#include "rml/text/scanners.h"

#include <algorithm>
#include <span>

#include "rml/text/unicode.h"

namespace rml::text {
namespace {

constexpr uint8_t kLetterOrNumber = kLetter | kNumber;
constexpr uint8_t kSpaceLetterNumber = kSpace | kLetter | kNumber;

bool IsNewline(char32_t code) { return code == '\r' || code == '\n'; }
bool IsAsciiLetter(char32_t code) { return (code | 0x20) >= 'a' && (code | 0x20) <= 'z'; }

// The end of the run, from `p` on, of characters with any of `classes`; without any, by
// SkipWithout.
const char* SkipWith(const char* p, const char* end, uint8_t classes) {
  while (p < end) {
    const ClassifiedChar c = Classify(p, end);
    if (!(c.mask & classes)) break;
    p += c.size;
  }
  return p;
}
const char* SkipWithout(const char* p, const char* end, uint8_t classes) {
  while (p < end) {
    const ClassifiedChar c = Classify(p, end);
    if (c.mask & classes) break;
    p += c.size;
  }
  return p;
}
const char* SkipNewlines(const char* p, const char* end) {
  while (p < end && IsNewline(static_cast<unsigned char>(*p))) ++p;
  return p;
}

// 's 't 're 've 'm 'll 'd at `p` (an apostrophe), or null. In any case of letters when
// `any_case`; with `fold`, U+017F 'ſ' is an s too, as Unicode folds it.
const char* Contraction(const char* p, const char* end, bool any_case, bool fold) {
  if (end - p < 2) return nullptr;
  const auto letter = [&](int i) {
    const auto c = static_cast<unsigned char>(p[i]);
    return any_case && c >= 'A' && c <= 'Z' ? c + 0x20 : c;
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return p + 2;
    case 'r':
    case 'v':
      return end - p >= 3 && letter(2) == 'e' ? p + 3 : nullptr;
    case 'l':
      return end - p >= 3 && letter(2) == 'l' ? p + 3 : nullptr;
    case 0xC5:
      return fold && end - p >= 3 && letter(2) == 0xBF ? p + 3 : nullptr;
    default:
      return nullptr;
  }
}

// `\s+(?!\S)|\s+` at white space: up to the last of the run when something follows it, so that this
// one can go with the next word.
const char* SpacesBeforeLast(const char* p, const char* end) {
  const char* last = p;
  const char* at = p;
  while (at < end) {
    const ClassifiedChar c = Classify(at, end);
    if (!(c.mask & kSpace)) break;
    last = at;
    at += c.size;
  }
  return at == end || last == p ? at : last;
}

// `\s*[\r\n]+|\s+(?!\S)|\s+` at white space.
const char* SpacesOrNewlines(const char* p, const char* end) {
  const char* last = p;
  const char* after_newline = nullptr;
  const char* at = p;
  while (at < end) {
    const ClassifiedChar c = Classify(at, end);
    if (!(c.mask & kSpace)) break;
    last = at;
    at += c.size;
    if (IsNewline(c.code)) after_newline = at;
  }
  if (after_newline != nullptr) return after_newline;
  return at == end || last == p ? at : last;
}

const char* ScanGpt2(const char* p, const char* end) {
  const ClassifiedChar first = Classify(p, end);
  if (first.code == '\'') {
    if (const char* q = Contraction(p, end, false, false)) return q;
  }
  const char* body = p;
  ClassifiedChar c = first;
  if (first.code == ' ' && p + 1 < end) {
    body = p + 1;
    c = Classify(body, end);
  }
  if (c.mask & kLetter) return SkipWith(body + c.size, end, kLetter);
  if (c.mask & kNumber) return SkipWith(body + c.size, end, kNumber);
  if (!(c.mask & kSpace)) return SkipWithout(body + c.size, end, kSpaceLetterNumber);
  return SpacesBeforeLast(p, end);
}

// At most `limit` numbers, the first of which is known.
const char* ScanNumbers(const char* p, const char* end, int limit) {
  for (int i = 0; i < limit && p < end; ++i) {
    const ClassifiedChar c = Classify(p, end);
    if (!(c.mask & kNumber)) break;
    p += c.size;
  }
  return p;
}

// The alternatives that Llama 3, Qwen 2 and Tekken share after words and numbers:
// ` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, with `/` among the newlines for Tekken.
const char* ScanOtherOrSpaces(const char* p, const char* end, ClassifiedChar first, bool slashes) {
  const char* body = p;
  ClassifiedChar c = first;
  if (first.code == ' ' && p + 1 < end) {
    body = p + 1;
    c = Classify(body, end);
  }
  if (c.mask & kSpaceLetterNumber) return SpacesOrNewlines(p, end);
  const char* q = SkipWithout(body + c.size, end, kSpaceLetterNumber);
  while (q < end && (IsNewline(static_cast<unsigned char>(*q)) || (slashes && *q == '/'))) ++q;
  return q;
}

template <int kMaxDigits, bool kFold>
const char* ScanLlama3(const char* p, const char* end) {
  const ClassifiedChar first = Classify(p, end);
  if (first.mask & kLetter) return SkipWith(p + first.size, end, kLetter);
  if (first.mask & kNumber) return ScanNumbers(p, end, kMaxDigits);
  if (first.code == '\'') {
    if (const char* q = Contraction(p, end, true, kFold)) return q;
  }
  if (!IsNewline(first.code) && p + first.size < end) {
    const ClassifiedChar second = Classify(p + first.size, end);
    if (second.mask & kLetter) return SkipWith(p + first.size + second.size, end, kLetter);
  }
  return ScanOtherOrSpaces(p, end, first, false);
}

// Tekken cuts where lower case is followed by upper case. Which characters may stand in the upper
// and in the lower part of a word; letters without case, and marks, may stand in both.
struct UnicodeCase {
  static bool Upper(ClassifiedChar c) { return (c.mask & (kLetter | kMark)) && !(c.mask & kLower); }
  static bool Lower(ClassifiedChar c) { return (c.mask & (kLetter | kMark)) && !(c.mask & kUpper); }
};
struct AsciiCase {
  static bool Upper(ClassifiedChar c) {
    return (c.mask & kLetter) && !(c.code >= 'a' && c.code <= 'z');
  }
  static bool Lower(ClassifiedChar c) {
    return (c.mask & kLetter) && !(c.code >= 'A' && c.code <= 'Z');
  }
};

// `U*L+` at `p`, or null. The greedy U* gives back characters that are also L when no L follows it.
template <typename Case>
const char* UpperThenLower(const char* p, const char* end) {
  const char* after_both = nullptr;  // behind the last character that is U and L
  while (p < end) {
    const ClassifiedChar c = Classify(p, end);
    if (!Case::Upper(c)) {
      if (!Case::Lower(c)) break;
      do {
        p += Classify(p, end).size;
      } while (p < end && Case::Lower(Classify(p, end)));
      return p;
    }
    p += c.size;
    if (Case::Lower(c)) after_both = p;
  }
  return after_both;
}

// `U+L*` at `p`, or null, where UpperThenLower has failed.
template <typename Case>
const char* UpperOnly(const char* p, const char* end) {
  const char* q = p;
  while (q < end) {
    const ClassifiedChar c = Classify(q, end);
    if (!Case::Upper(c)) break;
    q += c.size;
  }
  return q == p ? nullptr : q;
}

template <typename Case>
const char* ScanTekken(const char* p, const char* end) {
  const ClassifiedChar first = Classify(p, end);
  if (first.mask & kNumber) return p + first.size;
  const bool may_lead = !IsNewline(first.code) && !(first.mask & kLetterOrNumber);
  const char* behind = p + first.size;
  if (may_lead) {
    if (const char* q = UpperThenLower<Case>(behind, end)) return q;
  }
  if (const char* q = UpperThenLower<Case>(p, end)) return q;
  if (may_lead) {
    if (const char* q = UpperOnly<Case>(behind, end)) return q;
  }
  if (const char* q = UpperOnly<Case>(p, end)) return q;
  return ScanOtherOrSpaces(p, end, first, true);
}

// DeepSeek V3's main pattern at `p`, or null: controls and the like match only before letters.
const char* MatchDeepSeek3(const char* p, const char* end, ClassifiedChar first) {
  constexpr uint8_t kWord = kLetter | kMark;
  constexpr uint8_t kSign = kPunctuation | kSymbol;
  if (first.mask & kWord) return SkipWith(p + first.size, end, kWord);
  const char* behind = p + first.size;
  if (first.mask & kSign) {
    if (first.code < 0x80 && behind < end && IsAsciiLetter(static_cast<unsigned char>(*behind))) {
      do {
        ++behind;
      } while (behind < end && IsAsciiLetter(static_cast<unsigned char>(*behind)));
      return behind;
    }
    return SkipNewlines(SkipWith(behind, end, kSign), end);
  }
  if (!IsNewline(first.code) && behind < end) {
    const ClassifiedChar second = Classify(behind, end);
    if (second.mask & kWord) return SkipWith(behind + second.size, end, kWord);
    if (first.code == ' ' && (second.mask & kSign)) {
      return SkipNewlines(SkipWith(behind + second.size, end, kSign), end);
    }
  }
  return first.mask & kSpace ? SpacesOrNewlines(p, end) : nullptr;
}

const char* ScanDeepSeek3(const char* p, const char* end) {
  ClassifiedChar c = Classify(p, end);
  if (const char* q = MatchDeepSeek3(p, end, c)) return q;
  do {
    p += c.size;
    if (p == end) break;
    c = Classify(p, end);
  } while (MatchDeepSeek3(p, end, c) == nullptr);
  return p;
}

// `\p{N}{1,limit}`, with everything between as one piece.
template <int kLimit>
const char* ScanIsolatedNumbers(const char* p, const char* end) {
  const char* q = SkipWithout(p, end, kNumber);
  return q > p ? q : ScanNumbers(p, end, kLimit);
}

bool IsCjk(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF);
}

const char* ScanIsolatedCjk(const char* p, const char* end) {
  const bool inside = IsCjk(DecodeChar(p, end).code);
  while (p < end) {
    const DecodedChar c = DecodeChar(p, end);
    if (IsCjk(c.code) != inside) break;
    p += c.size;
  }
  return p;
}

// `[0-9][0-9][0-9]`, Falcon's last step.
const char* ScanIsolatedAsciiTriple(const char* p, const char* end) {
  const auto triple_at = [end](const char* at) {
    return end - at >= 3 && std::all_of(at, at + 3, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (triple_at(p)) return p + 3;
  do {
    ++p;
  } while (p < end && !triple_at(p));
  return p;
}

constexpr std::string_view kAsciiTriplePattern = "[0-9][0-9][0-9]";
// GPT-2's pattern as llama.cpp keeps it: the last alternative is what stands between matches.
constexpr std::string_view kGpt2ShortPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";

constexpr Scanner kScanners[] = {
    {"gpt2", kGpt2Pattern, ScanGpt2, true},
    {"gpt2-short", kGpt2ShortPattern, ScanGpt2, false},
    {"llama3", kLlama3Pattern, ScanLlama3<3, true>, true},
    {"llama3-ascii", kLlama3AsciiPattern, ScanLlama3<3, false>, true},
    {"qwen2", kQwen2Pattern, ScanLlama3<1, true>, true},
    {"qwen2-ascii", kQwen2AsciiPattern, ScanLlama3<1, false>, true},
    {"tekken", kTekkenPattern, ScanTekken<UnicodeCase>, true},
    {"tekken-ascii", kTekkenAsciiPattern, ScanTekken<AsciiCase>, true},
    {"deepseek3", kDeepSeek3Pattern, ScanDeepSeek3, false},
    {"digit", kDigitPattern, ScanIsolatedNumbers<1>, false},
    {"three-digits", kThreeDigitsPattern, ScanIsolatedNumbers<3>, false},
    {"cjk", kCjkPattern, ScanIsolatedCjk, false},
    {"ascii-triple", kAsciiTriplePattern, ScanIsolatedAsciiTriple, false},
};

class ScannerSplit : public PreTokenizer {
 public:
  explicit ScannerSplit(ScanFunction scan) : scan_(scan) {}

  core::Status Split(TextPart part, PieceSink sink) const override {
    const char* p = part.text.data();
    const char* end = p + part.text.size();
    while (p < end) {
      const char* q = scan_(p, end);
      RML_TRY(sink({p, static_cast<size_t>(q - p)}));
      p = q;
    }
    return core::OkStatus();
  }

 private:
  const ScanFunction scan_;
};

}  // namespace

const Scanner* FindScanner(std::string_view pattern) {
  for (const Scanner& scanner : kScanners) {
    if (scanner.pattern == pattern) return &scanner;
  }
  return nullptr;
}

std::span<const Scanner> AllScanners() { return kScanners; }

PreTokenizerPtr MakeScannerSplit(const Scanner& scanner) {
  return std::make_unique<ScannerSplit>(scanner.scan);
}

}  // namespace rml::text
