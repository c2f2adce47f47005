// Json's members in the order of the text, with an index for constant-time look-up. Internal to
// json*.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rml/io/json.h"

namespace rml::io {

class Json::Object {
 public:
  const std::vector<Member>& members() const { return members_; }

  const Json* Find(std::string_view key) const;
  Json* Find(std::string_view key) {
    return const_cast<Json*>(static_cast<const Object*>(this)->Find(key));
  }

  // A new member's value, null until set; a null pointer, and nothing is added, when the key
  // exists. The pointer is good until the next Add.
  Json* Add(std::string key);

 private:
  static constexpr uint32_t kEmpty = 0xffffffff;

  // Where `key` stands in slots_, or the empty slot where it would.
  size_t Slot(std::string_view key) const;
  void Index(size_t slot_count);

  std::vector<Member> members_;
  // Open addressing with linear probing, a power of two of slots, at most half full; empty while
  // there are few members and a scan is faster.
  std::vector<uint32_t> slots_;
};

}  // namespace rml::io
