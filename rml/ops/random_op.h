// What random operators share. The key is an input of two u32 words (rml/random/key.h); element i
// of the stream belongs to place i of the *global* value, so that a piece of it, made anywhere, has
// the same numbers: attributes say where this piece starts in what.
#pragma once

#include "rml/ir/op_def.h"
#include "rml/ir/ref_call.h"
#include "rml/random/stream.h"

namespace rml::ops {

// "global_shape" (none: the value's own) and "start" (none: zeros).
std::vector<ir::AttrDef> RandomAttributes();
core::Status CheckRandom(const ir::OpCall& call, int key_at, const ir::Dims& dims);

// The attributes of a piece of axis `axis` of a value of these dimensions.
ir::AttrList RandomPiece(const ir::OpCall& call, const ir::Dims& dims, int axis,
                         const ir::AxisPiece& piece);

random::Stream StreamOf(const ir::RefCall& call, int key_at);

// The place in the stream of each element of a value.
class GlobalPlaces {
 public:
  GlobalPlaces(const ir::OpCall& call, const core::Shape& shape);
  uint64_t operator()(int64_t element) const;

 private:
  core::Shape shape_;
  core::Shape global_;
  ir::Ints start_;
  bool whole_;
};

}  // namespace rml::ops
