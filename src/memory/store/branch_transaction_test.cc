#include "memory/store/branch_transaction.h"

#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr Micros kSecond = 1'000'000;

std::string TextOf(TestStore& store, std::int64_t id) {
  const auto record = store.View().Find(id);
  return *record ? (*record)->text : "none";
}

Result<CoreWrite> SetWith(TestStore& store, std::string_view key, CoreValue value,
                          Actor actor = Actor::kUser) {
  return store.In("root", [&](BranchTransaction& s) { return s.SetCore(key, value); }, actor);
}

// RSP-34
TEST(SessionTest, NumberedByBranchARecordHasTheSameIdWhateverOtherBranchesWrite) {
  for (const bool others : {false, true}) {
    TestStore store({.numbering = Numbering::kByBranch});
    EXPECT_EQ(store.Add({.text = "of root"})->id, 1);
    for (const std::string_view name : {"n1", "n2"}) {
      ASSERT_THAT(store->Fork("root", name, {}), Succeeds());
    }
    if (others) {
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.Add({.text = fmt::format("{}", i)}, "n1"));
    }
    EXPECT_EQ(store.Add({.text = "first"}, "n2")->id, 2 * kBranchNumbers + 1);
    EXPECT_EQ(store.Add({.text = "second"}, "n2")->id, 2 * kBranchNumbers + 2);
    EXPECT_EQ(store.Add({.text = "first"}, "n2")->id, 2 * kBranchNumbers + 1) << "stored once";
    EXPECT_EQ(store.Add({.text = "of root, later"})->id, 2);
    EXPECT_EQ(TextOf(store, 2), "of root, later");
  }
}

TEST(SessionTest, ABranchWithoutNumbersOfItsOwnTakesThoseOfTheStore) {
  TestStore store({.numbering = Numbering::kByBranch});
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  ASSERT_TRUE(store.In("root", [](BranchTransaction& session) -> Status {
    for (std::int64_t i = 0; i < kBranchNumbers; ++i) {
      DOSSIER_RETURN_IF_ERROR(session.Add({.text = fmt::format("{}", i)}));
    }
    return {};
  }));
  EXPECT_EQ(store.Add({.text = "one more"})->id, kBranchNumbers + 1);
  EXPECT_EQ(store.Add({.text = "of n1"}, "n1")->id, kBranchNumbers + 2);
}

TEST(SessionTest, ImportanceHasDefaultsAndBounds) {  // MEM-T6, MEM-10
  struct Case {
    std::optional<int> given;
    Actor actor;
    int stored;
  };
  constexpr Case kCases[] = {{{}, Actor::kUser, 3}, {{}, Actor::kSystem, 3}, {{}, Actor::kModel, 4},
                             {0, Actor::kUser, 1},  {9, Actor::kModel, 5},   {2, Actor::kUser, 2}};
  TestStore store;
  for (const Case& c : kCases) {
    ASSERT_THAT(SetWith(store, "k", {.value = "v", .importance = c.given}, c.actor), Succeeds());
    EXPECT_EQ(store.View().Core("k")->importance, c.stored);
  }
}

TEST(SessionTest, WhatExpiredIsGoneAndWhatItCoveredDoesNotComeBack) {  // MEM-T6, defect 4
  TestStore store;
  ASSERT_THAT(store.Set("k", "inherited"), Succeeds());
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  const Micros end = StandingClock::kStart + 30 * kSecond;
  ASSERT_THAT(store.In("n1",
                       [&](BranchTransaction& s) {
                         return s.SetCore("k", {.value = "own", .expires_at = end});
                       }),
              Succeeds());
  const View before = store.View("n1");
  store.clock().now = end - 1;
  EXPECT_EQ(store.Core("k", "n1"), "own");
  store.clock().now = end;
  EXPECT_EQ(store.Core("k", "n1"), "none");
  EXPECT_EQ(store.Core("k"), "inherited");
  EXPECT_EQ(before.Core("k")->value, "own");
  EXPECT_THAT(store.Delete("k", "n1"), FailsWith(ErrorCode::kNotFound, "no key"));
  EXPECT_EQ(store->History("n1", {.key = "k"})->front().after, "own");
}

