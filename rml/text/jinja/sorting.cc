#include "rml/text/jinja/sorting.h"

#include <algorithm>
#include <numeric>

#include "rml/text/jinja/compare.h"

namespace rml::text::jinja {

// A merge sort of our own: std::stable_sort has no way to stop at a comparison that fails, and NaN
// breaks the order that it relies on.
Expected<std::vector<uint32_t>> SortedOrder(Runtime& runtime, const Items& keys, bool descending) {
  const size_t count = keys.size();
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<uint32_t> merged(count);
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      const size_t middle = std::min(begin + width, count);
      const size_t end = std::min(begin + 2 * width, count);
      size_t left = begin;
      size_t right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool take_right = left == middle;
        if (left < middle && right < end) {
          const Value& a = keys[order[descending ? left : right]];
          const Value& b = keys[order[descending ? right : left]];
          RML_TRY(runtime.Charge(std::min(a.weight(), b.weight())));
          RML_ASSIGN(const int comparison, Compare(a, b));
          take_right = comparison == -1;
        }
        merged[out] = order[take_right ? right++ : left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

}  // namespace rml::text::jinja
