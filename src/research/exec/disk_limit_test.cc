#include "research/exec/disk_limit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files/file.h"
#include "research/setup/exec_backends.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

class DiskLimitTest : public ::testing::Test {
 protected:
  void Make(DiskLimit limit) {
    auto backend = WithDiskLimit(ScriptedBackends(script_), limit)("worker-0");
    ASSERT_THAT(backend, Succeeds());
    backend_ = std::move(*backend);
    ASSERT_THAT(backend_->Start({.workspace = workspace_, .system = system_}), Succeeds());
  }
  // A command that runs until it is ended.
  static Result<ExecResult> Fills(const std::string& path, const CancelToken& cancel) {
    EXPECT_THAT(WriteFileAtomic(path, std::string(1 << 20, 'x')), Succeeds());
    int wake[2];
    EXPECT_EQ(pipe(wake), 0);
    const auto id = cancel.OnCancel([&] { close(wake[1]); });
    char byte = 0;
    EXPECT_EQ(read(wake[0], &byte, 1), 0);
    cancel.Forget(id);
    close(wake[0]);
    return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  }
  ExecResult Run(std::string_view line) {
    auto result = backend_->Run({.command = std::string(line)}, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }

  TempFolder folder_ = *TempFolder::Make();
  const std::string workspace_ = folder_.path() + "/workspace",
                    system_ = folder_.path() + "/system";
  std::shared_ptr<CommandScript> script_ = std::make_shared<CommandScript>();
  std::unique_ptr<ExecBackend> backend_;
};

TEST_F(DiskLimitTest, ACommandThatWritesTooMuchIsEndedAndSaysSo) {  // FLT-68
  for (const std::string& where : {workspace_, system_ + "/upper"}) {
    ASSERT_THAT(MakeFolders(where), Succeeds());
    script_->On("fill")
        .Does([&](const ExecCommand& command, const std::string&, const CancelToken& cancel) {
          command.on_output("begun\n");
          return Fills(where + "/large", cancel);
        })
        .Times(1);
    Make({.bytes = 512 << 10, .reserve = 0});
    const ExecResult result = Run("fill");
    EXPECT_EQ(result.status, 137);
    EXPECT_EQ(result.out, "begun\n");
    EXPECT_GT(result.seconds, 0);
    EXPECT_EQ(result.layers, backend_->Facts().layers);
    EXPECT_THAT(result.err, HasSubstr("and 512.0 KiB are allowed (exec.disk)"));
    ASSERT_THAT(RemoveAll(where + "/large"), Succeeds());
  }
}

TEST_F(DiskLimitTest, AFastCommandIsMeasuredAtItsEnd) {  // FLT-68
  script_->On("write *").Writes("large", std::string(1 << 20, 'x'));
  script_->On("fail").Fails(3, "oh");
  Make({.bytes = 512 << 10, .reserve = 0});
  EXPECT_EQ(Run("write it").status, 1);
  const ExecResult failed = Run("fail");  // its own status is kept
  EXPECT_EQ(failed.status, 3);
  EXPECT_THAT(failed.err, HasSubstr("exec.disk"));
  Make({.bytes = 2 << 20, .reserve = 0});
  EXPECT_EQ(Run("write it").status, 0);
}

TEST_F(DiskLimitTest, AFullDiskEndsACommandToo) {  // FLT-68
  script_->On("fill").Does([&](const ExecCommand&, const std::string&, const CancelToken& cancel) {
    return Fills(workspace_ + "/large", cancel);
  });
  Make({.reserve = ~std::uint64_t{0}});
  EXPECT_THAT(Run("fill").err, HasSubstr("make room"));
}

TEST_F(DiskLimitTest, ACancelledRunStaysCancelled) {
  CancelSource source;
  script_->On("fill").Does([&](const ExecCommand&, const std::string&, const CancelToken& cancel) {
    source.Cancel("interrupted");
    return Fills(workspace_ + "/large", cancel);
  });
  Make({.bytes = 1 << 10});
  EXPECT_THAT(backend_->Run({.command = "fill"}, source.token()),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
}

TEST_F(DiskLimitTest, FilesCountOnceAndLinksNot) {
  ASSERT_THAT(MakeFolders(workspace_ + "/a/b"), Succeeds());
  const std::string file = workspace_ + "/a/b/file";
  ASSERT_THAT(WriteFileAtomic(file, std::string(1 << 20, 'x')), Succeeds());
  ASSERT_EQ(link(file.c_str(), (workspace_ + "/again").c_str()), 0);
  ASSERT_EQ(symlink("/usr", (workspace_ + "/usr").c_str()), 0);
  const std::uint64_t used = DiskUseOf(workspace_).bytes;
  EXPECT_GE(used, 1u << 20);
  EXPECT_LT(used, (1u << 20) + (64u << 10));
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(WriteFileAtomic(fmt::format("{}/a/{}", workspace_, i), ""), Succeeds());
  }
  EXPECT_GE(DiskUseOf(workspace_).bytes, used + 300 * 4096);
  EXPECT_EQ(DiskUseOf(workspace_ + "/none").bytes, 0u);
}

TEST_F(DiskLimitTest, FoldersDeeperThanAPathCountAsFull) {  // FLT-68
  ASSERT_THAT(MakeFolders(workspace_), Succeeds());
  const std::string name(200, 'd');
  int at = open(workspace_.c_str(), O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 25; ++depth) {
    ASSERT_EQ(mkdirat(at, name.c_str(), 0700), 0);
    const int next = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY);
    close(at);
    at = next;
  }
  close(at);
  EXPECT_EQ(DiskUseOf(workspace_).seen, DiskUse::Seen::kSome);
  EXPECT_THAT(RemoveAll(workspace_), Succeeds());
}

