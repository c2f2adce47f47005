// Collectives: operations that concern every member of a group of runs. Each member calls the same
// ones in the same order; a call returns when its own result is there. Algorithms and transports
// are the business of rml/dist.
#pragma once

#include <cstdint>

#include "rml/core/status.h"
#include "rml/core/tensor.h"

namespace rml::core {

enum class ReduceOp : uint8_t { kSum, kMax, kMin, kProd };

class Collectives {
 public:
  virtual ~Collectives() = default;

  virtual int rank() const = 0;  // this member, from 0
  virtual int size() const = 0;  // of the group

  // All tensors are contiguous and of one dtype. Partial results are combined in the order of
  // ranks, so that every member has the same bits. `out` may be `in`.
  virtual Status AllReduce(const Tensor& in, const Tensor& out, ReduceOp op) = 0;
  // out: size() pieces of `in`'s bytes, in the order of ranks.
  virtual Status AllGather(const Tensor& in, const Tensor& out) = 0;
  // in: size() pieces of out's bytes; out: the combination of piece rank() of every member.
  virtual Status ReduceScatter(const Tensor& in, const Tensor& out, ReduceOp op) = 0;
  // Piece i of `in` goes to member i; piece i of `out` comes from member i.
  virtual Status AllToAll(const Tensor& in, const Tensor& out) = 0;
  // `root`'s content, in place.
  virtual Status Broadcast(const Tensor& tensor, int root) = 0;
};

}  // namespace rml::core
