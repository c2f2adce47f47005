// FakeDevice, for tests: an accelerator whose memory the host must not touch, and which proves it.
// Its pages are protected except while one of its own copies runs, so a reader or writer that skips
// the copies dies with SIGSEGV at the guilty instruction. Nothing outside tests may use it.
#pragma once

#include <memory>
#include <string>

#include "rml/core/device.h"

namespace rml::core::testing {

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(int id = 0, int64_t memory_bytes = int64_t{64} << 20);
  ~FakeDevice() override;  // RML_CHECKs that everything was freed

  std::string_view name() const override { return "fake"; }
  int id() const override;

  Expected<MemoryHandle> Allocate(int64_t bytes) override;
  void Free(MemoryHandle handle, int64_t bytes) noexcept override;
  MemoryStats stats() const override;

  Expected<std::byte*> HostPointer(MemoryHandle handle) override;  // always Unsupported
  Status CopyFromHost(MemoryRef to, const std::byte* from, int64_t bytes) override;
  Status CopyToHost(std::byte* to, MemoryRef from, int64_t bytes) override;
  Status CopyWithin(MemoryRef to, MemoryRef from, int64_t bytes) override;
  Status Fill(MemoryRef to, std::byte value, int64_t bytes) override;

  // From now on every copy and fill returns this; an ok status heals the device.
  void FailCopiesWith(Status status);
  int64_t copies() const;  // copies and fills so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::core::testing
