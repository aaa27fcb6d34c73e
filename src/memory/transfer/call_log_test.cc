#include "memory/transfer/call_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

struct LogRig {
  TempFolder folder = *TempFolder::Make();
  std::string path = CallLogPath(folder.path() + "/memory.sqlite");

  MemoryCallLog Log(std::int64_t max_chars = 1000, Redaction redaction = Redaction::kOn) const {
    return MemoryCallLog({.path = path,
                          .max_chars = max_chars,
                          .redaction = redaction,
                          .clock = std::make_shared<StandingClock>()});
  }
  std::string Text() const { return ReadFile(path).value_or(""); }
};

TEST(CallLogTest, ALineHoldsWhatTheSpecificationNames) {
  const LogRig rig;
  ASSERT_THAT(rig.Log().Append({.op = "search",
                                .layer = "command",
                                .memory_type = "archival",
                                .branch = "n1",
                                .node = "u1",
                                .phase = "plan",
                                .run = "r1",
                                .details = {{"query", "fftw3"}}}),
              Succeeds());
  EXPECT_EQ(rig.path, rig.folder.path() + "/memory_calls.jsonl");
  EXPECT_EQ(rig.Text(),
            R"({"ts":"2023-11-14T22:13:20.000000Z","op":"search","layer":"command",)"
            R"("memory_type":"archival","branch_id":"n1","node_id":"u1","phase":"plan",)"
            R"("run_id":"r1","details":{"query":"fftw3"}})"
            "\n");
}

TEST(CallLogTest, ALinkInItsPlaceIsNotWrittenThrough) {  // FLT-88
  const LogRig rig;
  const std::string victim = rig.folder.path() + "/victim";
  ASSERT_THAT(WriteFileAtomic(victim, "mine"), Succeeds());
  ASSERT_EQ(symlink(victim.c_str(), rig.path.c_str()), 0);
  EXPECT_THAT(rig.Log().Append({.op = "a"}), FailsWith(ErrorCode::kRefused, "is a link"));
  EXPECT_EQ(*ReadFile(victim), "mine");
}

TEST(CallLogTest, SecretsAreTakenOutBeforeATextIsCut) {  // MEM-52, MEM-T17
  const LogRig rig;
  const JsonObject details{{"api_key", std::string("x8Kq2Lw") + "Z9vTn"},
                           {"list", JsonArray{"hf_x8Kq2LwZ9vT"
                                              "n4RbY7cMd1eQ5zT3kWq9Lp0 and more words"}}};
  ASSERT_THAT(rig.Log(/*max_chars=*/8).Append({.op = "a", .details = details}), Succeeds());
  EXPECT_NE(rig.Text().find(R"("details":{"api_key":"***","list":["*** and …"]})"),
            std::string::npos)
      << rig.Text();
  ASSERT_THAT(rig.Log(8, Redaction::kOff).Append({.op = "b", .details = details}), Succeeds());
  EXPECT_NE(rig.Text().find(R"({"api_key":"x8Kq2LwZ…","list":["hf_x8Kq2…"]})"), std::string::npos)
      << rig.Text();
}

TEST(CallLogTest, LinesAreAppended) {
  const LogRig rig;
  for (const char* op : {"one", "two"}) ASSERT_THAT(rig.Log().Append({.op = op}), Succeeds());
  EXPECT_EQ(std::ranges::count(rig.Text(), '\n'), 2);
}

TEST(CallLogTest, ReadsAreCountedByPhase) {
  const LogRig rig;
  EXPECT_EQ(ReadsByPhase(rig.path)->size(), 0U);
  for (const char* op : {"search", "core_get", "core_set", "recall_search"}) {
    ASSERT_THAT(rig.Log().Append({.op = op, .phase = op[0] == 'c' ? "plan" : ""}), Succeeds());
  }
  ASSERT_THAT(WriteFileAtomic(rig.path, rig.Text() + "{\"op\":\n[]\n"), Succeeds());
  const std::map<std::string, std::int64_t> wanted = {{"", 2}, {"plan", 1}};
  EXPECT_EQ(*ReadsByPhase(rig.path), wanted);
}

TEST(CallLogTest, AFolderThatIsNotThereIsNamed) {
  const LogRig rig;
  const MemoryCallLog log({.path = CallLogPath(rig.folder.path() + "/none/memory.sqlite")});
  EXPECT_THAT(log.Append({.op = "a"}), FailsWith(ErrorCode::kNotFound, "/none/memory_calls"));
}

}  // namespace
}  // namespace dossier::memory
