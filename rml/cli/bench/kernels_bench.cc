// rml bench kernels: every contender for a case in turn, round after round, so that a machine whose
// speed drifts is as fast for one as for the other.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rml/cli/bench/bench_commands.h"
#include "rml/cli/bench/contender.h"
#include "rml/cli/bench/kernel_case.h"
#include "rml/cli/bench/kernel_results.h"
#include "rml/cli/bench/number_list.h"
#include "rml/cli/bench/peer_worker.h"
#include "rml/cli/report.h"
#include "rml/cli/runner.h"
#include "rml/core/nearest_name.h"
#include "rml/ops/check/compare.h"
#include "rml/ops/provider_list.h"
#include "rml/ops/registry.h"
#include "rml/providers/all/all_providers.h"

namespace rml::cli {

namespace {

using core::Expected;
using core::Status;
using core::StrCat;
using io::Json;

using Workers = std::vector<std::pair<std::string, std::unique_ptr<PeerWorker>>>;

struct BenchKernelsCommand {
  std::string ops;
  std::string filter;
  std::string shapes;
  std::string provider = "cpu";
  std::string peers;
  std::string threads = "1";
  int rounds = 5;
  float seconds = 0.02F;
  bool json = false;

  void AddTo(ArgParser& parser);
  Status Run() const;

 private:
  Expected<std::vector<KernelCase>> Cases() const;
  Expected<CaseResult> Measure(const KernelCase& c, const Runner& run,
                               const kernels::MachineLimits& limits, Workers& workers) const;
};

void BenchKernelsCommand::AddTo(ArgParser& parser) {
  parser.Add("--op", &ops, "Only these operators, comma separated");
  parser.Add("--case", &filter, "Only cases whose name contains this");
  parser.Add("--shapes", &shapes, "A file of cases, or a folder of them (default: the built-in)");
  parser.Add("--provider", &provider, "Whose kernels count");
  parser.Add(
      "--peer", &peers,
      "What to compare with, comma separated: providers (onednn, reference), or the libraries "
      "torch, mkl and openblas in a worker (RML_PEER_PYTHON runs it)");
  parser.Add("-t,--threads", &threads, "Numbers of threads, comma separated");
  parser.Add("--rounds", &rounds, "How often each is timed, in turns; the median counts");
  parser.Add("--seconds", &seconds, "How long each turn lasts at least");
  parser.Flag("--json", &json, "Print everything as one JSON object");
}

Expected<std::vector<KernelCase>> BenchKernelsCommand::Cases() const {
  std::vector<KernelCase> all;
  if (shapes.empty()) {
    RML_ASSIGN(all, BuiltInCases());
  } else {
    RML_ASSIGN(all, ReadCases(shapes));
  }
  const std::vector<std::string> names = ParseNameList(ops);
  for (const std::string& name : names) {
    RML_ASSIGN(const ir::OpDef* const op, ops::BuiltinOps().Find(name));
    if (std::ranges::any_of(all, [&](const KernelCase& c) { return c.op == op; })) continue;
    RML_ASSIGN(const std::vector<KernelCase> made, GeneratedCases(*op));
    all.insert(all.end(), made.begin(), made.end());
  }
  std::erase_if(all, [&](const KernelCase& c) {
    return c.name.find(filter) == std::string::npos ||
           (!names.empty() && std::ranges::find(names, c.op->name) == names.end());
  });
  if (all.empty()) return core::NotFound("no case fits --op and --case");
  return all;
}

// The rate that arithmetic on the first input could reach.
double PeakOf(const LoadedCase& c, const kernels::MachineLimits& limits) {
  for (size_t i = c.known.size(); i-- > 0;) {
    if (!c.known[i].given) continue;
    const core::DType dtype = c.known[i].type.dtype;
    if (core::IsQuantized(dtype)) return limits.int8_ops > 0 ? limits.int8_ops : limits.f32_flops;
  }
  const core::DType dtype =
      c.known.empty() || !c.known[0].given ? core::DType::kF32 : c.known[0].type.dtype;
  switch (dtype) {
    case core::DType::kF64:
      return limits.f32_flops / 2;
    case core::DType::kBF16:
      return std::max(limits.bf16_flops, limits.f32_flops);
    case core::DType::kI8:
    case core::DType::kU8:
      return std::max(limits.int8_ops, limits.f32_flops);
    default:
      return limits.f32_flops;
  }
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// A peer that computes something else is not compared.
std::string Disagreement(const LoadedCase& c, Contender& ours, Contender& other) {
  const auto expected = ours.Output();
  const auto actual = other.Output();
  if (!expected.ok()) return "";
  if (!actual.ok()) return std::string(actual.status().message());
  const auto difference = ops::Compare(*actual, *expected);
  if (!difference.ok()) return StrCat("not compared: ", difference.status().message());
  // Two results may both be off, in opposite directions, and sums here are long.
  const double allowed = 8 * ops::ToleranceFor(c.call.op().tolerance, expected->dtype());
  if (difference->worst <= allowed) return "";
  return StrCat("not compared: its result differs by ", difference->worst, " ", difference->where);
}

Expected<CaseResult> BenchKernelsCommand::Measure(const KernelCase& c, const Runner& run,
                                                  const kernels::MachineLimits& limits,
                                                  Workers& workers) const {
  RML_ASSIGN(const std::unique_ptr<LoadedCase> loaded, LoadedCase::Make(c));
  CaseResult result;
  result.name = c.name;
  result.op = c.op->name;
  result.generated = c.generated;
  result.threads = run.pool().threads();
  result.cost = loaded->cost;
  result.limit_seconds = LimitSeconds(loaded->cost, PeakOf(*loaded, limits), limits, result.threads,
                                      &result.memory_limited);
  std::vector<std::unique_ptr<Contender>> contenders;
  const auto add = [&](std::string_view name, bool peer) -> Status {
    RML_ASSIGN(const ops::ProviderList one, ops::PinProvider(providers::AllProviders(), name));
    std::string why = "it has no kernel for this operator";
    bool any = false;
    for (const ops::Kernel& kernel : one[0]->Kernels(c.op->name)) {
      if (kernel.accepts != nullptr) {
        if (const auto refusal = kernel.accepts(loaded->call)) {
          why = *refusal;
          continue;
        }
      }
      any = true;
      RML_ASSIGN(contenders.emplace_back(), MakeKernelContender(*loaded, kernel, run.context()));
      Timing& timing = result.timings.emplace_back();
      timing.name = StrCat(name, ":", kernel.name);
      timing.peer = peer;
      if (contenders.size() > 1 && contenders.front() != nullptr)
        timing.refused = Disagreement(*loaded, *contenders.front(), *contenders.back());
      if (peer) break;  // the fastest of a peer's, by its own order
    }
    if (any) return {};
    contenders.push_back(nullptr);
    Timing& timing = result.timings.emplace_back();
    timing.name = name;
    timing.peer = peer;
    timing.refused = why;
    return {};
  };
  const auto add_worker = [&](const std::string& name, PeerWorker& worker) -> Status {
    Timing& timing = result.timings.emplace_back();
    timing.name = name;
    timing.peer = true;
    RML_ASSIGN(contenders.emplace_back(), worker.Prepare(*loaded, &timing.refused));
    if (contenders.back() != nullptr && contenders.front() != nullptr)
      timing.refused = Disagreement(*loaded, *contenders.front(), *contenders.back());
    return {};
  };
  RML_TRY(add(provider, false));
  for (const std::string& peer : ParseNameList(peers)) {
    if (!PeerWorker::Knows(peer)) RML_TRY(add(peer, true));
  }
  for (const auto& [name, worker] : workers) RML_TRY(add_worker(name, *worker));
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i] == nullptr || !result.timings[i].refused.empty()) continue;
      RML_ASSIGN(const double took, contenders[i]->Time(static_cast<double>(seconds)));
      result.timings[i].rounds.push_back(took);
    }
  }
  for (Timing& timing : result.timings) {
    if (!timing.rounds.empty()) timing.seconds = Median(timing.rounds);
  }
  return result;
}

