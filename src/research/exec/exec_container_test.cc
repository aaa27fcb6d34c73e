#include "research/exec/exec_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/hash.h"
#include "research/setup/exec_backends.h"
#include "testing/engine_fakes_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Runs what follows the image; `build` makes the folder or file.
constexpr std::string_view kEngine = R"(
env | grep -E '^(APPTAINER|SINGULARITY|MY_)' >> "$HERE/environment"
if [ "$1" = build ]; then
  [ -n "$FAIL_BUILD" ] && { echo 'no space' >&2; exit 1; }
  case "$*" in
    *--sandbox*) for last; do before=$now; now=$last; done; mkdir -p "$before";;
    *) for last; do before=$now; now=$last; done; echo built > "$before";;
  esac
  exit 0
fi
while [ $# -gt 0 ]; do
  case "$1" in --writable-tmpfs) tmpfs=1;; /bin/sh) shift; break;; esac; shift
done
if [ -f "$HERE/fuse" ] && [ -n "$tmpfs" ]; then echo 'FATAL: fuse: allow_other' >&2; exit 255; fi
exec /bin/sh "$@")";

class ExecContainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fakes_.Add("apptainer", kEngine);
    fakes_.Add("prlimit", "while [ \"${1#--}\" != \"$1\" ]; do shift; done; exec \"$@\"");
    options_.image = fakes_.folder() + "/hpc.sif";
    options_.folder = fakes_.folder() + "/run/workers/worker-0";
    options_.host_environment = {"PATH=" + fakes_.folder() + ":/usr/bin:/bin"};
    spec_ = {.workspace = fakes_.folder() + "/run/nodes/a/workspace",
             .environment = {"PATH=/host/bin", "HOME=/home/ann", "OMP_NUM_THREADS=4",
                             "LDFLAGS=-Wl,-rpath,/x"}};
    ASSERT_THAT(WriteFileAtomic(options_.image, "image"), Succeeds());
  }

  Status Start() {
    DOSSIER_ASSIGN_OR_RETURN(backend_, MakeContainerBackend(options_));
    return backend_->Start(spec_);
  }
  ExecResult Run(const ExecCommand& command) {
    auto result = backend_->Run(command, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }
  std::vector<std::string> Calls() const { return fakes_.Calls("apptainer"); }

  EngineFakes fakes_;
  ContainerOptions options_;
  SandboxSpec spec_;
  std::unique_ptr<HostedBackend> backend_;
};

