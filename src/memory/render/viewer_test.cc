#include "memory/render/viewer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/html.h"
#include "memory/consolidate/consolidate.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

ViewerData Gathered(TestStore& store, const ViewerExtras& extras = {}) {
  auto data = GatherViewer(*store, extras);
  EXPECT_TRUE(data) << data.error().message;
  return *std::move(data);
}

// Returns the label and text of those `items` that exist at `seq`.
std::multimap<std::string, std::string> At(const std::vector<ViewerItem>& items, Seq seq) {
  std::multimap<std::string, std::string> there;
  for (const ViewerItem& item : items) {
    if (std::ranges::any_of(item.spans, [&](const SeqSpan& span) { return span.Holds(seq); })) {
      there.emplace(item.label, item.text);
    }
  }
  return there;
}

TEST(ViewerTest, EachWriteShowsWhatTheViewAtItShows) {  // 5.5
  TestStore store({.limits = {.recall_max_events = 2}});
  Random random(/*seed=*/4);
  std::vector<std::string> branches = {"root"};
  for (int i = 0; i < 60; ++i) {
    const std::string branch = branches[random.Below(branches.size())];
    const std::string key = fmt::format("k{}", random.Below(4));
    switch (random.Below(6)) {
      case 0:
        if (branches.size() < 6) {
          branches.push_back(fmt::format("n{}", branches.size()));
          ASSERT_TRUE(store->Fork(branch, branches.back(), {}));
        }
        break;
      case 1:
        static_cast<void>(store.Delete(key, branch));
        break;
      case 2:
        ASSERT_TRUE(
            store.Add({.tier = Tier::kRecall, .text = fmt::format("e{}", i), .at = i + 1}, branch));
        break;
      case 3:
        ASSERT_TRUE(store.Add({.text = fmt::format("a{}", i)}, branch));
        break;
      case 4:
        ASSERT_TRUE(Consolidate(*store, branch, {}, {}));
        break;
      default:
        ASSERT_TRUE(store.Set(key, fmt::format("v{}", i), branch));
    }
  }
  const ViewerData data = Gathered(store);
  for (const ViewerBranch& branch : data.branches) {
    for (Seq seq = std::max<Seq>(branch.seq, 1); seq <= data.newest; ++seq) {
      const View view = store.View(branch.name, seq);
      std::multimap<std::string, std::string> core;
      for (const CoreEntry& entry : view.AllCore()) core.emplace(entry.key, entry.value);
      auto shown = At(branch.own_core, seq);
      shown.merge(At(branch.inherited_core, seq));
      ASSERT_EQ(shown, core) << branch.name << " at " << seq;
      std::size_t own = 0;
      const auto records = view.Records({});
      for (const Record& record : *records) own += record.branch == branch.name ? 1 : 0;
      ASSERT_EQ(At(branch.events, seq).size() + At(branch.archival, seq).size() +
                    At(branch.summaries, seq).size(),
                own)
          << branch.name << " at " << seq;
    }
  }
}

TEST(ViewerTest, StoredTextIsEscapedAndNothingIsLoaded) {  // MEM-53, MEM-T25
  TestStore store;
  constexpr std::string_view kEvil = "<script>alert(1)</script>\" onload='x' & \x01";
  store.Set("k<b>", kEvil);
  store.Add({.tier = Tier::kRecall, .kind = "<i>", .text = std::string(kEvil), .tags = {"<u>"}});
  const std::string html =
      ViewerPage(Gathered(store, {.best_nodes = {{"<node>", 0.5, std::string(kEvil)}}}));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(
      html.find(
          "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x&#39; &amp; \xEF\xBF\xBD"),
      std::string::npos);
  for (const std::string_view part :
       {"<b>", "<i>", "<u>", "<node>", "http://", "https://", "src=", "url(", "@import"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(EscapeForScript(R"(["</script>&"])"), R"(["\u003c/script\u003e\u0026"])");
}

TEST(ViewerTest, OrphansStandUnderAVirtualRootWithoutData) {  // 5.5
  TestStore store;
  ASSERT_TRUE(store->Fork("root", "n1", {}));
  ASSERT_TRUE(store->Fork("n1", "n2", {}));
  const ViewerData data = Gathered(store);
  ASSERT_EQ(data.branches.size(), 3U);
  EXPECT_EQ(data.branches[2].name, "n2");
  EXPECT_EQ(data.branches[2].depth, 2);
  EXPECT_EQ(ViewerPage(data).find(kVirtualRoot), std::string::npos);
}

TEST(ViewerTest, WritesForksAndReadsAreCountedByPhase) {  // 5.5
  TestStore store;
  ASSERT_TRUE(store->Transact("root", {.phase = "plan"}, [](BranchTransaction& session) -> Status {
    DOSSIER_RETURN_IF_ERROR(session.SetCore("a", {.value = "1"}));
    DOSSIER_RETURN_IF_ERROR(session.SetCore("b", {.value = "1"}));
    return {};
  }));
  ASSERT_TRUE(store->Fork("root", "n1", {}));
  const ViewerData data = Gathered(store, {.reads = {{"plan", 7}}});
  const auto plan = std::ranges::find(data.phases, "plan", &ViewerPhase::phase);
  ASSERT_NE(plan, data.phases.end());
  EXPECT_EQ(plan->reads, 7);
  EXPECT_EQ(plan->writes, 2);
  const auto none = std::ranges::find(data.phases, "", &ViewerPhase::phase);
  ASSERT_NE(none, data.phases.end());
  EXPECT_EQ(none->forks, 1);
}

TEST(ViewerTest, TheSameStoreGivesTheSamePage) {  // 5.5
  TestStore store;
  store.Set("a", "1");
  EXPECT_EQ(ViewerPage(Gathered(store)), ViewerPage(Gathered(store)));
}

}  // namespace
}  // namespace dossier::memory
