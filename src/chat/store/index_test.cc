#include "chat/store/index.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "chat/document/document.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

class IndexTest : public ::testing::Test {
 protected:
  void Put(const std::string& id, const std::string& updated, const std::string& prompt,
           const std::string& reply) {
    Document document = Document::Make(id, "gpt-4", updated);
    document.AppendMessage(JsonObject{{"role", "user"}, {"content", prompt}});
    document.AppendMessage(JsonObject{{"role", "assistant"}, {"content", reply}});
    ASSERT_THAT(MakeFolders(folder_), Succeeds());
    ASSERT_THAT(WriteFileAtomic(PathOf(folder_, id), document.Render().Joined()), Succeeds());
  }

  Index Open() {
    auto index = Index::Open(folder_, cache_);
    EXPECT_THAT(index, Succeeds());
    return std::move(*index);
  }

  TempFolder temp_ = *TempFolder::Make();
  std::string folder_ = temp_.path() + "/conversations", cache_ = temp_.path() + "/cache";
};

// CON-32
TEST_F(IndexTest, ListsNewestFirstAndReadsOnlyWhatChanged) {
  Put("old", "2026-01-01T00:00:00.000000Z", "first words", "a");
  Put("new", "2026-02-01T00:00:00.000000Z", "other\nwords", "b");
  ASSERT_THAT(WriteFileAtomic(PathOf(folder_, "bad"), "{"), Succeeds());
  Index index = Open();
  EXPECT_EQ(index.files_read(), 3u);
  const auto list = index.List({});
  ASSERT_THAT(list, Succeeds());
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].id, "new");
  EXPECT_EQ((*list)[0].title, "other words");
  EXPECT_EQ((*list)[0].messages, 2);
  EXPECT_EQ((*list)[2].id, "bad");
  EXPECT_NE((*list)[2].problem.find("malformed"), std::string::npos);
  EXPECT_EQ(Open().files_read(), 0u);
  Put("old", "2026-03-01T00:00:00.000000Z", "first words", "a");
  Index again = Open();
  EXPECT_EQ(again.files_read(), 1u);
  EXPECT_EQ(again.List({.limit = 1})->at(0).id, "old");
  EXPECT_EQ(again.List({.since = "2026-02-15"})->size(), 2u);  // and the damaged one
}

// CON-32
TEST_F(IndexTest, IsMadeAnewWhenItIsGoneOrDamaged) {
  Put("x", "2026-01-01T00:00:00.000000Z", "hello", "b");
  EXPECT_EQ(Open().files_read(), 1u);
  ASSERT_THAT(RemoveAll(cache_), Succeeds());
  EXPECT_EQ(Open().files_read(), 1u);
  ASSERT_THAT(RemoveAll(cache_), Succeeds());
  ASSERT_THAT(WriteFileAtomic(cache_, "a file where the folder should be"), Succeeds());
  EXPECT_EQ(Open().List({})->size(), 1u);
}

// CON-16: it holds what the conversations hold.
TEST_F(IndexTest, IsReadableByItsOwnerOnly) {
  Put("x", "2026-01-01T00:00:00.000000Z", "hello", "b");
  const Index index = Open();
  for (const auto& entry : std::filesystem::directory_iterator(cache_ + "/conversations")) {
    using std::filesystem::perms;
    EXPECT_EQ(entry.status().permissions() & (perms::group_all | perms::others_all), perms::none)
        << entry.path();
  }
}

// CON-32: a conversation that is deleted leaves list and search.
TEST_F(IndexTest, ForgetsDeletedConversations) {
  Put("x", "2026-01-01T00:00:00.000000Z", "hello", "b");
  Put("y", "2026-01-01T00:00:00.000000Z", "hello", "b");
  EXPECT_EQ(Open().Search({.query = "hello"})->size(), 2u);
  ASSERT_THAT(RemoveAll(PathOf(folder_, "x")), Succeeds());
  Index index = Open();
  ASSERT_EQ(index.List({})->size(), 1u);
  EXPECT_EQ(index.Search({.query = "hello"})->at(0).id, "y");
}

TEST_F(IndexTest, SearchesLiteralWords) {
  Put("x", "2026-01-01T00:00:00.000000Z", "why does make fail AND stop", "because of \"quotes\"");
  Index index = Open();
  const auto hits = index.Search({.query = "AND \"quotes"});
  ASSERT_THAT(hits, Succeeds());
  EXPECT_TRUE(hits->empty());
  EXPECT_EQ(index.Search({.query = "make AND"})->at(0).turn, 1);
  EXPECT_EQ(index.Search({.query = "quotes", .role = "user"})->size(), 0u);
  EXPECT_EQ(index.Search({.query = "quotes", .role = "assistant"})->size(), 1u);
  EXPECT_EQ(index.Search({.query = "mak*", .syntax = SearchQuery::Syntax::kFts})->size(), 1u);
  EXPECT_THAT(index.Search({.query = "AND OR", .syntax = SearchQuery::Syntax::kFts}),
              FailsWith(ErrorCode::kUsage, "--fts"));
  EXPECT_THAT(index.Search({.query = "  "}), FailsWith(ErrorCode::kUsage, "no words"));
}

}  // namespace
}  // namespace dossier::chat
