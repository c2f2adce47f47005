// Primitive: what oneDNN compiled for one set of shapes. It never changes, and any number of
// threads may run it at once, each with scratch of its own.
#pragma once

#include <cstdint>
#include <span>

#include "rml/providers/onednn/internal/library.h"

namespace rml::providers::onednn {

struct Argument {
  int id = 0;  // DNNL_ARG_SRC, …
  const dnnl_memory_desc_t* layout = nullptr;
  const void* data = nullptr;  // the library does not say in types which arguments it writes
};

class Primitive {
 public:
  static constexpr size_t kMostArguments = 8;  // of Run

  Primitive() = default;
  // The description must ask for scratch of the user's: UserScratch().
  explicit Primitive(const dnnl::primitive_desc_base& description);

  bool defined() const { return static_cast<bool>(primitive_); }
  int64_t scratch_bytes() const { return static_cast<int64_t>(scratch_.get_size()); }

  // On this thread. It allocates one small object an argument, which is how the library takes
  // pointers, and nothing else.
  dnnl_status_t Run(std::span<const Argument> arguments, std::byte* scratch) const noexcept;

 private:
  dnnl::primitive primitive_;
  dnnl::memory::desc scratch_;
};

dnnl::primitive_attr UserScratch();

}  // namespace rml::providers::onednn
