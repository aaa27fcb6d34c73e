// Tests the parts of exchange/ that need no engine; the others are in
// tests/acceptance/scripts/exchange_test.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ask/exchange/run_page.h"
#include "ask/exchange/run_tale.h"
#include "ask/exchange/trajectory.h"
#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

TEST(PageTextTest, NoTextIsMarkup) {  // REC-70 page
  const std::pair<const char*, const char*> cases[] = {
      {"<b a=\"1\" c='2'>&amp;", "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;"},
      {"a\x1b[31mb\x07", "a^[[31mb^G"},
      {"\u202Egnp.exe\u2066", "\\u{202E}gnp.exe\\u{2066}"},
      {"tab\tline\n", "tab\tline\n"},
      {"\xff\xfe", "\uFFFD\uFFFD"},
      {"größer 中文", "größer 中文"}};
  for (const auto& [text, html] : cases) EXPECT_EQ(PageText(text), html);
}

class ExchangeTest : public ::testing::Test {
 protected:
  void Add(std::string_view type, JsonObject data, std::int64_t call = 0) {
    ASSERT_TRUE(journal_->Append(run_, call, type, std::move(data)));
  }
  Json Text(std::string_view text) { return *journal_->Body(text); }
  // Adds one turn of a call: its reply, a block, its output.
  void AddTurn(int turn, std::string_view output, std::int64_t call) {
    Add("turn.started", {{"turn", turn}}, call);
    Add("request.sent",
        {{"purpose", "root"},
         {"turn", turn},
         {"messages", JsonArray{JsonObject{{"n", 1}, {"role", "user"}, {"body", Text("ask")}}}}},
        call);
    Add("reply.received", {{"purpose", "root"}, {"body", Text("reply")}, {"finish", "stop"}}, call);
    Add("block.started", {{"block", turn}, {"code", Text("code")}}, call);
    Add("block.done", {{"block", turn}, {"status", "ok"}, {"output", Text(output)}}, call);
  }

  TempFolder folder_ = *TempFolder::Make("exchange");
  std::unique_ptr<store::Journal> journal_ = *store::Journal::Open(folder_.path());
  std::string run_ = *journal_->StartRun({{"question", "How many?"}, {"model", "large"}});
};

TEST_F(ExchangeTest, ChildrenStandWhereTheyWereStarted) {  // REC-71, REC-A20
  AddTurn(1, "root", 0);
  Add("call.started", {{"parent", 0}, {"depth", 1}, {"model", "small"}}, 1);
  AddTurn(1, "child", 1);
  Add("call.finished", {{"status", "final"}, {"answer", Text("the child's")}}, 1);
  Add("run.finished", {{"status", "final"}, {"answer", Text("all")}});
  const auto tale = ReadTale(*journal_, run_);
  ASSERT_TRUE(tale);
  ASSERT_EQ(tale->calls.size(), 2u);
  EXPECT_EQ(tale->calls[1].answer, "the child's");
  EXPECT_EQ(tale->calls[0].turns.at(0).blocks.at(0).children, std::vector<std::int64_t>{1});
  const std::string lines = TrajectoryLines(*tale);
  EXPECT_THAT(lines, HasSubstr(R"("response":"the child's")"));
  EXPECT_THAT(lines, HasSubstr(R"("iterations":[{"type":"iteration","iteration":1)"));
  const auto imported = ImportRuns(*journal_, lines, "file");
  ASSERT_TRUE(imported);
  EXPECT_EQ(TrajectoryLines(*ReadTale(*journal_, imported->runs.at(0))), lines);
  EXPECT_THAT(PageOf(*tale), HasSubstr("href=\"#call-1\""));
}

TEST_F(ExchangeTest, AnImportHasNothingOfThisMachineInIt) {  // REC-71
  const char* const lines = R"({"time":"2026-01-01T00:00:00.000Z","type":"run.started",
"data":{"kind":"research","folder":"/etc"}})";
  std::string line(lines);
  line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
  EXPECT_THAT(ImportRuns(*journal_, line, "file"), FailsWith(ErrorCode::kDamaged, "a run of ask"));
  EXPECT_THAT(ImportRuns(*journal_, "", "file"), FailsWith(ErrorCode::kDamaged, "line 1"));
  EXPECT_THAT(ImportRuns(*journal_, "[1]", "file"), FailsWith(ErrorCode::kDamaged, "line 1"));
}

TEST_F(ExchangeTest, ARunThatIsAtItHasWhatThereIs) {  // REC-71
  AddTurn(1, "so far", 0);
  Add("turn.started", {{"turn", 2}});
  Add("request.sent", {{"purpose", "root"}, {"turn", 2}, {"messages", JsonArray{1}}});
  const auto tale = ReadTale(*journal_, run_);
  ASSERT_TRUE(tale);
  EXPECT_EQ(tale->calls.at(0).turns.size(), 2u);
  EXPECT_EQ(tale->calls[0].turns[1].prompt.at(0).text, "ask") << "a message is told once";
}

}  // namespace
}  // namespace dossier::ask
