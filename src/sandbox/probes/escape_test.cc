#include "sandbox/probes/escape.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/files/file.h"
#include "testing/isolation_harness.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::Succeeds;

PoolOptions Options(std::vector<std::string> disabled,
                    IsolationMode mode = IsolationMode::kStrict) {
  PoolOptions options;
  options.mode = mode;
  options.worker_path = std::string(DOSSIER_BIN_DIR) + "/dossier-python-worker";
  options.disabled_layers = std::move(disabled);
  return options;
}

void ExpectAllRefused(const PoolOptions& options) {
  const auto pool = Pool::Make(options);
  ASSERT_THAT(pool, Succeeds());
  const auto report = RunEscapeTests(**pool, options);
  ASSERT_THAT(report, Succeeds());
  for (const EscapeOutcome& outcome : report->outcomes) {
    EXPECT_TRUE(outcome.refused) << outcome.id << " " << outcome.name << ": " << outcome.how;
  }
  // Like SandboxTestCountsWhatWasRefused: one attempt needs a worker that may not be built.
  EXPECT_EQ(report->outcomes.size() + report->not_built.size(), 68u);
  EXPECT_TRUE(report->all_refused());
}

TEST(EscapeTest, TheListIsTheSpecsList) {  // SBX-E1 to SBX-E12
  std::set<std::string_view> ids;
  for (const EscapeAttempt& attempt : EscapeAttempts()) {
    EXPECT_TRUE(ids.insert(attempt.id).second) << attempt.id;
    EXPECT_TRUE(!attempt.code.empty() || !NativeProbes(attempt.id).empty()) << attempt.id;
  }
  for (const EscapeAttempt& attempt : JavaScriptAttempts()) ids.insert(attempt.id);
  EXPECT_EQ(ids.size(), 68u);
}

TEST(EscapeTest, EveryAttemptIsRefusedWithAllLayers) {  // SBX-A2, SBX-E1 to SBX-E12
  ExpectAllRefused(Options({}));
}

TEST(EscapeTest, EveryAttemptIsRefusedWithoutNamespaces) {  // SBX-A2, SBX-14
  ExpectAllRefused(Options({"namespaces"}));
}

TEST(EscapeTest, EveryAttemptIsRefusedWithoutLandlock) {  // SBX-A2
  const auto probe = RunLocked({.read_folders = {"/usr/lib/python3.11"}}, Identity::kUser,
                               [](int) { return std::string(); });
  if (!probe.report.Applied("namespaces")) GTEST_SKIP() << "user namespaces are not allowed here";
  ExpectAllRefused(Options({"landlock"}));
}

TEST(EscapeTest, EveryAttemptIsRefusedForAPlainUser) {  // SBX-A2
  if (geteuid() != 0) GTEST_SKIP() << "the other tests ran as a plain user";
  // A plain user may not reach what was built below root's own folder.
  const auto folder = TempFolder::Make();
  ASSERT_THAT(folder, Succeeds());
  ASSERT_EQ(chmod(folder->path().c_str(), 0755), 0);
  PoolOptions options = Options({});
  const auto worker = ReadFile(options.worker_path);
  ASSERT_THAT(worker, Succeeds());
  options.worker_path = folder->path() + "/dossier-python-worker";
  ASSERT_THAT(WriteFileAtomic(options.worker_path, *worker, 0755), Succeeds());
  const pid_t pid = fork();
  if (pid == 0) {
    harness::BecomeUser();
    ExpectAllRefused(options);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(EscapeTest, DegradedStillRefusesWhatTheFilterCovers) {  // SBX-A2, SBX-11
  const PoolOptions options = Options({"landlock", "namespaces"}, IsolationMode::kDegraded);
  const auto pool = Pool::Make(options);
  ASSERT_THAT(pool, Succeeds());
  const auto report = RunEscapeTests(**pool, options);
  ASSERT_THAT(report, Succeeds());
  EXPECT_EQ(report->isolation.gaps.size(), 2u);
  for (const EscapeOutcome& outcome : report->outcomes) {
    const bool reads_files =
        outcome.id.starts_with("E1.") || outcome.id == "E2.5" || outcome.id == "E9.1";
    if (reads_files) continue;
    EXPECT_TRUE(outcome.refused) << outcome.id << " " << outcome.name << ": " << outcome.how;
  }
}

// Otherwise the list would prove nothing.
TEST(EscapeTest, WithoutTheFilterTheAttemptsHaveEffects) {  // SBX-A2
  const PoolOptions options =
      Options({"seccomp", "seccomp-threads", "landlock", "namespaces", "rlimits"},
              IsolationMode::kDegraded);
  const auto pool = Pool::Make(options);
  ASSERT_THAT(pool, Succeeds());
  const auto report = RunEscapeTests(**pool, options);
  ASSERT_THAT(report, Succeeds());
  std::set<std::string> effects;
  for (const EscapeOutcome& outcome : report->outcomes) {
    if (outcome.how.find("effect: ") != std::string::npos) effects.insert(outcome.id);
  }
  for (const char* id : {"E1.1", "E1.3", "E1.7", "E2.1", "E3.1", "E3.3", "E3.4", "E3.5", "E4.2",
                         "E5.1", "E5.2", "E5.3", "E6.1", "E8.1", "E8.2"}) {
    EXPECT_TRUE(effects.contains(id)) << id << " proves nothing";
  }
}

}  // namespace
}  // namespace dossier::sandbox
