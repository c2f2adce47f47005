#include "rml/core/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "rml/core/cpu_affinity.h"

namespace rml::core {
namespace {

// A folder that plays the part of /, removed afterwards.
class CpuQuotaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "rml_quota_XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(CpuQuotaTest, WithoutControlGroupsThereIsNoLimit) {
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
}

TEST_F(CpuQuotaTest, ReadsVersion2AndTheTightestParent) {
  Write("/proc/self/cgroup", "0::/pod/container\n");
  Write("/sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("/sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 2.5);
  Write("/sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 2.5);
  Write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 1.5);
}

TEST_F(CpuQuotaTest, ReadsVersion2InsideANamespace) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(CpuQuota(root_), 3.0);
}

TEST_F(CpuQuotaTest, ReadsVersion1) {
  Write("/proc/self/cgroup", "4:memory:/x\n2:cpu,cpuacct:/docker/a\n");
  Write("/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CpuQuota(root_), std::nullopt);
  Write("/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(CpuQuota(root_), 0.5);
}

TEST_F(CpuQuotaTest, NonsenseIsNoLimit) {
  Write("/proc/self/cgroup", "0::/a\nnonsense\n:\n::\n1:cpu:relative\n");
  for (const char* text :
       {"", "max", "1 0", "0 100000", "-5 100000", "1e9 100000", "99999999999999999999 1"}) {
    Write("/sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(CpuQuota(root_), std::nullopt) << text;
  }
}

TEST(UsableCores, IsNeitherZeroNorMoreThanTheMask) {
  EXPECT_GE(UsableCores(), 1);
  EXPECT_LE(UsableCores(), static_cast<int>(UsableCoreIds().size()));
}

}  // namespace
}  // namespace rml::core