Status BenchKernelsCommand::Run() const {
  RML_ASSIGN(const auto thread_counts, ParseNumberList("--threads", threads, 1));
  if (rounds < 1 || rounds > 10000)
    return core::InvalidArgument("--rounds: ", rounds, " is no number from 1 to 10000");
  if (!(seconds > 0 && seconds <= 60))
    return core::InvalidArgument("--seconds: ", seconds, " is not more than 0 and at most 60");
  for (const std::string& name : ParseNameList(StrCat(provider, ",", peers))) {
    if (PeerWorker::Knows(name) && name != provider) continue;
    const auto known = ops::PinProvider(providers::AllProviders(), name);
    if (!known.ok())
      return known.status().WithContext("--peer takes a provider, torch, mkl or openblas");
  }
  RML_ASSIGN(const std::vector<KernelCase> cases, Cases());
  std::vector<CaseResult> results;
  Json limits_json = Json::MakeArray();
  Json versions = Json::MakeObject();
  for (const int64_t count : thread_counts) {
    RML_ASSIGN(const std::unique_ptr<Runner> run,
               Runner::Make({.threads = static_cast<int>(count)}));
    RML_ASSIGN(const kernels::MachineLimits limits, kernels::MeasureLimits(run->pool()));
    limits_json.Append(LimitsJson(limits, run->pool().threads()));
    Workers workers;
    for (const std::string& name : ParseNameList(peers)) {
      if (!PeerWorker::Knows(name)) continue;
      RML_ASSIGN(std::unique_ptr<PeerWorker> worker,
                 PeerWorker::Start(name, static_cast<int>(count)));
      workers.emplace_back(name, std::move(worker));
    }
    for (size_t i = 0; i < cases.size(); ++i) {
      if (StderrIsTerminal()) {
        std::fprintf(stderr, "\r\033[K%zu of %zu, %d threads: %s", i + 1, cases.size(),
                     run->pool().threads(), cases[i].name.c_str());
      }
      if (run->interrupted()) return core::Cancelled("interrupted");
      auto result = Measure(cases[i], *run, limits, workers);
      if (!result.ok()) return result.status().WithContext(cases[i].name);
      results.push_back(*std::move(result));
    }
    for (const auto& [name, worker] : workers) versions.Set(name, worker->version());
  }
  if (StderrIsTerminal()) std::fputs("\r\033[K", stderr);
  if (!json) {
    std::fputs(ResultsTable(results).c_str(), stdout);
    return {};
  }
  const Json all = Json::MakeObject()
                       .Set("machine", MachineJson())
                       .Set("limits", std::move(limits_json))
                       .Set("peers", std::move(versions))
                       .Set("results", ResultsJson(results));
  std::puts(all.Dump(2).c_str());
  return {};
}

}  // namespace

void AddBenchKernelsCommand(ArgParser& bench) {
  ArgParser parser =
      bench.Command("kernels", "Kernels beside one another and the machine's limits",
                    "rml bench kernels --op matmul --case square --peer onednn -t 1,2");
  const auto command = std::make_shared<BenchKernelsCommand>();
  command->AddTo(parser);
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