TEST(SessionTest, KeysAndValuesAreChecked) {  // MEM-9
  TestStore store;
  const std::pair<std::string, std::string> kBad[] = {
      {"", "bad_key"},      {std::string(129, 'k'), "bad_key"}, {"a\nb", "bad_key"},
      {"a\x7f", "bad_key"}, {"a\xc2\x85", "bad_key"},           {"\xff", "bad_key"},
  };
  for (const auto& [key, name] : kBad) {
    EXPECT_THAT(store.Set(key, "v"), FailsWith(ErrorCode::kInvalidArgument, name));
  }
  EXPECT_THAT(store.Set("k", "\xff"), FailsWith(ErrorCode::kInvalidArgument, "bad_value"));
  EXPECT_THAT(store.Set("k", std::string(kMaxTextBytes + 1, 'v')),
              FailsWith(ErrorCode::kInvalidArgument, "too_large"));
  EXPECT_THAT(store.Set("ключ 鍵", "v"), Succeeds());
  EXPECT_EQ(store.View().at(), 1);  // a refused write leaves nothing
}

TEST(SessionTest, CoreMakesRoomByImportanceThenKeyAndLosesNothing) {  // MEM-T7, MEM-11
  StoreOptions options;
  options.limits.core_max_chars = 29;  // "a: 1234567" is 10, three of them 32
  TestStore store(options);
  for (const auto& [key, importance] : {std::pair("b", 2), {"a", 2}}) {
    ASSERT_THAT(SetWith(store, key, {.value = "1234567", .importance = importance}), Succeeds());
  }
  const auto written = SetWith(store, "c", {.value = "1234567", .importance = 5});
  EXPECT_THAT(written->evicted, ElementsAre("a"));
  EXPECT_EQ(store.Core("a"), "none");
  const auto archived = store.View().Records({.tags = {"CORE_EVICT", "core_key:a"}});
  ASSERT_EQ(archived->size(), 1u);
  EXPECT_EQ(archived->front().text, "Core evicted: a\n1234567");
  EXPECT_THAT(SetWith(store, "d", {.value = "1234567", .importance = 1})->evicted,
              ElementsAre("d"));
  EXPECT_EQ(store->History("root", {.key = "a"})->front().before, "1234567");
}

TEST(SessionTest, OneLargeValueLeavesTheOthersAndIsKeptWhole) {  // MEM-T7, MEM-12, defect 4
  TestStore store;
  ASSERT_THAT(store.Set("small", "stays"), Succeeds());
  const std::string large(2001, 'x');
  const auto written = store.Set("large", large);
  ASSERT_TRUE(written->archived_whole);
  EXPECT_THAT(written->evicted, ElementsAre());
  EXPECT_EQ(store.Core("small"), "stays");
  EXPECT_EQ(store.Core("large"), fmt::format("{} … [#{}: 2001 characters in archival memory]",
                                             std::string(400, 'x'), *written->archived_whole));
  const auto record = store.View().Find(*written->archived_whole);
  EXPECT_EQ((*record)->text, large);
  EXPECT_THAT((*record)->tags, ElementsAre("CORE_DIGEST", "core_key:large"));
}

// The key counts, too: a value that fits without it would push out all others, then itself.
TEST(SessionTest, AValueThatFillsTheCoreWithoutItsKeyIsKeptWholeElsewhere) {  // MEM-11, MEM-12
  TestStore store;
  ASSERT_THAT(store.Set("small", "stays"), Succeeds());
  const auto written = store.Set("large", std::string(1999, 'x'));
  ASSERT_TRUE(written->archived_whole);
  EXPECT_THAT(written->evicted, ElementsAre());
  EXPECT_EQ(store.Core("small"), "stays");
  EXPECT_TRUE(store.Core("large").starts_with("xxx"));
}

