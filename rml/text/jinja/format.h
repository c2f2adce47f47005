// Python's two ways to format: '%s of %d' % (a, b) and '{} of {:>4}'.format(a, b).
#pragma once

#include <string_view>

#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

Expected<Value> PercentFormat(Runtime& runtime, const Value& format, const Value& values);

Expected<Value> BraceFormat(Runtime& runtime, const Value& format, const CallArgs& args);

}  // namespace rml::text::jinja
