// Stream: the random numbers of one key, by element. Element i of a stream is the same whether it
// is made alone, after others, or on another machine; bits, integers and uniforms are the same on
// every instruction set as well.
//
// An element may need more than one draw (rejection): draws are numbered within it.
#pragma once

#include <cstdint>

#include "rml/random/key.h"

namespace rml::random {

class Stream {
 public:
  explicit Stream(Key key) : key_(key.words()) {}

  // 128 bits of element i, draw d.
  PhiloxBlock Block(uint64_t i, uint32_t d = 0) const {
    return Philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), d, 0}, key_);
  }
  uint32_t Bits32(uint64_t i, uint32_t d = 0) const { return Block(i, d)[0]; }
  uint64_t Bits64(uint64_t i, uint32_t d = 0) const {
    const PhiloxBlock block = Block(i, d);
    return block[0] | uint64_t{block[1]} << 32;
  }

  // In [0, 1): the top 24 or 53 bits, so that every value is a multiple of the step.
  float UniformF32(uint64_t i, uint32_t d = 0) const {
    return static_cast<float>(Bits32(i, d) >> 8) * 0x1p-24f;
  }
  double Uniform(uint64_t i, uint32_t d = 0) const {
    return static_cast<double>(Bits64(i, d) >> 11) * 0x1p-53;
  }
  // In (0, 1): for logarithms.
  double OpenUniform(uint64_t i, uint32_t d = 0) const {
    return (static_cast<double>(Bits64(i, d) >> 11) + 0.5) * 0x1p-53;
  }
  // In [0, bound), without bias; bound > 0. Draws d, d + 1, … are used.
  uint64_t Below(uint64_t bound, uint64_t i, uint32_t d = 0) const;

  // The distributions below depend on the C library's functions in their last bits.
  double Normal(uint64_t i, uint32_t d = 0) const;  // Box and Muller
  double TruncatedNormal(double low, double high, uint64_t i,
                         uint32_t d = 0) const;  // of mean 0, deviation 1
  bool Bernoulli(double p, uint64_t i, uint32_t d = 0) const { return Uniform(i, d) < p; }
  double Exponential(uint64_t i, uint32_t d = 0) const;
  double Gamma(double shape, uint64_t i,
               uint32_t d = 0) const;  // scale 1; Marsaglia and Tsang 2000
  double Beta(double a, double b, uint64_t i) const;
  int64_t Poisson(double mean, uint64_t i) const;  // Knuth below 10, then Hörmann's PTRS (1993)
  double Gumbel(uint64_t i, uint32_t d = 0) const;

 private:
  PhiloxKey key_;
};

}  // namespace rml::random
