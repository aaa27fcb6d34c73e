#include "research/run/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace dossier::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// FLT-117: what `dossier runs` shows about a research run.
class RunListingTest : public ::testing::Test {
 protected:
  RunListing Make(std::string journal_folder) {
    return RunListing({.journal_folder = std::move(journal_folder),
                       .run_folder = "/experiments/sorting",
                       .title = "Sorting",
                       .clock = SystemClock(),
                       .warn = [this](std::string_view text) { warnings_.emplace_back(text); }});
  }
  static store::Event Of(std::string type, JsonObject data = {}) {
    return {.run = "20260117-100000-3fa2c1", .type = std::move(type), .data = std::move(data)};
  }
  store::RunSummary Listed() {
    const auto runs = *(*store::Journal::Open(folder_.path()))->List({}, 10);
    EXPECT_EQ(runs.size(), 1u);
    return runs.empty() ? store::RunSummary() : runs.front();
  }

  TempFolder folder_ = *TempFolder::Make("run-listing");
  std::vector<std::string> warnings_;
};

TEST_F(RunListingTest, ARunIsListedFromItsStartToItsEnd) {
  RunListing listing = Make(folder_.path());
  listing.See(Of("run.started", {{"question", "Sorting"}}));
  listing.See(Of("node.created"));
  EXPECT_EQ(Listed().run, "20260117-100000-3fa2c1");
  EXPECT_EQ(Listed().question, "Sorting");
  EXPECT_EQ(Listed().status, "running");
  const auto journal = *store::Journal::Open(folder_.path());
  const Json started(journal->EventAt("20260117-100000-3fa2c1", 1)->data);
  EXPECT_EQ(TextAt(started, "kind"), "research");
  EXPECT_EQ(TextAt(started, "folder"), "/experiments/sorting");
  constexpr std::pair<const char*, const char*> kEnds[] = {
      {"limited", "partial"}, {"stopped", "partial"}, {"failed", "failed"}, {"done", "final"}};
  for (const auto& [end, status] : kEnds) {
    listing.See(Of("run.finished", {{"status", end}, {"reason", "why"}}));
    EXPECT_EQ(Listed().status, status) << end;
    EXPECT_EQ(Listed().answer, "why");
  }
  EXPECT_EQ(Listed().events, 5) << "the run's own events stay in its own journal";
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(RunListingTest, AKilledRunIsInterruptedUntilItIsResumed) {
  {
    RunListing killed = Make(folder_.path());
    killed.See(Of("run.started"));
  }
  EXPECT_EQ(Listed().status, "interrupted");
  RunListing resumed = Make(folder_.path());
  resumed.See(Of("run.resumed"));
  EXPECT_EQ(Listed().status, "running");
}

TEST_F(RunListingTest, AnEntryThatIsGoneIsMadeAnewByAResume) {
  RunListing resumed = Make(folder_.path());
  resumed.See(Of("run.resumed"));
  EXPECT_EQ(Listed().question, "Sorting");
  EXPECT_EQ(Listed().status, "running");
}

TEST_F(RunListingTest, AJournalThatCannotBeOpenedIsToldOnce) {
  RunListing nowhere = Make("/dev/null/runs");
  nowhere.See(Of("run.started"));
  nowhere.See(Of("run.finished", {{"status", "done"}}));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("does not list this run: ")));
  RunListing unlisted = Make("");
  unlisted.See(Of("run.started"));
  EXPECT_EQ(warnings_.size(), 1u);
}

}  // namespace
}  // namespace dossier::research
