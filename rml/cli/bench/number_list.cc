#include "rml/cli/bench/number_list.h"

#include <algorithm>
#include <cstdlib>

namespace rml::cli {

core::Expected<std::vector<int64_t>> ParseNumberList(std::string_view option,
                                                     const std::string& list, int64_t smallest) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    char* rest = nullptr;
    const long long value = std::strtoll(item.c_str(), &rest, 10);
    if (item.empty() || *rest != '\0' || value < smallest || value > 1000000) {
      return core::InvalidArgument(option, ": '", item, "' is no number from ", smallest,
                                   " to 1000000");
    }
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> ParseNameList(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

}  // namespace rml::cli
