#include "rml/ops/shape_ops.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rml/ops/wide.h"

namespace rml::ops {

using core::Expected;
using core::Status;

Status CheckRank(int rank) {
  if (rank <= core::kMaxRank) return {};
  return core::Unsupported("y would have ", rank, " dimensions, and there are at most ",
                           core::kMaxRank);
}

ir::NamedAxis FreeAxis(int number, std::vector<int> inputs, std::vector<int> outputs) {
  return {core::StrCat("d", number), ir::AxisRole::kFree, ir::Combine::kSum, std::move(inputs),
          std::move(outputs)};
}

int AxisNumber(const ir::AxisPiece& piece) {
  int number = -1;
  RML_CHECK(piece.axis.starts_with('d'));
  std::from_chars(piece.axis.data() + 1, piece.axis.data() + piece.axis.size(), number);
  return number;
}

ir::Axes SameAxes(const ir::OpCall& call, int outputs, std::span<const int64_t> whole) {
  ir::Axes axes;
  for (int i = 0; i < call.rank(0); ++i) {
    if (Contains(whole, i)) continue;
    axes.push_back(FreeAxis(i, std::vector<int>(static_cast<size_t>(call.inputs()), i),
                            std::vector<int>(static_cast<size_t>(outputs), i)));
  }
  return axes;
}

Expected<ir::Ints> AxesInOrder(const ir::OpCall& call, std::string_view name, int rank) {
  RML_TRY(call.axes(name, rank, false));  // refuses those named twice
  ir::Ints places;
  for (const int64_t axis : call.ints(name)) {
    RML_ASSIGN(const int place, ir::NormalizeAxis(axis, rank));
    places.push_back(place);
  }
  return places;
}

Status CheckNumber(std::string_view name, double number, core::DType dtype) {
  if (core::IsFloat(dtype) || dtype == core::DType::kBool) return {};
  const bool is_signed = core::Info(dtype).kind == core::DTypeKind::kSigned;
  const int bits = 8 * core::Info(dtype).block_bytes - (is_signed ? 1 : 0);
  const double limit = std::ldexp(1.0, bits);
  const bool fits = number < limit && number >= (is_signed ? -limit : 0);
  if (fits && number == std::trunc(number)) return {};
  return core::InvalidArgument(name, " ", number, " is no ", core::Name(dtype));
}

int64_t DiagonalOfPiece(const ir::OpCall& call, int rank, const ir::AxisPiece& piece) {
  const int axis = AxisNumber(piece);
  // Sizes are far below this, so that no sum overflows.
  constexpr int64_t kLimit = int64_t{1} << 61;
  const int64_t k = std::clamp(call.integer("k"), -kLimit, kLimit);
  if (axis == rank - 2) return k + std::min(piece.begin, kLimit);
  if (axis == rank - 1) return k - std::min(piece.begin, kLimit);
  return k;
}

Status CopyAll(const ir::RefCall& call) {
  call.VisitIn(0, [&](auto zero) {
    using T = decltype(zero);
    const auto x = call.in<T>(0);
    std::copy(x.begin(), x.end(), call.out<T>(0).begin());
  });
  return {};
}

}  // namespace rml::ops
