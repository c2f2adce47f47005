// Jinja's filters: value | name(arguments). The ones that chat templates use and their neighbours
// are here; `tojson` is Hugging Face's (json.dumps without escaping), not Jinja's.
#pragma once

#include <span>
#include <string_view>

#include "rml/text/jinja/object.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

struct Filter {
  std::string_view name;
  Function::Body body;  // `self` is the value before the bar
};

// Null when there is no such filter.
const Filter* FindFilter(std::string_view name);

// The tables of the three files: text, sequences, everything else.
std::span<const Filter> TextFilters();
std::span<const Filter> SequenceFilters();
std::span<const Filter> ValueFilters();

}  // namespace rml::text::jinja
