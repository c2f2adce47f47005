#include "rml/cli/runner.h"

#include <csignal>

#include <atomic>
#include <optional>

#include "rml/kernels/isa.h"

namespace rml::cli {

using core::Expected;

namespace {

// What the handler may touch: the flag that a signal came, and the source that it cancels. A source
// stays in place until the next one has replaced it.
std::atomic<bool> g_interrupted{false};
std::atomic<core::CancellationSource*> g_source{nullptr};

extern "C" void OnInterrupt(int) {
  core::CancellationSource* source = g_source.load();
  if (source == nullptr) return;       // nothing is running
  if (g_interrupted.exchange(true)) {  // the second one, with the first still unanswered
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
    return;
  }
  source->Cancel();
}

}  // namespace

void RunnerOptions::AddTo(ArgParser& parser) {
  parser.Add("-t,--threads", &threads, "Threads to compute with (0: all cores, or RML_THREADS)");
}

struct Runner::Interrupt {
  std::optional<core::CancellationSource> sources[2];
  int next = 0;
  struct sigaction previous = {};
};

Expected<std::unique_ptr<Runner>> Runner::Make(const RunnerOptions& options) {
  RML_TRY(kernels::ResolveIsa());
  constexpr int kMostThreads = 1024;
  if (options.threads < 0 || options.threads > kMostThreads) {
    return core::InvalidArgument("--threads: ", options.threads,
                                 " is not a number of threads from 0 to ", kMostThreads);
  }
  std::unique_ptr<Runner> runner(new Runner());
  if (options.threads > 0) runner->pool_ = std::make_unique<core::ThreadPool>(options.threads);
  runner->context_.pool = options.threads > 0 ? runner->pool_.get() : &core::ThreadPool::Default();
  runner->interrupt_ = std::make_unique<Interrupt>();
  runner->NewInterrupt();
  struct sigaction action = {};
  action.sa_handler =
      OnInterrupt;  // no SA_RESTART: a read of the terminal ends, and the line begins anew
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &runner->interrupt_->previous);
  return runner;
}

Runner::~Runner() {
  sigaction(SIGINT, &interrupt_->previous, nullptr);
  g_source.store(nullptr);
}

core::CancellationToken Runner::NewInterrupt() {
  std::optional<core::CancellationSource>& source = interrupt_->sources[interrupt_->next];
  interrupt_->next = 1 - interrupt_->next;
  source.emplace();
  g_interrupted.store(false);
  g_source.store(&*source);
  return source->token();
}

void Runner::EndInterrupt() { g_source.store(nullptr); }

bool Runner::interrupted() const { return g_interrupted.load(); }

}  // namespace rml::cli
