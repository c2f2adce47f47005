// docs/operators.md: every operator with its inputs, outputs, attributes and kernels, written from
// the definitions.
#pragma once

#include <span>
#include <string>

#include "rml/ir/op_def.h"
#include "rml/ops/provider.h"

namespace rml::cli {

std::string OperatorsMarkdown(std::span<const ir::OpDef* const> operators,
                              const ops::ProviderList& providers);

}  // namespace rml::cli
