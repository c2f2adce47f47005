// Limits: what a template may spend. A chat template comes out of a model file, so it is code from
// a stranger: every loop, string and recursion is bounded, and going past a bound is a
// ResourceExhausted status that names the place in the template.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rml::text::jinja {

struct Limits {
  // Parsing.
  size_t source_bytes = size_t{1} << 20;
  int nesting = 150;  // brackets, operators and blocks inside one another

  // Rendering.
  int64_t steps = 20'000'000;  // expressions and statements run, plus work inside built-ins
  int64_t loop_iterations = 1'000'000;  // of all loops together
  int64_t range_items = 100'000;        // of one range(), as Jinja's sandbox has it
  int recursion = 400;                  // expressions and macro calls in progress
  int value_depth = 100;                // lists in lists in lists …
  size_t output_bytes = size_t{64} << 20;
  size_t string_bytes = size_t{16} << 20;  // of one string
  int64_t value_items = 1'000'000;         // of one list or dict, what is inside it included
  size_t total_bytes = size_t{1} << 30;    // of all strings and lists ever made
};

}  // namespace rml::text::jinja
