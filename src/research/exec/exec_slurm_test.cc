#include "research/exec/exec_slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/text/text.h"
#include "testing/engine_fakes_for_test.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A queue of one job: sbatch runs the script at once unless told to keep it.
constexpr std::string_view kSbatch = R"(
for script; do :; done
echo "$script" > "$HERE/script"
[ -f "$HERE/refuse" ] && { echo 'sbatch: error: invalid partition' >&2; exit 1; }
[ -f "$HERE/keep" ] || sh "$script"
echo '4711;cluster')";
constexpr std::string_view kSqueue = R"(
[ -f "$HERE/away" ] && { echo 'Unable to contact slurm controller' >&2; exit 1; }
cat "$HERE/state" 2>/dev/null && exit 0
echo 'slurm_load_jobs error: Invalid job id specified' >&2
exit 1)";

class ExecSlurmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fakes_.Add("apptainer", "while [ \"$1\" != /bin/sh ]; do shift; done; exec \"$@\"");
    fakes_.Add("prlimit", "while [ \"${1#--}\" != \"$1\" ]; do shift; done; exec \"$@\"");
    fakes_.Add("sbatch", kSbatch);
    fakes_.Add("squeue", kSqueue);
    fakes_.Add("sacct", "cat \"$HERE/kept\" 2>/dev/null");
    fakes_.Add("scancel", "");
    ASSERT_THAT(Put("hpc.sif", "image"), Succeeds());
    Make();
  }

  Status Put(std::string_view name, std::string_view text) {
    return WriteFileAtomic(fmt::format("{}/{}", fakes_.folder(), name), text);
  }

  void Make(SlurmOptions options = {}) {
    options.poll = Millis(1);
    auto inner = MakeContainerBackend(
        {.image = fakes_.folder() + "/hpc.sif",
         .folder = fakes_.folder() + "/run/workers/worker-0",
         .host_environment = {"PATH=" + fakes_.folder() + ":/usr/bin:/bin", "MY_API_KEY=planted",
                              "APPTAINER_DOCKER_PASSWORD=planted"}});
    ASSERT_THAT(inner, Succeeds());
    auto backend = MakeSlurmBackend(std::move(*inner), std::move(options));
    ASSERT_THAT(backend, Succeeds());
    backend_ = std::move(*backend);
    ASSERT_THAT(backend_->Start({.workspace = fakes_.folder() + "/run/w"}), Succeeds());
  }

  // Keeps the ids of jobs, as the journal does.
  ExecCommand Queued(std::string_view line) {
    ExecCommand command{.command = std::string(line)};
    command.on_queued = [this](std::string_view job) -> Status {
      jobs_.emplace_back(job);
      return {};
    };
    return command;
  }
  ExecResult Run(const ExecCommand& command) {
    auto result = backend_->Run(command, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }

  EngineFakes fakes_;
  std::unique_ptr<ExecBackend> backend_;
  std::vector<std::string> jobs_;
};