TEST_F(DiskLimitTest, FoldersThatTheirUserCannotReadCountAsFull) {  // FLT-68
  const std::string closed = workspace_ + "/closed";
  ASSERT_THAT(MakeFolders(closed), Succeeds());
  ASSERT_THAT(WriteFileAtomic(closed + "/file", std::string(1 << 20, 'x')), Succeeds());
  ASSERT_EQ(chmod(closed.c_str(), 0300), 0);
  const DiskUse use = DiskUseOf(workspace_);
  EXPECT_EQ(use.bytes >= 1u << 20, geteuid() == 0);
  EXPECT_EQ(use.seen == DiskUse::Seen::kAll, geteuid() == 0);
  ASSERT_EQ(chmod(closed.c_str(), 0700), 0);
}

TEST_F(DiskLimitTest, TheLocalSandboxIsEndedInTheMiddleOfAFile) {  // FLT-68
  ExecConfig config;
  config.disk = 8 << 20;
  const auto factory = MakeBackends({.config = &config, .folder = folder_.path()});
  ASSERT_THAT(factory, Succeeds());
  backend_ = std::move(*(*factory)("worker-0"));
  const Status started = backend_->Start(SandboxOf(config, workspace_, {"PATH=/usr/bin:/bin"}));
  if (!started) GTEST_SKIP() << started.error().message;
  // Many files, each below the limit; then one above it.
  const ExecResult many =
      Run("i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom > f$i; done");
  EXPECT_THAT(many.err, HasSubstr("8.0 MiB are allowed (exec.disk)"));
  EXPECT_NE(many.status, 0);
  ASSERT_THAT(RemoveAll(workspace_), Succeeds());
  ASSERT_THAT(MakeFolders(workspace_), Succeeds());
  const ExecResult empty = Run("i=0; while :; do i=$((i+1)); : > $i; done");
  EXPECT_THAT(empty.err, HasSubstr("8.0 MiB are allowed (exec.disk)"));
  EXPECT_NE(empty.status, 0);
  ASSERT_THAT(RemoveAll(workspace_), Succeeds());
  ASSERT_THAT(MakeFolders(workspace_), Succeeds());
  // Files that have no name any more, each below the limit.
  const ExecResult unnamed =
      Run("exec 3>u; rm u; head -c 4000000 /dev/zero >&3; exec 4>u; rm u; head -c 4000000 "
          "/dev/zero >&4; exec 5>u; rm u; head -c 4000000 /dev/zero >&5; sleep 5");
  EXPECT_THAT(unnamed.err, HasSubstr("8.0 MiB are allowed (exec.disk)"));
  EXPECT_NE(unnamed.status, 0);
  ASSERT_THAT(RemoveAll(workspace_), Succeeds());
  ASSERT_THAT(MakeFolders(workspace_), Succeeds());
  const ExecResult one = Run("exec head -c 900000000 /dev/zero > large");
  EXPECT_THAT(one.err, HasSubstr("(exec.disk)"));
  EXPECT_NE(one.status, 0);
}

}  // namespace
}  // namespace dossier::research
