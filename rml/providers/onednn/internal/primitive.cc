#include "rml/providers/onednn/internal/primitive.h"

#include <array>

#include "rml/core/check.h"

namespace rml::providers::onednn {

Primitive::Primitive(const dnnl::primitive_desc_base& description)
    : primitive_(description.get()),
      scratch_(description.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD)) {}

dnnl_status_t Primitive::Run(std::span<const Argument> arguments,
                             std::byte* scratch) const noexcept {
  RML_CHECK(arguments.size() <= kMostArguments);
  std::array<dnnl_exec_arg_t, kMostArguments + 1> given;
  size_t count = 0;
  dnnl_status_t status = dnnl_success;
  const auto give = [&](int id, const dnnl_memory_desc_t* layout, const void* data) {
    dnnl_memory_t memory = nullptr;
    if (status != dnnl_success) return;
    status = dnnl_memory_create(&memory, layout, CpuEngine().get(), const_cast<void*>(data));
    if (status == dnnl_success) given[count++] = {id, memory};
  };
  for (const Argument& argument : arguments) give(argument.id, argument.layout, argument.data);
  if (scratch_bytes() > 0) give(DNNL_ARG_SCRATCHPAD, &scratch_.data, scratch);
  if (status == dnnl_success) {
    const OnThisThread alone;
    status = dnnl_primitive_execute(primitive_.get(), ThreadStream(), static_cast<int>(count),
                                    given.data());
  }
  for (size_t i = 0; i < count; ++i) dnnl_memory_destroy(given[i].memory);
  return status;
}

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace rml::providers::onednn
