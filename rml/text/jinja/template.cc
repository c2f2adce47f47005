#include "rml/text/jinja/template.h"

#include "rml/core/strcat.h"
#include "rml/text/jinja/evaluator.h"
#include "rml/text/jinja/parser.h"

namespace rml::text::jinja {

struct Template::Tree {
  Body body;
  Limits limits;
};

Template::Template(std::unique_ptr<const Tree> tree) : tree_(std::move(tree)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Expected<Template> Template::Parse(std::string_view source, const Limits& limits) {
  RML_ASSIGN(Body body, ParseTemplate(source, limits));
  return Template(std::make_unique<const Tree>(Tree{std::move(body), limits}));
}

Expected<std::string> Template::Render(const Dict& variables, std::optional<CivilTime> now) const {
  Runtime runtime(tree_->limits, now);
  Evaluator evaluator(variables, runtime);
  Expected<std::string> text = evaluator.Run(tree_->body);
  if (text.ok()) return text;
  const Position at = evaluator.error_position();
  return Status(text.status().code(), core::StrCat(DescribePosition(at), text.status().message()));
}

}  // namespace rml::text::jinja
