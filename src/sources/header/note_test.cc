#include "sources/header/note.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kPath = "ready_for_review/2026-01-01__task-1__slug.md";

Note ReadNote(std::string_view matter) {
  return ParseNote(kPath, fmt::format("---\n{}\n---\nbody\n", matter));
}

TEST(NoteTest, TheExampleInTheHeaderWorks) {
  const Note note = ParseNote("ready_for_review/2025-10-29__task-217__feat-auth.md", "");
  EXPECT_EQ(note.id, "task-217");
  EXPECT_FALSE(note.red());
  EXPECT_EQ(note.path(), "ready_for_review/2025-10-29__task-217__feat-auth.md");
}

TEST(NoteTest, TheIdIsTheKeyElsePartOfTheNameElseTheName) {  // REP-23, A7
  EXPECT_EQ(ReadNote("id: own").id, "own");
  EXPECT_EQ(ReadNote("id:").id, "task-1");
  EXPECT_EQ(ParseNote("scratch/a__my_task__b.md", "").id, "my_task");
  EXPECT_EQ(ParseNote("scratch/2026-01-01__x.md", "").id, "2026-01-01__x.md");
  EXPECT_EQ(ParseNote("scratch/a____b.md", "").id, "a____b.md");
}

TEST(NoteTest, EveryFormOfAValueIsRead) {  // REP-23, A7
  struct Case {
    std::string_view matter;
    std::vector<std::string> targets;
  };
  const Case kCases[] = {
      {"targets: a", {"a"}},
      {"targets:a # hint", {"a"}},
      {"targets : a#b", {"a#b"}},
      {"targets: \"a\"", {"a"}},
      {"targets: \"a # b\" # hint", {"a # b"}},
      {"targets: \"\\u00e9\\x41\\n\\\"\"", {"éA\n\""}},
      {"targets: 'it''s'", {"it's"}},
      {"targets: [\"a\"] # hint", {"a"}},
      {"targets: [a, \"b, c\", 'd']", {"a", "b, c", "d"}},
      {"targets: [a, ]", {"a"}},
      {"targets: []", {}},
      {"targets:\n  - a\n  - \"b\" # hint\n- 'c'", {"a", "b", "c"}},
      {"targets:  # hint\n- a", {"a"}},
      {"  targets: [a]  ", {"a"}},
      {"targets: [a]\r", {"a"}},
      {"targets: # only a comment", {}},
  };
  for (const Case& c : kCases) {
    const Note note = ReadNote(c.matter);
    EXPECT_EQ(note.targets, c.targets) << c.matter;
    EXPECT_THAT(note.problems, IsEmpty()) << c.matter;
  }
}

TEST(NoteTest, ABadLineLosesOnlyItself) {  // REP-23
  for (const std::string_view bad :
       {"targets: [a", "targets: \"a", "targets: [a] b", "targets: \"a\" b", "no key", "ü: x",
        "targets: [,]", "targets: \"\\q\"", "- a"}) {
    const Note note = ReadNote(fmt::format("id: x\n{}\nrank: 7", bad));
    EXPECT_EQ(note.id, "x") << bad;
    EXPECT_EQ(note.rank, 7) << bad;
    EXPECT_THAT(note.targets, IsEmpty()) << bad;
    EXPECT_EQ(note.problems.size(), 1u) << bad;
    EXPECT_TRUE(note.problems[0].starts_with("line 3 ")) << note.problems[0];
  }
}

TEST(NoteTest, TheStatusIsReadInAnyCase) {  // REP-23, A7
  struct Case {
    std::string_view matter, status;
    std::size_t problems;
  };
  constexpr Case kCases[] = {
      {"id: x", "green", 0},
      {"status:", "green", 0},
      {"status: GREEN", "green", 0},
      {"status: red # blocked", "red", 0},
      {"status: \"Red\"", "red", 0},
      {"status: amber", "amber", 1},
      {"status: red\nstatus: green", "red", 1},
      {"status: green\nstatus: amber", "amber", 2},
  };
  for (const Case& c : kCases) {
    const Note note = ReadNote(c.matter);
    EXPECT_EQ(note.status, c.status) << c.matter;
    EXPECT_EQ(note.problems.size(), c.problems) << c.matter;
  }
}

