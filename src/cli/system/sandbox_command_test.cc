#include "cli/system/sandbox_command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "base/files/file.h"
#include "base/json/json.h"
#include "cli/system/doctor_command.h"
#include "testing/result_matchers.h"
#include "testing/thread_sanitizer.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

const std::string kWorker = std::string(DOSSIER_BIN_DIR) + "/dossier-python-worker";

struct Printed {
  int code = 0;
  std::string out, err;
};

class SandboxCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { signal(SIGPIPE, SIG_IGN); }  // as the command does

  std::string File(const std::string& name, std::string_view text) {
    const std::string path = folder_->path() + "/" + name;
    EXPECT_THAT(WriteFileAtomic(path, text), Succeeds());
    return path;
  }

  Printed Run(SandboxRunArguments arguments) {
    arguments.worker_path = kWorker;
    std::ostringstream out, err;
    const int code = RunSandboxRun(arguments, out, err);
    return {code, out.str(), err.str()};
  }

  Printed Doctor(DoctorArguments arguments) {
    arguments.worker_path = kWorker;
    std::ostringstream out, err;
    const int code = RunDoctor(arguments, out, err);
    return {code, out.str(), err.str()};
  }

  Result<TempFolder> folder_ = TempFolder::Make();
};

TEST_F(SandboxCommandTest, FilesRunAsBlocksOfOneSession) {  // section 3
  const Printed printed = Run({.files = {File("a.py", "x = 20"), File("b.py", "print(x + 22)")}});
  EXPECT_EQ(printed.out.substr(printed.out.find("42")), "42\n");
  EXPECT_EQ(printed.code, 0);
}

TEST_F(SandboxCommandTest, CodeSeesTheContextAndItsLines) {  // section 3
  const Printed printed =
      Run({.contexts = {File("feed.txt", "one\ntwo\nthree\n")},
           .files = {File("a.py", "print(len(context), len(context.splitlines()))")}});
  EXPECT_EQ(printed.out, "14 3\n");
}

TEST_F(SandboxCommandTest, ExitIsOneIfTheLastBlockRaised) {  // section 3
  const std::string bad = File("bad.py", "print('before')\n1 / 0"), good = File("good.py", "pass");
  const Printed printed = Run({.files = {good, bad}});
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(printed.out, "before\n");
  EXPECT_THAT(printed.err, HasSubstr("ZeroDivisionError"));
  EXPECT_EQ(Run({.files = {bad, good}}).code, 0);
}

TEST_F(SandboxCommandTest, ModelCallsAreRefusedInWords) {  // SBX-93
  const Printed printed = Run({.files = {File("a.py", "llm_query('hello')")}});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err, HasSubstr("LLMError"));
}

TEST_F(SandboxCommandTest, BadFlagsAreUsageErrors) {
  SandboxRunArguments arguments{.files = {File("a.py", "1")}};
  arguments.flags.cell_time = "soon";
  EXPECT_EQ(Run(arguments).code, 2);
  arguments.flags.cell_time = "60s";
  arguments.dialect = "cobol";
  EXPECT_EQ(Run(arguments).code, 2);
  EXPECT_EQ(Run({.files = {"/nonexistent.py"}}).code, 4);
}

TEST_F(SandboxCommandTest, StrictWithoutALayerIsRefusedAndDegradedSaysSo) {  // SBX-10, SBX-11
  SandboxRunArguments arguments{.files = {File("a.py", "print(1)")}};
  arguments.disabled_layers = {"seccomp"};
  const Printed refused = Run(arguments);
  EXPECT_EQ(refused.code, 12);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("sandbox: seccomp is not available"));
  arguments.flags.mode = "degraded";
  const Printed degraded = Run(arguments);
  EXPECT_EQ(degraded.code, 0);
  EXPECT_THAT(degraded.err, HasSubstr("every system call is allowed"));
}

