// KvCache: the keys and values of many sequences, in pages of kPageTokens tokens that sequences
// share.
//
// Layers that attend to the same window form a group with pages of its own: one page index names
// the same page in every layer of its group. A group with a window gives back the pages that no
// coming query can see. A page is shared by the sequences that hold it (fork, common prefixes) and
// is copied when one of them must write into it. Memory is reserved at the start, and touched only
// as tokens arrive.
//
// In a layer, a page is laid out as kernels::KvLayout says: keys [kv_heads, 64, head_dim], then
// values.
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
    std::vector<int64_t> windows;  // one per layer: attends to so many positions; 0: to all
    int64_t context = 0;           // tokens of one sequence
    int64_t sequences = 1;         // this many may be of full length at once
    int64_t step_tokens = 1;       // the most that one Reserve of a sequence asks for
  };

  // Fails when the memory budget does not hold it.
  static core::Expected<KvCache> Make(const Options& options, const core::RunContext& context);

  // Bytes that a cache of these options reserves; nothing when that overflows.
  static std::optional<int64_t> ReservedBytes(const Options& options);

  SequenceId NewSequence();
  void FreeSequence(SequenceId sequence);
  int64_t Length(SequenceId sequence) const { return Get(sequence).length; }

  // A new sequence whose first `length` tokens are those of `from`; shares its pages. Where a
  // window has given back pages that it would need, the new sequence is empty: look at Length.
  SequenceId Fork(SequenceId from, int64_t length);

  // Forgets all but the first `length` tokens; all of them where a window has given back pages that
  // are needed again. At least the last kRewindTokens can always be taken back. Returns the length.
  int64_t Truncate(SequenceId sequence, int64_t length);
  static constexpr int64_t kRewindTokens = 4 * kernels::kPageTokens;

  // Makes room for `count` more tokens: takes free pages, and copies a shared last page. Either all
  // of it happens or nothing. ResourceExhausted when no page is free.
  core::Status Reserve(SequenceId sequence, int64_t count);

  // Counts `count` tokens, whose keys and values have been stored in every layer, as part of it.
  void Commit(SequenceId sequence, int64_t count);

  int64_t PageCount(SequenceId sequence) const;
  // Writes the PageCount(sequence) pages of a sequence in one layer; null for those given back.
  void PagesOfLayer(SequenceId sequence, int64_t layer, void** pages) const;

  const kernels::KvLayout& layout() const { return options_.layout; }
  int64_t free_pages(int64_t layer) const {
    return static_cast<int64_t>(groups_[layer_group_[layer]].free.size());
  }

 private:
  struct Group {
    int64_t window = 0;
    int64_t layers = 0;
    int64_t pages = 0;         // in all
    int64_t layer_stride = 0;  // bytes from a page in one layer to the same page in the next
    std::byte* base = nullptr;
    std::vector<int32_t> references;  // by page
    std::vector<std::byte*> free;  // the lowest page last, so that memory is touched from the start
  };
  struct Sequence {
    bool used = false;
    int64_t length = 0;
    std::vector<std::vector<std::byte*>> pages;  // by group; null: given back
  };

  KvCache() = default;
  // The groups of these options, without memory, and each layer's group; nothing on overflow.
  static std::optional<int64_t> LayOut(const Options& options, std::vector<Group>* groups,
                                       std::vector<size_t>* layer_group);

  Sequence& Get(SequenceId sequence);
  const Sequence& Get(SequenceId sequence) const;
  int32_t& ReferenceCount(Group& group, const std::byte* page) const;
  void Release(Group& group, std::byte* page) const;
  std::byte* TakePage(Group& group) const;
  void CopyPage(const Group& group, const std::byte* from, std::byte* to, int64_t tokens) const;
  bool HasPagesFor(const Sequence& sequence, int64_t length) const;

  Options options_;
  std::shared_ptr<core::Buffer> buffer_;
  int64_t page_bytes_ = 0;  // of one layer
  std::vector<Group> groups_;
  std::vector<size_t> layer_group_;      // which group a layer is in …
  std::vector<int64_t> layer_in_group_;  // … and the how manieth there
  std::vector<Sequence> sequences_;
};

}  // namespace rml::llm
