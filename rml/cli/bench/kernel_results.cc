#include "rml/cli/bench/kernel_results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <utility>

#include "rml/cli/version.h"
#include "rml/core/strcat.h"
#include "rml/kernels/caches.h"
#include "rml/kernels/isa.h"

namespace rml::cli {

using io::Json;

namespace {

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[160];
  const int length = std::snprintf(text, sizeof(text), format, args...);
  return std::string(text, static_cast<size_t>(std::clamp(length, 0, 159)));
}

// In the rounds, how often longer the peer took: below 1 it is the faster one.
std::pair<double, double> RatioRange(const Timing& ours, const Timing& peer) {
  double low = peer.seconds / ours.seconds;
  double high = low;
  for (size_t i = 0; i < std::min(ours.rounds.size(), peer.rounds.size()); ++i) {
    low = std::min(low, peer.rounds[i] / ours.rounds[i]);
    high = std::max(high, peer.rounds[i] / ours.rounds[i]);
  }
  return {low, high};
}

std::string Rate(const CaseResult& result, const Timing& timing) {
  const double bytes = result.cost.bytes_read + result.cost.bytes_written;
  if (result.memory_limited || result.cost.flops == 0)
    return Format("%.1f GB/s", bytes / timing.seconds / 1e9);
  return Format("%.1f GFLOP/s", result.cost.flops / timing.seconds / 1e9);
}

std::string CpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

struct Mean {
  double logarithms = 0;
  int count = 0;
  void Add(double ratio) {
    logarithms += std::log(ratio);
    ++count;
  }
  double value() const { return std::exp(logarithms / std::max(count, 1)); }
};

}  // namespace

double LimitSeconds(const ir::Cost& cost, double peak, const kernels::MachineLimits& limits,
                    int threads, bool* memory_limited) {
  const kernels::Caches& caches = kernels::MachineCaches();
  const double bytes = cost.bytes_read + cost.bytes_written;
  double memory = 0;
  if (bytes <= static_cast<double>(caches.l2) * threads) {
    memory = limits.l2_read > 0 ? bytes / limits.l2_read : 0;
  } else if (bytes <= static_cast<double>(caches.l3)) {
    memory = limits.l3_read > 0 ? bytes / limits.l3_read : 0;
  } else if (limits.copy > 0 && limits.read > 0 && limits.write > 0) {
    // What is read beside something written is a copy; the rest is read or written alone.
    const double both = std::min(cost.bytes_read, cost.bytes_written);
    memory = 2 * both / limits.copy + (cost.bytes_read - both) / limits.read +
             (cost.bytes_written - both) / limits.write;
  }
  const double arithmetic = peak > 0 ? cost.flops / peak : 0;
  *memory_limited = memory > arithmetic;
  return std::max(memory, arithmetic);
}

std::string ResultsTable(const std::vector<CaseResult>& results) {
  std::string text =
      "| case | kernel | threads | time | rate | of the limit | against ours |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
  std::map<std::pair<std::string, std::string>, Mean> means;  // of an operator: limit, peers
  for (const CaseResult& result : results) {
    const Timing* const ours = result.timings.empty() ? nullptr : &result.timings.front();
    const std::string op = core::StrCat(result.op, ", ", result.threads, " threads");
    for (const Timing& timing : result.timings) {
      const std::string begin =
          core::StrCat("| ", result.name, " | ", timing.name, " | ", result.threads, " | ");
      if (timing.seconds <= 0 || !timing.refused.empty()) {
        text += core::StrCat(begin, "– | – | – | ", timing.refused, " |\n");
        continue;
      }
      const double share = result.limit_seconds / timing.seconds;
      std::string against;
      if (&timing != ours && ours->seconds > 0) {
        const auto [low, high] = RatioRange(*ours, timing);
        against = Format("%.2f (%.2f–%.2f)", timing.seconds / ours->seconds, low, high);
        means[{op, timing.name}].Add(timing.seconds / ours->seconds);
      } else if (&timing == ours && share > 0) {
        means[{op, "of the limit"}].Add(share);
      }
      text += core::StrCat(
          begin, Format("%.2f µs", timing.seconds * 1e6), " | ", Rate(result, timing), " | ",
          Format("%.0f%% of %s", 100 * share, result.memory_limited ? "memory" : "arithmetic"),
          " | ", against, " |\n");
    }
  }
  text += "\n| operator | geometric mean of | value | cases |\n| --- | --- | ---: | ---: |\n";
  for (const auto& [key, mean] : means) {
    text += core::StrCat("| ", key.first, " | ",
                         key.second == "of the limit"
                             ? "share of the limit"
                             : core::StrCat("time of ", key.second, " over ours"),
                         " | ", Format("%.3f", mean.value()), " | ", mean.count, " |\n");
  }
  return text;
}

Json ResultsJson(const std::vector<CaseResult>& results) {
  Json list = Json::MakeArray();
  for (const CaseResult& result : results) {
    Json timings = Json::MakeArray();
    for (const Timing& timing : result.timings) {
      Json rounds = Json::MakeArray();
      for (const double seconds : timing.rounds) rounds.Append(seconds);
      Json entry = Json::MakeObject();
      entry.Set("kernel", timing.name);
      entry.Set("peer", timing.peer);
      if (!timing.refused.empty()) entry.Set("refused", timing.refused);
      if (timing.seconds > 0) {
        entry.Set("seconds", timing.seconds);
        entry.Set("share_of_limit", result.limit_seconds / timing.seconds);
        entry.Set("rounds", std::move(rounds));
      }
      timings.Append(std::move(entry));
    }
    list.Append(Json::MakeObject()
                    .Set("case", result.name)
                    .Set("op", result.op)
                    .Set("generated", result.generated)
                    .Set("threads", result.threads)
                    .Set("flops", result.cost.flops)
                    .Set("bytes_read", result.cost.bytes_read)
                    .Set("bytes_written", result.cost.bytes_written)
                    .Set("limit_seconds", result.limit_seconds)
                    .Set("memory_limited", result.memory_limited)
                    .Set("timings", std::move(timings)));
  }
  return list;
}

Json LimitsJson(const kernels::MachineLimits& limits, int threads) {
  return Json::MakeObject()
      .Set("threads", threads)
      .Set("f32_flops", limits.f32_flops)
      .Set("bf16_flops", limits.bf16_flops)
      .Set("int8_ops", limits.int8_ops)
      .Set("l2_read", limits.l2_read)
      .Set("l3_read", limits.l3_read)
      .Set("read", limits.read)
      .Set("write", limits.write)
      .Set("copy", limits.copy);
}

Json MachineJson() {
  const kernels::Caches& caches = kernels::MachineCaches();
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return Json::MakeObject()
      .Set("cpu", CpuModel())
      .Set("isa", std::string(kernels::IsaName(kernels::ActiveIsa())))
      .Set("l1", caches.l1)
      .Set("l2", caches.l2)
      .Set("l3", caches.l3)
      .Set("date", date)
      .Set("rml", VersionText());
}

}  // namespace rml::cli
