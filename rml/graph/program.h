// Program: a graph made ready to run, by the plain executor. Kernels are chosen and prepared, every
// result has its place in one block of memory, and a run walks a list of calls: it allocates
// nothing and looks nothing up. It computes what eager calls compute, in the same bits.
//
// All dimensions must be integers; `Specialize` makes them so for given sizes. A graph with sizes
// that only the run knows cannot be laid out: run it with ir::Interpret over an eager builder.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rml/core/expected.h"
#include "rml/core/run_context.h"
#include "rml/core/tensor.h"
#include "rml/ir/builder.h"
#include "rml/ir/graph.h"
#include "rml/ops/provider.h"

namespace rml::graph {

// The same graph for inputs of these types: symbols are replaced by what the inputs make them, in
// attributes too.
core::Expected<ir::Graph> Specialize(const ir::Graph& graph, std::span<const ir::Type> inputs,
                                     const ir::OpSource& operators);

class Program {
 public:
  struct Arguments {
    std::span<const core::Tensor> inputs;
    std::span<const core::Tensor> parameters = {};
    std::span<const core::Tensor> states = {};
  };
  struct Results {
    std::vector<core::Tensor> outputs;
    std::vector<core::Tensor> states;  // the next ones, in the order of the graph's states
  };

  // The graph must keep the rules of ir::Verify. It is copied; context and providers must outlive
  // the program. Memory comes from the context's allocator.
  static core::Expected<std::unique_ptr<Program>> Prepare(const ir::Graph& graph,
                                                          const ops::ProviderList& providers,
                                                          const core::RunContext& context);
  ~Program();

  // The results are views of the program's memory, and hold until the next run. One run at a time.
  core::Expected<Results> Run(const Arguments& arguments);

  // The same without checks or results, for those who bound the arguments before: what a run costs.
  core::Status RunBound() noexcept;

  int64_t buffer_bytes() const;     // of all results, laid out by when they live
  int64_t workspace_bytes() const;  // shared by all calls
  int calls() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rml::graph
