// The escape attempts of spec section 4.8, as a program in a jail makes them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "sandbox/jail/jail.h"
#include "sandbox/probes/jail_trials.h"
#include "testing/isolation_harness.h"
#include "testing/jail_folder.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::Succeeds;

// Runs `body` in a child that is the same or a plain user; what it returns comes back as text.
std::string RunAs(Identity identity, const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    if (identity == Identity::kUser) harness::BecomeUser();
    harness::Send(ends[1], body());
    _exit(0);
  }
  close(ends[1]);
  std::string text = harness::ReadToEnd(ends[0]);
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return text;
}

constexpr uid_t kOther = 12345;

struct Case {
  Identity identity;
  const char* disabled;
};

class JailEscapeTest : public ::testing::TestWithParam<Case> {};

struct Trial {
  JailNetwork network = JailNetwork::kNone;
  enum class Walls { kUp, kDown } walls = Walls::kUp;
};

// The attempts that worked, one a line, then "done".
std::string Try(const JailGround& ground, const Case& c, Trial trial = {}) {
  return RunAs(c.identity, [&]() -> std::string {
    const auto folder = TempFolder::Make("dossier-jail-inside");
    if (!folder) return folder.error().message;
    const UniqueFd inherited(open("/", O_RDONLY | O_DIRECTORY));  // not close-on-exec
    // Without namespaces nothing would limit the processes of root: it must be another's folder.
    const bool bare =
        std::string_view(c.disabled) == "namespaces" || !dossier::testing::UserNamespacesHere();
    if (geteuid() == 0 && bare && chown(folder->path().c_str(), kOther, kOther) != 0)
      return "chown";
    JailSpec spec;
    spec.write = {folder->path()};
    spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    spec.network = trial.network;
    spec.disabled_layers = {c.disabled};
    const bool down = trial.walls == Trial::Walls::kDown;
    if (down) {
      spec.mode = IsolationMode::kDegraded;
      spec.disabled_layers = {"namespaces", "landlock", "seccomp", "flags"};
    }
    const auto argv = ground.Program([&](const JailAttempt& attempt) {
      const bool harmful = attempt.effect == JailAttempt::Effect::kEndsTheTrial;
      return attempt.meant != JailAttempt::Meant::kWithWrite && !(down && harmful);
    });
    const auto exit = RunJailed(spec, argv);
    if (!exit) return exit.error().message;
    return exit->out + exit->err +
           (exit->signal != 0 ? fmt::format("signal {}", exit->signal) : "");
  });
}

// SBX-E1 to SBX-E7 as far as they apply to programs, SBX-80
TEST_P(JailEscapeTest, EveryAttemptOfAProgramIsRefused) {
  const auto made = JailGround::Make();
  ASSERT_THAT(made, Succeeds());
  const JailGround& ground = *made;
  EXPECT_EQ(Try(ground, GetParam()), "done\n");
  EXPECT_TRUE(Exists(ground.home() + "/secret"));
  EXPECT_FALSE(Exists(ground.home() + "/new"));
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}Without{}", info.param.identity == Identity::kSame ? "Same" : "User",
                     *info.param.disabled == '\0' ? "Nothing" : info.param.disabled);
}

INSTANTIATE_TEST_SUITE_P(Walls, JailEscapeTest,
                         ::testing::Values(Case{Identity::kSame, ""}, Case{Identity::kUser, ""},
                                           Case{Identity::kSame, "namespaces"},
                                           Case{Identity::kUser, "namespaces"},
                                           Case{Identity::kSame, "landlock"},
                                           Case{Identity::kUser, "landlock"}),
                         CaseName);

TEST(JailAttemptsTest, WorkWithoutTheWalls) {  // else their failure would prove nothing
  const auto made = JailGround::Make();
  ASSERT_THAT(made, Succeeds());
  const JailGround& ground = *made;
  const std::string text = Try(ground, {Identity::kSame, ""}, {.walls = Trial::Walls::kDown});
  for (const char* id : {"E1 accounts of the host", "E1 home", "E1 a symlink out", "E2 write home",
                         "E2 remove from home", "E3 IPv4", "E3 UDP", "E3 unix path",
                         "E3 abstract unix", "E3 netlink", "E4 shared memory of the user",
                         "E4 a message queue of the user", "E6 unshare user"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(std::string(id) + " \n")) << id;
  }
}

TEST(JailNetworkTest, WithNetworkTheLoopbackIsReached) {  // SBX-80: network yes
  const auto made = JailGround::Make();
  ASSERT_THAT(made, Succeeds());
  const JailGround& ground = *made;
  const std::string text = Try(ground, {Identity::kSame, ""}, {.network = JailNetwork::kAny});
  EXPECT_THAT(text, ::testing::HasSubstr("E3 IPv4"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("E1 ")));
}

TEST(JailNetworkTest, TheNetworkIsNotTheMachine) {  // FLT-89
  const auto made = JailGround::Make();
  ASSERT_THAT(made, Succeeds());
  const JailGround& ground = *made;
  for (const char* disabled : {"", "namespaces", "landlock"}) {
    for (const Identity identity : {Identity::kSame, Identity::kUser}) {
      const std::string text = Try(ground, {identity, disabled}, {.network = JailNetwork::kAny});
      EXPECT_THAT(text, ::testing::HasSubstr("E3 IPv4")) << disabled;
      for (const char* id : {"E3 netlink", "E3 vsock", "E3 packet", "E3 unix", "E3 abstract",
                             "E4 shared", "E4 a message"}) {
        EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr(id))) << disabled;
      }
    }
  }
}

TEST(JailNetworkTest, ALoopbackOfItsOwnLeadsNowhere) {  // FLT-64
  const auto made = JailGround::Make();
  ASSERT_THAT(made, Succeeds());
  const JailGround& ground = *made;
  for (const Identity identity : {Identity::kSame, Identity::kUser}) {
    for (const char* disabled : {"", "landlock"}) {
      const std::string text =
          Try(ground, {identity, disabled}, {.network = JailNetwork::kLoopback});
      // A socket may be made, and a datagram sent to itself; nothing of the machine answers.
      for (const char* id : {"E1 ", "E2 ", "E3 IPv4", "E3 unix", "E3 abstract", "E3 netlink",
                             "E3 raw", "E3 packet", "E3 vsock", "E4 ", "E5 ", "E6 ", "E7 "}) {
        EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr(id))) << disabled;
      }
      EXPECT_THAT(text, ::testing::HasSubstr("done\n"));
    }
    // Without namespaces it would be the machine's.
    EXPECT_EQ(Try(ground, {identity, "namespaces"}, {.network = JailNetwork::kLoopback}), "done\n");
  }
}

TEST(JailForkBombTest, IsStoppedByTheLimit) {  // SBX-E11
  for (const Identity identity : {Identity::kSame, Identity::kUser}) {
    const std::string text = RunAs(identity, []() -> std::string {
      JailSpec spec;
      spec.limits.processes = 50;
      spec.limits.wall = Millis(3'000);
      const std::string argv[] = {"sh", "-c", "f() { f | f & }; f; sleep 1000"};
      const auto exit = RunJailed(spec, argv);
      if (!exit) return exit.error().message;
      return exit->timed_out() || exit->stop == JailStop::kProcesses || exit->status != 0
                 ? "ended"
                 : "went on";
    });
    EXPECT_EQ(text, "ended");
  }
}

}  // namespace
}  // namespace dossier::sandbox
