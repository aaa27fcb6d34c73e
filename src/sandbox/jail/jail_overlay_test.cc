// Folders of layers, and root by name (RSP-22).

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/files/file.h"
#include "sandbox/jail/jail.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

constexpr uid_t kNobody = 65534;

class JailOverlayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make("dossier-overlay-test");
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    for (const char* name : {"work", "lower/sub", "own/sub", "upper", "scratch"}) {
      ASSERT_THAT(MakeFolders(Place(name)), Succeeds());
    }
    ASSERT_THAT(WriteFileAtomic(Place("lower/sub/old"), "old\n"), Succeeds());
    ASSERT_THAT(WriteFileAtomic(Place("secret"), "secret\n"), Succeeds());
    spec_.write = {Place("work")};
    spec_.environment = {"PATH=/usr/bin:/bin"};
    spec_.overlays = {
        {"/layered", {Place("own"), Place("lower")}, Place("upper"), Place("scratch")}};
    const std::string argv[] = {"true"};
    if (const auto tried = RunJailed(spec_, argv); !tried) {
      GTEST_SKIP() << "no overlay here: " << tried.error().message;
    }
  }

  std::string Place(std::string_view name) const {
    return fmt::format("{}/{}", folder_->path(), name);
  }

  Exit Shell(std::string script) {
    NewScratch();
    const std::string argv[] = {"sh", "-c", std::move(script)};
    Result<Exit> exit = RunJailed(spec_, argv);
    if (exit) return std::move(*exit);
    ADD_FAILURE() << exit.error().message;
    return {};
  }

  void NewScratch() {
    EXPECT_THAT(RemoveAll(Place("scratch")), Succeeds());
    EXPECT_THAT(MakeFolders(Place("scratch")), Succeeds());
    EXPECT_EQ(chown(Place("scratch").c_str(), owner_, static_cast<gid_t>(-1)), 0);
  }

  // Becomes a user who owns no file of the system; false if that is impossible.
  bool BecomeNobody() {
    if (geteuid() != 0) return false;
    owner_ = kNobody;
    for (const char* name : {"", "work", "own", "own/sub", "upper"}) {
      EXPECT_EQ(chown(Place(name).c_str(), kNobody, kNobody), 0);
    }
    return true;
  }

  std::optional<TempFolder> folder_;
  JailSpec spec_;
  uid_t owner_ = geteuid();
};

TEST_F(JailOverlayTest, ChangesGoToTheUpperLayerAlone) {  // RSP-22
  const Exit changed =
      Shell("cat /layered/sub/old; echo new > /layered/sub/new; rm /layered/sub/old");
  EXPECT_EQ(changed.out, "old\n");
  EXPECT_EQ(changed.err, "");
  ASSERT_TRUE(changed.report.Applied("overlay"));
  EXPECT_EQ(changed.report.Find("overlay")->reason, "/layered");
  EXPECT_EQ(ReadFile(Place("upper/sub/new")).value_or(""), "new\n");
  EXPECT_FALSE(Exists(Place("lower/sub/new")));
  EXPECT_TRUE(Exists(Place("lower/sub/old")));
  EXPECT_EQ(Shell("ls /layered/sub").out, "new\n");

  spec_.overlays = {{"/layered", {Place("upper"), Place("lower")}, "", ""}};
  EXPECT_EQ(Shell("ls /layered/sub").out, "new\n");
  EXPECT_NE(Shell("echo x > /layered/sub/more").status, 0);
}

TEST_F(JailOverlayTest, FoldersOfOthersAreChangedThroughALayerOfOnesOwn) {  // RSP-22
  if (!BecomeNobody()) GTEST_SKIP() << "only root becomes another user";
  ASSERT_EQ(mkdir(Place("lower/foreign").c_str(), 0755), 0);
  EXPECT_EQ(Shell("echo new > /layered/sub/new; rm /layered/sub/old").err, "");
  EXPECT_EQ(Shell("ls /layered/sub").out, "new\n");
  EXPECT_NE(Shell("echo new > /layered/foreign/new").status, 0);
}

TEST_F(JailOverlayTest, RootByNameHasNoRights) {  // RSP-22, RSP-23
  spec_.user = JailUser::kRoot;
  const Exit exit = Shell(
      "id -u; cd /layered; touch x; chown 12:34 x && stat -c %u x; grep CapEff /proc/self/status; "
      "chroot / true || echo no root");
  EXPECT_THAT(exit.out, HasSubstr("0\n0\nCapEff:\t0000000000000000\nno root\n"));
  EXPECT_NE(Shell("touch /usr/x").status, 0);
  EXPECT_NE(Shell("mount -t tmpfs x /layered").status, 0);
  struct stat info;
  ASSERT_EQ(stat(Place("upper/x").c_str(), &info), 0);
  EXPECT_NE(info.st_uid, 12u);
}

TEST_F(JailOverlayTest, TheUpperLayerIsNoWayOut) {  // RSP-23
  spec_.user = JailUser::kRoot;
  const std::string outside = Place("secret");
  EXPECT_NE(Shell("ln -s " + outside + " /layered/link && cat /layered/link").status, 0);
  (void)Shell("echo x > /layered/link");
  EXPECT_EQ(ReadFile(outside).value_or(""), "secret\n");
  EXPECT_NE(Shell("ls " + Place("upper")).status, 0);
  EXPECT_NE(Shell("ls " + Place("scratch")).status, 0);
  EXPECT_NE(Shell("cat /layered/../" + outside).status, 0);
  // Marks of the kernel's own, with which a layer could point elsewhere.
  (void)Shell(
      "python3 -c \"import os\nfor n in ('redirect', 'opaque', 'metacopy'):\n"
      "  try: os.setxattr('/layered/sub', 'user.overlay.' + n, b'/../../secret')\n"
      "  except OSError: pass\"");
  for (const char* name : {"redirect", "opaque", "metacopy"}) {
    const std::string whole = std::string("user.overlay.") + name;
    EXPECT_LT(getxattr(Place("upper/sub").c_str(), whole.c_str(), nullptr, 0), 0) << name;
  }
  EXPECT_NE(Shell("mknod /layered/disk b 254 0").status, 0);
  const Exit flags = Shell("grep ' /layered ' /proc/self/mountinfo");
  EXPECT_THAT(flags.out, HasSubstr("nosuid,nodev"));
}

TEST_F(JailOverlayTest, WhatCannotBeLayeredIsRefusedWithTheReason) {  // RSP-22
  const std::vector<std::string> argv = {"true"};
  NewScratch();
  JailSpec spec = spec_;
  spec.overlays[0].upper = Place("absent");
  EXPECT_THAT(RunJailed(spec, argv),
              FailsWith(ErrorCode::kUnavailable, "sandbox: no overlay of /layered"));
  spec = spec_;
  spec.overlays[0].lower = {Place("absent")};
  EXPECT_THAT(RunJailed(spec, argv), FailsWith(ErrorCode::kUnavailable, "its layers"));
  spec = spec_;
  spec.disabled_layers = {"namespaces"};
  EXPECT_THAT(RunJailed(spec, argv),
              FailsWith(ErrorCode::kUnavailable, "no overlay without namespaces"));
  spec = spec_;
  spec.overlays[0].place = "relative";
  EXPECT_THAT(RunJailed(spec, argv),
              FailsWith(ErrorCode::kInvalidArgument, "place of an overlay relative"));
}

}  // namespace
}  // namespace dossier::sandbox
