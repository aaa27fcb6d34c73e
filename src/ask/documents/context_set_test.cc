#include "ask/documents/context_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::ask {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ContextSetTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view content) {
    const std::string path = folder_.path() + "/in/" + name;
    EXPECT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(path, content));
    return path;
  }
  Result<std::shared_ptr<const ContextSet>> Load(const std::vector<ContextSource>& sources) {
    options_.content = content_.get();
    return LoadContext(sources, options_, {});
  }
  static std::vector<std::string> Names(const ContextSet& set) {
    std::vector<std::string> names;
    for (const ContextDocument& document : set.documents()) names.push_back(document.name);
    return names;
  }
  static std::string Text(const ContextSet& set, std::size_t index) {
    const auto stored = set.Stored(index);
    EXPECT_THAT(stored, Succeeds());
    return stored ? std::string((*stored)->map.bytes()) : std::string();
  }

  TempFolder folder_ = *TempFolder::Make("context");
  std::unique_ptr<store::ContentStore> content_ = *store::ContentStore::Open(folder_.path());
  ContextOptions options_;
};

TEST_F(ContextSetTest, DocumentsAreSortedByNameBytewise) {  // REC-6
  const auto set = Load({{.path = Write("b.txt", "two\n")},
                         {.path = Write("a.txt", "one\n")},
                         {.path = Write("B.txt", "é\n")}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_THAT(Names(**set), ElementsAre("B.txt", "a.txt", "b.txt"));
  EXPECT_EQ(Text(**set, 0), "é\n");
  EXPECT_EQ((*set)->characters(), 10u) << "code points";
  EXPECT_EQ((*set)->bytes(), 11u);
  EXPECT_THAT((*set)->Stored(3), FailsWith(ErrorCode::kInvalidArgument, "3 of 3"));
}

TEST_F(ContextSetTest, EqualNamesAreToldApart) {
  const auto set = Load({{.path = Write("x/a.txt", "one\n")}, {.path = Write("y/a.txt", "two\n")}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_THAT(Names(**set), ElementsAre("x/a.txt", "y/a.txt"));  // FLT-21
  const auto deep =
      Load({{.path = Write("p/x/a.txt", "one\n")}, {.path = Write("q/x/a.txt", "two\n")}});
  ASSERT_THAT(deep, Succeeds());
  EXPECT_THAT(Names(**deep), ElementsAre("p/x/a.txt", "q/x/a.txt"));
  const auto twice =
      Load({{.path = Write("x/a.txt", "one\n")}, {.path = Write("x/a.txt", "one\n")}});
  ASSERT_THAT(twice, Succeeds());
  EXPECT_THAT(Names(**twice), ElementsAre("a.txt"));
}

TEST_F(ContextSetTest, ANameThatIsNotUtf8IsCalledByOneThatIs) {  // REC-6
  const auto set = Load(
      {{.path = Write("caf\xe9.txt", "a,b\n1,2\n")}, {.path = Write("caf\xe8.txt", "a,b\n3,4\n")}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_THAT(Names(**set), ElementsAre("caf\uFFFD.txt", "caf\uFFFD.txt#2"));
  EXPECT_EQ(Text(**set, 0), "a,b\n1,2\n");
}

TEST_F(ContextSetTest, ATextIsReadAsItsNameSays) {  // INS-132
  const auto set = Load({{.text = "{\"n\": 1}\n", .name = "records.ndjson"}});
  ASSERT_THAT(set, Succeeds());
  ASSERT_TRUE((*set)->documents()[0].description.records);
  EXPECT_EQ((*set)->documents()[0].description.records->records, 1U);
}

TEST_F(ContextSetTest, OtherEncodingsAreStoredAsUtf8) {
  const auto set = Load({{.path = Write("w.txt", std::string_view("\xFF\xFE"
                                                                  "a\0\xE9\0",
                                                                  6))}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_EQ(Text(**set, 0), "aé");
}

TEST_F(ContextSetTest, ALargeFileIsCopiedBesideTheFirstRequest) {  // the copy is what counts
  std::string text;
  while (text.size() < (5u << 20))
    text += "a line of a file that is too large to be read at once\n";
  const std::string path = Write("large.txt", text);
  const auto set = Load({{.path = path}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_EQ((*set)->bytes(), text.size());
  EXPECT_EQ(Text(**set, 0), text);
  // Later changes by the user to the file have no effect.
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  EXPECT_EQ(Text(**set, 0), text);
}

TEST_F(ContextSetTest, ACopyIsWaitedForUntilATimeOnly) {  // REC-57
  const std::string text(96u << 20, 'x');
  for (int attempt = 0; attempt < 20; ++attempt) {  // a copy may be done before we come to it
    const auto set = Load({{.path = Write("large.txt", text)}});
    ASSERT_THAT(set, Succeeds());
    const Clock::Steady now = std::chrono::steady_clock::now();
    if ((*set)->WaitForCopies(now)) continue;
    EXPECT_TRUE((*set)->WaitForCopies(now + std::chrono::minutes(5)));
    return;
  }
  FAIL() << "every copy was done at once";
}

// The file changes after its description, while it is being copied.
TEST_F(ContextSetTest, AFileThatChangesUnderTheCopyIsDescribedAsCopied) {  // REC-S6
  const std::string text(96u << 20, 'x');
  for (int attempt = 0; attempt < 20; ++attempt) {  // a copy may be done before we come to it
    const std::string path = Write("large.txt", text);
    const auto set = Load({{.path = path}});
    ASSERT_THAT(set, Succeeds());
    ASSERT_EQ(truncate(path.c_str(), 20 << 20), 0);
    const auto stored = (*set)->Stored(0);
    ASSERT_THAT(stored, Succeeds());
    if ((*stored)->changed.empty()) continue;
    EXPECT_THAT((*stored)->changed, HasSubstr(path));
    EXPECT_THAT((*stored)->changed, HasSubstr("100,663,296 bytes, now 20,971,520"));
    ASSERT_TRUE((*stored)->description.has_value());
    EXPECT_EQ((*stored)->description->counts.chars, (*stored)->map.bytes().size());
    return;
  }
  FAIL() << "no change was ever seen";
}

TEST_F(ContextSetTest, WhatCannotBeReadIsRefusedWithTheWayOut) {  // REC-S6
  const std::string folder = folder_.path() + "/in";
  Write("a.txt", "one\n");
  EXPECT_THAT(Load({{.path = folder + "/none.txt"}}), FailsWith(ErrorCode::kNotFound, "none.txt"));
  const std::string binary = Write("b.bin", std::string_view("\x7f"
                                                             "ELF\0\0\0\1\2\3",
                                                             10));
  EXPECT_THAT(Load({{.path = binary}}), FailsWith(ErrorCode::kDamaged, "dossier inspect"));
}

TEST_F(ContextSetTest, AFolderGivesItsTextFilesByPathBelowIt) {  // INS-132
  Write("sub/b.txt", "two\n");
  Write("a.txt", "one\n");
  Write("c.bin", std::string_view("\x7f"
                                  "ELF\0\0\0\1\2\3",
                                  10));
  const auto set = Load({{.path = folder_.path() + "/in"}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_THAT(Names(**set), ElementsAre("a.txt", "sub/b.txt"));
  ASSERT_TRUE(MakeFolders(folder_.path() + "/empty"));
  EXPECT_THAT(Load({{.path = folder_.path() + "/empty"}}),
              FailsWith(ErrorCode::kNotFound, "no readable text file"));
}

// A key cannot be replaced in a database, so a folder is read without it, with a single note.
TEST_F(ContextSetTest, ADatabaseWithKeysInAFolderIsLeftOutAndToldOnce) {  // SRV-21
  Write("a.txt", "one\n");
  const std::string key = std::string("ghp_") + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
  const std::string path =
      Write("b.db", std::string("SQLite format 3\0", 16) + "token = \"" + key + "\"\n");
  options_.redact_unless = "--allow-secrets";
  const auto set = Load({{.path = folder_.path() + "/in"}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_EQ((*set)->files_left_out(), 1u);
  EXPECT_THAT((*set)->notes(), ElementsAre(HasSubstr("a database that holds keys")));
  EXPECT_THAT(Load({{.path = path}}), FailsWith(ErrorCode::kRefused, "--allow-secrets"));
}

TEST_F(ContextSetTest, TheCopyOfASetThatIsDroppedIsGivenUp) {
  std::string text(32u << 20, 'x');
  for (std::size_t at = 80; at < text.size(); at += 80) text[at] = '\n';
  const std::string path = Write("large.txt", text);
  ASSERT_THAT(Load({{.path = path}}), Succeeds());  // destroyed at once: joins, leaves nothing
  const auto set = Load({{.path = path}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_EQ(Text(**set, 0).size(), text.size());
}

TEST_F(ContextSetTest, AFileAboveTheLimitIsNamedNotKept) {  // FLT-33
  options_.copy_limit = 100;
  const std::string small = Write("a.txt", std::string(100, 'a') + "\n");
  const std::string large = Write("b.txt", std::string(5u << 20, 'b') + "\n");
  const auto set = Load({{.path = small}, {.path = large}, {.text = std::string(200, 'c')}});
  ASSERT_THAT(set, Succeeds());
  for (const std::size_t i : {0, 1, 2}) {
    const auto stored = (*set)->Stored(i);
    ASSERT_THAT(stored, Succeeds());
    const std::string& path = (*set)->documents()[i].path;
    EXPECT_EQ((*stored)->named.has_value(), !path.empty()) << path;
    EXPECT_EQ(content_->Has((*stored)->sha256), path.empty()) << path;
    if (!(*stored)->named) continue;
    struct stat info{};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ((*stored)->named->path, path);
    EXPECT_EQ((*stored)->named->bytes, static_cast<std::uint64_t>(info.st_size));
    EXPECT_EQ((*stored)->named->modified_ns / 1'000'000'000, info.st_mtime);
    EXPECT_EQ((*stored)->map.bytes().size(), static_cast<std::size_t>(info.st_size));
  }
}

TEST_F(ContextSetTest, OneFileGivenTwiceIsUsedOnceAndTold) {
  const std::string path = Write("sub/t.csv", "a,b\n1,2\n");
  const std::string link = folder_.path() + "/in/link.csv";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  const std::string other = folder_.path() + "/in/./sub/t.csv";
  for (const std::string& again : {path, other, link, folder_.path() + "/in/sub"}) {
    const auto set = Load({{.path = path}, {.path = again}});
    ASSERT_THAT(set, Succeeds());
    EXPECT_THAT(Names(**set), ElementsAre("t.csv")) << again;
    EXPECT_THAT((*set)->notes(), ElementsAre(HasSubstr("used once"))) << again;
  }
  const std::string equal = Write("same.csv", "a,b\n1,2\n");  // another file with the same text
  const auto set = Load({{.path = path}, {.path = equal}});
  ASSERT_THAT(set, Succeeds());
  EXPECT_EQ((*set)->documents().size(), 2u);
  EXPECT_TRUE((*set)->notes().empty());
}

TEST_F(ContextSetTest, AFileWithoutACopyThatChangesIsSaidToHaveNone) {  // FLT-33
  options_.copy_limit = 100;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::string path = Write("changing.txt", std::string(96u << 20, 'x'));
    const auto set = Load({{.path = path}});
    ASSERT_THAT(set, Succeeds());
    ASSERT_EQ(truncate(path.c_str(), 20 << 20), 0);
    const auto stored = (*set)->Stored(0);
    ASSERT_THAT(stored, Succeeds());
    if ((*stored)->changed.empty()) continue;
    EXPECT_THAT((*stored)->changed, HasSubstr("no copy is stored"));
    return;
  }
  FAIL() << "no change was ever seen";
}

}  // namespace
}  // namespace dossier::ask
