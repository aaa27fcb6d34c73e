#include "research/exec/exec_local.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "research/setup/exec_backends.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ExecLocalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    spec_.workspace = folder_->path() + "/nodes/a/workspace";
    spec_.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/home/ann"};
  }

  Status Start(LocalOptions options = {}) {
    DOSSIER_ASSIGN_OR_RETURN(backend_, MakeLocalBackend(std::move(options)));
    return backend_->Start(spec_);
  }
  // Skips if the kernel does not support this kind of jail.
  bool StartOrSkip(LocalOptions options = {}) {
    const Status started = Start(std::move(options));
    if (!started) skipped_ = started.error().message;
    return started.has_value();
  }

  ExecResult Run(const ExecCommand& command) {
    auto result = backend_->Run(command, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }
  ExecResult Shell(std::string_view line, Phase phase = Phase::kRun) {
    return Run({.command = std::string(line), .phase = phase});
  }

  std::optional<TempFolder> folder_;
  SandboxSpec spec_;
  std::unique_ptr<ExecBackend> backend_;
  std::string skipped_;
};

TEST_F(ExecLocalTest, ACommandWorksInTheWorkspaceAtItsMount) {  // RSP-22, RSP-23
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  const ExecResult result = Shell("pwd; echo $HOME; echo text > working.txt; echo bad >&2");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "/workspace\n/workspace\n");
  EXPECT_EQ(result.err, "bad\n");
  EXPECT_EQ(result.err_bytes, 4u);
  EXPECT_GT(result.peak_bytes, 0u);
  EXPECT_THAT(result.layers, Contains("seccomp"));
  EXPECT_EQ(backend_->Facts().layers, result.layers);
  EXPECT_EQ(ReadFile(spec_.workspace + "/working.txt").value_or(""), "text\n");
  ASSERT_THAT(MakeFolders(spec_.workspace + "/sub"), Succeeds());
  EXPECT_EQ(Run({.argv = {"pwd"}, .folder = "sub"}).out, "/workspace/sub\n");
  EXPECT_EQ(Run({.argv = {"no-such-program"}}).status, 127);
  EXPECT_EQ(Shell("exit 3").status, 3);
  EXPECT_EQ(Shell("kill -9 $$").status, 137);
}

TEST_F(ExecLocalTest, NothingOutsideIsWrittenOrSeen) {  // RSP-23, RSP-T10
  ASSERT_THAT(WriteFileAtomic(folder_->path() + "/other", "secret"), Succeeds());
  setenv("MY_API_KEY", "planted", 1);
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_NE(Shell("echo x > ../outside").status, 0);
  EXPECT_NE(Shell("echo x > /usr/outside").status, 0);
  EXPECT_NE(Shell("cat " + folder_->path() + "/other").status, 0);
  EXPECT_THAT(Shell("env").out, Not(HasSubstr("planted")));
  unsetenv("MY_API_KEY");
}

TEST_F(ExecLocalTest, NetworkIsThereInThePhasesOfThePolicyOnly) {  // RSP-23, RSP-T10
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  constexpr std::string_view kInterfaces = "cat /proc/net/dev | wc -l";
  const std::string closed = Shell(kInterfaces, Phase::kRun).out;
  EXPECT_EQ(Shell(kInterfaces, Phase::kCompile).out, closed);
  EXPECT_EQ(closed, "3\n");  // two header lines, and the loopback
  const std::string resolver = "test -e /etc/resolv.conf";
  EXPECT_NE(Shell(resolver, Phase::kRun).status, 0);
  if (Exists("/etc/resolv.conf")) {
    EXPECT_EQ(Shell(resolver, Phase::kInstall).status, 0);
  }
  spec_.network = NetworkPolicy::kNever;
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_EQ(Shell(kInterfaces, Phase::kInstall).out, "3\n");
}

