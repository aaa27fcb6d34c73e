#include "memory/store/store.h"

#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

using Texts = std::vector<std::string>;

Texts TextsOf(const Result<std::vector<Record>>& records) {
  EXPECT_THAT(records, Succeeds());
  Texts texts;
  for (const Record& record : *records) texts.push_back(record.text);
  return texts;
}

TEST(StoreTest, TheExamplesInTheHeadersWork) {  // MEM-T1
  TestStore store;
  const auto branch = store->Fork("root", "n1", {});
  ASSERT_THAT(branch, Succeeds());
  EXPECT_EQ(branch->parent, "root");
  ASSERT_THAT(store.Add({.tier = Tier::kArchival, .text = "icpx is in /opt/intel"}, "n1"),
              Succeeds());
  ASSERT_THAT(store.Set("compiler", "icpx", "n1"), Succeeds());
  const View view = store.View("n1");
  EXPECT_EQ(view.Core("compiler")->value, "icpx");
  EXPECT_EQ(TextsOf(view.Records({})), (Texts{"icpx is in /opt/intel"}));
  ASSERT_THAT(store.Delete("compiler", "n1"), Succeeds());
  EXPECT_EQ(store.Core("compiler", "n1"), "none");
  EXPECT_EQ(view.Core("compiler")->value, "icpx");  // a view does not change
  EXPECT_THAT(store.Delete("compiler", "n1"),
              FailsWith(ErrorCode::kNotFound, "no key \"compiler\" in branch \"n1\""));
}

TEST(StoreTest, ABranchSeesWhatStoodAtItsForkAndNoSibling) {  // MEM-T2, MEM-3, MEM-5
  TestStore store;
  ASSERT_THAT(store.Set("a", "root"), Succeeds());
  ASSERT_THAT(store.Add({.tier = Tier::kRecall, .text = "before"}), Succeeds());
  ASSERT_THAT(store->Fork("root", "child", {}), Succeeds());
  ASSERT_THAT(store->Fork("child", "grandchild", {}), Succeeds());
  ASSERT_THAT(store->Fork("root", "sibling", {}), Succeeds());
  ASSERT_THAT(store.Set("a", "later"), Succeeds());
  ASSERT_THAT(store.Set("b", "child", "child"), Succeeds());
  ASSERT_THAT(store.Add({.tier = Tier::kRecall, .text = "after"}), Succeeds());
  const auto of_child = store.Add({.tier = Tier::kRecall, .text = "of child"}, "child");
  for (const std::string_view branch : {"child", "grandchild", "sibling"}) {
    EXPECT_EQ(store.Core("a", branch), "root") << branch;
    EXPECT_EQ(store.Core("b", branch), branch == "child" ? "child" : "none") << branch;
    const bool own = branch == "child";
    EXPECT_EQ(TextsOf(store.View(branch).Window(20)),
              own ? (Texts{"before", "of child"}) : Texts{"before"});
    EXPECT_EQ(store.View(branch).Find(of_child->id)->has_value(), own) << branch;
  }
  EXPECT_EQ(store.Core("a"), "later");
  EXPECT_EQ(TextsOf(store.View().Window(1)), Texts{"after"});
}

TEST(StoreTest, AnInheritedKeyIsFoundAndDeletedHereAlone) {  // MEM-T3, MEM-8, defect 1
  TestStore store;
  ASSERT_THAT(store.Set("k", "root"), Succeeds());
  ASSERT_THAT(store->Fork("root", "a", {}), Succeeds());
  ASSERT_THAT(store->Fork("root", "b", {}), Succeeds());
  ASSERT_THAT(store.Delete("k", "a"), Succeeds());
  ASSERT_THAT(store->Fork("a", "a1", {}), Succeeds());
  EXPECT_EQ(store.Core("k", "a"), "none");
  EXPECT_EQ(store.Core("k", "a1"), "none");
  EXPECT_EQ(store.Core("k", "b"), "root");
  EXPECT_EQ(store.Core("k"), "root");
  ASSERT_THAT(store.Set("k", "own", "b"), Succeeds());
  ASSERT_THAT(store.Set("k", "later"), Succeeds());
  EXPECT_EQ(store.Core("k", "b"), "own");
  EXPECT_EQ(store.View("b").Core("k")->branch, "b");
}

