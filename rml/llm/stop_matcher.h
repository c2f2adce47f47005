// StopMatcher: lets text through up to the first stop string, holding back an end that may still
// turn out to be the start of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::llm {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);  // none empty

  // Takes new text; returns what may be shown now. Once stopped() the rest is swallowed.
  std::string Feed(std::string_view text);
  // The text has ended: returns what was held back.
  std::string Flush();

  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace rml::llm
