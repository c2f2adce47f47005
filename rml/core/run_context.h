// RunContext: what a run is given by whoever starts it. A plain struct of references that the
// caller keeps alive; every member has a default that works, so RunContext{} runs alone, unwatched,
// unlimited, as a group of one. Streams join it with the devices that have them.
#pragma once

#include "rml/core/allocator.h"
#include "rml/core/cancellation.h"
#include "rml/core/collectives.h"
#include "rml/core/device.h"
#include "rml/core/events.h"
#include "rml/core/memory_budget.h"
#include "rml/core/thread_pool.h"

namespace rml::core {

struct RunContext {
  ThreadPool* pool = nullptr;          // null: everything on the calling thread
  EventSink* events = nullptr;         // null: nobody watches
  Allocator* allocator = nullptr;      // null: Cpu()
  MemoryBudget* memory = nullptr;      // null: no limit; for what does not come from the allocator
  CancellationToken cancellation;      // default: never cancelled
  Collectives* collectives = nullptr;  // null: a group of one

  Allocator& GetAllocator() const { return allocator != nullptr ? *allocator : Cpu(); }

  // Runs body(chunk, worker) for every chunk, on the pool where there is one.
  void Run(int64_t chunks, FunctionRef<void(int64_t chunk, int worker)> body) const {
    if (pool != nullptr) return pool->Run(chunks, body);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) body(chunk, 0);
  }
  int threads() const { return pool != nullptr ? pool->threads() : 1; }

  // Takes bytes from the budget for as long as the result lives.
  Expected<Reservation> Reserve(int64_t bytes, std::string_view what) const {
    if (memory == nullptr) return Reservation();
    RML_TRY(memory->Reserve(bytes, what));
    return Reservation(memory, bytes);
  }
};

}  // namespace rml::core
