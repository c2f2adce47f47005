#include "rml/llm/kv_cache.h"

#include <algorithm>
#include <cstring>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::llm {

using core::CeilDiv;
using core::Expected;
using core::Status;
using kernels::kPageTokens;

std::optional<int64_t> KvCache::ReservedBytes(const Options& options) {
  const int64_t pages = CeilDiv<int64_t>(options.max_tokens, kPageTokens);
  int64_t bytes = 0;
  if (!core::CheckedMul<int64_t>(pages, static_cast<int64_t>(options.layout.PageBytes()), &bytes) ||
      !core::CheckedMul<int64_t>(bytes, options.layers, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

Expected<KvCache> KvCache::Make(const Options& options, const core::RunContext& context) {
  const std::optional<int64_t> bytes = ReservedBytes(options);
  if (!bytes) {
    return core::ResourceExhausted("KV cache: ", options.max_tokens, " tokens are more than can be addressed");
  }
  KvCache cache;
  cache.options_ = options;
  cache.page_bytes_ = static_cast<int64_t>(options.layout.PageBytes());
  cache.total_pages_ = CeilDiv<int64_t>(options.max_tokens, kPageTokens);
  cache.layer_stride_ = cache.total_pages_ * cache.page_bytes_;
  RML_ASSIGN(cache.buffer_, core::Buffer::Allocate(context.GetAllocator(), *bytes));
  RML_ASSIGN(const std::span<std::byte> memory, cache.buffer_->MutableHostView());
  cache.base_ = memory.data();
  cache.references_.assign(static_cast<size_t>(cache.total_pages_), 0);
  cache.free_.reserve(static_cast<size_t>(cache.total_pages_));
  for (int64_t page = cache.total_pages_ - 1; page >= 0; --page) {
    cache.free_.push_back(cache.base_ + page * cache.page_bytes_);
  }
  return cache;
}

KvCache::Sequence& KvCache::Get(SequenceId sequence) {
  return const_cast<Sequence&>(static_cast<const KvCache*>(this)->Get(sequence));
}

const KvCache::Sequence& KvCache::Get(SequenceId sequence) const {
  RML_CHECK(sequence >= 0 && static_cast<size_t>(sequence) < sequences_.size());
  const Sequence& found = sequences_[static_cast<size_t>(sequence)];
  RML_CHECK(found.used);
  return found;
}

int32_t& KvCache::ReferenceCount(const std::byte* page) {
  return references_[static_cast<size_t>((page - base_) / page_bytes_)];
}

void KvCache::Release(std::byte* page) {
  if (--ReferenceCount(page) == 0) free_.push_back(page);
}

std::byte* KvCache::TakePage() {
  std::byte* page = free_.back();
  free_.pop_back();
  ReferenceCount(page) = 1;
  return page;
}

void KvCache::CopyPage(const std::byte* from, std::byte* to, int64_t tokens) {
  const kernels::KvLayout& layout = options_.layout;
  const auto row_bytes = static_cast<int64_t>(layout.head_dim) * core::Info(layout.dtype).block_bytes;
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    // Keys and values of every head: 2 * kv_heads runs of 64 rows, of which `tokens` hold anything.
    for (int64_t run = 0; run < 2 * layout.kv_heads; ++run) {
      const int64_t offset = layer * layer_stride_ + run * kPageTokens * row_bytes;
      std::memcpy(to + offset, from + offset, static_cast<size_t>(tokens * row_bytes));
    }
  }
}

SequenceId KvCache::NewSequence() {
  const auto unused = std::ranges::find(sequences_, false, &Sequence::used);
  const auto id = static_cast<SequenceId>(unused - sequences_.begin());
  if (unused == sequences_.end()) sequences_.emplace_back();
  Sequence& sequence = sequences_[static_cast<size_t>(id)];
  sequence = Sequence{.used = true};
  sequence.pages.reserve(static_cast<size_t>(total_pages_));
  return id;
}

void KvCache::FreeSequence(SequenceId id) {
  Truncate(id, 0);
  Get(id).used = false;
}

SequenceId KvCache::Fork(SequenceId from, int64_t length) {
  RML_CHECK(length >= 0 && length <= Length(from));
  const SequenceId id = NewSequence();  // may move the sequences: no reference is held across it
  const Sequence& source = Get(from);
  Sequence& fork = Get(id);
  fork.length = length;
  fork.pages.assign(source.pages.begin(), source.pages.begin() + CeilDiv<int64_t>(length, kPageTokens));
  for (const std::byte* page : fork.pages) ++ReferenceCount(page);
  return id;
}

void KvCache::Truncate(SequenceId id, int64_t length) {
  Sequence& sequence = Get(id);
  RML_CHECK(length >= 0 && length <= sequence.length);
  sequence.length = length;
  const auto keep = static_cast<size_t>(CeilDiv<int64_t>(length, kPageTokens));
  while (sequence.pages.size() > keep) {
    Release(sequence.pages.back());
    sequence.pages.pop_back();
  }
}

Status KvCache::Reserve(SequenceId id, int64_t count) {
  Sequence& sequence = Get(id);
  const int64_t filled = sequence.length % kPageTokens;
  // Only the page that holds the next token can be both shared and written.
  const size_t last = static_cast<size_t>(sequence.length / kPageTokens);
  const bool copy = filled != 0 && ReferenceCount(sequence.pages[last]) > 1;
  const auto wanted = static_cast<size_t>(CeilDiv<int64_t>(sequence.length + count, kPageTokens));
  const size_t more = wanted > sequence.pages.size() ? wanted - sequence.pages.size() : 0;
  const size_t take = more + (copy ? 1 : 0);
  if (take > free_.size()) {
    return core::ResourceExhausted("KV cache: ", take, " more pages of ", kPageTokens, " tokens are needed and ",
                                   free_.size(), " of ", total_pages_,
                                   " are free; free a sequence or give a larger context");
  }
  if (copy) {
    std::byte* own = TakePage();
    CopyPage(sequence.pages[last], own, filled);
    Release(sequence.pages[last]);
    sequence.pages[last] = own;
  }
  while (sequence.pages.size() < wanted) sequence.pages.push_back(TakePage());
  return {};
}

}  // namespace rml::llm
