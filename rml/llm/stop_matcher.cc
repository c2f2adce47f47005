#include "rml/llm/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace rml::llm {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

std::string StopMatcher::Feed(std::string_view text) {
  if (stopped_) return {};
  held_ += text;
  size_t stop = std::string::npos;
  for (const std::string& s : stops_) stop = std::min(stop, held_.find(s));
  if (stop != std::string::npos) {
    stopped_ = true;
    std::string shown = held_.substr(0, stop);
    held_.clear();
    return shown;
  }
  // The longest end of the text that begins a stop string.
  size_t keep = 0;
  for (const std::string& s : stops_) {
    for (size_t length = std::min(s.size() - 1, held_.size()); length > keep; --length) {
      if (std::string_view(held_).substr(held_.size() - length) ==
          std::string_view(s).substr(0, length))
        keep = length;
    }
  }
  std::string shown = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return shown;
}

std::string StopMatcher::Flush() { return std::exchange(held_, {}); }

}  // namespace rml::llm
