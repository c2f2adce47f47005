// What a first user of the installed library writes.
#include <cstdio>
#include <string>

#include "rml/core/expected.h"
#include "rml/core/shape.h"
#include "rml/core/status.h"

namespace {

rml::core::Expected<int> Half(int x) {
  if (x % 2 != 0) return rml::core::InvalidArgument("half: ", x, " is odd; give an even number");
  return x / 2;
}

}  // namespace

int main() {
  const auto even = Half(42);
  const auto odd = Half(43);
  if (!even.ok() || *even != 21 || odd.ok()) return 1;
  const std::string message(odd.status().message());
  std::printf("consumer: %s\n", message.c_str());
  return message == "half: 43 is odd; give an even number" ? 0 : 1;
}
