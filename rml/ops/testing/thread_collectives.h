// Collectives between threads of one process, for tests: every member is a thread, and results are
// made by reading the others' memory between two barriers.
#pragma once

#include <barrier>
#include <functional>
#include <memory>
#include <vector>

#include "rml/core/collectives.h"

namespace rml::ops::testing {

class ThreadGroup {
 public:
  explicit ThreadGroup(int size);
  ~ThreadGroup();

  // Runs body(member's collectives) on a thread for each, and waits for all.
  void Run(const std::function<void(core::Collectives&)>& body);

 private:
  class Member;
  std::barrier<> barrier_;
  std::vector<const core::Tensor*> shared_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace rml::ops::testing
