#include "rml/random/key.h"

namespace rml::random {
namespace {

// The upper half of the counter, which element streams leave zero, tells what a block is used for.
constexpr uint32_t kFoldNumber = 1;
constexpr uint32_t kFoldName = 2;
constexpr uint32_t kSplit = 3;

Key Derive(Key key, uint64_t number, uint32_t use, uint32_t part = 0) {
  const PhiloxBlock block =
      Philox({static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), part, use << 16},
             key.words());
  return {block[0] | uint64_t{block[1]} << 32};
}

}  // namespace

Key Fold(Key key, uint64_t number) { return Derive(key, number, kFoldNumber); }

Key Fold(Key key, std::string_view name) {
  // Eight bytes at a time, and the length, so that no two names fold alike by padding.
  Key folded = Derive(key, name.size(), kFoldName);
  for (size_t begin = 0; begin < name.size(); begin += 8) {
    uint64_t word = 0;
    for (size_t i = begin; i < name.size() && i < begin + 8; ++i) {
      word |= uint64_t{static_cast<unsigned char>(name[i])} << (8 * (i - begin));
    }
    folded = Derive(folded, word, kFoldName, 1);
  }
  return folded;
}

std::pair<Key, Key> Split(Key key) { return {Derive(key, 0, kSplit), Derive(key, 1, kSplit)}; }

}  // namespace rml::random
