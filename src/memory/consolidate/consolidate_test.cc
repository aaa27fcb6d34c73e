#include "memory/consolidate/consolidate.h"

#include <gtest/gtest.h>

#include "memory/blocks/apply.h"
#include "memory/blocks/reply.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

void AddEvents(TestStore& store, int count, std::string_view branch = kRootBranch,
               std::string_view kind = "turn") {
  for (int i = 0; i < count; ++i) {
    store.clock().now += 1'000'000;
    ASSERT_TRUE(store.Add({.tier = Tier::kRecall,
                           .kind = std::string(kind),
                           .text = fmt::format("{} {} event{}", branch, kind, i)},
                          branch));
  }
}

Consolidation Done(TestStore& store, PressureLevel level, const Summarizer& summarizer = {},
                   std::string_view branch = kRootBranch) {
  auto outcome = Consolidate(*store, branch, {.level = level}, summarizer);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome->done;
}

std::vector<Record> Archival(TestStore& store, std::string_view branch = kRootBranch) {
  return *store.View(branch).Records({.tiers = {Tier::kArchival}});
}

TEST(ConsolidateTest, EventsOverTheThresholdAreSummarisedAndStaySearchable) {  // MEM-48, MEM-T14
  TestStore store({.limits = {.recall_max_events = 4}});
  AddEvents(store, 6);
  EXPECT_EQ(Done(store, PressureLevel::kHigh).recall_events_consolidated, 0);  // at the threshold
  AddEvents(store, 1, "root", "note");
  const Consolidation done = Done(store, PressureLevel::kHigh);
  EXPECT_EQ(done.recall_events_consolidated, 3);
  EXPECT_EQ(done.actions_taken, std::vector<std::string>{"consolidated_recall:3"});
  EXPECT_EQ(done.freed_chars, 3 * 16);
  EXPECT_EQ(store.View().Window(100)->size(), 4U);
  const std::vector<Record> archival = Archival(store);
  ASSERT_EQ(archival.size(), 1U);
  EXPECT_EQ(archival[0].text,
            "Consolidated recall events [turn] (from 2023-11-14T22:13:21.000000Z to "
            "2023-11-14T22:13:23.000000Z):\nEvent count: 3\n\nroot turn event0\nroot turn event1\n"
            "root turn event2");
  EXPECT_EQ(archival[0].tags, (std::vector<std::string>{"RECALL_CONSOLIDATED", "AUTO_CONSOLIDATE",
                                                        "kind:turn", "event_count:3"}));
  const auto hits = store.View().Search({.text = "event1", .tiers = {SearchTier::kRecall}});
  ASSERT_TRUE(hits);
  ASSERT_FALSE(hits->empty());
  EXPECT_EQ((*hits)[0].record.text, "root turn event1");
}

TEST(ConsolidateTest, EachKindHasItsSummary) {  // MEM-48
  TestStore store({.limits = {.recall_max_events = 2}});
  AddEvents(store, 2, "root", "a");
  AddEvents(store, 2, "root", "b");
  EXPECT_EQ(Done(store, PressureLevel::kHigh).recall_events_consolidated, 2);
  AddEvents(store, 2, "root", "c");
  Done(store, PressureLevel::kHigh);
  std::vector<std::string> kinds;
  for (const Record& record : Archival(store)) kinds.push_back(record.tags.at(2));
  EXPECT_EQ(kinds, (std::vector<std::string>{"kind:b", "kind:a"}));
}

TEST(ConsolidateTest, InheritedEventsAreSummarisedForThisBranchOnly) {  // MEM-48
  TestStore store({.limits = {.recall_max_events = 2}});
  AddEvents(store, 4);
  ASSERT_TRUE(store->Fork("root", "n1", {}));
  EXPECT_EQ(Done(store, PressureLevel::kHigh, {}, "n1").recall_events_consolidated, 2);
  EXPECT_EQ(store.View("n1").Window(100)->size(), 2U);
  const auto summaries = store.View("n1").Records({.tiers = {Tier::kSummary}});
  ASSERT_EQ(summaries->size(), 1U);
  EXPECT_EQ((*summaries)[0].kind, "inherited_summary");
  EXPECT_EQ(store.View("root").Window(100)->size(), 4U);
  EXPECT_TRUE(store.View("root").Records({.tiers = {Tier::kSummary}})->empty());
}

