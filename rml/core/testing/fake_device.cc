#include "rml/core/testing/fake_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "rml/core/check.h"
#include "rml/core/checked_math.h"
#include "rml/core/format_bytes.h"

namespace rml::core::testing {

namespace {

size_t PagesFor(int64_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return RoundUp(static_cast<size_t>(bytes) + 1, page);  // no block is empty
}

}  // namespace

struct FakeDevice::Impl {
  int id = 0;
  int64_t memory_bytes = 0;
  std::mutex mutex;
  std::map<uintptr_t, int64_t> blocks;  // handle -> bytes
  MemoryCounters counters;
  Status failure;
  int64_t copies = 0;

  // Opens a block for the duration of one copy, after checking the range that it asks for.
  class Unlocked {
   public:
    Unlocked(Impl& device, MemoryRef at, int64_t bytes) {
      const auto block = device.blocks.find(at.handle.value);
      RML_CHECK(block != device.blocks.end());
      RML_CHECK(at.offset >= 0 && bytes >= 0 && bytes <= block->second - at.offset);
      start_ = reinterpret_cast<std::byte*>(at.handle.value);
      size_ = PagesFor(block->second);
      data_ = start_ + at.offset;
      RML_CHECK(mprotect(start_, size_, PROT_READ | PROT_WRITE) == 0);
    }
    ~Unlocked() { RML_CHECK(mprotect(start_, size_, PROT_NONE) == 0); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    std::byte* data() const { return data_; }

   private:
    std::byte* start_ = nullptr;
    size_t size_ = 0;
    std::byte* data_ = nullptr;
  };
};

FakeDevice::FakeDevice(int id, int64_t memory_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->id = id;
  impl_->memory_bytes = memory_bytes;
}

FakeDevice::~FakeDevice() { RML_CHECK(impl_->blocks.empty()); }

int FakeDevice::id() const { return impl_->id; }

Expected<MemoryHandle> FakeDevice::Allocate(int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  if (bytes < 0) return InvalidArgument("asked for ", bytes, " bytes of memory");
  if (bytes > impl_->memory_bytes - impl_->counters.Read().current_bytes) {
    return ResourceExhausted("device fake:", impl_->id, " of ", FormatBytes(impl_->memory_bytes),
                             " has no ", FormatBytes(bytes), " left");
  }
  void* const pages = mmap(nullptr, PagesFor(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return IoError("cannot map memory for a fake device", errno);
  const auto address = reinterpret_cast<uintptr_t>(pages);
  impl_->blocks.emplace(address, bytes);
  impl_->counters.OnAllocate(bytes);
  return MemoryHandle{address};
}

void FakeDevice::Free(MemoryHandle handle, int64_t bytes) noexcept {
  const std::lock_guard lock(impl_->mutex);
  const auto block = impl_->blocks.find(handle.value);
  RML_CHECK(block != impl_->blocks.end() && block->second == bytes);
  munmap(reinterpret_cast<void*>(handle.value), PagesFor(bytes));
  impl_->blocks.erase(block);
  impl_->counters.OnFree(bytes);
}

MemoryStats FakeDevice::stats() const { return impl_->counters.Read(); }

Expected<std::byte*> FakeDevice::HostPointer(MemoryHandle) {
  return Unsupported("the memory of device fake:", impl_->id,
                     " is not the host's: copy it with CopyToHost first");
}

Status FakeDevice::CopyFromHost(MemoryRef to, const std::byte* from, int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  RML_TRY(impl_->failure);
  ++impl_->copies;
  const Impl::Unlocked block(*impl_, to, bytes);
  if (bytes > 0) std::memcpy(block.data(), from, static_cast<size_t>(bytes));
  return {};
}

Status FakeDevice::CopyToHost(std::byte* to, MemoryRef from, int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  RML_TRY(impl_->failure);
  ++impl_->copies;
  const Impl::Unlocked block(*impl_, from, bytes);
  if (bytes > 0) std::memcpy(to, block.data(), static_cast<size_t>(bytes));
  return {};
}

Status FakeDevice::CopyWithin(MemoryRef to, MemoryRef from, int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  RML_TRY(impl_->failure);
  ++impl_->copies;
  const Impl::Unlocked target(*impl_, to, bytes);
  const Impl::Unlocked source(*impl_, from, bytes);
  if (bytes > 0) std::memmove(target.data(), source.data(), static_cast<size_t>(bytes));
  return {};
}

Status FakeDevice::Fill(MemoryRef to, std::byte value, int64_t bytes) {
  const std::lock_guard lock(impl_->mutex);
  RML_TRY(impl_->failure);
  ++impl_->copies;
  const Impl::Unlocked block(*impl_, to, bytes);
  if (bytes > 0) std::memset(block.data(), static_cast<int>(value), static_cast<size_t>(bytes));
  return {};
}

void FakeDevice::FailCopiesWith(Status status) {
  const std::lock_guard lock(impl_->mutex);
  impl_->failure = std::move(status);
}

int64_t FakeDevice::copies() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->copies;
}

}  // namespace rml::core::testing
