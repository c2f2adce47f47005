#include "rml/ir/axes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "rml/core/check.h"
#include "rml/ir/op_call.h"

namespace rml::ir {

using core::Expected;
using core::Status;
using core::StrCat;

namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Expected<AxesText::Name> ParseName(std::string_view word) {
  AxesText::Name name;
  const std::string_view whole_word = word;
  if (word.starts_with('*')) {
    name.many = true;
    word.remove_prefix(1);
  }
  if (const size_t hat = word.find('^'); hat != std::string_view::npos) {
    const std::string_view how = word.substr(hat + 1);
    if (how != "max" && how != "min" && how != "prod") {
      return core::InvalidArgument("axes: \"", whole_word,
                                   "\" combines by neither max, min nor prod");
    }
    name.combine = how == "max" ? Combine::kMax : how == "min" ? Combine::kMin : Combine::kProd;
    word = word.substr(0, hat);
  }
  if (word.ends_with('!')) {
    name.whole = true;
    word.remove_suffix(1);
  }
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  if (word.empty() || !std::ranges::all_of(word, letter)) {
    return core::InvalidArgument("axes: \"", whole_word, "\" is no name of an axis");
  }
  name.name = word;
  return name;
}

Expected<std::vector<std::vector<AxesText::Name>>> ParseOperands(std::string_view text) {
  std::vector<std::vector<AxesText::Name>> operands;
  for (const std::string_view part : Split(text, ',')) {
    std::vector<AxesText::Name>& names = operands.emplace_back();
    int many = 0;
    for (const std::string_view word : Split(part, ' ')) {
      if (word.empty()) continue;
      RML_ASSIGN(AxesText::Name name, ParseName(word));
      many += name.many ? 1 : 0;
      names.push_back(std::move(name));
    }
    if (many > 1) return core::InvalidArgument("axes: \"", part, "\" has two groups of any number");
  }
  return operands;
}

// The axes that names stand for in one call, with the dimension of each.
class Binder {
 public:
  Binder(const OpCall& call, const AxesText& text) : call_(call), text_(text) {}

  Status Bind() {
    for (size_t i = 0; i < text_.inputs.size(); ++i) {
      if (call_.has(static_cast<int>(i))) RML_TRY(BindInput(static_cast<int>(i)));
    }
    for (size_t i = 0; i < text_.outputs.size(); ++i) {
      Dims dims;
      for (const AxesText::Name& name : text_.outputs[i])
        RML_TRY(PlaceOutput(name, static_cast<int>(i), &dims));
      outputs_.push_back(dims);
    }
    for (NamedAxis& axis : axes_) {
      const bool in_output =
          std::ranges::any_of(axis.outputs, [](int place) { return place >= 0; });
      if (!in_output && axis.role == AxisRole::kFree) axis.role = AxisRole::kReduced;
    }
    return {};
  }

  Axes& axes() { return axes_; }
  std::vector<Dims>& outputs() { return outputs_; }

 private:
  Status BindInput(int i) {
    const std::vector<AxesText::Name>& names = text_.inputs[static_cast<size_t>(i)];
    const Dims& dims = call_.input(i).dims;
    const auto many = std::ranges::find_if(names, &AxesText::Name::many);
    const int fixed = static_cast<int>(names.size()) - (many == names.end() ? 0 : 1);
    if (dims.rank() < fixed || (many == names.end() && dims.rank() != fixed)) {
      return core::InvalidArgument(call_.input_name(i), " has ", dims.rank(),
                                   " dimensions, expected ", many == names.end() ? "" : "at least ",
                                   fixed);
    }
    int axis = 0;
    for (const AxesText::Name& name : names) {
      if (!name.many) {
        RML_TRY(BindAxis(name, name.name, i, axis++, dims));
        continue;
      }
      const int count = dims.rank() - fixed;
      const auto [place, added] = groups_.try_emplace(name.name, Group{count, i});
      if (place->second.count != count) {
        return core::InvalidArgument(
            call_.input_name(i), " has ", count, " leading dimensions and ",
            call_.input_name(place->second.input), " has ", place->second.count);
      }
      for (int k = 0; k < count; ++k)
        RML_TRY(BindAxis(name, StrCat(name.name, k), i, axis++, dims));
    }
    return {};
  }