TEST(ConsolidateTest, RatingsOfAModelAreStoredAndTheUnimportantEvicted) {  // MEM-47
  TestStore store;
  store.Set("keep", "x");
  store.Set("drop", std::string(300, 'y'));
  std::vector<RatedItem> asked;
  const Summarizer summarizer{
      .rate = [&](const std::vector<RatedItem>& items) -> Result<std::vector<int>> {
        asked = items;
        return std::vector<int>{2, 5};
      }};
  EXPECT_TRUE(Done(store, PressureLevel::kLow, summarizer).actions_taken.empty());
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(Done(store, PressureLevel::kMedium, summarizer).actions_taken,
            std::vector<std::string>{"evaluated_core_importance:2"});
  EXPECT_EQ(asked.at(0).key, "drop");
  EXPECT_EQ(asked.at(0).value.size(), 200U);
  EXPECT_EQ(store.View().Core("drop")->importance, 2);
  EXPECT_EQ(store.View().Core("keep")->importance, 5);
  const Consolidation done = Done(store, PressureLevel::kHigh, summarizer);
  EXPECT_EQ(done.core_items_evicted, 1);
  EXPECT_EQ(done.freed_chars, 306);
  EXPECT_EQ(store.Core("drop"), "none");
  EXPECT_EQ(Archival(store).at(0).text,
            "Core evicted (auto): drop\n" + std::string(300, 'y') + "\nReason: rated 2 of 5");
  EXPECT_EQ(Archival(store).at(0).tags,
            (std::vector<std::string>{"CORE_EVICT", "AUTO_CONSOLIDATE", "core_key:drop"}));
}

TEST(ConsolidateTest, WithoutAModelOrABadAnswerNothingIsRatedNorEvicted) {  // MEM-47
  const std::vector<Summarizer> summarizers = {
      {},
      {.rate = [](const auto&) -> Result<std::vector<int>> { return std::vector<int>{1}; }},
      {.rate = [](const auto&) -> Result<std::vector<int>> { return std::vector<int>{1, 9}; }},
      {.rate = [](const auto&) -> Result<std::vector<int>> {
        return MakeError(ErrorCode::kNetwork, "no route");
      }}};
  for (const Summarizer& summarizer : summarizers) {
    TestStore store;
    store.Set("a", "x");
    store.Set("b", "y");
    const auto outcome = Consolidate(*store, "root", {.level = PressureLevel::kHigh}, summarizer);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->done.core_items_evicted, 0);
    EXPECT_EQ(store.View().Core("a")->importance, 3);
    EXPECT_EQ(outcome->warnings.empty(), !summarizer.rate);
  }
}

TEST(ConsolidateTest, CriticalAlsoEnforcesTheBudget) {  // MEM-47
  TestStore store;
  store.Set("a", std::string(60, 'x'));
  store.Set("b", std::string(60, 'y'));
  store.options().limits.core_max_chars = 100;
  store.Reopen();
  const Consolidation done = Done(store, PressureLevel::kCritical);
  EXPECT_EQ(done.actions_taken,
            (std::vector<std::string>{"evaluated_core_importance:2", "enforced_core_budget"}));
  EXPECT_EQ(done.core_items_evicted, 1);
  EXPECT_EQ(done.freed_chars, 63);
  EXPECT_EQ(store.Core("a"), "none");
}

// Facts with lines of 107 characters and these importances: 971 of the limit of 1000.
void AddFacts(TestStore& store, const std::vector<int>& importances) {
  for (std::size_t i = 0; i < importances.size(); ++i) {
    ASSERT_TRUE(store.In(kRootBranch, [&](BranchTransaction& session) {
      return session.SetCore(fmt::format("fact{}", i),
                             {.value = std::string(100, 'x'), .importance = importances[i]});
    }));
  }
}

