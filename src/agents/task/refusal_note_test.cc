#include "agents/task/refusal_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/task/task_result.h"
#include "base/files/file.h"
#include "sources/header/note.h"

namespace dossier::agents {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Clock::Wall kNow = Clock::Wall(std::chrono::seconds(1'761'745'380));  // 2025-10-29 13:43Z

class RefusalNoteTest : public ::testing::Test {
 protected:
  RefusalNoteTest() {
    task_.id = "fact-001";
    task_.targets = {"src", "a \"b\""};
  }
  RefusedTask Make() const {
    return {.task = &task_,
            .reviewer = "local",
            .status = "needs-fix",
            .reason = "the reviewer asks\nfor changes",
            .feedback = "- FIX: name it\n",
            .run = "run-1"};
  }

  const TempFolder ground_ = *TempFolder::Make();
  const std::string root_ = ground_.path();
  sources::Task task_;
};

TEST_F(RefusalNoteTest, ANoteIsWrittenAndTheReadyOneTurnsRed) {  // REP-42, A18
  const std::string ready = "agent_notes/ready_for_review/2025-10-29__fact-001__x.md";
  ASSERT_TRUE(MakeFolders(root_ + "/agent_notes/ready_for_review"));
  ASSERT_TRUE(WriteFileAtomic(root_ + "/" + ready, "---\nid: fact-001\n---\nText\n"));
  const std::string note = "agent_notes/notes_FROM_CTO/2025-10-29__local__review-fact-001.md";
  const auto changed = WriteRefusal(root_, "agent_notes", Make(), kNow);
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_THAT(*changed, ElementsAre(note, ready));
  const std::string text = *ReadFile(root_ + "/" + note);
  EXPECT_THAT(text, HasSubstr("# fact-001: needs-fix\n\nthe reviewer asks for changes\n"));
  EXPECT_THAT(text, HasSubstr("- FIX: name it\n"));
  const sources::Note read =
      sources::ParseNote("notes_FROM_CTO/2025-10-29__local__review-fact-001.md", text);
  EXPECT_EQ(read.id, "review-fact-001");
  EXPECT_TRUE(read.red());
  EXPECT_EQ(read.targets, task_.targets);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_TRUE(sources::ParseNote(ready, *ReadFile(root_ + "/" + ready)).red());
  // A second note on the same day replaces nothing.
  EXPECT_THAT(
      *WriteRefusal(root_, "agent_notes", Make(), kNow),
      ElementsAre("agent_notes/notes_FROM_CTO/2025-10-29__local__review-fact-001-2.md", ready));
}

TEST_F(RefusalNoteTest, WithoutNotesNothingIsWritten) {  // REP-42
  EXPECT_THAT(*WriteRefusal(root_, "agent_notes", Make(), kNow), IsEmpty());
  EXPECT_FALSE(Exists(root_ + "/agent_notes"));
  EXPECT_EQ(ReadyNote(root_, "agent_notes", "fact-001"), "");
}

TEST(TaskResultTest, TheResultLineHasEveryKey) {  // section 5, A13
  TaskResult result{.id = "a", .summary = "s", .status = TaskStatus::kMerged};
  result.patch_sha256 = "00";
  result.commit = "c";
  result.violations = {{.rule = "deny", .path = "x", .value = "", .limit = "secrets/**"},
                       {.rule = "max-files", .path = "", .value = "11", .limit = "10"}};
  const JsonObject line = ResultToJson(result);
  EXPECT_EQ(ToJson(*Find(line, "merge")), R"({"status":"merged","hash":"00","commit":"c"})");
  EXPECT_EQ(ToJson(*Find(line, "policy")),
            R"({"denied":["x"],"not-allowed":[],"violations":[{"rule":"deny","path":"x",)"
            R"("value":"","limit":"secrets/**"},{"rule":"max-files","path":"","value":"11",)"
            R"("limit":"10"}]})");
  EXPECT_TRUE(Find(line, "usage")->is_null());
  EXPECT_EQ(ViolationsText(result.violations),
            "- VIOLATION: rule deny, x (the rule: secrets/**)\n"
            "- VIOLATION: rule max-files, is 11 (the rule: 10)\n");
}

}  // namespace
}  // namespace dossier::agents