TEST_F(SandboxCommandTest, JsonHoldsEveryBlockAndTheReport) {  // dossier.sandbox/1
  const Printed printed = Run({.files = {File("a.py", "print('hi')")}, .json = true});
  const auto json = ParseJson(printed.out);
  ASSERT_THAT(json, Succeeds());
  EXPECT_EQ(json->at("blocks").at(0).at("out").as_string(), "hi\n");
  EXPECT_EQ(json->at("sandbox").at("schema").as_string(), "dossier.sandbox/1");
}

TEST_F(SandboxCommandTest, DoctorShowsALineForEachLayer) {  // section 3
  const Printed printed = Doctor({.extra = {{"OPENAI_API_KEY", DoctorCheck::State::kInfo, "set"}}});
  EXPECT_EQ(printed.code, 0) << printed.out;
  for (const char* name :
       {"kernel", "memory", "store folder", "process", "flags", "rlimits", "landlock", "seccomp",
        "seccomp-threads", "cgroup", "libpython", "standard library", "OPENAI_API_KEY"}) {
    EXPECT_THAT(printed.out, HasSubstr(name));
  }
}

TEST_F(SandboxCommandTest, DoctorEndsWithFifteenIfStrictCannotRun) {  // SBX-A11
  for (const char* layer : {"process", "flags", "rlimits", "seccomp", "seccomp-threads"}) {
    const Printed printed = Doctor({.json = true, .disabled_layers = {layer}});
    EXPECT_EQ(printed.code, 15) << layer;
    const auto json = ParseJson(printed.out);
    ASSERT_THAT(json, Succeeds());
    EXPECT_FALSE(json->at("strict").as_bool());
    bool failed = false;
    for (const Json& check : json->at("checks").as_array()) {
      failed = failed || (check.at("name") == layer && check.at("state") == "failed");
    }
    EXPECT_TRUE(failed) << layer;
  }
  EXPECT_EQ(Doctor({.disabled_layers = {"namespaces"}}).code, 0);
}

TEST_F(SandboxCommandTest, SandboxTestCountsWhatWasRefused) {  // section 3, 4.8
  if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
  SandboxTestArguments arguments;
  arguments.worker_path = kWorker;
  std::ostringstream out, err;
  EXPECT_EQ(RunSandboxTest(arguments, out, err), 0) << out.str() << err.str();
  const std::string text = out.str();
  EXPECT_TRUE(text.starts_with("68 of 68 refused\n\n") ||
              text.starts_with("67 of 67 refused; 1 needs the JavaScript worker, which this build "
                               "does not have\n\n"))
      << text;
}

TEST_F(SandboxCommandTest, SandboxTestTriesEveryKindOfJail) {  // FLT-91
  if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
  SandboxTestArguments arguments{.json = true};
  arguments.worker_path = kWorker;
  std::ostringstream out, err;
  EXPECT_EQ(RunSandboxTest(arguments, out, err), 0) << out.str() << err.str();
  const auto json = ParseJson(out.str());
  ASSERT_THAT(json, Succeeds());
  std::set<std::string> tried;
  for (const Json& jail : json->at("jails").as_array()) {
    const std::string name = fmt::format("{}, as {}, folder of {}", TextAt(jail, "kind"),
                                         TextAt(jail, "as"), TextAt(jail, "folder_of"));
    EXPECT_TRUE(jail.at("worked").as_array().empty()) << name << jail;
    if (Find(jail, "not_run")) {  // strict refuses what it cannot protect without them
      EXPECT_EQ(TextAt(jail, "layers"), "no namespaces") << name << jail;
      continue;
    }
    tried.insert(name);
    EXPECT_GT(jail.at("tried").as_int64(), 50) << name;
  }
  for (const char* kind : {"jail, --read", "jail, --write", "jail, --write --network",
                           "command of a model", "command that may write"}) {
    EXPECT_TRUE(tried.contains(fmt::format("{}, as user, folder of user", kind)));
    if (geteuid() != 0) continue;
    for (const char* who :
         {"as root, folder of root", "as root, folder of user", "as user, folder of root"}) {
      EXPECT_TRUE(tried.contains(fmt::format("{}, {}", kind, who))) << kind << who;
    }
  }
}

}  // namespace
}  // namespace dossier::cli
