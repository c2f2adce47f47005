#include "rml/text/utf8.h"

#include <algorithm>

namespace rml::text {
namespace {

// How many bytes a character takes by its first byte, 0 when no character starts with it, and the
// bounds of the second byte, which are what rules out overlong forms, surrogates and too large
// codes.
struct Lead {
  uint32_t size;
  unsigned char second_min;
  unsigned char second_max;
};

Lead LeadOf(unsigned char first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// How many bytes at `p` belong together: a whole character, or the longest start of one.
size_t PrefixSize(const char* p, const char* end, bool* complete) {
  const Lead lead = LeadOf(static_cast<unsigned char>(*p));
  *complete = false;
  if (lead.size == 0) return 1;
  size_t size = 1;
  while (size < lead.size && p + size < end) {
    const auto byte = static_cast<unsigned char>(p[size]);
    const unsigned char low = size == 1 ? lead.second_min : 0x80;
    const unsigned char high = size == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return size;
    ++size;
  }
  *complete = size == lead.size;
  return size;
}

}  // namespace

DecodedChar DecodeMultibyte(const char* p, const char* end) {
  bool complete = false;
  const size_t size = PrefixSize(p, end, &complete);
  if (!complete) return {kInvalidChar, 1};
  const auto byte = [p](int i) { return static_cast<char32_t>(static_cast<unsigned char>(p[i])); };
  switch (size) {
    case 1:
      return {byte(0), 1};
    case 2:
      return {(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    case 3:
      return {(byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    default:
      return {(byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
                  (byte(3) & 0x3F),
              4};
  }
}

void AppendUtf8(char32_t code, std::string* out) {
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

bool IsValidUtf8(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    const DecodedChar c = DecodeChar(p, end);
    if (c.code == kInvalidChar) return false;
    p += c.size;
  }
  return true;
}

std::string ToValidUtf8(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size());
  const char* p = bytes.data();
  const char* end = p + bytes.size();
  while (p < end) {
    bool complete = false;
    const size_t size = PrefixSize(p, end, &complete);
    if (complete) {
      result.append(p, size);
    } else {
      AppendUtf8(kReplacementChar, &result);
    }
    p += size;
  }
  return result;
}

size_t IncompleteTail(std::string_view bytes) {
  const char* end = bytes.data() + bytes.size();
  for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
    const char* p = end - back;
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // a continuation: its lead is further back
    bool complete = false;
    const size_t size = PrefixSize(p, end, &complete);
    return !complete && size == back && LeadOf(byte).size > 0 ? back : 0;
  }
  return 0;
}

}  // namespace rml::text