TEST(ConsolidateTest, RulesAloneGetBelowTheLimit) {  // FLT-74
  struct Case {
    std::vector<int> importances;
    std::vector<std::string> evicted;  // in this order
    PressureLevel level;
  };
  const Case cases[] = {
      {{1, 2, 3, 4, 5, 1, 2, 3, 4}, {"fact0", "fact1", "fact5", "fact6"}, PressureLevel::kMedium},
      {{3, 3, 3, 3, 3, 3, 3, 3, 3}, {"fact0", "fact1", "fact2"}, PressureLevel::kMedium},
      {{5, 3, 5, 5, 5, 5, 5, 5, 4}, {"fact1"}, PressureLevel::kHigh},   // important ones stay
      {{5, 5, 5, 5, 5, 5, 5, 5, 4}, {"fact8"}, PressureLevel::kHigh}};  // while it is not critical
  for (const Case& c : cases) {
    TestStore store({.limits = {.core_max_chars = 1000, .recall_max_events = 4}});
    AddEvents(store, 6);
    AddFacts(store, c.importances);
    ASSERT_EQ(MeasurePressure(store.View(), store->limits())->level, PressureLevel::kCritical);
    const Consolidation done = Done(store, PressureLevel::kCritical);
    EXPECT_EQ(done.new_level, c.level);
    std::vector<std::string> evicted;
    const std::vector<Record> archival = Archival(store);  // newest first
    for (auto record = archival.rbegin(); record != archival.rend(); ++record) {
      evicted.push_back(record->tags.back().substr(std::string_view("core_key:").size()));
      EXPECT_EQ(store.Core(evicted.back()), "none");
    }
    EXPECT_EQ(evicted, c.evicted);
    EXPECT_EQ(done.core_items_evicted, std::ssize(c.evicted));
  }
}

TEST(ConsolidateTest, AStoreOfFactsAloneTidiesItself) {  // FLT-74
  TestStore store({.limits = {.core_max_chars = 1050}});
  AddFacts(store, {1, 1, 1, 3, 3, 3, 3, 3, 3});
  EXPECT_EQ(MeasurePressure(store.View(), store->limits())->level, PressureLevel::kLow);
  const auto tidied = ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, {});
  ASSERT_TRUE(tidied && *tidied);
  EXPECT_EQ((*tidied)->done.core_items_evicted, 3);
  EXPECT_EQ(store.Core("fact0"), "none");
  EXPECT_NE(store.Core("fact3"), "none");
  EXPECT_FALSE(*ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, {}));
}

TEST(ConsolidateTest, AModelSummarisesOutsideOfTheTransactionAndIsAskedOnce) {  // MEM-50
  TestStore store({.limits = {.recall_max_events = 2}});
  AddEvents(store, 4);
  int calls = 0;
  const Summarizer summarizer{.summarize =
                                  [&](const SummaryRequest& request) -> Result<std::string> {
    ++calls;
    EXPECT_EQ(request.hint, "turn");
    EXPECT_EQ(request.text, "root turn event0\nroot turn event1");
    EXPECT_TRUE(store.Set("written", "meanwhile"));  // it would wait for itself in a transaction
    return "two turns";
  }};
  EXPECT_EQ(Done(store, PressureLevel::kHigh, summarizer).recall_events_consolidated, 2);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(Archival(store).at(0).text.ends_with("Event count: 2\n\ntwo turns"));
}

TEST(ConsolidateTest, AFailingModelLeavesTheTextsWithAWarning) {  // MEM-50
  TestStore store({.limits = {.recall_max_events = 2, .archival_max_chars = 20}});
  AddEvents(store, 4);
  const Summarizer summarizer{.summarize = [](const SummaryRequest&) -> Result<std::string> {
    return MakeError(ErrorCode::kNetwork, "no route");
  }};
  const auto outcome = Consolidate(*store, "root", {}, summarizer);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->warnings.size(), 1U);
  EXPECT_EQ(outcome->warnings[0].name, "summary_failed");
  EXPECT_TRUE(Archival(store).at(0).text.ends_with("\n\nroot turn event0\n..."));
}

