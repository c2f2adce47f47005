// The checks that every operator passes, whatever it computes. Each says what is wrong as a Status
// that begins with the case.
#pragma once

#include <span>

#include "rml/ops/check/op_case.h"
#include "rml/ops/check/ways.h"
#include "rml/ops/provider.h"

namespace rml::ops {

// What was inferred is what came out; the default cost or the operator's own is not negative.
core::Status CheckInference(const OpCase& c);

// One kernel of the provider, where it accepts the case: in each of the ways against the reference,
// and bit-equal for any number of threads, and where an aliased output is in its input's own memory.
// `ran`, if not null, counts the cases that it accepted.
core::Status CheckKernel(const OpCase& c, const Provider& provider, const Kernel& kernel,
                         std::span<const Way> ways, int* ran);

// An aliased output in its input's own memory gives the same.
core::Status CheckAliases(const OpCase& c);

// Gradients against finite differences, in f64: first, and second where `second`.
core::Status CheckGradient(const OpCase& c, bool second);
// A hand-written vjp against the decomposition, where there are both.
core::Status CheckDecomposedGradient(const OpCase& c);

// Traced and run by the interpreter: with integer dimensions, after a way through the form in
// files, with symbols for all that may vary, inside a fused body; and the gradient as a graph. Each
// gives the same bits as eager calls.
core::Status CheckTrace(const OpCase& c);
core::Status CheckRoundTrip(const OpCase& c);
core::Status CheckSymbolic(const OpCase& c);
core::Status CheckFused(const OpCase& c);
core::Status CheckTracedGradient(const OpCase& c);

// For each axis that may be split: in two, run, merged. The pieces' costs add up.
core::Status CheckSplits(const OpCase& c);

// On a device whose memory traps on host access.
core::Status CheckDevice(const OpCase& c, core::Device& device);

}  // namespace rml::ops
