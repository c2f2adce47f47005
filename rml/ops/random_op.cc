#include "rml/ops/random_op.h"

#include "rml/ops/shape_math.h"

namespace rml::ops {

using core::Status;
using ir::Dims;
using ir::Ints;

std::vector<ir::AttrDef> RandomAttributes() {
  return {{"global_shape", Dims()}, {"start", Ints()}};
}

Status CheckRandom(const ir::OpCall& call, int key_at, const Dims& dims) {
  if (!(call.input(key_at).dims == Dims{2})) {
    return core::InvalidArgument("key is ", call.input(key_at).dims.ToString(),
                                 ", expected two words");
  }
  const Dims& global = call.attr<Dims>("global_shape");
  const Ints& start = call.ints("start");
  if (start.empty() && global.rank() == 0) return {};
  if (global.rank() != dims.rank() || start.size() != static_cast<size_t>(dims.rank())) {
    return core::InvalidArgument("global_shape has ", global.rank(), " dimensions and start ",
                                 start.size(), ", expected ", dims.rank());
  }
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const int64_t from = start[static_cast<size_t>(axis)];
    if (from < 0 || (dims[axis] + from).max() > global[axis].max()) {
      return core::InvalidArgument("axis ", axis, " from ", from,
                                   " on does not lie in global_shape ", global.ToString());
    }
  }
  return {};
}

ir::AttrList RandomPiece(const ir::OpCall& call, const Dims& dims, int axis,
                         const ir::AxisPiece& piece) {
  Dims global = call.attr<Dims>("global_shape");
  Ints start = call.ints("start");
  if (start.empty()) {
    global = dims;
    start.assign(static_cast<size_t>(dims.rank()), 0);
  }
  start[static_cast<size_t>(axis)] += piece.begin;
  return {{"global_shape", global}, {"start", start}};
}

random::Stream StreamOf(const ir::RefCall& call, int key_at) {
  const auto words = call.in<uint64_t>(key_at);
  return random::Stream(random::Key{words[0] | words[1] << 32});
}

GlobalPlaces::GlobalPlaces(const ir::OpCall& call, const core::Shape& shape)
    : shape_(shape), start_(call.ints("start")) {
  whole_ = start_.empty();
  if (!whole_) global_ = call.attr<Dims>("global_shape").shape();
}

uint64_t GlobalPlaces::operator()(int64_t element) const {
  if (whole_) return static_cast<uint64_t>(element);
  Coordinates at = CoordinatesOf(element, shape_);
  for (size_t axis = 0; axis < start_.size(); ++axis) at[axis] += start_[axis];
  return static_cast<uint64_t>(PositionOf(at, global_));
}

}  // namespace rml::ops
