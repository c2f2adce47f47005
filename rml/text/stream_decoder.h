// StreamDecoder: turns ids into text as they are generated. A token may hold a part of a character,
// so bytes wait until the character is complete; what can never become one turns into U+FFFD. All
// strings returned, joined, are the Decode of all ids made valid UTF-8.
#pragma once

#include <memory>
#include <string>

#include "rml/text/tokenizer.h"

namespace rml::text {

class StreamDecoder {
 public:
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special = true);

  // The text that became complete with this id: valid UTF-8, often empty.
  std::string Push(TokenId id);
  // Whatever still waits, as U+FFFD, at the end of the stream. Starts a new stream.
  std::string Flush();

  // Continues as if text had come before: no leading space is dropped from the next token.
  void SetMidText() { at_start_ = false; }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_;
  bool at_start_ = true;
  std::string waiting_;  // an incomplete character, at most 3 bytes
};

}  // namespace rml::text
