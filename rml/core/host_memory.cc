#include "rml/core/host_memory.h"

#include <algorithm>
#include <new>

#include "rml/core/allocator.h"
#include "rml/core/checked_math.h"
#include "rml/core/format_bytes.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

// AddressSanitizer watches the heap and not our mappings: under it every block is a heap block, so
// that a kernel that runs past its end is caught.
#if defined(__SANITIZE_ADDRESS__)  // GCC
#define RML_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define RML_THREAD_SANITIZER 1
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define RML_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define RML_THREAD_SANITIZER 1
#endif
#endif

#if defined(__linux__) && !defined(RML_ADDRESS_SANITIZER)
#define RML_MAP_LARGE_BLOCKS 1
#else
#define RML_MAP_LARGE_BLOCKS 0
#endif

namespace rml::core {

namespace {

// The address space of a process, without the extensions that a program must ask for.
constexpr int64_t kLargestBlock = int64_t{1} << 47;

Status OutOfMemory(int64_t bytes) {
  return ResourceExhausted("the system has no ", FormatBytes(bytes), " of memory for one block");
}

bool IsLarge(int64_t bytes) { return bytes >= kHugePageBytes; }

#if RML_MAP_LARGE_BLOCKS

size_t MappedBytes(int64_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return RoundUp(static_cast<size_t>(bytes), page);
}

std::byte* MapLarge(int64_t bytes) {
  const size_t size = MappedBytes(bytes);
  const auto alignment = static_cast<size_t>(kHugePageBytes);
  const size_t padded = size + alignment;
  void* mapped = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(mapped);
  const size_t head = (alignment - reinterpret_cast<uintptr_t>(start) % alignment) % alignment;
  if (head > 0) munmap(start, head);
  munmap(start + head + size, padded - head - size);
  // Advice only: a kernel without huge pages still gives memory.
  static_cast<void>(madvise(start + head, size, MADV_HUGEPAGE));
  return start + head;
}

#endif

std::align_val_t HeapAlignment(int64_t bytes) {
  return std::align_val_t(static_cast<size_t>(IsLarge(bytes) ? kHugePageBytes : kMemoryAlignment));
}

// Small results come and go by the million, and aligned blocks are the heap's slow case: a thread
// keeps some of those that it frees. The sanitizers see every block, and this is off under them.
#if defined(RML_ADDRESS_SANITIZER) || defined(RML_THREAD_SANITIZER)
constexpr int64_t kLargestKept = 0;
#else
constexpr int64_t kLargestKept = 1024;
#endif

class KeptBlocks {
 public:
  // Null where there is none of the size.
  void* Take(int64_t bytes) {
    List& list = lists_[Class(bytes)];
    Block* const block = list.first;
    if (block == nullptr) return nullptr;
    list.first = block->next;
    --list.count;
    return block;
  }
  // Says whether it keeps the block.
  bool Keep(void* memory, int64_t bytes) {
    List& list = lists_[Class(bytes)];
    if (list.count == kMost) return false;
    list.first = new (memory) Block{list.first};
    ++list.count;
    return true;
  }
  bool closed() const { return closed_; }
  // Gives all back; nothing is kept after that.
  void Close() {
    closed_ = true;
    for (List& list : lists_) {
      while (list.first != nullptr) {
        Block* const block = list.first;
        list.first = block->next;
        ::operator delete(block, HeapAlignment(0));
      }
    }
  }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* first = nullptr;
    int count = 0;
  };
  static constexpr int kMost = 64;  // of one size
  static size_t Class(int64_t bytes) { return static_cast<size_t>((bytes + 63) / 64); }

  List lists_[kLargestKept / 64 + 1];
  bool closed_ = false;
};

// Two objects, for blocks are freed until the very end of a thread: the first has no destructor, so
// it can be used after the second has emptied it.
constinit thread_local KeptBlocks kept_blocks;
struct KeptBlocksCloser {
  bool armed = false;
  ~KeptBlocksCloser() { kept_blocks.Close(); }
};
thread_local KeptBlocksCloser kept_blocks_closer;

size_t HeapBytes(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  return bytes <= kLargestKept ? RoundUp(size, static_cast<size_t>(kMemoryAlignment)) : size;
}

}  // namespace

Expected<std::byte*> AllocateHostMemory(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("asked for ", bytes, " bytes of memory");
  if (bytes > kLargestBlock) return OutOfMemory(bytes);
#if RML_MAP_LARGE_BLOCKS
  if (IsLarge(bytes)) {
    std::byte* const block = MapLarge(bytes);
    if (block == nullptr) return OutOfMemory(bytes);
    return block;
  }
#endif
  if (bytes <= kLargestKept) {
    if (void* const kept = kept_blocks.Take(bytes)) return static_cast<std::byte*>(kept);
  }
  void* const block = ::operator new(HeapBytes(bytes), HeapAlignment(bytes), std::nothrow);
  if (block == nullptr) return OutOfMemory(bytes);
  return static_cast<std::byte*>(block);
}

void FreeHostMemory(std::byte* block, int64_t bytes) noexcept {
#if RML_MAP_LARGE_BLOCKS
  if (IsLarge(bytes)) {
    munmap(block, MappedBytes(bytes));
    return;
  }
#endif
  if (bytes <= kLargestKept && !kept_blocks.closed()) {
    kept_blocks_closer.armed = true;  // the first use makes it, so that its destructor will run
    if (kept_blocks.Keep(block, bytes)) return;
  }
  ::operator delete(block, HeapAlignment(bytes));
}

}  // namespace rml::core