TEST_F(ExecSlurmTest, APhaseFourCommandIsAJobAndOthersAreNot) {  // RSP-22, RSP-T24
  Make({.flags = {{"partition", "gpu"}, {"mem", "8G"}}});
  EXPECT_EQ(Run({.command = "echo here", .phase = Phase::kCompile}).out, "here\n");
  EXPECT_EQ(Run({.command = "echo a script", .phase = Phase::kRun}).out, "a script\n");
  EXPECT_THAT(fakes_.Calls("sbatch"), IsEmpty());
  ExecCommand command = Queued("echo 'it''s out'; echo err >&2; exit 3");
  command.time_limit = Millis(90'000);
  const ExecResult result = Run(command);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "its out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_THAT(jobs_, ElementsAre("4711"));
  ASSERT_EQ(fakes_.Calls("sbatch").size(), 1u);
  const std::string call = fakes_.Calls("sbatch")[0];
  EXPECT_THAT(call, ::testing::StartsWith("--parsable --export=NONE --job-name=dossier --output="));
  EXPECT_THAT(call, HasSubstr("--mem=8G --partition=gpu --time=2 "));
  EXPECT_EQ(backend_->Facts().kind, "slurm");
  EXPECT_EQ(Run(Queued("sudo true")).status, 0);  // fake root: `sudo` is dropped
  EXPECT_EQ(Run(Queued("docker ps")).status, 126);
}

TEST_F(ExecSlurmTest, ACommandOfAJobIsEndedToTheSecond) {
  ExecCommand command = Queued("sleep 30; echo late");
  command.time_limit = Millis(1'000);
  const ExecResult result = Run(command);
  EXPECT_EQ(result.status, 124);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.out, "");
}

TEST_F(ExecSlurmTest, AScriptOfTheQueueHoldsNoSecretOfTheHost) {  // RSP-15, RSP-T6
  Run(Queued("true"));
  const std::string path(TrimSpace(ReadFile(fakes_.folder() + "/script").value_or("")));
  const std::string script = ReadFile(path).value_or("");
  EXPECT_THAT(script, HasSubstr("export PATH="));
  EXPECT_THAT(script, ::testing::Not(HasSubstr("planted")));
}

// A table replaces the local sandbox: what is not queued goes there.
class PlainSlurmTest : public ExecSlurmTest {
 protected:
  Status Start(SlurmOptions options = {}, SandboxSpec spec = {}) {
    options.poll = Millis(1);
    DOSSIER_ASSIGN_OR_RETURN(
        backend_,
        MakePlainSlurmBackend(std::make_unique<ScriptedBackend>(table_, ScriptedOptions()),
                              {.folder = fakes_.folder() + "/run/workers/worker-0",
                               .environment = {"PATH=" + fakes_.folder() + ":/usr/bin:/bin"}},
                              std::move(options)));
    spec.workspace = workspace_;
    return backend_->Start(spec);
  }

  const std::string workspace_ = fakes_.folder() + "/run/w";
  std::shared_ptr<CommandScript> table_ = std::make_shared<CommandScript>();
};

TEST_F(PlainSlurmTest, AJobRunsInTheWorkspaceAtItsOwnPath) {  // FLT-65
  ASSERT_THAT(MakeFolders(workspace_ + "/sub"), Succeeds());
  ASSERT_THAT(Start({.flags = {{"nodes", "2"}, {"ntasks-per-node", "4"}}},
                    {.environment = {"PATH=/usr/bin:/bin", "PYTHONPATH=/workspace/.pydeps",
                                     "NAME=it's /data/workspace"}}),
              Succeeds());
  ExecCommand command = Queued("pwd; echo $HOME $PYTHONPATH $NAME $SLURM_EXPORT_ENV /workspace/x");
  command.folder = "sub";
  const ExecResult result = Run(command);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            fmt::format("{0}/sub\n{0} {0}/.pydeps it's /data/workspace ALL {0}/x\n", workspace_));
  EXPECT_THAT(result.layers, IsEmpty());  // no isolation is claimed
  EXPECT_THAT(fakes_.Calls("sbatch")[0],
              ::testing::AllOf(HasSubstr("--nodes=2"), HasSubstr("--ntasks-per-node=4")));
  EXPECT_THAT(fakes_.Calls("apptainer"), IsEmpty());
  EXPECT_EQ(backend_->Facts().kind, "slurm-plain");
  EXPECT_THAT(backend_->Facts().warning, HasSubstr("behind no walls"));
  table_->On("g++ *");
  EXPECT_EQ(Run({.command = "g++ /workspace/a.cc", .phase = Phase::kCompile}).status, 0);
  EXPECT_THAT(table_->commands(), ElementsAre("g++ " + workspace_ + "/a.cc"));
}

TEST_F(PlainSlurmTest, ModulesAreLoadedAndOneThatFailsEndsTheJob) {  // FLT-65
  ASSERT_THAT(Start({.modules = {"use /opt/modules", "load no-such/1.2"}}), Succeeds());
  // There is no `module` here, or it does not know this module.
  const ExecResult result = Run(Queued("echo ran"));
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err, "");
  const std::string path(TrimSpace(ReadFile(fakes_.folder() + "/script").value_or("")));
  const std::string script = ReadFile(path).value_or("");
  EXPECT_LT(script.find(". /etc/profile\n"), script.find("export "));
  EXPECT_LT(script.find("module use /opt/modules "), script.find("module load no-such/1.2 "));
  EXPECT_THAT(Start({.modules = {"load x; rm -rf y"}}),
              FailsWith(ErrorCode::kConfig, "exec.modules: load x; rm"));
}

