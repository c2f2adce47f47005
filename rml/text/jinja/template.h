// Template: a Jinja template, parsed once and rendered any number of times, from any thread. Start
// here. The language is Jinja 3.1's as Hugging Face runs it (trim_blocks, lstrip_blocks, loop
// controls, {% generation %}, the immutable sandbox); what a template may spend is limited.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rml/text/jinja/limits.h"
#include "rml/text/jinja/runtime.h"
#include "rml/text/jinja/value.h"

namespace rml::text::jinja {

class Template {
 public:
  // Failures read "line 3, column 7: …".
  static Expected<Template> Parse(std::string_view source, const Limits& limits = {});

  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // `now` is the time that strftime_now() prints; without it, the local time.
  Expected<std::string> Render(const Dict& variables, std::optional<CivilTime> now = {}) const;

 private:
  struct Tree;
  explicit Template(std::unique_ptr<const Tree> tree);

  std::unique_ptr<const Tree> tree_;
};

}  // namespace rml::text::jinja