TEST(ConsolidateTest, WithoutAModelTheSameStoreGivesTheSameBytes) {  // MEM-50, MEM-T16
  std::vector<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    TestStore store({.limits = {.recall_max_events = 2}});
    AddEvents(store, 9);
    Done(store, PressureLevel::kHigh);
    texts.push_back(Archival(store).at(0).text);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(ConsolidateTest, AnOperationOfABlockSummarises) {  // MEM-20, MEM-48
  TestStore store({.limits = {.recall_max_events = 2}});
  const UpdateBlock block =
      *ParseReply(R"(<memory_update>{"recall_summarize": true, "consolidate": {}}</memory_update>)")
           .block;
  const auto none = Apply(*store, "root", block, {});
  EXPECT_EQ(ToJson(*Find(none->results, "recall_summarize")),
            R"({"status":"unchanged","events_consolidated":0})");
  AddEvents(store, 4);
  const auto some = Apply(*store, "root", block, {});
  EXPECT_EQ(ToJson(*Find(some->results, "recall_summarize")),
            R"({"status":"ok","events_consolidated":2})");
  EXPECT_EQ(FindString(*Find(some->results, "consolidate"), "status"), "unchanged");
  EXPECT_EQ(Archival(store).at(0).tags.at(0), "RECALL_CONSOLIDATED");
}

TEST(ConsolidateTest, BelowTheTriggerNothingHappens) {  // MEM-49
  TestStore store({.limits = {.core_max_chars = 100}});
  store.Set("a", "x");
  const auto low = ConsolidateIfNeeded(*store, "root", PressureLevel::kHigh, {});
  ASSERT_TRUE(low);
  EXPECT_FALSE(*low);
  const auto any = ConsolidateIfNeeded(*store, "root", PressureLevel::kLow, {});
  EXPECT_TRUE(*any);
}

TEST(CompressTest, TheCutRule) {  // MEM-50
  EXPECT_EQ(CutWithDots("abcdef", 6), "abcdef");
  EXPECT_EQ(CutWithDots("abcdefg", 6), "abc...");
  EXPECT_EQ(CutWithDots("äöüäö", 4), "ä...");
  EXPECT_EQ(CutWithDots("äöüäö", 3), "äöü");
  EXPECT_EQ(CutWithDots("abc", 0), "");
}

// Returns these texts in turn and repeats the last one.
Summarizer Shortening(std::vector<std::string> texts, int& calls, std::int64_t window = 100'000) {
  return {.summarize = [texts, &calls](const SummaryRequest&) -> Result<std::string> {
            ++calls;
            return texts[std::min<std::size_t>(static_cast<std::size_t>(calls), texts.size()) - 1];
          },
          .model = "m",
          .window_chars = window};
}

TEST(CompressTest, FitsShrinksOrStalls) {  // MEM-51, MEM-T16
  struct Case {
    std::string text;
    std::vector<std::string> replies;
    int calls;
    std::string result;
  };
  const std::string text(100, 'a');
  const Case cases[] = {
      {"short", {"x"}, 0, "short"},
      {text, {std::string(10, 'b')}, 1, std::string(10, 'b')},
      {text, {std::string(50, 'b'), std::string(9, 'c')}, 2, std::string(9, 'c')},
      {text, {std::string(50, 'b')}, 2, "bbbbbbb..."},   // it stopped shrinking
      {text, {std::string(200, 'b')}, 1, "aaaaaaa..."},  // it grew
      {text,
       {"bbbbbbbbbbbbbbbbbbbb", "bbbbbbbbbbbbbbbbbbb", "bbbbbbbbbbbbbbbbbb", "bbbbbbbbbbbbbbbbb",
        "bbbbbbbbbbbbbbbb", "b"},
       5,
       "bbbbbbb..."},
      {text, {""}, 1, "aaaaaaa..."},
  };
  for (const Case& c : cases) {
    TestStore store;
    int calls = 0;
    const auto made =
        Compress(*store, Shortening(c.replies, calls), {.text = c.text, .max_chars = 10});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->text, c.result);
    EXPECT_EQ(made->calls, c.calls);
    EXPECT_EQ(calls, c.calls);
  }
}

