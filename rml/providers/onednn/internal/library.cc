#include "rml/providers/onednn/internal/library.h"

#include <omp.h>

namespace rml::providers::onednn {

const dnnl::engine& CpuEngine() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl_stream_t ThreadStream() {
  thread_local const dnnl::stream stream(CpuEngine());
  return stream.get();
}

OnThisThread::OnThisThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OnThisThread::~OnThisThread() { omp_set_num_threads(before_); }

core::Status ToStatus(dnnl_status_t status) {
  if (status == dnnl_success) return {};
  if (status == dnnl_out_of_memory) return core::ResourceExhausted("oneDNN is out of memory");
  return core::Internal("oneDNN failed with status ", static_cast<int>(status));
}

}  // namespace rml::providers::onednn