  Status BindAxis(const AxesText::Name& name, const std::string& full, int input, int axis,
                  const Dims& dims) {
    const Dim dim = dims[axis];
    if (full == "1") {
      if (dim == Dim(1)) return {};
      return core::InvalidArgument("axis ", axis, " of ", call_.input_name(input), " is ",
                                   dim.ToString(), ", expected 1");
    }
    const auto [place, added] = places_.try_emplace(full, Place{axes_.size(), dim, input, axis});
    if (added) {
      axes_.push_back({full, name.whole ? AxisRole::kWhole : AxisRole::kFree, name.combine,
                       std::vector<int>(text_.inputs.size(), -1),
                       std::vector<int>(text_.outputs.size(), -1)});
    } else if (!(place->second.dim == dim)) {
      return core::InvalidArgument("axis ", axis, " of ", call_.input_name(input), " is ",
                                   dim.ToString(), ", and axis ", place->second.axis, " of ",
                                   call_.input_name(place->second.input), " is ",
                                   place->second.dim.ToString());
    }
    NamedAxis& named = axes_[place->second.index];
    if (name.whole) named.role = AxisRole::kWhole;
    named.inputs[static_cast<size_t>(input)] = axis;
    return {};
  }

  Status PlaceOutput(const AxesText::Name& name, int output, Dims* dims) {
    const auto append = [&](const std::string& full) -> Status {
      if (full == "1") {
        dims->Append(1);
        return {};
      }
      const auto place = places_.find(full);
      if (place == places_.end()) {
        return core::Internal("axes: output axis \"", full, "\" is in no input that was given");
      }
      axes_[place->second.index].outputs[static_cast<size_t>(output)] = dims->rank();
      dims->Append(place->second.dim);
      return {};
    };
    if (!name.many) return append(name.name);
    const auto group = groups_.find(name.name);
    if (group == groups_.end())
      return core::Internal("axes: no input has the group \"", name.name, "\"");
    for (int k = 0; k < group->second.count; ++k) RML_TRY(append(StrCat(name.name, k)));
    return {};
  }

  struct Group {
    int count;
    int input;
  };
  struct Place {
    size_t index;
    Dim dim;
    int input;
    int axis;
  };

  const OpCall& call_;
  const AxesText& text_;
  Axes axes_;
  std::vector<Dims> outputs_;
  std::map<std::string, Group> groups_;
  std::map<std::string, Place> places_;
};

}  // namespace

Expected<AxesText> ParseAxes(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos)
    return core::InvalidArgument("axes: \"", text, "\" has no ->");
  AxesText parsed;
  RML_ASSIGN(parsed.inputs, ParseOperands(text.substr(0, arrow)));
  RML_ASSIGN(parsed.outputs, ParseOperands(text.substr(arrow + 2)));
  return parsed;
}

Expected<Axes> ResolveAxes(const OpCall& call) {
  const AxesRule& rule = call.op().axes;
  if (rule.function()) return rule.function()(call);
  if (rule.text().empty()) return Axes();
  RML_ASSIGN(const AxesText text, ParseAxes(rule.text()));
  Binder binder(call, text);
  RML_TRY(binder.Bind());
  return std::move(binder.axes());
}

Expected<std::vector<Dims>> OutputDims(const OpCall& call) {
  RML_ASSIGN(const AxesText text, ParseAxes(call.op().axes.text()));
  Binder binder(call, text);
  RML_TRY(binder.Bind());
  return std::move(binder.outputs());
}

}  // namespace rml::ir
