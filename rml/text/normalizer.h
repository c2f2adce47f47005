// Normalizer: rewrites a text before it is cut into pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rml/core/expected.h"
#include "rml/text/pre_tokenizer.h"
#include "rml/text/unicode.h"

namespace rml::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // The rewritten text: `text` itself, or `*buffer`, which `text` does not point into.
  virtual core::Expected<std::string_view> Apply(std::string_view text,
                                                 std::string* buffer) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

NormalizerPtr MakeNormalForm(NormalForm form);
NormalizerPtr MakeLowercase();
NormalizerPtr MakePrepend(std::string_view prefix);  // empty texts stay empty
NormalizerPtr MakeReplace(std::string_view needle, std::string_view content);
NormalizerPtr MakeReplaceMatches(std::unique_ptr<const Matcher> matcher, std::string_view content);
NormalizerPtr MakeStripSpaces(bool left, bool right);

// Applies all in order. The result points into `text` or one of the two buffers.
core::Expected<std::string_view> ApplyAll(const std::vector<NormalizerPtr>& normalizers,
                                          std::string_view text, std::string* first,
                                          std::string* second);

}  // namespace rml::text