TEST_F(PlainSlurmTest, WhatIsBoundIsALinkThatJobsFollow) {  // FLT-65
  const std::string data = fakes_.folder() + "/data";
  ASSERT_THAT(MakeFolders(data), Succeeds());
  ASSERT_THAT(WriteFileAtomic(data + "/x", "1\n"), Succeeds());
  ASSERT_THAT(Start({}, {.binds = {{data, "/workspace/sub/input"}, {data, data}}}), Succeeds());
  EXPECT_EQ(Run(Queued("cat sub/input/x")).out, "1\n");
  EXPECT_THAT(Start({}, {.binds = {{data, "/scratch"}}}),
              FailsWith(ErrorCode::kUnavailable, "give it a place below /workspace"));
}

TEST_F(ExecSlurmTest, ARunningJobIsWaitedForOnResume) {  // RSP-48, RSP-T24
  ASSERT_THAT(Put("keep", ""), Succeeds());
  ASSERT_THAT(Put("state", "CANCELLED by 0\n"), Succeeds());
  ExecCommand command = Queued("echo late");
  EXPECT_EQ(Run(command).status, 1);  // an earlier process: its job is in the queue, then lost
  // The job continues, and ends while the second process checks it.
  fakes_.Add("squeue",
             "if [ -f \"$HERE/seen\" ]; then sh \"$(cat \"$HERE/script\")\"; fi; "
             "touch \"$HERE/seen\"; echo RUNNING");
  command.queued_job = "4711";
  EXPECT_EQ(Run(command).out, "late\n");
  EXPECT_EQ(fakes_.Calls("sbatch").size(), 1u);
}