TEST(SessionTest, ATinyCoreStillSaysWhereALargeValueIs) {  // MEM-12
  const std::pair<std::int64_t, std::string> kCases[] = {
      {200, std::string(50, 'x') + " … [#1: 300 characters in archival memory]"},
      {50, "xxxxx … [#1: 300 characters in archival memory]"},  // "k: " and 47 more
      {40, "xxxxxxxxxx… [#1]"},
      {27, "xxxxxx… [#1]"},
  };
  for (const auto& [max_chars, digest] : kCases) {
    TestStore store({.limits = {.core_max_chars = max_chars}});
    const auto written = store.Set("k", std::string(300, 'x'));
    ASSERT_THAT(written, Succeeds()) << max_chars;
    EXPECT_THAT(written->evicted, ElementsAre()) << max_chars;
    EXPECT_EQ(store.Core("k"), digest) << max_chars;
  }
  TestStore store({.limits = {.core_max_chars = 26}});
  EXPECT_THAT(store.Set("k", std::string(300, 'x')),
              FailsWith(ErrorCode::kInvalidArgument, "too_large: the value of k has 300"));
  EXPECT_EQ(store.View().at(), 0);
}

TEST(SessionTest, ADigestIsNotWhatMakesRoomForItself) {  // MEM-11, MEM-12
  TestStore store({.limits = {.core_max_chars = 100}});
  ASSERT_THAT(SetWith(store, "a", {.value = std::string(60, 'a'), .importance = 5}), Succeeds());
  const auto written = SetWith(store, "b", {.value = std::string(101, 'b'), .importance = 1});
  EXPECT_THAT(written->evicted, ElementsAre("a"));
  EXPECT_TRUE(store.Core("b").starts_with("bbb"));
}

