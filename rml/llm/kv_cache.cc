#include "rml/llm/kv_cache.h"

#include <algorithm>
#include <cstring>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"

namespace rml::llm {

using core::CeilDiv;
using core::CheckedMul;
using core::Expected;
using core::Status;
using kernels::kPageTokens;

namespace {

// The first page that a query at `position` reads.
int64_t FirstPage(int64_t window, int64_t position) {
  return window == 0 ? 0 : std::max<int64_t>(0, position - window + 1) / kPageTokens;
}

}  // namespace

std::optional<int64_t> KvCache::LayOut(const Options& options, std::vector<Group>* groups,
                                       std::vector<size_t>* layer_group) {
  const auto page_bytes = static_cast<int64_t>(options.layout.PageBytes());
  for (const int64_t window : options.windows) {
    const auto found = std::ranges::find(*groups, window, &Group::window);
    layer_group->push_back(static_cast<size_t>(found - groups->begin()));
    if (found == groups->end()) groups->push_back({.window = window});
    ++(*groups)[layer_group->back()].layers;
  }
  int64_t total = 0;
  for (Group& group : *groups) {
    int64_t pages = CeilDiv<int64_t>(options.context, kPageTokens);
    if (group.window > 0 && group.window < options.context) {
      // What a step sees and adds, what may be taken back, and a page begun at either end.
      pages = std::min(
          pages,
          CeilDiv<int64_t>(group.window + options.step_tokens + kRewindTokens, kPageTokens) + 2);
    }
    int64_t bytes = 0;
    if (!CheckedMul(pages, options.sequences, &group.pages) ||
        !CheckedMul(group.pages, page_bytes, &group.layer_stride) ||
        !CheckedMul(group.layer_stride, group.layers, &bytes) ||
        !core::CheckedAdd(total, bytes, &total)) {
      return std::nullopt;
    }
  }
  return total;
}

std::optional<int64_t> KvCache::ReservedBytes(const Options& options) {
  std::vector<Group> groups;
  std::vector<size_t> layer_group;
  return LayOut(options, &groups, &layer_group);
}

Expected<KvCache> KvCache::Make(const Options& options, const core::RunContext& context) {
  KvCache cache;
  cache.options_ = options;
  cache.page_bytes_ = static_cast<int64_t>(options.layout.PageBytes());
  const std::optional<int64_t> bytes = LayOut(options, &cache.groups_, &cache.layer_group_);
  if (!bytes) {
    return core::ResourceExhausted("KV cache: ", options.sequences, " sequences of ",
                                   options.context, " tokens are more than can be addressed");
  }
  RML_ASSIGN(cache.buffer_, core::Buffer::Allocate(context.GetAllocator(), *bytes));
  RML_ASSIGN(const std::span<std::byte> memory, cache.buffer_->MutableHostView());
  std::byte* next = memory.data();
  for (Group& group : cache.groups_) {
    group.base = next;
    next += group.layer_stride * group.layers;
    group.references.assign(static_cast<size_t>(group.pages), 0);
    group.free.reserve(static_cast<size_t>(group.pages));
    for (int64_t page = group.pages - 1; page >= 0; --page) {
      group.free.push_back(group.base + page * cache.page_bytes_);
    }
  }
  std::vector<int64_t> seen(cache.groups_.size(), 0);
  for (const size_t group : cache.layer_group_) cache.layer_in_group_.push_back(seen[group]++);
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

int32_t& KvCache::ReferenceCount(Group& group, const std::byte* page) const {
  return group.references[static_cast<size_t>((page - group.base) / page_bytes_)];
}

void KvCache::Release(Group& group, std::byte* page) const {
  if (page != nullptr && --ReferenceCount(group, page) == 0) group.free.push_back(page);
}

std::byte* KvCache::TakePage(Group& group) const {
  std::byte* page = group.free.back();
  group.free.pop_back();
  ReferenceCount(group, page) = 1;
  return page;
}

void KvCache::CopyPage(const Group& group, const std::byte* from, std::byte* to,
                       int64_t tokens) const {
  const kernels::KvLayout& layout = options_.layout;
  const auto run_bytes = static_cast<int64_t>(layout.HeadBytes());
  const int64_t used_bytes = run_bytes / kPageTokens * tokens;
  for (int64_t layer = 0; layer < group.layers; ++layer) {
    // Keys and values of every head: 2 * kv_heads runs of 64 rows, of which `tokens` hold anything.
    for (int64_t run = 0; run < 2 * layout.kv_heads; ++run) {
      const int64_t offset = layer * group.layer_stride + run * run_bytes;
      std::memcpy(to + offset, from + offset, static_cast<size_t>(used_bytes));
    }
  }
}

SequenceId KvCache::NewSequence() {
  const auto unused = std::ranges::find(sequences_, false, &Sequence::used);
  const auto id = static_cast<SequenceId>(unused - sequences_.begin());
  if (unused == sequences_.end()) sequences_.emplace_back();
  Sequence& sequence = sequences_[static_cast<size_t>(id)];
  sequence = Sequence{.used = true};
  sequence.pages.resize(groups_.size());
  for (auto& pages : sequence.pages)
    pages.reserve(static_cast<size_t>(CeilDiv<int64_t>(options_.context, kPageTokens)));
  return id;
}

void KvCache::FreeSequence(SequenceId id) {
  Truncate(id, 0);
  Get(id).used = false;
}

// Whether a sequence cut to `length` still has every page that its next query reads.
bool KvCache::HasPagesFor(const Sequence& sequence, int64_t length) const {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto first = static_cast<size_t>(FirstPage(groups_[g].window, length));
    const auto end = static_cast<size_t>(CeilDiv<int64_t>(length, kPageTokens));
    for (size_t page = first; page < end; ++page) {
      if (sequence.pages[g][page] == nullptr) return false;
    }
  }
  return true;
}

SequenceId KvCache::Fork(SequenceId from, int64_t length) {
  RML_CHECK(length >= 0 && length <= Length(from));
  const SequenceId id = NewSequence();  // may move the sequences: no reference is held across it
  const Sequence& source = Get(from);
  if (!HasPagesFor(source, length)) return id;
  Sequence& fork = Get(id);
  fork.length = length;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const auto& pages = source.pages[g];
    fork.pages[g].assign(pages.begin(), pages.begin() + CeilDiv<int64_t>(length, kPageTokens));
    for (const std::byte* page : fork.pages[g]) {
      if (page != nullptr) ++ReferenceCount(groups_[g], page);
    }
  }
  return id;
}

