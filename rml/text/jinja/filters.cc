#include "rml/text/jinja/filters.h"

namespace rml::text::jinja {

const Filter* FindFilter(std::string_view name) {
  for (const std::span<const Filter> table : {TextFilters(), SequenceFilters(), ValueFilters()}) {
    for (const Filter& filter : table) {
      if (filter.name == name) return &filter;
    }
  }
  return nullptr;
}

}  // namespace rml::text::jinja