TEST(CompressTest, IsKeptByAllThatItDependsOn) {  // MEM-51
  TestStore store;
  int calls = 0;
  const Summarizer summarizer = Shortening({"short"}, calls);
  const CompressRequest request{.text = std::string(100, 'a'), .max_chars = 10, .hint = "plan"};
  ASSERT_EQ(Compress(*store, summarizer, request)->text, "short");
  EXPECT_EQ(Compress(*store, summarizer, request)->text, "short");
  EXPECT_EQ(calls, 1);
  CompressRequest other = request;
  other.context = "another";
  Compress(*store, summarizer, other);
  EXPECT_EQ(calls, 2);
  Summarizer another = summarizer;
  another.model = "n";
  Compress(*store, another, request);
  EXPECT_EQ(calls, 3);
}

TEST(CompressTest, BeyondTheModelsWindowInPieces) {  // MEM-51
  TestStore store;
  std::vector<std::string> pieces;
  const Summarizer summarizer{
      .summarize = [&](const SummaryRequest& request) -> Result<std::string> {
        pieces.push_back(request.text);
        EXPECT_EQ(request.max_chars, 3);
        return "x";
      },
      .window_chars = 8};
  const auto made = Compress(*store, summarizer, {.text = "aaaaa\nbbbbb\nccccc", .max_chars = 10});
  EXPECT_EQ(made->text, "x\nx\nx");
  EXPECT_EQ(pieces, (std::vector<std::string>{"aaaaa\n", "bbbbb\n", "ccccc"}));
}

TEST(CompressTest, SummariesUseItOnBothSidesOfTheModel) {  // MEM-50, MEM-51
  TestStore store({.limits = {.recall_max_events = 2, .archival_max_chars = 12}});
  AddEvents(store, 8);  // 6 of 16 characters and their line ends
  std::vector<SummaryRequest> asked;
  const Summarizer summarizer{
      .summarize = [&](const SummaryRequest& request) -> Result<std::string> {
        asked.push_back(request);
        if (request.purpose == SummaryRequest::Purpose::kConsolidate) return std::string(40, 's');
        return request.text.starts_with("s") ? std::string("short") : std::string("p");
      },
      .window_chars = 60};
  Done(store, PressureLevel::kHigh, summarizer);
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_EQ(asked[0].purpose, SummaryRequest::Purpose::kCompress);  // two pieces
  EXPECT_EQ(asked[2].purpose, SummaryRequest::Purpose::kConsolidate);
  EXPECT_EQ(asked[2].text, "p\np");
  EXPECT_EQ(asked[3].max_chars, 12);
  EXPECT_TRUE(Archival(store).at(0).text.ends_with("\n\nshort"));
}

TEST(CompressTest, AFailureIsNotKept) {  // MEM-50
  TestStore store;
  int calls = 0;
  const Summarizer failing{.summarize = [&](const SummaryRequest&) -> Result<std::string> {
    ++calls;
    return MakeError(ErrorCode::kNetwork, "no route");
  }};
  const CompressRequest request{.text = std::string(100, 'a'), .max_chars = 10};
  for (int i = 1; i < 3; ++i) {
    const auto made = Compress(*store, failing, request);
    EXPECT_EQ(made->text, "aaaaaaa...");
    EXPECT_EQ(made->warnings.at(0).name, "summary_failed");
    EXPECT_EQ(calls, i);
  }
  EXPECT_EQ(Compress(*store, {}, request)->text, "aaaaaaa...");
}

}  // namespace
}  // namespace dossier::memory
