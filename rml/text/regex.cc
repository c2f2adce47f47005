// Patterns from files, run by PCRE2. They are written for Oniguruma; RewriteClasses bridges what
// the two understand differently.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "rml/text/pre_tokenizer.h"
#include "rml/text/utf8.h"

namespace rml::text {
namespace {

// Far above what a useful pattern needs for one match, far below what freezes a server.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kHeapLimitKib = 512 * 1024;

// White_Space and Oniguruma's word characters as items of a character class: PCRE2's \s has U+180E
// besides, and its \w lacks marks.
constexpr std::string_view kSpaceItems =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
// All that is not among them, for \S inside a class.
constexpr std::string_view kNotSpaceItems =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
// The ranges are the symbols that Unicode counts as alphabetic: letters in circles and squares.
constexpr std::string_view kWordItems =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";

std::string RewriteClasses(std::string_view pattern) {
  std::string result;
  result.reserve(pattern.size() * 2);
  int depth = 0;  // of character classes
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      if (c == '[' && depth == 0) {
        depth = 1;
        // A ']' right behind the opening (or its '^') stands for itself.
        size_t skip = i + 1 < pattern.size() && pattern[i + 1] == '^' ? 1 : 0;
        if (i + skip + 1 < pattern.size() && pattern[i + skip + 1] == ']') ++skip;
        result.append(pattern.substr(i, skip + 1));
        i += skip;
        continue;
      }
      if (c == ']' && depth > 0) depth = 0;
      result.push_back(c);
      continue;
    }
    const char letter = pattern[++i];
    const std::string_view items = letter == 's' || letter == 'S'   ? kSpaceItems
                                   : letter == 'w' || letter == 'W' ? kWordItems
                                                                    : std::string_view();
    const bool negated = letter == 'S' || letter == 'W';
    if (letter == 'S' && depth > 0) {
      result.append(kNotSpaceItems);
    } else if (items.empty() || (negated && depth > 0)) {
      result.push_back('\\');
      result.push_back(letter);
    } else if (depth > 0) {
      result.append(items);
    } else {
      result.append(negated ? "[^" : "[").append(items).append("]");
    }
  }
  return result;
}

std::string ErrorText(int code) {
  PCRE2_UCHAR buffer[256];
  if (pcre2_get_error_message(code, buffer, sizeof(buffer)) < 0) return "unknown error";
  return reinterpret_cast<const char*>(buffer);
}

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDataDeleter {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct MatchContextDeleter {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

class PatternMatcher : public Matcher {
 public:
  PatternMatcher(std::unique_ptr<pcre2_code, CodeDeleter> code, std::string_view pattern)
      : pattern_(pattern), code_(std::move(code)), context_(pcre2_match_context_create(nullptr)) {
    pcre2_set_match_limit(context_.get(), kMatchLimit);
    pcre2_set_heap_limit(context_.get(), kHeapLimitKib);
  }

  core::Status ForEach(std::string_view text,
                       core::FunctionRef<core::Status(size_t, size_t)> match) const override {
    // PCRE2 must not see invalid UTF-8: each stretch of valid text is searched by itself.
    size_t begin = 0;
    while (begin < text.size()) {
      const size_t end = ValidUntil(text, begin);
      RML_TRY(ForEachValid(text.substr(begin, end - begin), begin, match));
      begin = end + 1;
    }
    return core::OkStatus();
  }

 private:
  static size_t ValidUntil(std::string_view text, size_t begin) {
    const char* p = text.data() + begin;
    const char* end = text.data() + text.size();
    while (p < end) {
      const DecodedChar c = DecodeChar(p, end);
      if (c.code == kInvalidChar) break;
      p += c.size;
    }
    return static_cast<size_t>(p - text.data());
  }

  core::Status ForEachValid(std::string_view text, size_t offset,
                            core::FunctionRef<core::Status(size_t, size_t)> match) const {
    const std::unique_ptr<pcre2_match_data, MatchDataDeleter> data(
        pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    if (data == nullptr) return core::ResourceExhausted("no memory to match a pattern");
    size_t at = 0;
    while (at < text.size()) {
      RML_ASSIGN(const bool found, FindOne(text, at, data.get()));
      if (!found) break;
      const PCRE2_SIZE* span = pcre2_get_ovector_pointer(data.get());
      if (span[1] <= span[0]) {  // an empty match cuts nothing
        at = std::max<size_t>(at, span[0]);
        if (at < text.size()) at += DecodeChar(text.data() + at, text.data() + text.size()).size;
        continue;
      }
      RML_TRY(match(offset + span[0], offset + span[1]));
      at = span[1];
    }
    return core::OkStatus();
  }

  core::Expected<bool> FindOne(std::string_view text, size_t at, pcre2_match_data* data) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    int code = pcre2_match(code_.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK, data,
                           context_.get());
    if (code == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its stack on the heap
      code = pcre2_match(code_.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                         data, context_.get());
    }
    if (code == PCRE2_ERROR_NOMATCH) return false;
    if (code < 0) {
      return core::ResourceExhausted("the pattern '", pattern_, "' gave up at byte ", at,
                                     " of the text: ", ErrorText(code));
    }
    return true;
  }

  const std::string pattern_;
  const std::unique_ptr<pcre2_code, CodeDeleter> code_;
  const std::unique_ptr<pcre2_match_context, MatchContextDeleter> context_;
};

}  // namespace

core::Expected<std::unique_ptr<const Matcher>> CompilePattern(std::string_view pattern,
                                                              bool multi_line) {
  const std::string rewritten = RewriteClasses(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C |
                           (multi_line ? PCRE2_MULTILINE : PCRE2_DOLLAR_ENDONLY);
  std::unique_ptr<pcre2_code, CodeDeleter> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rewritten.data()), rewritten.size(), options,
                    &error, &offset, nullptr));
  if (code == nullptr) {
    return core::Unsupported("the pattern '", pattern, "' cannot be compiled: ", ErrorText(error));
  }
  // Without JIT (an architecture that lacks it) the interpreter matches the same.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return std::unique_ptr<const Matcher>(std::make_unique<PatternMatcher>(std::move(code), pattern));
}

}  // namespace rml::text