TEST_F(ExecSlurmTest, AQueueThatDoesNotAnswerIsSaidBeforeTheFirstJob) {
  ASSERT_THAT(Put("state", ""), Succeeds());
  EXPECT_THAT(CheckQueue({}), Succeeds());
  fakes_.Add("squeue",
             "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_THAT(CheckQueue({}), FailsWith(ErrorCode::kUnavailable, "Unable to contact slurm"));
}

TEST_F(ExecSlurmTest, ADoneJobIsCollectedOnResume) {  // RSP-48, RSP-T24
  const std::string count = fakes_.folder() + "/count";
  ExecCommand command = Queued(fmt::format("echo done >> {}; echo out", count));
  EXPECT_EQ(Run(command).out, "out\n");
  command.queued_job = "4711";
  EXPECT_EQ(Run(command).out, "out\n");
  EXPECT_EQ(fakes_.Calls("sbatch").size(), 1u);
  EXPECT_EQ(ReadFile(count), "done\n");  // it ran once
}

TEST_F(ExecSlurmTest, AnUnknownJobIsSubmittedAgain) {  // RSP-48, RSP-T24
  ExecCommand command = Queued("echo out");
  command.queued_job = "99";
  const ExecResult result = Run(command);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_THAT(result.note, HasSubstr("does not know job 99"));
  EXPECT_THAT(jobs_, ElementsAre("4711"));
}

// Its sixth look brings the job's end, three more than an unknown job gets.
TEST_F(ExecSlurmTest, AQueueThatDoesNotAnswerIsAskedAgain) {  // RSP-23, RSP-48
  ASSERT_THAT(Put("keep", ""), Succeeds());
  fakes_.Add("squeue",
             "echo x >> \"$HERE/looks\"; if [ $(wc -l < \"$HERE/looks\") -gt 5 ]; then "
             "sh \"$(cat \"$HERE/script\")\"; fi; "
             "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  ExecCommand command = Queued("echo late");
  EXPECT_EQ(Run(command).out, "late\n");
  ASSERT_THAT(RemoveAll(fakes_.folder() + "/looks"), Succeeds());
  // A resume at such a moment waits for the job instead of submitting a second one.
  const std::string script(TrimSpace(ReadFile(fakes_.folder() + "/script").value_or("")));
  ASSERT_THAT(RemoveAll(script.substr(0, script.rfind('/')) + "/status"), Succeeds());
  command.queued_job = "4711";
  EXPECT_EQ(Run(command).out, "late\n");
  EXPECT_EQ(fakes_.Calls("sbatch").size(), 1u);
  EXPECT_THAT(fakes_.Calls("scancel"), IsEmpty());
}

TEST_F(ExecSlurmTest, AJobThatIsGivenUpIsCancelled) {  // RSP-23
  Make({.patience = Millis(20)});
  ASSERT_THAT(Put("keep", ""), Succeeds());
  ASSERT_THAT(Put("away", ""), Succeeds());
  const ExecResult result = Run(Queued("echo out"));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("the queue does not answer"));
  EXPECT_THAT(fakes_.Calls("scancel"), ElementsAre("4711 "));
}

TEST_F(ExecSlurmTest, EqualCommandsAreJobsOfTheirOwn) {  // RSP-48
  const std::string count = fakes_.folder() + "/count";
  ExecCommand first = Queued(fmt::format("echo x >> {0}; wc -l < {0}", count));
  ExecCommand second = first;
  first.queue_key = "phase4/c0";
  second.queue_key = "phase4/c1";
  EXPECT_EQ(Run(first).out, "1\n");
  EXPECT_EQ(Run(second).out, "2\n");
  first.queued_job = "4711";
  EXPECT_EQ(Run(first).out, "1\n");
}

TEST_F(ExecSlurmTest, AJobThatEndsWithoutAStatusSaysWhy) {  // RSP-23
  ASSERT_THAT(Put("keep", ""), Succeeds());
  ASSERT_THAT(Put("kept", "TIMEOUT\n"), Succeeds());
  const ExecResult late = Run(Queued("sleep 600"));
  EXPECT_TRUE(late.timed_out);
  EXPECT_NE(late.status, 0);
  EXPECT_THAT(late.err, HasSubstr("TIMEOUT"));
  ASSERT_THAT(Put("kept", "OUT_OF_MEMORY\n"), Succeeds());
  EXPECT_TRUE(Run(Queued("sleep 601")).out_of_memory);
}

TEST_F(ExecSlurmTest, ACancelledWaitCancelsTheJob) {  // RSP-23
  ASSERT_THAT(Put("keep", ""), Succeeds());
  ASSERT_THAT(Put("state", "PENDING\n"), Succeeds());
  CancelSource source;
  ExecCommand command = Queued("echo out");
  command.on_queued = [&](std::string_view) -> Status {
    source.Cancel("limit");
    return {};
  };
  EXPECT_THAT(backend_->Run(command, source.token()), FailsWith(ErrorCode::kCancelled, "limit"));
  EXPECT_THAT(fakes_.Calls("scancel"), ElementsAre("4711 "));
}

TEST_F(ExecSlurmTest, AnIdThatCannotBeKeptCancelsTheJob) {  // RSP-22: journalled before waiting
  ASSERT_THAT(Put("keep", ""), Succeeds());
  ExecCommand command = Queued("echo out");
  command.on_queued = [](std::string_view) -> Status {
    return MakeError(ErrorCode::kIo, "disk full");
  };
  EXPECT_THAT(backend_->Run(command, {}), FailsWith(ErrorCode::kIo, "disk full"));
  EXPECT_THAT(fakes_.Calls("scancel"), ElementsAre("4711 "));
}

TEST_F(ExecSlurmTest, WrongFlagsPhasesAndRefusalsAreNamed) {
  ASSERT_THAT(Put("refuse", ""), Succeeds());
  EXPECT_THAT(backend_->Run(Queued("true"), {}),
              FailsWith(ErrorCode::kUnavailable, "invalid partition"));
  for (const std::string name : {"wrap", "-n", "output", "a b"}) {
    auto inner = MakeContainerBackend({.image = fakes_.folder() + "/hpc.sif"});
    ASSERT_THAT(inner, Succeeds());
    EXPECT_THAT(MakeSlurmBackend(std::move(*inner), {.flags = {{name, "x"}}}),
                FailsWith(ErrorCode::kConfig, "exec.slurm." + name));
  }
  EXPECT_THAT(ParseSlurmPhases("phase1"), FailsWith(ErrorCode::kConfig, "phase3,phase4"));
  EXPECT_EQ(ParseSlurmPhases("phase3,phase4")->size(), 2u);
}

TEST(SlurmJobTest, StatesAndIds) {  // RSP-T24: job states
  EXPECT_EQ(JobStateOf("PENDING"), JobState::kWaiting);
  EXPECT_EQ(JobStateOf("COMPLETING"), JobState::kWaiting);
  EXPECT_EQ(JobStateOf("CANCELLED by 1000"), JobState::kOver);
  EXPECT_EQ(JobStateOf("COMPLETED"), JobState::kOver);
  EXPECT_EQ(JobStateOf(""), JobState::kUnknown);
  EXPECT_EQ(ParseJobId("12;c\n"), "12");
  EXPECT_FALSE(ParseJobId("Submitted batch job 12"));
  EXPECT_FALSE(ParseJobId(""));
}

}  // namespace
}  // namespace dossier::research