// Two processes of a command that connect through the addresses that MPI uses.
constexpr std::string_view kTalk = R"(
import os, socket
server = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    socket.create_connection(server.getsockname()).sendall(b"hello")
    os._exit(0)
print(server.accept()[0].recv(9).decode(), socket.gethostbyname(socket.gethostname()))
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print(error.strerror)
)";

TEST_F(ExecLocalTest, ProcessesOfACommandReachOneAnotherAndNobodyElse) {  // FLT-64
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  const ExecResult result = Run({.argv = {"python3", "-c", std::string(kTalk)}});
  EXPECT_EQ(result.out, "hello 127.0.0.1\nNetwork is unreachable\n") << result.err;
  // Without namespaces the loopback would be the machine's.
  if (!StartOrSkip({.degraded = {"namespaces"}, .disabled_layers = {"namespaces"}})) return;
  EXPECT_THAT(Run({.argv = {"python3", "-c", std::string(kTalk)}}).err,
              HasSubstr("PermissionError"));
}

TEST_F(ExecLocalTest, AnMpiProgramRuns) {  // FLT-64
  if (!Exists("/usr/bin/mpirun") || !Exists("/usr/bin/mpicxx")) {
    GTEST_SKIP() << "no openmpi-bin, libopenmpi-dev (scripts/setup --research)";
  }
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  ASSERT_THAT(WriteFileAtomic(spec_.workspace + "/sum.cc", R"(
#include <mpi.h>
#include <cstdio>
#include <vector>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> mine(1 << 20, rank + 1.0), all(1 << 20);  // more than fits one message
  MPI_Reduce(mine.data(), all.data(), 1 << 20, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d processes: %.0f\n", size, all.back());
  MPI_Finalize();
})"),
              Succeeds());
  const ExecResult built = Shell("mpicxx sum.cc -o sum", Phase::kCompile);
  ASSERT_EQ(built.status, 0) << built.err;
  const ExecResult result = Shell("mpirun --oversubscribe -n 4 ./sum");
  EXPECT_EQ(result.out, "4 processes: 10\n") << result.err;
  EXPECT_EQ(result.err, "");
}

TEST_F(ExecLocalTest, AGpuIsThereWhereTheUserAllowsItsDevice) {  // FLT-63
  // A substitute: a zero device with a name that no jail has.
  const std::string device = folder_->path() + "/gpu0";
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0 ||
      !UniqueFd(open(device.c_str(), O_RDONLY)).valid()) {
    GTEST_SKIP() << "no device can be made here";
  }
  ASSERT_EQ(chmod(device.c_str(), 0666), 0);
  const auto found = FindDevices({folder_->path() + "/gpu*"});
  ASSERT_THAT(found, Succeeds());
  EXPECT_THAT(*found, ::testing::ElementsAre(device));
  const std::string use = "head -c 3 " + device + " | wc -c; : > " + device;
  spec_.gpu = SandboxSpec::Gpu::kYes;
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_NE(Shell(use).status, 0);
  ASSERT_THAT(Start({.gpu_devices = *found}), Succeeds());
  EXPECT_EQ(Shell(use).out, "3\n") << Shell(use).err;
  spec_.gpu = SandboxSpec::Gpu::kNo;
  ASSERT_THAT(Start({.gpu_devices = *found}), Succeeds());
  EXPECT_NE(Shell(use).status, 0);
  EXPECT_THAT(FindDevices({folder_->path() + "/gpu7"}),
              FailsWith(ErrorCode::kConfig, "exec.gpu: there is no device"));
  EXPECT_THAT(FindDevices({"/etc/passwd"}), FailsWith(ErrorCode::kConfig, "no character device"));
}

