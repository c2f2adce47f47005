// SHA-256, fed piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "rml/core/expected.h"

namespace rml::cli {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Update(std::span<const std::byte> bytes);
  std::string HexDigest();  // lower case; ends the sum

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

core::Expected<std::string> Sha256OfFile(const std::string& path);

}  // namespace rml::cli