TEST(StoreTest, ForksCheckNamesParentsAndPoints) {  // MEM-3, MEM-4
  TestStore store;
  ASSERT_THAT(store.Set("a", "1"), Succeeds());
  ASSERT_THAT(store.Set("a", "2"), Succeeds());
  ASSERT_THAT(store->Fork("root", "old", {.at = 1, .node = "node-7"}), Succeeds());
  EXPECT_EQ(store.Core("a", "old"), "1");
  EXPECT_EQ(store->Branches()->back().node, "node-7");
  EXPECT_EQ(store->Fork("root", "old", {})->id, 2);
  EXPECT_EQ(store->ForkChain({"x", "y"}, "z", {})->parent, "y");
  EXPECT_EQ(store->ForkChain({"x"}, "y", {})->parent, "x");
  struct Case {
    std::string parent, name;
    std::optional<Seq> at;
    ErrorCode code;
    std::string message;
  };
  const Case kCases[] = {
      {"old", "y", {}, ErrorCode::kInvalidArgument, "chain_mismatch: branch \"y\""},
      {"root", "old", 2, ErrorCode::kInvalidArgument, "\"old\" was forked at write 1, not at 2"},
      {"root", "root", {}, ErrorCode::kInvalidArgument, "root is no fork"},
      {"n9", "q", {}, ErrorCode::kNotFound, "no branch \"n9\"; known: root, old, x, y, z"},
      {"root", "a b", {}, ErrorCode::kInvalidArgument, "\"a b\" is no branch name"},
      {"root", "", {}, ErrorCode::kInvalidArgument, "is no branch name"},
      {"root", std::string(129, 'n'), {}, ErrorCode::kInvalidArgument, "is no branch name"},
      {"root", "q", 99, ErrorCode::kNotFound, "no write 99; the newest is 6"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(store->Fork(c.parent, c.name, {.at = c.at}), FailsWith(c.code, c.message));
  }
}

TEST(StoreTest, ReadingChangesNoByteOfTheFile) {  // MEM-2, defect 6
  TestStore store;
  ASSERT_THAT(store.Add({.tier = Tier::kRecall, .text = "event"}), Succeeds());
  store.Close();
  const auto before = ReadFile(store.path());
  store.Reopen();
  EXPECT_EQ(store.View().Window(5)->size(), 1u);
  EXPECT_THAT(store->History("root", {}), Succeeds());
  EXPECT_THAT(store.View().Counts(), Succeeds());
  store.Close();
  EXPECT_EQ(ReadFile(store.path()), before);
}

TEST(StoreTest, RevertIsUndoneByASecondOneAndHistoryShowsBoth) {  // MEM-T4, MEM-6
  TestStore store;
  ASSERT_THAT(store.Set("a", "1"), Succeeds());
  const auto kept = store.Add({.tier = Tier::kArchival, .text = "kept"});
  const Seq then = kept->seq;
  ASSERT_THAT(store.Set("a", "2"), Succeeds());
  ASSERT_THAT(store.Set("b", "new"), Succeeds());
  ASSERT_THAT(store.Add({.tier = Tier::kArchival, .text = "added"}), Succeeds());
  const auto deleted =
      store.In("root", [&](BranchTransaction& s) { return s.DeleteArchival(kept->id); });
  ASSERT_THAT(deleted, Succeeds());
  const auto state = [&](std::optional<Seq> at) {
    return std::tuple(store.Core("a", "root", at), store.Core("b", "root", at),
                      TextsOf(store.View("root", at).Records({})));
  };
  const auto old_state = state(then), new_state = state({});
  EXPECT_EQ(old_state, std::tuple("1", "none", Texts{"kept"}));
  EXPECT_EQ(new_state, std::tuple("2", "new", Texts{"added"}));

  const auto reverted = store->Revert("root", then, {}, {});
  ASSERT_THAT(reverted, Succeeds());
  EXPECT_EQ(state({}), old_state);
  EXPECT_EQ(state(*deleted), new_state);
  EXPECT_EQ(store->Revert("root", then, {}, {}), reverted);  // nothing is left to do
  ASSERT_THAT(store->Revert("root", *deleted, {}, {}), Succeeds());
  EXPECT_EQ(state({}), new_state);
  ASSERT_THAT(store->Revert("root", then, "a", {}), Succeeds());
  EXPECT_EQ(state({}), std::tuple("1", "new", Texts{"added"}));
  EXPECT_THAT(store->Revert("root", then, "none", {}),
              FailsWith(ErrorCode::kNotFound, "no key \"none\""));

  const auto history = store->History("root", {.key = "a"});
  std::vector<std::pair<std::string, std::string>> steps;
  for (const LoggedWrite& change : *history) {
    steps.emplace_back(change.before.value_or("-"), change.after.value_or("-"));
  }
  EXPECT_EQ(steps, (std::vector<std::pair<std::string, std::string>>{
                       {"2", "1"}, {"1", "2"}, {"2", "1"}, {"1", "2"}, {"-", "1"}}));
  const auto of_record = store->History("root", {.record = kept->id});
  ASSERT_EQ(of_record->size(), 4u);  // written, deleted, shown again, hidden again
  EXPECT_EQ(of_record->at(2).op, "archival_delete");
  EXPECT_EQ(of_record->at(2).before, "kept");
  EXPECT_EQ(of_record->at(2).after, std::nullopt);
  EXPECT_EQ(store->History("root", {.limit = 1})->size(), 1u);
}

TEST(StoreTest, PruneRemovesOnlyWhatNobodyCanReach) {  // MEM-7
  TestStore store;
  ASSERT_THAT(store.Set("a", "1"), Succeeds());
  const auto forgotten = store.Add({.tier = Tier::kArchival, .text = "forgotten", .tags = {"t"}});
  const auto in_fork = store.Add({.tier = Tier::kArchival, .text = "seen by the fork"});
  const auto source = store.Add({.tier = Tier::kArchival, .text = "source"});
  ASSERT_THAT(
      store.In("root", [&](BranchTransaction& s) { return s.DeleteArchival(forgotten->id); }),
      Succeeds());
  ASSERT_THAT(store->Fork("root", "fork", {}), Succeeds());
  ASSERT_THAT(store.Set("a", "2"), Succeeds());
  ASSERT_THAT(store.Set("a", "3"), Succeeds());
  const auto summary = store.Add({.tier = Tier::kSummary, .text = "summary"});
  const std::int64_t ids[] = {source->id};
  ASSERT_THAT(
      store.In("root", [&](BranchTransaction& s) { return s.LinkSources(summary->id, ids); }),
      Succeeds());
  for (const std::int64_t id : {in_fork->id, source->id}) {
    ASSERT_THAT(store.In("root", [&](BranchTransaction& s) { return s.DeleteArchival(id); }),
                Succeeds());
  }
  const Seq newest = store.View().at();
  const PruneCounts expected{.core = 1, .records = 1, .hidden = 1, .tags = 1};
  EXPECT_EQ(store->Prune(newest, PruneMode::kCount), expected);
  EXPECT_TRUE(store.View("root", 3).Find(forgotten->id)->has_value());  // only counted
  EXPECT_EQ(store->Prune(newest, PruneMode::kRemove), expected);
  EXPECT_EQ(store->Prune(newest, PruneMode::kRemove), PruneCounts());
  EXPECT_EQ(store.Core("a", "fork"), "1");
  EXPECT_EQ(store.Core("a"), "3");
  EXPECT_TRUE(store.View("fork").Find(in_fork->id)->has_value());
  EXPECT_THAT(store->Snapshot("root", newest - 1),
              FailsWith(ErrorCode::kInvalidArgument, "was pruned"));
  EXPECT_EQ(store->Check(CheckMode::kLook), Texts{});
}

TEST(StoreTest, CheckNamesWhatIsWrongAndRepairsTheIndexAlone) {  // MEM-57
  struct Case {
    std::string_view damage, finding, after_repair;
  };
  constexpr std::string_view kAll = "";
  const Case kCases[] = {
      {"INSERT INTO search(rowid, text) VALUES(77, 'ghost')", "the index has record 77", kAll},
      {"INSERT INTO search(search, rowid, text) VALUES('delete', 1, 'one two')",
       "record 1 has other words", kAll},
      {"UPDATE records SET tokens = 9 WHERE id = 1", "record 1 has 2 terms, not 9", kAll},
      {"INSERT INTO hidden VALUES(1, 55, 1, 'deleted')", "hides record 55", "hides record 55"},
      {"UPDATE branches SET parent_id = 3 WHERE id = 2", "branch 2 has no parent",
       "branch 2 has no parent"},
      {"DELETE FROM ops WHERE seq = 1", "record 1 is of a write that is not there",
       "record 1 is of a write"},
      {"UPDATE records SET tier = 'x'", "of a tier that is none", "of a tier"},
  };
  for (const Case& c : kCases) {
    TestStore store;
    ASSERT_THAT(store.Add({.tier = Tier::kArchival, .text = "one two"}), Succeeds());
    ASSERT_THAT(store->Fork("root", "n1", {}), Succeeds());
    EXPECT_EQ(store->Check(CheckMode::kLook), Texts{});
    {
      auto db = OpenMemoryDatabase(store.path(), {});
      ASSERT_THAT(db->Execute(std::string(c.damage)), Succeeds());
    }
    const auto found = store->Check(CheckMode::kLook);
    ASSERT_FALSE(found->empty()) << c.damage;
    EXPECT_THAT(found->front(), ::testing::HasSubstr(c.finding));
    const auto after = store->Check(CheckMode::kRebuildIndex);
    EXPECT_EQ(after->empty(), c.after_repair.empty()) << c.damage;
  }
}

}  // namespace
}  // namespace dossier::memory