int64_t KvCache::Truncate(SequenceId id, int64_t length) {
  Sequence& sequence = Get(id);
  RML_CHECK(length >= 0 && length <= sequence.length);
  if (!HasPagesFor(sequence, length)) length = 0;
  sequence.length = length;
  const auto keep = static_cast<size_t>(CeilDiv<int64_t>(length, kPageTokens));
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto& pages = sequence.pages[g];
    while (pages.size() > keep) {
      Release(groups_[g], pages.back());
      pages.pop_back();
    }
  }
  return length;
}

Status KvCache::Reserve(SequenceId id, int64_t count) {
  Sequence& sequence = Get(id);
  const int64_t filled = sequence.length % kPageTokens;
  const auto last = static_cast<size_t>(sequence.length / kPageTokens);
  const auto wanted = static_cast<size_t>(CeilDiv<int64_t>(sequence.length + count, kPageTokens));
  // Only the page that holds the next token can be both shared and written.
  const auto must_copy = [&](size_t g) {
    return filled != 0 && count > 0 && ReferenceCount(groups_[g], sequence.pages[g][last]) > 1;
  };
  for (size_t g = 0; g < groups_.size(); ++g) {
    const size_t have = sequence.pages[g].size();
    const size_t take = (wanted > have ? wanted - have : 0) + (must_copy(g) ? 1 : 0);
    if (take > groups_[g].free.size()) {
      return core::ResourceExhausted("KV cache: ", take, " more pages of ", kPageTokens,
                                     " tokens are needed and ", groups_[g].free.size(), " of ",
                                     groups_[g].pages,
                                     " are free; free a sequence or make room for more");
    }
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto& pages = sequence.pages[g];
    if (must_copy(g)) {
      std::byte* own = TakePage(groups_[g]);
      CopyPage(groups_[g], pages[last], own, filled);
      Release(groups_[g], pages[last]);
      pages[last] = own;
    }
    while (pages.size() < wanted) pages.push_back(TakePage(groups_[g]));
  }
  return {};
}

void KvCache::Commit(SequenceId id, int64_t count) {
  Sequence& sequence = Get(id);
  sequence.length += count;
  const int64_t rewound = std::max<int64_t>(0, sequence.length - kRewindTokens);
  for (size_t g = 0; g < groups_.size(); ++g) {
    auto& pages = sequence.pages[g];
    // Pages are given back in order, so the ones just before the first that is needed come last.
    for (int64_t page = FirstPage(groups_[g].window, rewound) - 1; page >= 0; --page) {
      std::byte*& held = pages[static_cast<size_t>(page)];
      if (held == nullptr) break;
      Release(groups_[g], held);
      held = nullptr;
    }
  }
}

int64_t KvCache::PageCount(SequenceId sequence) const {
  return static_cast<int64_t>(Get(sequence).pages.front().size());
}

void KvCache::PagesOfLayer(SequenceId sequence, int64_t layer, void** pages) const {
  const size_t g = layer_group_[static_cast<size_t>(layer)];
  const int64_t offset = layer_in_group_[static_cast<size_t>(layer)] * groups_[g].layer_stride;
  for (std::byte* page : Get(sequence).pages[g])
    *pages++ = page == nullptr ? nullptr : page + offset;
}

}  // namespace rml::llm
