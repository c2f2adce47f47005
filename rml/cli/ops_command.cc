// rml ops list, check and explain: what operators there are, whether every kernel means what its
// definition says, and which kernel a call would get.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "rml/cli/commands.h"
#include "rml/cli/ops_markdown.h"
#include "rml/cli/report.h"
#include "rml/io/json.h"
#include "rml/ops/check/conformance.h"
#include "rml/ops/check/op_case.h"
#include "rml/ops/provider_list.h"
#include "rml/ops/registry.h"
#include "rml/providers/all/all_providers.h"

namespace rml::cli {

namespace {

using core::Expected;
using core::Status;
using core::StrCat;
using io::Json;
using providers::AllProviders;

// All operators, or the one that is named.
Expected<std::vector<const ir::OpDef*>> Chosen(const std::string& name) {
  const auto all = ops::BuiltinOps().all();
  if (name.empty()) return std::vector<const ir::OpDef*>(all.begin(), all.end());
  RML_ASSIGN(const ir::OpDef* const op, ops::BuiltinOps().Find(name));
  return std::vector<const ir::OpDef*>{op};
}

void Print(const std::string& text) { std::puts(text.c_str()); }

// --- list

struct ListCommand {
  bool json = false;
  bool markdown = false;

  Status Run() const {
    if (markdown) {
      std::fputs(OperatorsMarkdown(ops::BuiltinOps().all(), providers::BuiltInProviders()).c_str(),
                 stdout);
      return {};
    }
    Json list = Json::MakeArray();
    for (const ir::OpDef* op : ops::BuiltinOps().all()) {
      Json kernels = Json::MakeArray();
      std::string names;
      for (const ops::Provider* provider : AllProviders()) {
        for (const ops::Kernel& kernel : provider->Kernels(op->name)) {
          const std::string name = StrCat(provider->name(), ":", kernel.name);
          names += StrCat(names.empty() ? "" : " ", name);
          kernels.Append(name);
        }
      }
      if (!json) {
        std::printf("%-28.*s %s\n", static_cast<int>(op->name.size()), op->name.data(),
                    names.c_str());
        continue;
      }
      list.Append(Json::MakeObject()
                      .Set("op", std::string(op->name))
                      .Set("version", op->version)
                      .Set("doc", std::string(op->doc))
                      .Set("gradient", !op->no_gradient)
                      .Set("kernels", std::move(kernels)));
    }
    if (json) Print(list.Dump(2));
    return {};
  }
};

// --- check

struct CheckCommand {
  std::string provider;
  std::string op;
  bool quick = false;
  bool json = false;

  Status Run() const {
    RML_ASSIGN(const std::vector<const ir::OpDef*> chosen, Chosen(op));
    RML_ASSIGN(const ops::ProviderList providers, ops::PinProvider(AllProviders(), provider));
    int checks = 0;
    int failures = 0;
    Json reports = Json::MakeArray();
    const auto start = std::chrono::steady_clock::now();
    for (const ir::OpDef* definition : chosen) {
      bool first = true;
      for (const ops::Provider* p : providers) {
        // The definition is one, whatever the providers.
        const auto report =
            ops::CheckConformance(*definition, p, {.quick = quick, .definition = first});
        first = false;
        checks += report.checks;
        failures += static_cast<int>(report.failures.size());
        for (const std::string& failure : report.failures)
          std::fprintf(stderr, "%s\n", failure.c_str());
        Json kernels = Json::MakeArray();
        for (const std::string& kernel : report.kernels) kernels.Append(kernel);
        reports.Append(Json::MakeObject()
                           .Set("op", report.op)
                           .Set("provider", std::string(p->name()))
                           .Set("checks", report.checks)
                           .Set("kernels", std::move(kernels))
                           .Set("failures", static_cast<int64_t>(report.failures.size())));
      }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (json) {
      Print(reports.Dump(2));
    } else {
      std::printf("%zu operators, %d checks, %d failures, %.1f s\n", chosen.size(), checks,
                  failures, seconds);
    }
    if (failures > 0) return core::FailedPrecondition(failures, " of ", checks, " checks failed");
    return {};
  }
};

// --- explain

struct ExplainCommand {
  std::string op;
  std::string provider;

  Status Run() const {
    RML_ASSIGN(const ir::OpDef* const definition, ops::BuiltinOps().Find(op));
    RML_ASSIGN(const ops::ProviderList providers, ops::PinProvider(AllProviders(), provider));
    RML_ASSIGN(const std::vector<ops::OpCase> cases, ops::CasesOf(*definition, true));
    std::printf("%s\n", std::string(definition->doc).c_str());
    for (const ops::OpCase& c : cases) {
      std::vector<ir::OpCall::Input> known;
      std::string types;
      for (const core::Tensor& tensor : c.inputs) {
        known.push_back({.type = {}, .given = tensor.defined()});
        if (tensor.defined()) known.back().type = {tensor.dtype(), ir::Dims(tensor.shape())};
        types += StrCat(types.empty() ? "" : ", ",
                        tensor.defined() ? known.back().type.ToString() : "none");
      }
      std::printf("\n%s(%s)\n", op.c_str(), types.c_str());
      bool taken = false;
      for (const ops::Verdict& verdict : ops::ExplainChoice(
               providers, ir::OpCall(*definition, known, c.attributes), core::Cpu())) {
        const std::string kernel =
            StrCat(verdict.choice.provider->name(), ":", verdict.choice.kernel->name);
        const std::string says = verdict.refusal ? StrCat("refuses: ", *verdict.refusal)
                                 : taken         ? "would take it"
                                                 : "runs";
        taken = taken || !verdict.refusal;
        std::printf("  %-24s %s\n", kernel.c_str(), says.c_str());
      }
    }
    return {};
  }
};

}  // namespace

void AddOpsCommand(ArgParser& rml) {
  ArgParser group =
      rml.Command("ops", "List, check and explain the operators", "rml ops check --quick");

  ArgParser list = group.Command("list", "Every operator, with the kernels that compute it",
                                 "rml ops list --json");
  const auto lister = std::make_shared<ListCommand>();
  list.Flag("--json", &lister->json, "Print one JSON array");
  list.Flag("--markdown", &lister->markdown, "Print docs/operators.md");
  list.SetRun([lister] { return ExitWith(lister->Run()); });

  ArgParser check = group.Command(
      "check", "Hold every kernel to its operator's definition, and the definition to itself",
      "rml ops check --provider cpu --op matmul");
  const auto checker = std::make_shared<CheckCommand>();
  check.Add("--provider", &checker->provider,
            "Check the kernels of this provider only (default: $RML_PROVIDER, or all)");
  check.Add("--op", &checker->op, "Check this operator only");
  check.Flag("--quick", &checker->quick, "Pairwise cases in place of the full product");
  check.Flag("--json", &checker->json, "Print one JSON array");
  check.SetRun([checker] { return ExitWith(checker->Run()); });

  ArgParser explain =
      group.Command("explain", "Which kernel would run, and why the faster ones refuse",
                    "rml ops explain softmax");
  const auto explainer = std::make_shared<ExplainCommand>();
  explain.Positional("OP", &explainer->op, "The operator's name", true);
  explain.Add("--provider", &explainer->provider,
              "Ask this provider only (default: $RML_PROVIDER, or all)");
  explain.SetRun([explainer] { return ExitWith(explainer->Run()); });
}

}  // namespace rml::cli
