#include "rml/core/buffer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rml::core {

namespace {

// Copies between devices go through a host block of at most this size.
constexpr int64_t kStagingBytes = int64_t{4} << 20;

}  // namespace

Expected<std::shared_ptr<Buffer>> Buffer::Allocate(Allocator& allocator, int64_t bytes) {
  RML_ASSIGN(const MemoryHandle handle, allocator.Allocate(bytes));
  auto buffer = std::make_shared<Buffer>(Private(), &allocator.device(), handle, bytes, true);
  buffer->allocator_ = &allocator;
  return buffer;
}

std::shared_ptr<Buffer> Buffer::WrapReadOnly(std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner) {
  const MemoryHandle handle{reinterpret_cast<uintptr_t>(bytes.data())};
  auto buffer = std::make_shared<Buffer>(Private(), &Cpu(), handle,
                                         static_cast<int64_t>(bytes.size()), false);
  buffer->owner_ = std::move(owner);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::WrapWritable(std::span<std::byte> bytes,
                                             std::shared_ptr<const void> owner) {
  std::shared_ptr<Buffer> buffer = WrapReadOnly(bytes, std::move(owner));
  buffer->writable_ = true;
  return buffer;
}

Buffer::~Buffer() {
  if (allocator_ != nullptr) allocator_->Free(handle_, bytes_);
}

Expected<std::span<const std::byte>> Buffer::HostView() const {
  RML_ASSIGN(const std::byte* const data, device_->HostPointer(handle_));
  return std::span<const std::byte>(data, static_cast<size_t>(bytes_));
}

Expected<std::span<std::byte>> Buffer::MutableHostView() {
  RML_TRY(CheckWritable());
  RML_ASSIGN(std::byte* const data, device_->HostPointer(handle_));
  return std::span<std::byte>(data, static_cast<size_t>(bytes_));
}

Status Buffer::CheckRange(int64_t offset, int64_t bytes) const {
  if (offset < 0 || bytes < 0 || bytes > bytes_ - offset) {
    return OutOfRange("bytes ", offset, " to ", offset, "+", bytes, " lie outside a buffer of ",
                      bytes_, " bytes");
  }
  return {};
}

Status Buffer::CheckWritable() const {
  if (writable_) return {};
  return FailedPrecondition("a read-only buffer (mapped memory) cannot be written: copy it first");
}

Status Buffer::CopyFromHost(int64_t offset, std::span<const std::byte> from) {
  const auto bytes = static_cast<int64_t>(from.size());
  RML_TRY(CheckWritable());
  RML_TRY(CheckRange(offset, bytes));
  return device_->CopyFromHost({handle_, offset}, from.data(), bytes);
}

Status Buffer::CopyToHost(int64_t offset, std::span<std::byte> to) const {
  const auto bytes = static_cast<int64_t>(to.size());
  RML_TRY(CheckRange(offset, bytes));
  return device_->CopyToHost(to.data(), {handle_, offset}, bytes);
}

Status Buffer::Fill(int64_t offset, int64_t bytes, std::byte value) {
  RML_TRY(CheckWritable());
  RML_TRY(CheckRange(offset, bytes));
  return device_->Fill({handle_, offset}, value, bytes);
}

Status Buffer::Copy(Buffer& to, int64_t to_offset, const Buffer& from, int64_t from_offset,
                    int64_t bytes) {
  RML_TRY(to.CheckWritable());
  RML_TRY(to.CheckRange(to_offset, bytes));
  RML_TRY(from.CheckRange(from_offset, bytes));
  if (to.device_ == from.device_) {
    return to.device_->CopyWithin({to.handle_, to_offset}, {from.handle_, from_offset}, bytes);
  }
  if (const auto host = from.HostView(); host.ok()) {
    return to.device_->CopyFromHost({to.handle_, to_offset}, host->data() + from_offset, bytes);
  }
  if (const auto host = to.MutableHostView(); host.ok()) {
    return from.device_->CopyToHost(host->data() + to_offset, {from.handle_, from_offset}, bytes);
  }
  std::vector<std::byte> staging(static_cast<size_t>(std::min(bytes, kStagingBytes)));
  for (int64_t done = 0; done < bytes;) {
    const int64_t part = std::min(bytes - done, kStagingBytes);
    RML_TRY(from.device_->CopyToHost(staging.data(), {from.handle_, from_offset + done}, part));
    RML_TRY(to.device_->CopyFromHost({to.handle_, to_offset + done}, staging.data(), part));
    done += part;
  }
  return {};
}

}  // namespace rml::core
