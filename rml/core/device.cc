#include "rml/core/device.h"

#include <cstring>

#include "rml/core/host_memory.h"

namespace rml::core {

namespace {

class CpuDevice final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  int id() const override { return 0; }

  Expected<MemoryHandle> Allocate(int64_t bytes) override {
    RML_ASSIGN(std::byte* const block, AllocateHostMemory(bytes));
    counters_.OnAllocate(bytes);
    return MemoryHandle{reinterpret_cast<uintptr_t>(block)};
  }

  void Free(MemoryHandle handle, int64_t bytes) noexcept override {
    FreeHostMemory(Address({handle}), bytes);
    counters_.OnFree(bytes);
  }

  MemoryStats stats() const override { return counters_.Read(); }

  Expected<std::byte*> HostPointer(MemoryHandle handle) override { return Address({handle}); }

  Status CopyFromHost(MemoryRef to, const std::byte* from, int64_t bytes) override {
    Move(Address(to), from, bytes);
    return {};
  }
  Status CopyToHost(std::byte* to, MemoryRef from, int64_t bytes) override {
    Move(to, Address(from), bytes);
    return {};
  }
  Status CopyWithin(MemoryRef to, MemoryRef from, int64_t bytes) override {
    Move(Address(to), Address(from), bytes);
    return {};
  }
  Status Fill(MemoryRef to, std::byte value, int64_t bytes) override {
    if (bytes > 0) std::memset(Address(to), static_cast<int>(value), static_cast<size_t>(bytes));
    return {};
  }

 private:
  static std::byte* Address(MemoryRef at) {
    return reinterpret_cast<std::byte*>(at.handle.value) + at.offset;
  }
  static void Move(std::byte* to, const std::byte* from, int64_t bytes) {
    // An empty span may carry a null pointer, which memmove must not see.
    if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
  }

  MemoryCounters counters_;
};

}  // namespace

Device& Cpu() {
  // Never destroyed: buffers in static objects may be freed while the process ends.
  static Device* const cpu = new CpuDevice;
  return *cpu;
}

}  // namespace rml::core
