#include "memory/store.h"

#include "memory/store_for_test.h"
#include "testing/result_matchers.h"

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

}  // namespace
}  // namespace dossier::memory
