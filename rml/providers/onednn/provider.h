// The onednn provider: Intel's oneDNN (the open-source library of that name, not a device) for
// products, convolutions and norms in the host's memory. Optional: cmake's RML_ONEDNN.
#pragma once

#include "rml/ops/provider.h"

namespace rml::providers::onednn {

const ops::Provider& OneDnnProvider();

}  // namespace rml::providers::onednn
