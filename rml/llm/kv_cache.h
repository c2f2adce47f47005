// KvCache: the keys and values of many sequences, in pages of kPageTokens tokens that sequences share.
//
// One page index names the same page in every layer. A page is shared by the sequences that hold it
// (fork, common prefixes) and is copied when one of them must write into it. Memory is reserved for
// `max_tokens` in all at the start, and touched only as tokens arrive.
//
// In a layer, a page is laid out as kernels::KvLayout says: keys [kv_heads, 64, head_dim], then values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rml/core/buffer.h"
#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/kernels/attention.h"

namespace rml::llm {

using SequenceId = int32_t;

class KvCache {
 public:
  struct Options {
    kernels::KvLayout layout;
    int64_t layers = 0;
    int64_t max_tokens = 0;  // over all sequences; rounded up to whole pages
  };

  // Fails when the memory budget does not hold it.
  static core::Expected<KvCache> Make(const Options& options, const core::RunContext& context);

  // Bytes that a cache of these options reserves; nothing when that overflows.
  static std::optional<int64_t> ReservedBytes(const Options& options);

  SequenceId NewSequence();
  void FreeSequence(SequenceId sequence);
  int64_t Length(SequenceId sequence) const { return Get(sequence).length; }

  // A new sequence whose first `length` tokens are those of `from`; shares its pages.
  SequenceId Fork(SequenceId from, int64_t length);

  // Forgets all but the first `length` tokens.
  void Truncate(SequenceId sequence, int64_t length);

  // Makes room for `count` more tokens: takes free pages, and copies a shared last page. Either all
  // of it happens or nothing. ResourceExhausted when no page is free.
  core::Status Reserve(SequenceId sequence, int64_t count);

  // Counts `count` tokens, whose keys and values have been stored in every layer, as part of it.
  void Commit(SequenceId sequence, int64_t count) { Get(sequence).length += count; }

  // The pages of a sequence in layer 0; in layer i they lie i * layer_stride() bytes further.
  std::span<std::byte* const> Pages(SequenceId sequence) const { return Get(sequence).pages; }
  int64_t layer_stride() const { return layer_stride_; }

  const kernels::KvLayout& layout() const { return options_.layout; }
  int64_t total_pages() const { return total_pages_; }
  int64_t free_pages() const { return static_cast<int64_t>(free_.size()); }

 private:
  struct Sequence {
    bool used = false;
    int64_t length = 0;
    std::vector<std::byte*> pages;
  };

  KvCache() = default;
  Sequence& Get(SequenceId sequence);
  const Sequence& Get(SequenceId sequence) const;
  int32_t& ReferenceCount(const std::byte* page);
  void Release(std::byte* page);
  std::byte* TakePage();
  void CopyPage(const std::byte* from, std::byte* to, int64_t tokens);

  Options options_;
  std::shared_ptr<core::Buffer> buffer_;
  std::byte* base_ = nullptr;
  int64_t page_bytes_ = 0;
  int64_t layer_stride_ = 0;
  int64_t total_pages_ = 0;
  std::vector<int32_t> references_;   // by page
  std::vector<std::byte*> free_;      // the lowest page last, so that memory is touched from the start
  std::vector<Sequence> sequences_;
};

}  // namespace rml::llm
