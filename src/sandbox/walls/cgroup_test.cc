#include "sandbox/walls/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// A folder that looks like a mounted hierarchy: the kernel's files are made by hand, and stay.
class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-cgroup-test");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    place_ = {folder_->path() + "/fs", folder_->path() + "/self"};
    Write("self", "3:cpu:/elsewhere\n0::/user.slice/app.scope\n");
    Write("fs/user.slice/app.scope/cgroup.procs", "");
    Write("fs/user.slice/cgroup.procs", "");
  }

  void Write(const std::string& name, std::string_view text) {
    const std::string path = fmt::format("{}/{}", folder_->path(), name);
    ASSERT_THAT(MakeFolders(path.substr(0, path.rfind('/'))), Succeeds());
    ASSERT_THAT(WriteFileAtomic(path, text), Succeeds());
  }
  std::string Fs(std::string_view name) const {
    return fmt::format("{}/fs/{}", folder_->path(), name);
  }

  std::optional<TempFolder> folder_;
  CgroupPlace place_;
};

TEST_F(CgroupTest, TheParentHasBothControllersForItsGroups) {  // FLT-82
  EXPECT_THAT(Cgroup::FindParent(place_), FailsWith(ErrorCode::kUnavailable, "without limits of"));
  Write("fs/user.slice/cgroup.subtree_control", "cpu memory pids_more\n");
  EXPECT_THAT(Cgroup::FindParent(place_), FailsWith(ErrorCode::kUnavailable, "without limits of"));
  Write("fs/user.slice/cgroup.subtree_control", "cpu memory pids\n");
  EXPECT_EQ(Cgroup::FindParent(place_).value_or(""), Fs("user.slice"));
  Write("fs/user.slice/app.scope/cgroup.subtree_control", "pids memory\n");
  EXPECT_EQ(Cgroup::FindParent(place_).value_or(""), Fs("user.slice/app.scope"));
}

TEST_F(CgroupTest, AboveTheHierarchyNothingIsLookedFor) {  // FLT-82
  Write("self", "0::/\n");
  Write("cgroup.subtree_control", "pids memory\n");
  Write("cgroup.procs", "");
  EXPECT_THAT(Cgroup::FindParent(place_), FailsWith(ErrorCode::kUnavailable, "not delegated"));
  Write("fs/cgroup.procs", "");
  Write("fs/cgroup.subtree_control", "pids memory\n");
  EXPECT_EQ(Cgroup::FindParent(place_).value_or(""), folder_->path() + "/fs");
  Write("self", "4:memory:/x\n");
  EXPECT_THAT(Cgroup::FindParent(place_), FailsWith(ErrorCode::kUnavailable, "no unified"));
}

TEST_F(CgroupTest, AGroupHasItsLimitsBeforeAnybodyIsInIt) {  // FLT-82, FLT-84
  auto group = Cgroup::Make(Fs("user.slice"), {.processes = 42, .memory = 64u << 20});
  ASSERT_THAT(group, Succeeds());
  ASSERT_THAT(Cgroup::Join(group->entrance()), Succeeds());
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(Fs("user.slice"))) {
    if (entry.path().filename().string().starts_with("dossier-jail-")) name = entry.path();
  }
  ASSERT_NE(name, "");
  EXPECT_EQ(ReadFile(name + "/pids.max").value_or(""), "42");
  EXPECT_EQ(ReadFile(name + "/memory.max").value_or(""), "67108864");
  EXPECT_EQ(ReadFile(name + "/memory.swap.max").value_or(""), "0");
  EXPECT_EQ(ReadFile(name + "/cgroup.procs").value_or(""), "0");
  EXPECT_EQ(group->memory_kills(), 0u);
  ASSERT_THAT(WriteFileAtomic(name + "/memory.events", "low 0\noom 5\noom_kill 3\n"), Succeeds());
  EXPECT_EQ(group->memory_kills(), 3u);
}

TEST_F(CgroupTest, WhereNoneCanBeMadeTheReasonIsSaid) {  // FLT-82
  EXPECT_THAT(Cgroup::Make(Fs("absent"), {.processes = 1}),
              FailsWith(ErrorCode::kUnavailable, "absent/dossier-jail-"));
  EXPECT_THAT(Cgroup::Join(-1), FailsWith(ErrorCode::kUnavailable, "entering it"));
}

}  // namespace
}  // namespace dossier::sandbox
