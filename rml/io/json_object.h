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
  // Open addressing with linear probing, a power of two of slots, at most half full. The hash
  // stands beside the index, so that probing and growing rarely touch the members themselves.
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = kEmpty;
  };
  static constexpr uint32_t kEmpty = 0xffffffff;

  // The slot that holds `key`, or the empty one where it would stand.
  size_t FindSlot(std::string_view key, uint32_t hash) const;
  void Place(Slot slot);
  void Grow(size_t slot_count);

  std::vector<Member> members_;
  std::vector<Slot> slots_;  // empty while there are few members and a scan is faster
};

}  // namespace rml::io