TEST(SessionTest, ProtectedKeysStayAndHaveALimitOfTheirOwn) {  // MEM-T7, MEM-13
  TestStore store;
  ASSERT_THAT(store.Set("CoreDigest", std::string(3000, 'd')), Succeeds());
  ASSERT_THAT(SetWith(store, "mine", {.value = std::string(3000, 'p'), .pinned = true}),
              Succeeds());
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(store.Set(fmt::format("k{}", i), std::string(2500, 'x')), Succeeds());
  }
  EXPECT_EQ(store.Core("CoreDigest").size(), 3000u);
  EXPECT_EQ(store.Core("mine").size(), 3000u);
  std::uint64_t chars = 0;
  const View view = store.View();
  for (const CoreEntry& entry : view.AllCore()) {
    if (!entry.pinned && !IsProtectedKey(entry.key)) {
      chars += utf8::CodePoints(entry.key + ": " + entry.value) + 1;
    }
  }
  EXPECT_LE(chars, 2001u);
  EXPECT_THAT(store.Set("RESOURCE_INDEX", std::string(10'000, 'r')),
              FailsWith(ErrorCode::kInvalidArgument, "the limit is 16000"));
}

TEST(SessionTest, TheSameFactTwiceIsOneAndAnotherPlaceIsAnother) {  // MEM-T5, defect 8
  TestStore store;
  const Record event{.tier = Tier::kRecall,
                     .kind = "turn",
                     .text = "yes",
                     .thread = "s1",
                     .ref = "a-1",
                     .tags = {"x", "y"}};
  const auto first = store.Add(event);
  const auto changed = [&](auto change) {
    Record other = event;
    change(other);
    const auto written = store.Add(other);
    EXPECT_EQ(written->unchanged, written->id == first->id);
    return !written->unchanged;
  };
  EXPECT_FALSE(changed([](Record&) {}));
  EXPECT_FALSE(changed([](Record& r) { r.tags = {"y", "x", "x"}; }));
  EXPECT_FALSE(changed([](Record& r) { r.at = 5; }));
  EXPECT_TRUE(changed([](Record& r) { r.ref = "a-2"; }));
  EXPECT_TRUE(changed([](Record& r) { r.thread = "s2"; }));
  EXPECT_TRUE(changed([](Record& r) { r.kind = "note"; }));
  EXPECT_TRUE(changed([](Record& r) { r.tags = {"x"}; }));
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  EXPECT_FALSE(store.Add(event, "n1")->unchanged);  // an event is its branch's
  const Record fact{.text = "fact", .tags = {"t"}};
  const auto archived = store.Add(fact);
  ASSERT_THAT(store->Fork("root", "n2", {}), Succeeds());
  EXPECT_EQ(store.Add(fact, "n2")->id, archived->id);
  EXPECT_FALSE(store.Add(fact, "n1")->unchanged);  // it came after that fork
}

TEST(SessionTest, RecordsAreCheckedAndCompleted) {  // MEM-14, MEM-16, defect 2
  TestStore store;
  EXPECT_THAT(store.Add({.text = " \n"}), FailsWith(ErrorCode::kInvalidArgument, "empty_text"));
  EXPECT_THAT(store.Add({.text = std::string(kMaxTextBytes + 1, 'x')}),
              FailsWith(ErrorCode::kInvalidArgument, "too_large"));
  EXPECT_THAT(store.Add({.text = "a", .tags = {"\xff"}}),
              FailsWith(ErrorCode::kInvalidArgument, "bad_value"));
  EXPECT_THAT(store.Add({.text = "a", .supersedes = 9}),
              FailsWith(ErrorCode::kNotFound, "not_visible: record #9"));
  const std::string whole(kMaxTextBytes, 'x');
  EXPECT_EQ(TextOf(store, store.Add({.text = whole})->id), whole);
  const auto event = store.Add({.tier = Tier::kRecall, .text = "e", .meta = {{"n", 1}}});
  const Record stored = **store.View().Find(event->id);
  EXPECT_EQ(stored.kind, "llm_insight");
  EXPECT_EQ(stored.thread, "branch:root");
  EXPECT_EQ(stored.at, StandingClock::kStart);
  const auto old = store.Add({.text = "old", .at = 0});
  EXPECT_EQ((*store.View().Find(old->id))->at, 0);  // 1970
  EXPECT_EQ(stored.meta, (JsonObject{{"n", 1}}));
  const auto told = store.In(
      "root", [](BranchTransaction& s) { return s.Add({.text = "told", .tags = {"t"}}); },
      Actor::kModel);
  EXPECT_THAT((*store.View().Find(told->id))->tags, ElementsAre("LLM_INSIGHT", "t"));
}

TEST(SessionTest, UpdatesReachOwnRecordsAndKeepWhatIsNotSaid) {  // MEM-T10, MEM-17, defect 3
  TestStore store;
  const auto old = store.Add({.kind = "note", .text = "old", .ref = "r", .tags = {"t", "u"}});
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  ASSERT_THAT(store->Fork("root", "n2", {}), Succeeds());
  const auto own = store.Add({.text = "of n2"}, "n2");
  const auto update = [&](std::string_view branch, std::int64_t id) {
    return store.In(branch, [&](BranchTransaction& s) { return s.Update(id, "new", {}); });
  };
  EXPECT_THAT(
      update("n1", own->id),
      FailsWith(ErrorCode::kNotFound, "not_visible: record #2 is not visible from branch \"n1\""));
  EXPECT_THAT(update("n1", old->id), FailsWith(ErrorCode::kNotFound, "inherited: "));
  EXPECT_THAT(store.In("n1", [&](BranchTransaction& s) { return s.DeleteArchival(old->id); }),
              FailsWith(ErrorCode::kNotFound, "inherited: "));
  const auto changed = update("root", old->id);
  ASSERT_THAT(changed, Succeeds());
  const Record record = **store.View().Find(changed->id);
  EXPECT_EQ(record.text, "new");
  EXPECT_EQ(record.kind + record.ref, "noter");
  EXPECT_EQ(record.supersedes, old->id);
  EXPECT_THAT(record.tags, ElementsAre("t", "u"));
  EXPECT_EQ(TextOf(store, old->id), "none");
  EXPECT_TRUE(store.View("root", old->seq).Find(old->id)->has_value());
  EXPECT_TRUE(store.View("n1").Find(old->id)->has_value());
  // Superseding an inherited record hides it in this branch only.
  ASSERT_THAT(store.Add({.text = "better", .supersedes = old->id}, "n1"), Succeeds());
  EXPECT_FALSE(store.View("n1").Find(old->id)->has_value());
  EXPECT_TRUE(store.View("n2").Find(old->id)->has_value());
}

TEST(SessionTest, EvictionTakesOwnEventsAndKeepsEveryText) {  // MEM-T9, MEM-18, defects 2, 3
  TestStore store;
  const auto inherited = store.Add({.tier = Tier::kRecall, .text = "inherited"});
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 6; ++i) {
    ids.push_back(store
                      .Add({.tier = Tier::kRecall,
                            .kind = i == 3 ? "plan" : "turn",
                            .text = fmt::format("event {}", i),
                            .at = 1000 + i,
                            .tags = {"own"}},
                           "n1")
                      ->id);
  }
  const auto evicted = store.In("n1", [&](BranchTransaction& s) {
    return s.Evict({.ids = {ids[5], inherited->id, 999, ids[0]}, .kind = "plan", .oldest = 2});
  });
  EXPECT_EQ(evicted->evicted_count, 4);  // 0 and 1, 3, 5
  EXPECT_EQ(evicted->archived_count, 4);
  EXPECT_THAT(evicted->refused, ElementsAre(inherited->id, 999));
  const View view = store.View("n1");
  std::vector<std::string> window;
  const auto left = view.Window(20);
  for (const Record& record : *left) window.push_back(record.text);
  EXPECT_THAT(window, UnorderedElementsAre("inherited", "event 2", "event 4"));
  const auto archived = view.Records({.tags = {"EVICTED_RECALL", "RECALL_PLAN"}});
  ASSERT_EQ(archived->size(), 1u);
  EXPECT_EQ(archived->front().text,
            "[Evicted Recall Event]\nKind: plan\nTime: 1970-01-01T00:00:00.001003Z\n\nevent 3");
  EXPECT_THAT(archived->front().tags, ElementsAre("EVICTED_RECALL", "RECALL_PLAN", "own"));
  EXPECT_EQ(view.Counts()->own_events, 2);
  EXPECT_EQ(view.Counts()->events, 3);
  EXPECT_EQ(view.Counts()->own_archival, 4);
}

