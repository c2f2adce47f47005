// Runner: the threads, memory and cancellation that a command hands to what it runs. While it
// lives, Ctrl-C asks the running work to stop; a second Ctrl-C before it has, ends the program.
#pragma once

#include <memory>

#include "rml/cli/arg_parser.h"
#include "rml/core/cancellation.h"
#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/core/thread_pool.h"

namespace rml::cli {

struct RunnerOptions {
  int threads = 0;  // 0: all cores

  void AddTo(ArgParser& parser);  // -t/--threads
};

class Runner {
 public:
  // Fails when RML_ISA or the number of threads makes no sense.
  static core::Expected<std::unique_ptr<Runner>> Make(const RunnerOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const core::RunContext& context() const { return context_; }
  core::ThreadPool& pool() const { return *context_.pool; }

  // A token that the next Ctrl-C cancels; what came before is forgotten.
  core::CancellationToken NewInterrupt();
  // Nothing is running: until the next NewInterrupt, Ctrl-C does nothing but end a read.
  void EndInterrupt();
  // Whether Ctrl-C came since the last NewInterrupt.
  bool interrupted() const;

 private:
  Runner() = default;

  struct Interrupt;

  std::unique_ptr<core::ThreadPool> pool_;  // null: the process's own
  core::RunContext context_;
  std::unique_ptr<Interrupt> interrupt_;
};

}  // namespace rml::cli
