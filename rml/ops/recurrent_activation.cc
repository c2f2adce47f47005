#include "rml/ops/recurrent_activation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rml::ops {

using core::Expected;
using core::Status;
using ir::Floats;

namespace {

struct KnownActivation {
  std::string_view name;
  int numbers;  // of which the first is alpha, the second beta
  double alpha, beta;
};

constexpr std::array kKnownActivations = {
    KnownActivation{"relu", 0, 0, 0},          KnownActivation{"tanh", 0, 0, 0},
    KnownActivation{"sigmoid", 0, 0, 0},       KnownActivation{"affine", 2, 1, 0},
    KnownActivation{"leaky_relu", 1, 0.01, 0}, KnownActivation{"thresholded_relu", 1, 1, 0},
    KnownActivation{"scaled_tanh", 2, 1, 1},   KnownActivation{"hard_sigmoid", 2, 0.2, 0.5},
    KnownActivation{"elu", 1, 1, 0},           KnownActivation{"softsign", 0, 0, 0},
    KnownActivation{"softplus", 0, 0, 0},
};

std::vector<std::string_view> NamesOf(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.push_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

Expected<Activation> NextActivation(std::string_view name, const Floats& alphas,
                                    const Floats& betas, size_t* alpha, size_t* beta) {
  const auto known = std::ranges::find(kKnownActivations, name, &KnownActivation::name);
  if (known == kKnownActivations.end()) {
    return core::InvalidArgument("\"", name, "\" is no activation, expected one of ",
                                 ActivationNames());
  }
  Activation f = {known->name, known->alpha, known->beta};
  if (known->numbers > 0 && *alpha < alphas.size()) f.alpha = alphas[(*alpha)++];
  if (known->numbers > 1 && *beta < betas.size()) f.beta = betas[(*beta)++];
  return f;
}

}  // namespace

std::string ActivationNames() {
  std::string names;
  for (const KnownActivation& known : kKnownActivations)
    names += core::StrCat(names.empty() ? "" : ", ", known.name);
  return names;
}

std::vector<ir::AttrDef> ActivationAttributes(const RecurrentActivations& form) {
  return {{form.attribute, form.standard},
          {"activation_alpha", Floats()},
          {"activation_beta", Floats()}};
}

Expected<std::vector<Activation>> ActivationsOf(const RecurrentActivations& form,
                                                const ir::OpCall& call, int directions) {
  const auto each = static_cast<size_t>(form.count());
  const std::vector<std::string_view> names = NamesOf(call.text(form.attribute));
  const size_t all = each * static_cast<size_t>(directions);
  if (names.size() != each && names.size() != all) {
    return core::InvalidArgument(form.attribute, " has ", names.size(), " names, expected ", each,
                                 all > each ? core::StrCat(" or ", all) : "");
  }
  const auto& alphas = call.attr<Floats>("activation_alpha");
  const auto& betas = call.attr<Floats>("activation_beta");
  std::vector<Activation> activations;
  size_t alpha = 0;
  size_t beta = 0;
  for (const std::string_view name : names) {
    RML_ASSIGN(activations.emplace_back(), NextActivation(name, alphas, betas, &alpha, &beta));
  }
  const auto used = [](std::string_view name, const Floats& given, size_t taken) -> Status {
    if (taken == given.size()) return {};
    return core::InvalidArgument(name, " has ", given.size(), " numbers, and the activations take ",
                                 taken);
  };
  RML_TRY(used("activation_alpha", alphas, alpha));
  RML_TRY(used("activation_beta", betas, beta));
  for (size_t i = each; i < all && names.size() == each; ++i)
    activations.push_back(activations[i - each]);
  return activations;
}

ir::Value Activate(const Emit& e, const Activation& f, const ir::Value& x) {
  if (f.name == "affine") return e.add(e.mul(x, f.alpha), f.beta);
  if (f.name == "thresholded_relu")
    return e.where(e.one("less", {e.like(x, f.alpha), x}), x, e.like(x, 0));
  if (f.name == "scaled_tanh") return e.mul(e.one("tanh", {e.mul(x, f.beta)}), f.alpha);
  if (f.name == "hard_sigmoid") return e.one(f.name, {x}, {{"alpha", f.alpha}, {"beta", f.beta}});
  if (f.name == "leaky_relu" || f.name == "elu") return e.one(f.name, {x}, {{"alpha", f.alpha}});
  return e.one(f.name, {x});
}

}  // namespace rml::ops
