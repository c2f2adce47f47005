#include "rml/text/special_tokens.h"

#include <algorithm>
#include <queue>

#include "rml/text/unicode.h"

namespace rml::text {
namespace {

// The start of the white space that ends `text`, and the size of the white space that begins it.
size_t SpaceBefore(std::string_view text) {
  size_t keep = 0;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const ClassifiedChar c = Classify(p, end);
    p += c.size;
    if (!(c.mask & kSpace)) keep = static_cast<size_t>(p - text.data());
  }
  return keep;
}
size_t SpaceBehind(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const ClassifiedChar c = Classify(p, end);
    if (!(c.mask & kSpace)) break;
    p += c.size;
  }
  return static_cast<size_t>(p - text.data());
}

bool StartsWithWord(std::string_view text) {
  return !text.empty() && IsWordChar(DecodeChar(text.data(), text.data() + text.size()).code);
}
bool EndsWithWord(std::string_view text) {
  if (text.empty()) return false;
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
    --at;
  return IsWordChar(DecodeChar(text.data() + at, text.data() + text.size()).code);
}

// What C's isspace says, which is what llama.cpp strips by.
bool IsCSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

SpecialTokens::SpecialTokens(std::vector<SpecialToken> tokens, Order order)
    : order_(order), tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(), [](const SpecialToken& a, const SpecialToken& b) {
    return a.text != b.text ? a.text < b.text : a.id < b.id;
  });
  // A text that begins others stands right before them, so its descendants form a stack.
  std::vector<uint32_t> beginnings;
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    while (!beginnings.empty() && !tokens_[i].text.starts_with(tokens_[beginnings.back()].text)) {
      beginnings.pop_back();
    }
    shorter_.push_back(beginnings.empty() ? kNone : beginnings.back());
    beginnings.push_back(i);
    first_bytes_.set(static_cast<unsigned char>(tokens_[i].text[0]));
    strips_ = strips_ || tokens_[i].strip_left || tokens_[i].strip_right;
  }
  for (int byte = 0; byte <= 256; ++byte) {
    const auto at = std::lower_bound(tokens_.begin(), tokens_.end(), byte,
                                     [](const SpecialToken& token, int b) {
                                       return static_cast<unsigned char>(token.text[0]) < b;
                                     });
    first_of_byte_.push_back(static_cast<uint32_t>(at - tokens_.begin()));
  }
}

const char* SpecialTokens::NextCandidate(const char* p, const char* end) const {
  while (p < end && !first_bytes_[static_cast<unsigned char>(*p)]) ++p;
  return p;
}

uint32_t SpecialTokens::LongestAt(std::string_view text) const {
  const auto first = static_cast<unsigned char>(text[0]);
  uint32_t low = first_of_byte_[first];
  uint32_t high = first_of_byte_[first + 1u];
  uint32_t longest = kNone;
  // Tokens [low, high) agree with the text in their first `depth` bytes.
  for (size_t depth = 1; low < high; ++depth) {
    if (tokens_[low].text.size() == depth) longest = low++;
    while (low < high && tokens_[low].text.size() == depth) ++low;  // the same text again
    if (low == high || depth == text.size()) break;
    const auto next = static_cast<unsigned char>(text[depth]);
    const auto begin = tokens_.begin();
    const auto byte_of = [depth](const SpecialToken& token) {
      return static_cast<unsigned char>(token.text[depth]);
    };
    const auto lower =
        std::lower_bound(begin + low, begin + high, next,
                         [&](const SpecialToken& t, unsigned char b) { return byte_of(t) < b; });
    const auto upper =
        std::upper_bound(lower, begin + high, next,
                         [&](unsigned char b, const SpecialToken& t) { return b < byte_of(t); });
    low = static_cast<uint32_t>(lower - begin);
    high = static_cast<uint32_t>(upper - begin);
  }
  return longest;
}

void SpecialTokens::Split(std::string_view text, bool parse_control,
                          std::vector<TextSegment>* out) const {
  if (text.empty()) return;
  if (tokens_.empty()) {
    out->push_back({text, -1});
  } else if (order_ == Order::kLeftmostLongest) {
    SplitLeftmost(text, parse_control, out);
  } else {
    SplitLongestFirst(text, parse_control, out);
  }
}

