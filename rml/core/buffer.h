// Buffer: a block of one device's memory, shared by the tensors over it and freed with the last.
// It may also stand for memory that something else owns, such as a mapped file; that may be
// read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rml/core/device.h"
#include "rml/core/expected.h"

namespace rml::core {

class Buffer {
  // Only the functions below make buffers, and make_shared must be able to.
  struct Private {
    explicit Private() = default;
  };

 public:
  Buffer(Private, Device* device, MemoryHandle handle, int64_t bytes, bool writable)
      : device_(device), handle_(handle), bytes_(bytes), writable_(writable) {}

  // The allocator must outlive the buffer. The content is arbitrary.
  static Expected<std::shared_ptr<Buffer>> Allocate(Allocator& allocator, int64_t bytes);

  // Host memory that stays alive for as long as `owner` does (null: the caller sees to it).
  static std::shared_ptr<Buffer> WrapReadOnly(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner);
  static std::shared_ptr<Buffer> WrapWritable(std::span<std::byte> bytes,
                                              std::shared_ptr<const void> owner);

  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Device& device() const { return *device_; }
  MemoryHandle handle() const { return handle_; }
  int64_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }

  // The memory itself, where the host may touch it.
  Expected<std::span<const std::byte>> HostView() const;
  Expected<std::span<std::byte>> MutableHostView();  // fails for a read-only buffer too

  // Copies and fills that work on any device; ranges are checked against the buffers.
  Status CopyFromHost(int64_t offset, std::span<const std::byte> from);
  Status CopyToHost(int64_t offset, std::span<std::byte> to) const;
  Status Fill(int64_t offset, int64_t bytes, std::byte value);

  // Copies between buffers of any two devices, through the host where they differ. Ranges of one
  // buffer may overlap.
  static Status Copy(Buffer& to, int64_t to_offset, const Buffer& from, int64_t from_offset,
                     int64_t bytes);

 private:
  Status CheckRange(int64_t offset, int64_t bytes) const;
  Status CheckWritable() const;

  Device* device_;
  MemoryHandle handle_;
  int64_t bytes_;
  bool writable_;
  Allocator* allocator_ = nullptr;  // null when the memory is somebody else's
  std::shared_ptr<const void> owner_;
};

}  // namespace rml::core