TEST(SessionTest, ConsolidatedEventsLeaveTheWindowHereAndStayFound) {  // MEM-19
  TestStore store;
  const auto event = store.Add({.tier = Tier::kRecall, .text = "event"});
  ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
  const std::int64_t ids[] = {event->id};
  const auto hide = [&](BranchTransaction& s) -> Result<int> {
    DOSSIER_RETURN_IF_ERROR(s.Hide(ids, HideReason::kConsolidated));
    return 0;
  };
  ASSERT_THAT(store.In("n1", hide), Succeeds());
  EXPECT_EQ(store.View("n1").Window(5)->size(), 0u);
  EXPECT_EQ(store.View().Window(5)->size(), 1u);
  EXPECT_TRUE(store.View("n1").Find(event->id)->has_value());
  EXPECT_EQ(store.View("n1").Records({})->size(), 1u);
}

TEST(SessionTest, AFailedWorkIsUndoneAndAViewInsideSeesItsOwnWrites) {
  TestStore store;
  ASSERT_THAT(store.Set("k", "before"), Succeeds());
  const Status failed = store->Transact("root", {}, [&](BranchTransaction& s) -> Status {
    DOSSIER_RETURN_IF_ERROR(s.SetCore("k", {.value = "inside"}));
    DOSSIER_ASSIGN_OR_RETURN(const RecordWrite written, s.Add({.text = "inside"}));
    DOSSIER_ASSIGN_OR_RETURN(const View view, s.Snapshot());
    EXPECT_EQ(view.Core("k")->value, "inside");
    EXPECT_TRUE(view.Find(written.id)->has_value());
    return MakeError(ErrorCode::kFailed, "changed my mind");
  });
  EXPECT_THAT(failed, FailsWith(ErrorCode::kFailed, "changed my mind"));
  EXPECT_EQ(store.Core("k"), "before");
  EXPECT_EQ(store.View().Records({})->size(), 0u);
  EXPECT_EQ(store.View().at(), 1);
}

}  // namespace
}  // namespace dossier::memory