void SpecialTokens::SplitLeftmost(std::string_view text, bool parse_control,
                                  std::vector<TextSegment>* out) const {
  const char* begin = text.data();
  const char* end = begin + text.size();
  size_t done = 0;  // everything before is in `out`
  const char* p = NextCandidate(begin, end);
  while (p < end) {
    const auto start = static_cast<size_t>(p - begin);
    const uint32_t index = LongestAt(text.substr(start));
    if (index == kNone) {
      p = NextCandidate(p + 1, end);
      continue;
    }
    const SpecialToken& token = tokens_[index];
    const size_t stop = start + token.text.size();
    // A match that is refused still uses up its text, as it does in Hugging Face's automaton.
    p = NextCandidate(begin + stop, end);
    if (token.control && !parse_control) continue;
    if (token.single_word &&
        (EndsWithWord(text.substr(0, start)) || StartsWithWord(text.substr(stop)))) {
      continue;
    }
    size_t from = std::max(start, done);
    size_t to = stop;
    if (token.strip_left) from = done + SpaceBefore(text.substr(done, from - done));
    if (token.strip_right) to += SpaceBehind(text.substr(stop));
    if (from > done) out->push_back({text.substr(done, from - done), -1});
    out->push_back({text.substr(from, to - from), token.id});
    done = to;
  }
  if (done < text.size()) out->push_back({text.substr(done), -1});
}

void SpecialTokens::SplitLongestFirst(std::string_view text, bool parse_control,
                                      std::vector<TextSegment>* out) const {
  // One candidate a place: the longest token there that may be found. When a longer token elsewhere
  // takes its text, the next shorter token at the place has its turn.
  struct Candidate {
    uint32_t token;
    size_t start;
  };
  const auto usable = [&](uint32_t token) {
    while (token != kNone && tokens_[token].control && !parse_control) token = shorter_[token];
    return token;
  };
  std::vector<Candidate> found;
  bool overlap = false;
  const char* begin = text.data();
  const char* end = begin + text.size();
  size_t reach = 0;
  for (const char* p = NextCandidate(begin, end); p < end; p = NextCandidate(p + 1, end)) {
    const auto start = static_cast<size_t>(p - begin);
    const uint32_t token = usable(LongestAt(text.substr(start)));
    if (token == kNone) continue;
    overlap = overlap || start < reach;
    reach = std::max(reach, start + tokens_[token].text.size());
    found.push_back({token, start});
  }
  if (found.empty()) {
    out->push_back({text, -1});
    return;
  }

  std::vector<bool> taken;  // by tokens, or by white space that went with one
  if (overlap || strips_) {
    taken.resize(text.size());
    const auto later = [&](const Candidate& a, const Candidate& b) {
      const SpecialToken& x = tokens_[a.token];
      const SpecialToken& y = tokens_[b.token];
      if (x.text.size() != y.text.size()) return x.text.size() < y.text.size();
      if (x.id != y.id) return x.id > y.id;
      return a.start > b.start;
    };
    std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later,
                                                                                  std::move(found));
    found.clear();
    while (!queue.empty()) {
      const Candidate candidate = queue.top();
      queue.pop();
      if (taken[candidate.start]) continue;
      const SpecialToken& token = tokens_[candidate.token];
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(candidate.start);
      const auto last = first + static_cast<std::ptrdiff_t>(token.text.size());
      if (std::find(first, last, true) != last) {
        const uint32_t shorter = usable(shorter_[candidate.token]);
        if (shorter != kNone) queue.push({shorter, candidate.start});
        continue;
      }
      std::fill(first, last, true);
      found.push_back(candidate);
      if (token.strip_left) {
        for (size_t i = candidate.start; i > 0 && !taken[i - 1] && IsCSpace(text[i - 1]); --i) {
          taken[i - 1] = true;
        }
      }
      if (token.strip_right) {
        for (size_t i = candidate.start + token.text.size();
             i < text.size() && !taken[i] && IsCSpace(text[i]); ++i) {
          taken[i] = true;
        }
      }
    }
    std::sort(found.begin(), found.end(),
              [](const Candidate& a, const Candidate& b) { return a.start < b.start; });
  }

  size_t done = 0;
  const auto add_text = [&](size_t stop) {
    size_t from = done;
    size_t to = stop;
    if (!taken.empty()) {  // what was stripped lies at the ends
      while (from < to && taken[from]) ++from;
      while (to > from && taken[to - 1]) --to;
    }
    if (to > from) out->push_back({text.substr(from, to - from), -1});
  };
  for (const Candidate& candidate : found) {
    add_text(candidate.start);
    const SpecialToken& token = tokens_[candidate.token];
    out->push_back({text.substr(candidate.start, token.text.size()), token.id});
    done = candidate.start + token.text.size();
  }
  add_text(text.size());
}

}  // namespace rml::text
