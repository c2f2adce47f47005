// rml_embed: the bytes in the program are the bytes of the file.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "embedded/empty.h"
#include "embedded/sample.h"

namespace rml {
namespace {

std::string ReadFile(const std::string& name) {
  std::ifstream file(std::string(RML_EMBED_SOURCES) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Embed, BytesAreThoseOfTheFile) {
  const std::string expected = ReadFile("sample.bin");
  const auto bytes = embedded::sample();
  ASSERT_EQ(bytes.size(), expected.size());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), expected.size()), 0);
}

TEST(Embed, BytesAreAlignedForUseInPlace) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(embedded::sample().data()) % 64, 0u);
}

TEST(Embed, EmptyFileGivesNoBytes) { EXPECT_EQ(embedded::empty().size(), 0u); }

}  // namespace
}  // namespace rml
