// The library as it is used here: one engine, and every call on the thread that makes it.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "rml/core/status.h"

namespace rml::providers::onednn {

const dnnl::engine& CpuEngine();
// The calling thread's own. Nothing is ever queued: a call returns when its work is done.
dnnl_stream_t ThreadStream();

// While it lives, oneDNN takes no thread but the caller's. It works in OpenMP's threads, which are
// not the run's, and cuts its work by their number, so that sums would depend on it. Here the run's
// own threads work on tiles that shapes decide, each tile on one thread: the count is the
// context's, and the bits are the same for any.
class OnThisThread {
 public:
  OnThisThread();
  ~OnThisThread();
  OnThisThread(const OnThisThread&) = delete;
  OnThisThread& operator=(const OnThisThread&) = delete;

 private:
  int before_;  // OpenMP keeps the number for each thread; the user's own is put back
};

core::Status ToStatus(dnnl_status_t status);

}  // namespace rml::providers::onednn