TEST_F(ExecContainerTest, APhaseFourCommandIsOneExecWithoutNetwork) {  // RSP-22, RSP-T24
  spec_.binds = {{"/data/mesh", "/workspace/mesh"}, {"/scratch", "/scratch", Bind::Access::kWrite}};
  spec_.gpu = SandboxSpec::Gpu::kYes;
  options_.overlay = "/overlay.img";
  options_.extra_args = {"--dns", "9.9.9.9"};
  ASSERT_THAT(Start(), Succeeds());
  const ExecResult result = Run({.command = "echo out; echo err >&2; exit 3", .folder = "sub"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_THAT(result.layers, ElementsAre("containall", "network"));
  EXPECT_THAT(Calls(), ElementsAre("exec --containall --cleanenv --no-home --overlay /overlay.img "
                                   "--writable-tmpfs --nv --net --network none --bind " +
                                   spec_.workspace +
                                   ":/workspace --bind /data/mesh:/workspace/mesh:ro --bind "
                                   "/scratch:/scratch --pwd /workspace/sub --dns 9.9.9.9 " +
                                   options_.image + " /bin/sh -c echo out; echo err >&2; exit 3 "));
  EXPECT_EQ(backend_->Facts().image.digest, Sha256Hex("image"));
}

TEST_F(ExecContainerTest, VariablesComeByPrefixWithoutPlacesOfTheHost) {  // RSP-15, RSP-22
  for (const std::string_view name :
       {"MY_API_KEY", "APPTAINERENV_MY_API_KEY", "SINGULARITYENV_MY_API_KEY", "APPTAINER_BIND",
        "SINGULARITY_BINDPATH", "APPTAINER_OVERLAY"}) {
    options_.host_environment.push_back(fmt::format("{}=planted", name));
  }
  options_.host_environment.push_back("APPTAINER_CACHEDIR=/cache");
  ASSERT_THAT(Start(), Succeeds());
  Run({.command = "true", .environment = {"DOSSIER_SEED=1"}});
  const std::string seen = ReadFile(fakes_.folder() + "/environment").value_or("");
  EXPECT_THAT(seen, HasSubstr("APPTAINERENV_OMP_NUM_THREADS=4\n"));
  EXPECT_THAT(seen, HasSubstr("APPTAINERENV_LDFLAGS=-Wl,-rpath,/x\n"));
  EXPECT_THAT(seen, HasSubstr("APPTAINERENV_DOSSIER_SEED=1\n"));
  EXPECT_THAT(seen, HasSubstr("APPTAINER_CACHEDIR=/cache\n"));
  EXPECT_THAT(seen, AllOf(Not(HasSubstr("/host/bin")), Not(HasSubstr("/home/ann")),
                          Not(HasSubstr("planted"))));
}

TEST_F(ExecContainerTest, PhaseOneRunsInASandboxThatBecomesTheWorkersImage) {  // RSP-22, RSP-T24
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_EQ(Run({.command = "sudo apt-get -v", .phase = Phase::kInstall}).note,
            "a leading sudo was dropped: commands are root here already");
  const std::string sandbox = options_.folder + "/sandbox";
  ASSERT_EQ(Calls().size(), 2u);
  EXPECT_EQ(Calls()[0], "build --fakeroot --sandbox " + sandbox + " " + options_.image + " ");
  EXPECT_THAT(Calls()[1], AllOf(HasSubstr("--fakeroot --writable --bind"), HasSubstr(sandbox),
                                HasSubstr("-c apt-get -v"), Not(HasSubstr("--network")),
                                Not(HasSubstr("tmpfs"))));
  const auto image = backend_->Snapshot("3f9a");
  ASSERT_THAT(image, Succeeds());
  EXPECT_EQ(image->path, options_.folder + "/images/3f9a.sif");
  EXPECT_EQ(image->digest, Sha256Hex("built\n"));
  EXPECT_EQ(Calls()[2], "build --fakeroot " + image->path + " " + sandbox + " ");
  EXPECT_FALSE(Exists(sandbox));

  spec_.image = image->path;
  ASSERT_THAT(Start(), Succeeds());
  Run({.command = "true", .phase = Phase::kInstall});
  EXPECT_THAT(Calls().back(), AllOf(HasSubstr(image->path), HasSubstr("--writable-tmpfs")));
}

TEST_F(ExecContainerTest, ASandboxIsKeptOnlyIfSoSaidAndOnlyForItsWorkspace) {  // RSP-22, RSP-48
  options_.sandbox = ContainerOptions::Sandbox::kKeep;
  ASSERT_THAT(Start(), Succeeds());
  Run({.command = "true", .phase = Phase::kInstall});
  const std::string sandbox = options_.folder + "/sandbox";
  const std::string mark = spec_.workspace + "/" + std::string(kInstallMark);
  ASSERT_THAT(backend_->Snapshot("a"), Succeeds());
  EXPECT_TRUE(Exists(sandbox));
  ASSERT_THAT(MakeFolders(spec_.workspace + "/.dossier"), Succeeds());
  ASSERT_THAT(WriteFileAtomic(mark, "1"), Succeeds());
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_TRUE(Exists(sandbox));  // a resumed run continues in it
  spec_.workspace += "2";
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_FALSE(Exists(sandbox));
}

TEST_F(ExecContainerTest, AnErrorOfFuseIsTriedOnceMoreWithoutTmpfs) {  // RSP-22
  ASSERT_THAT(WriteFileAtomic(fakes_.folder() + "/fuse", ""), Succeeds());
  ASSERT_THAT(Start(), Succeeds());
  const ExecResult result = Run({.command = "echo well"});
  EXPECT_EQ(result.out, "well\n");
  EXPECT_THAT(result.note, HasSubstr("FUSE"));
  EXPECT_EQ(Calls().size(), 2u);
  Run({.command = "exit 255"});  // no second try, and no tmpfs from now on
  EXPECT_EQ(Calls().size(), 3u);
  EXPECT_THAT(Calls().back(), Not(HasSubstr("tmpfs")));
}

TEST_F(ExecContainerTest, TimeEndsTheCommandAndRefusedOnesAreNotRun) {  // RSP-23, RSP-24
  options_.root = ContainerOptions::Root::kNo;
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_TRUE(Run({.command = "sleep 600", .time_limit = Millis(200)}).timed_out);
  EXPECT_EQ(Run({.command = "sudo make"}).status, 126);
  EXPECT_EQ(Run({.command = "apptainer exec x y"}).status, 126);
  EXPECT_EQ(Calls().size(), 1u);
}

TEST_F(ExecContainerTest, WhatIsMissingIsNamed) {  // section 6, RSP-T24
  options_.engine = "singularity";
  EXPECT_THAT(MakeContainerBackend(options_),
              FailsWith(ErrorCode::kUnavailable,
                        "singularity was looked for on PATH and not "
                        "found; `--backend local` works without it"));
  const std::string image = std::exchange(options_.image, "");  // the program is missing first
  EXPECT_THAT(MakeContainerBackend(options_), FailsWith(ErrorCode::kUnavailable, "not found"));
  options_.engine = "apptainer";
  EXPECT_THAT(MakeContainerBackend(options_),
              FailsWith(ErrorCode::kInvalidArgument, "exec.singularity_image"));
  options_.image = "/no/such.sif";
  EXPECT_THAT(Start(), FailsWith(ErrorCode::kNotFound, "the image /no/such.sif is not there"));
  options_.image = image;
  spec_.binds = {{"/data/a,/etc", "/workspace/a"}};
  EXPECT_THAT(Start(), FailsWith(ErrorCode::kUnavailable, "cannot bind"));
  const std::string a(64, 'a'), b(64, 'b');
  EXPECT_THAT(CheckSameImage("sha256:" + a, {"x.sif", a}), Succeeds());
  for (const std::string& digest : {a, b}) {
    EXPECT_THAT(CheckSameImage("sha256:" + a, {"x.sif", b}),
                FailsWith(ErrorCode::kUnavailable, "sha256:" + digest));
  }
  EXPECT_THAT(FindWritableMode("full"), FailsWith(ErrorCode::kConfig, "auto, sandbox"));
}

TEST_F(ExecContainerTest, AFailedBuildEndsTheRunWithItsReason) {
  options_.host_environment.push_back("FAIL_BUILD=1");
  ASSERT_THAT(Start(), Succeeds());
  EXPECT_THAT(backend_->Run({.command = "true", .phase = Phase::kInstall}, {}),
              FailsWith(ErrorCode::kUnavailable, "no space"));
}

TEST_F(ExecContainerTest, AProbeHasTheSandboxOfARun) {  // FLT-63
  ExecConfig config;
  config.backend = "apptainer";
  config.singularity_image = options_.image;
  const auto factory = MakeBackends({.config = &config,
                                     .folder = fakes_.folder() + "/run",
                                     .host_environment = options_.host_environment});
  ASSERT_THAT(factory, Succeeds());
  auto backend = std::move(*(*factory)("worker-0"));
  ASSERT_THAT(
      ProbeMachine(config, *backend,
                   {.workspace = spec_.workspace, .all_environment = {"PATH=/usr/bin"}}, {}),
      Succeeds());
  ASSERT_FALSE(Calls().empty());
  for (const std::string& call : Calls()) EXPECT_THAT(call, HasSubstr(" --nv "));
  config.use_gpu = false;
  EXPECT_EQ(SandboxOf(config, "/w", {}).gpu, SandboxSpec::Gpu::kNo);
}

TEST_F(ExecContainerTest, AConfigurationNamesItsBackend) {  // 5.3
  ExecConfig config;
  config.singularity_image = options_.image;
  const BackendSetup setup{.config = &config, .folder = fakes_.folder() + "/run"};
  for (const auto& [backend, kind] : {std::pair("local", "local"), {"apptainer", "apptainer"}}) {
    config.backend = backend;
    const auto factory = MakeBackends(setup);
    ASSERT_THAT(factory, Succeeds());
    EXPECT_EQ((*(*factory)("worker-1"))->Facts().kind, kind);
  }
  config.backend = "singularity";
  EXPECT_THAT(MakeBackends(setup),
              FailsWith(ErrorCode::kUnavailable, "singularity was looked for"));
  config.backend = "kubernetes";
  EXPECT_THAT(MakeBackends(setup), FailsWith(ErrorCode::kUsage, "local, apptainer, singularity"));
  setenv("PATH", fakes_.folder().c_str(), 1);  // the machine may have Slurm
  config.backend = "slurm-plain";
  EXPECT_THAT(MakeBackends(setup), FailsWith(ErrorCode::kUnavailable, "sbatch was looked for"));
  config.backend = "slurm";
  EXPECT_THAT(MakeBackends(setup), FailsWith(ErrorCode::kUnavailable, "sbatch was looked for"));
  config.singularity_image = "";
  EXPECT_THAT(MakeBackends(setup), FailsWith(ErrorCode::kUsage, "--image FILE"));
}

}  // namespace
}  // namespace dossier::research