TEST(NoteTest, TheEndsOfTheFrontMatter) {  // REP-23
  for (const std::string_view text :
       {"---\nid: x\n---", "---\nid: x\n---\n", "---  \nid: x\n...\nbody",
        "\xef\xbb\xbf---\nid: x\n---\n", "---\r\nid: x\r\n---\r\nbody"}) {
    EXPECT_EQ(ParseNote(kPath, text).id, "x") << text;
  }
  for (const std::string_view text :
       {"---\nid: x\n", "---\nid: x", "--- x\nid: x\n---\n", "\n---\nid: x\n---\n"}) {
    EXPECT_EQ(ParseNote(kPath, text).id, "task-1") << text;
  }
  EXPECT_THAT(ParseNote(kPath, "---\nid: x\n").problems,
              ElementsAre("the front matter is never closed"));
}

TEST(NoteTest, TheBodyAndItsFirstHeading) {
  EXPECT_EQ(NoteBody("---\nid: x\n---\nbody"), "body");
  EXPECT_EQ(NoteBody("---\nid: x\nbody"), "---\nid: x\nbody");
  EXPECT_EQ(NoteBody("\xef\xbb\xbf#body"), "#body");
  EXPECT_EQ(FirstHeading("text\n```\n# code\n```\n## Title ##\n# Other"), "Title");
  EXPECT_EQ(FirstHeading("#no\n####### no"), "");
}

TEST(NoteTest, MarkingRedChangesOneLine) {  // REP-24, A7
  struct Case {
    std::string_view before, after;
  };
  constexpr Case kCases[] = {
      {"---\nid: x\nstatus: green # why\n---\nb", "---\nid: x\nstatus: red # why\n---\nb"},
      {"---\nstatus:\n---\n", "---\nstatus: red\n---\n"},
      {"---\nstatus: \"green\"\nid: x\n---\n", "---\nstatus: red\nid: x\n---\n"},
      {"---\r\nid: x\r\n---\r\n", "---\r\nstatus: red\r\nid: x\r\n---\r\n"},
      {"body", "---\nstatus: red\n---\nbody"},
      {"---\nnever closed", "---\nstatus: red\n---\n---\nnever closed"},
      {"\xef\xbb\xbf#body", "\xef\xbb\xbf---\nstatus: red\n---\n#body"},
      {"---\nstatus:#why\n---\n", "---\nstatus: red #why\n---\n"},
      {"---\nstatus: a\nstatus: b\n---\n", "---\nstatus: a\nstatus: red\n---\n"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(WithStatusRed(c.before), c.after);
    EXPECT_TRUE(ParseNote(kPath, c.after).red()) << c.after;
  }
}

TEST(NoteTest, AMarkStandsWhereNotesAreRead) {  // REP-22, REP-24
  const std::string text =
      "---\nstatus: green\n#" + std::string(kMaxNoteBytes, 'x') + "\n---\nbody\n";
  EXPECT_TRUE(ParseNote(kPath, WithStatusRed(text)).red());
}

TEST(NoteTest, MarkingAFileKeepsItsMode) {  // REP-24
  const TempFolder folder = *TempFolder::Make("note");
  const std::string path = folder.path() + "/a.md";
  ASSERT_TRUE(WriteFileAtomic(path, "---\nstatus: green\n---\nbody\n"));
  ASSERT_EQ(chmod(path.c_str(), 0604), 0);
  ASSERT_THAT(MarkNoteRed(path), Succeeds());
  EXPECT_EQ(*ReadFile(path), "---\nstatus: red\n---\nbody\n");
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0604u);
  EXPECT_THAT(MarkNoteRed(folder.path() + "/none.md"), FailsWith(ErrorCode::kNotFound, "none.md"));
}

TEST(NoteTest, AnyBytesAreANote) {  // REP-23
  Random random(5);
  constexpr std::string_view kParts[] = {"---\n", "status", ":",   " ", "red",  "\"",
                                         "'",     "[",      "]",   ",", "- ",   "#",
                                         "\n",    "\r\n",   "\\u", "é", "\xff", "...\n"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text = random.Below(2) ? "---\n" : "";
    for (std::uint64_t i = random.Below(16); i > 0; --i) {
      text += kParts[random.Below(std::size(kParts))];
    }
    const Note note = ParseNote(kPath, text);
    EXPECT_FALSE(note.id.empty());
    const std::string red = WithStatusRed(text);
    EXPECT_TRUE(ParseNote(kPath, red).red()) << text;
    EXPECT_LE(red.size(), text.size() + 32);
  }
}

class NoteScanTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, std::string_view text, std::int64_t mtime = 0) {
    const std::string path = folder_.path() + "/agent_notes/" + file;
    ASSERT_TRUE(MakeFolders(std::filesystem::path(path).parent_path().string()));
    ASSERT_TRUE(WriteFileAtomic(path, text));
    const std::array<timespec, 2> times = {timespec{mtime, 0}, timespec{mtime, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
  }
  NoteScan Scan() { return *ScanNotes(folder_.path()); }

  TempFolder folder_ = *TempFolder::Make("notes");
};

TEST_F(NoteScanTest, ReadsRegularFilesOfTheFourFolders) {  // REP-22
  Write("ready_for_review/b.md", "---\nid: two\n---\n", 20);
  Write("ready_for_review/a.md", "---\nid: one\n---\n", 10);
  Write("scratch/c.md", "", 30);
  Write("scratch/.hidden.md", "");
  Write("scratch/folder/d.md", "");
  Write("other/e.md", "");
  std::filesystem::create_symlink("c.md", folder_.path() + "/agent_notes/scratch/link.md");
  ASSERT_EQ(mkfifo((folder_.path() + "/agent_notes/scratch/pipe").c_str(), 0600), 0);
  const NoteScan scan = Scan();
  std::vector<std::string> paths;
  for (const Note& note : scan.notes) paths.push_back(note.path());
  EXPECT_THAT(paths, ElementsAre("ready_for_review/a.md", "ready_for_review/b.md", "scratch/c.md"));
  EXPECT_EQ(scan.notes[1].id, "two");
  EXPECT_EQ(scan.notes[1].mtime_ns, 20'000'000'000);
  EXPECT_EQ(scan.skipped, 0u);
}

TEST_F(NoteScanTest, NothingThereIsNoNotes) {  // REP-22
  EXPECT_THAT(Scan().notes, IsEmpty());
  ASSERT_TRUE(MakeFolders(folder_.path() + "/agent_notes"));
  ASSERT_TRUE(WriteFileAtomic(folder_.path() + "/agent_notes/scratch", ""));
  EXPECT_THAT(ScanNotes(folder_.path()), FailsWith(ErrorCode::kConfig, "agent_notes/scratch"));
}

TEST_F(NoteScanTest, ATimeThatNoClockHoldsIsTheNearest) {  // REP-3
  Write("scratch/a.md", "", 12'000'000'000);  // the year 2350, where the file system holds it
  struct stat info{};
  ASSERT_EQ(stat((folder_.path() + "/agent_notes/scratch/a.md").c_str(), &info), 0);
  EXPECT_EQ(Scan().notes[0].mtime_ns, NanosSinceEpoch(info.st_mtim));
}

TEST_F(NoteScanTest, TextsAndQueuesAreAChoice) {
  Write("scratch/a.md", "one");
  Write("proposed_tasks/b.md", "two");
  const std::string_view queues[] = {kProposedQueue};
  const auto scan =
      ScanNotes(folder_.path(), {.queues = queues, .texts = NoteScanOptions::Texts::kKept});
  ASSERT_TRUE(scan);
  ASSERT_EQ(scan->notes.size(), 1u);
  EXPECT_EQ(scan->notes[0].text, "two");
  EXPECT_EQ(Scan().notes[0].text, "");
}

TEST_F(NoteScanTest, OnlyTheFirst64KiBCount) {  // REP-22
  Write("scratch/a__b__c.md", "---\n" + std::string(kMaxNoteBytes, '#') + "\nid: far\n---\n");
  const NoteScan scan = Scan();
  EXPECT_EQ(scan.notes[0].id, "b");
  EXPECT_THAT(scan.notes[0].problems, ElementsAre("the front matter is never closed"));
}

TEST_F(NoteScanTest, LintFindsEveryKindOfProblem) {  // REP-25
  Write("ready_for_review/plain.md", "");
  Write("ready_for_review/d__one__x.md", "");
  Write("ready_for_review/d__one__y.md", "");
  Write("scratch/d__one__z.md", "");
  Write("scratch/d__two__x.md", "---\nid: a\n");
  Write("scratch/d__three__x.md",
        "---\nid: a\nid: a3\nstatus: odd\nrank: high\ntargets: [/etc, ../x, ok/..b]\n---\n");
  EXPECT_THAT(
      LintNotes(Scan()),
      ElementsAre(
          "ready_for_review/d__one__y.md: id one is that of ready_for_review/d__one__x.md, too",
          "ready_for_review/plain.md: no id, neither in the front matter nor in the name "
          "(DATE__ID__SLUG.md)",
          "scratch/d__three__x.md: duplicate key id",
          "scratch/d__three__x.md: rank high is no whole number",
          "scratch/d__three__x.md: target ../x leaves the repository",
          "scratch/d__three__x.md: target /etc leaves the repository",
          "scratch/d__three__x.md: unknown status odd (green, red)",
          "scratch/d__two__x.md: the front matter is never closed"));
}

}  // namespace
}  // namespace dossier::sources
