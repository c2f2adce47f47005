// The ways in which conformance runs a kernel on one case.
#pragma once

#include <string>
#include <vector>

#include "rml/kernels/isa.h"

namespace rml::ops {

struct Way {
  kernels::Isa isa = kernels::Isa::kBaseline;
  bool strided = false;  // inputs with gaps between their elements
  int threads = 1;

  std::string ToString() const;  // "avx2, strided, 3 threads"
};

// Every instruction set of this machine, with and without strides, with 1, 2 and 3 threads. `quick`
// takes each pair of choices once. Ways that differ in threads alone follow one another.
std::vector<Way> KernelWays(bool quick);

}  // namespace rml::ops
