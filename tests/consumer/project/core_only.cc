#include "rml/core/status.h"

int main() {
  const rml::core::Status status = rml::core::InvalidArgument("a: is not b");
  return status.ok() ? 1 : 0;
}
