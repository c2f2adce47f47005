// PreTokenizer: cuts a text into the pieces that are encoded one by one. The patterns that
// well-known models use are scanners written by hand (scanners.h); any other pattern runs in PCRE2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/function_ref.h"

namespace rml::text {

// Called with each piece in order; a piece may point into a buffer that lives only for the call.
using PieceSink = core::FunctionRef<core::Status(std::string_view)>;

struct TextPart {
  std::string_view text;
  bool at_start;  // whether the whole input begins here
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual core::Status Split(TextPart part, PieceSink sink) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

// What happens to the places that match, and, with `invert`, what counts as one. The names are
// Hugging Face's.
enum class SplitBehavior : uint8_t {
  kIsolated,            // a piece of their own
  kRemoved,             // dropped
  kMergedWithPrevious,  // the end of the piece before
  kMergedWithNext,      // the start of the piece after
  kContiguous,          // neighbouring ones form one piece
};

struct SplitRule {
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;
};

// Finds matches: calls `match(begin, end)` with byte offsets, ascending, not empty, not
// overlapping.
class Matcher {
 public:
  virtual ~Matcher() = default;
  virtual core::Status ForEach(std::string_view text,
                               core::FunctionRef<core::Status(size_t, size_t)> match) const = 0;
};

// A regular expression as Oniguruma (Hugging Face) reads it, run by PCRE2. `multi_line`: '^' and
// '$' match at every line. An expression that cannot be compiled is an error naming the place in
// it.
core::Expected<std::unique_ptr<const Matcher>> CompilePattern(std::string_view pattern,
                                                              bool multi_line);
std::unique_ptr<const Matcher> MatchString(std::string_view text);
// One match for each character with any of the `classes` of unicode.h, or `joined`: for each run.
std::unique_ptr<const Matcher> MatchClass(uint8_t classes, bool joined);

PreTokenizerPtr MakeSplit(std::unique_ptr<const Matcher> matcher, SplitRule rule);

// Isolates the matches of `pattern`: by a scanner when there is one, else by PCRE2.
core::Expected<PreTokenizerPtr> MakePatternSplit(std::string_view pattern, SplitRule rule,
                                                 bool multi_line);

// Each in turn cuts the pieces of the one before.
PreTokenizerPtr MakeSequence(std::vector<PreTokenizerPtr> steps);

// Puts a space in front of pieces that start with none (ByteLevel's add_prefix_space).
PreTokenizerPtr MakeSpacePrefix();

enum class PrependScheme : uint8_t { kNever, kFirst, kAlways };

// Writes spaces as `replacement`, prepends one as `scheme` says, and cuts before each when `split`.
PreTokenizerPtr MakeMetaspace(std::string_view replacement, PrependScheme scheme, bool split);

}  // namespace rml::text
