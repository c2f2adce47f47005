#include "rml/ops/window.h"

namespace rml::ops {

using core::Expected;
using ir::Dim;
using ir::Ints;

Expected<Ints> WindowNumbers(const ir::OpCall& call, std::string_view name, size_t count,
                             int64_t fallback, int64_t least) {
  Ints numbers = call.ints(name);
  if (numbers.empty()) numbers.assign(count, fallback);
  if (numbers.size() != count)
    return core::InvalidArgument(name, " has ", numbers.size(), " numbers, expected ", count);
  for (const int64_t value : numbers) {
    if (value < least || value > INT32_MAX)
      return core::InvalidArgument(name, " has ", value, ", expected at least ", least);
  }
  return numbers;
}

Expected<Dim> WindowRoom(int axis, Dim size, Dim window, int64_t dilation, int64_t before,
                         int64_t after) {
  const Dim reach = Dim(dilation) * (window - 1) + 1;
  const Dim padded = size + before + after;
  const Dim room = padded - reach;
  if (window.valid() && !(window == Dim(0)) && room.valid()) return room;
  return core::InvalidArgument("a window that reaches over ", reach.ToString(),
                               " does not fit axis ", axis, " of ", padded.ToString(),
                               ", padding included");
}

}  // namespace rml::ops
