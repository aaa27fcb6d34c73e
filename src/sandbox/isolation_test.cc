#include "sandbox/isolation.h"

#include <gtest/gtest.h>

#include "sandbox/isolation_harness.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

TEST(IsolationTest, Smoke) {
  for (Identity identity : {Identity::kSame, Identity::kUser}) {
    Locked locked = RunLocked({.read_folders = {"/usr/lib/python3.11"}}, identity,
                              [](int) { return std::string("ok"); });
    EXPECT_EQ(locked.text, "ok");
    EXPECT_EQ(locked.exit_code, 0);
    fmt::print("{}\n", ToPrettyJson(locked.report.ToJson()));
  }
}

}  // namespace
}  // namespace dossier::sandbox
