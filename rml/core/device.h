// Device: a place with memory. It allocates, frees and copies; what runs there is the business of
// providers. Memory off the host is reached only through the copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rml/core/allocator.h"
#include "rml/core/expected.h"

namespace rml::core {

// A position in a device's memory.
struct MemoryRef {
  MemoryHandle handle;
  int64_t offset = 0;  // bytes
};

class Device : public Allocator {
 public:
  Device& device() final { return *this; }

  virtual std::string_view name() const = 0;  // "cpu"; for messages and the command line
  virtual int id() const = 0;                 // tells devices of one name apart

  // The address of host-accessible memory; Unsupported for memory that the host may not touch.
  virtual Expected<std::byte*> HostPointer(MemoryHandle handle) = 0;

  // The callers have checked that the ranges lie inside their blocks.
  virtual Status CopyFromHost(MemoryRef to, const std::byte* from, int64_t bytes) = 0;
  virtual Status CopyToHost(std::byte* to, MemoryRef from, int64_t bytes) = 0;
  virtual Status CopyWithin(MemoryRef to, MemoryRef from, int64_t bytes) = 0;  // may overlap
  virtual Status Fill(MemoryRef to, std::byte value, int64_t bytes) = 0;
};

// The host's own memory. One object for the process, never destroyed.
Device& Cpu();

}  // namespace rml::core
