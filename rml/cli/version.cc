#include "rml/cli/version.h"

#include "rml/core/strcat.h"
#include "rml/kernels/isa.h"

namespace rml::cli {

std::string VersionText() {
  return core::StrCat("rml ", RML_VERSION, " (", __VERSION__,
                      ", kernels: ", kernels::IsaName(kernels::ActiveIsa()), ")");
}

}  // namespace rml::cli
