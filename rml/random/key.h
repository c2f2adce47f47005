// Key: names a stream of random numbers. Keys are split and folded, never advanced: the key of a
// layer at a step is Fold(Fold(seed, step), name), wherever and in whatever order it is used.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "rml/random/philox.h"

namespace rml::random {

struct Key {
  uint64_t bits = 0;

  static constexpr Key FromSeed(uint64_t seed) { return {seed}; }
  constexpr PhiloxKey words() const {
    return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  }
  friend constexpr bool operator==(Key, Key) = default;
};

// A key that depends on both; equal for equal arguments, on every machine.
Key Fold(Key key, uint64_t number);
Key Fold(Key key, std::string_view name);
// Two keys, unlike each other and the one that they come from.
std::pair<Key, Key> Split(Key key);

}  // namespace rml::random
