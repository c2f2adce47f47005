// Vocabulary metadata from a stranger, as GGUF bytes: loading it, and encoding and decoding with
// whatever loaded, gives ids inside the vocabulary or an error, and byte-level ids decode to the
// text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "rml/io/gguf.h"
#include "rml/text/stream_decoder.h"
#include "rml/text/tokenizer.h"

using rml::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Parse wants its bytes aligned; a block of exactly this size lets ASan see any read past it.
  const size_t rounded = (size + 31) / 32 * 32;
  std::unique_ptr<void, decltype(&std::free)> block(
      std::aligned_alloc(32, std::max<size_t>(rounded, 32)), &std::free);
  std::copy(data, data + size, static_cast<uint8_t*>(block.get()));
  const auto file =
      rml::io::GgufFile::Parse({static_cast<const std::byte*>(block.get()), size}, "fuzz");
  if (!file.ok()) return 0;
  const auto tokenizer = rml::text::Tokenizer::FromGguf(*file);
  if (!tokenizer.ok()) return 0;
  // The input's own bytes are the text: they hold its tokens.
  const std::string_view input(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  for (const std::string_view text : {std::string_view("Hello wörld 123\n <s> ▁ab é"), input}) {
    for (const bool special : {false, true}) {
      const auto ids = (*tokenizer)->Encode(text, {special, special});
      if (!ids.ok()) continue;
      rml::text::StreamDecoder stream(*tokenizer, special);
      for (const rml::text::TokenId id : *ids) {
        Require(id >= 0 && id < (*tokenizer)->vocab_size(), "ids lie in the vocabulary");
        (void)stream.Push(id);
      }
      (void)stream.Flush();
      (void)(*tokenizer)->Decode(*ids, special);
    }
  }
  return 0;
}
