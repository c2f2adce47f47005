// Cost: what one call takes, whatever runs it.
#pragma once

namespace rml::ir {

struct Cost {
  double flops = 0;  // a multiplication and an addition are two; so is a comparison and a choice
  double bytes_read = 0;
  double bytes_written = 0;

  friend Cost operator+(const Cost& a, const Cost& b) {
    return {a.flops + b.flops, a.bytes_read + b.bytes_read, a.bytes_written + b.bytes_written};
  }
};

}  // namespace rml::ir