TEST_F(ExecLocalTest, LimitsEndACommandAndAllItsChildren) {  // RSP-23, RSP-T9, RSP-T10
  if (!StartOrSkip({.memory_bytes = 256u << 20, .output_bytes = 1000})) GTEST_SKIP() << skipped_;
  ExecCommand slow{.command = "sleep 600 & echo started; sleep 600", .time_limit = Millis(300)};
  const ExecResult late = Run(slow);
  EXPECT_TRUE(late.timed_out);
  EXPECT_NE(late.status, 0);
  EXPECT_THAT(late.err, HasSubstr("time limit"));
  EXPECT_EQ(late.out, "started\n");

  const ExecResult fat = Run({.argv = {"/usr/bin/python3", "-c", "x = b'1' * (1 << 30)"}});
  EXPECT_NE(fat.status, 0);

  const ExecResult loud = Shell("head -c 5000 /dev/zero | tr '\\0' a");
  EXPECT_EQ(loud.out.size(), 1000u);
  EXPECT_EQ(loud.out_bytes, 5000u);
}

TEST_F(ExecLocalTest, ACancelledCommandEndsTheTree) {  // RSP-23
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  CancelSource source;
  ExecCommand command{.command = "echo ready; sleep 600"};
  command.on_output = [&](std::string_view) { source.Cancel("interrupted"); };
  EXPECT_THAT(backend_->Run(command, source.token()),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
}

TEST_F(ExecLocalTest, AMissingLayerIsRefusedUnlessNamed) {  // RSP-23
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_THAT(Start({.disabled_layers = {"landlock"}}),
              FailsWith(ErrorCode::kUnavailable, "`--degraded landlock` runs without it"));
  ASSERT_THAT(Start({.degraded = {"landlock"}, .disabled_layers = {"landlock"}}), Succeeds());
  EXPECT_THAT(backend_->Facts().layers, Not(Contains("landlock")));
  EXPECT_THAT(MakeLocalBackend({.degraded = {"walls"}}),
              FailsWith(ErrorCode::kUsage, "--degraded walls: no such layer"));
}

TEST_F(ExecLocalTest, WithoutNamespacesTheWorkspaceIsAtItsOwnPath) {  // RSP-23
  if (!StartOrSkip({.degraded = {"namespaces"}, .disabled_layers = {"namespaces"}})) {
    GTEST_SKIP() << skipped_;
  }
  EXPECT_EQ(Shell("pwd").out, spec_.workspace + "\n");
}

TEST_F(ExecLocalTest, BindsAreReadOnlyUnlessSaid) {  // RSP-22
  ASSERT_THAT(MakeFolders(folder_->path() + "/data"), Succeeds());
  spec_.binds = {{folder_->path() + "/data", "/workspace/data"}};
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_NE(Shell("echo x > data/x").status, 0);
  spec_.binds[0].access = Bind::Access::kWrite;
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_EQ(Shell("echo x > data/x").status, 0);
}

TEST_F(ExecLocalTest, ALinkWhereABindGoesLeadsNowhere) {  // RSP-23
  ASSERT_THAT(MakeFolders(folder_->path() + "/data"), Succeeds());
  ASSERT_THAT(MakeFolders(folder_->path() + "/elsewhere"), Succeeds());
  ASSERT_THAT(MakeFolders(spec_.workspace), Succeeds());
  std::filesystem::create_symlink(folder_->path() + "/elsewhere", spec_.workspace + "/link");
  spec_.binds = {{folder_->path() + "/data", "/workspace/link/data"}};
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_FALSE(Exists(folder_->path() + "/elsewhere/data"));
  EXPECT_EQ(Shell("test -d link/data").status, 0);
}

TEST_F(ExecLocalTest, RootIsRefusedAndAStopForgetsTheWorkspace) {  // RSP-24
  if (!StartOrSkip()) GTEST_SKIP() << skipped_;
  EXPECT_EQ(Shell("sudo true").status, 126);
  backend_->Stop();
  EXPECT_THAT(backend_->Run({.command = "true"}, {}), FailsWith(ErrorCode::kInternal, "started"));
}

}  // namespace
}  // namespace dossier::research
