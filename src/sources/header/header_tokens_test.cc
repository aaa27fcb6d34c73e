#include "sources/header/header_tokens.h"

#include <gtest/gtest.h>

#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kHeaderNow = 1'768'644'000;
const Clock::Wall kTime{std::chrono::seconds(kHeaderNow)};

Note MakeMeasuredNote(const std::string& queue, const std::string& file, std::int64_t age,
                      std::int64_t rank = kNoRank) {
  Note note = ParseNote(queue + "/" + file, "");
  note.mtime_ns = (kHeaderNow - age) * 1'000'000'000;
  note.rank = rank;
  return note;
}

TEST(PromptTokensTest, EveryTokenHasAnEmptyForm) {  // T-1 to T-7, A10
  const Header header = BuildHeader({});
  const TokenMap tokens = PromptTokens(header, {});
  EXPECT_EQ(tokens.at("context_header"), ToYaml(header));
  EXPECT_EQ(tokens.at("ach_yaml"), ToYaml(header));
  constexpr std::pair<std::string_view, std::string_view> kRows[] = {
      {"queue_md", "- (empty)"},
      {"recent_files_md", "- (none)"},
      {"next_work_md", "- noop"},
      {"diffstat_md", "- (quiet)"},
      {"task_id", ""},
      {"summary", ""},
      {"mode_hint", "propose"},
      {"recent_sec", "180"},
      {"targets", "(any)"},
      {"files", "- (none)"},
      {"task_md", "- (none)"},
      {"patch_md", "- (none)"},
      {"review_md", "- (none)"},
      {"checks_md", "- (none)"},
  };
  for (const auto& [name, value] : kRows) {
    EXPECT_EQ(tokens.at(std::string(name)), value) << name;
  }
  EXPECT_FALSE(tokens.contains("approval_token"));
  EXPECT_EQ(tokens.size(), 2 + std::size(kRows));
}

TEST(PromptTokensTest, EveryTokenHasItsForm) {  // T-1 to T-7, A10
  const std::vector<Note> notes = {MakeMeasuredNote("scratch", "n.md", 20)};
  const std::vector<Task> tasks = {{.id = "a`b", .summary = "one\ntwo\x01"}};
  const Task task{.id = "t",
                  .summary = "do $5 {queue_md}",
                  .description = "Long\n```\ntext",
                  .acceptance = {"works"},
                  .files = {"a.cc"},
                  .targets = {"x", "y"}};
  const Header header = BuildHeader({.notes = notes,
                                     .tasks = tasks,
                                     .targets = task.targets,
                                     .mode = AgentMode::kReview,
                                     .now = kTime});
  const TokenMap tokens = PromptTokens(header, {.task = &task,
                                                .patch_stat = {{"b.txt", 3, 1}, {"a.bin", {}, {}}},
                                                .notes = notes,
                                                .now = kTime,
                                                .approval_token = "APPROVED-1",
                                                .patch = "+x\n",
                                                .review = "FIX: y",
                                                .checks = "ok"});
  constexpr std::pair<std::string_view, std::string_view> kRows[] = {
      {"queue_md", "- ``a`b`` • one two\\x01"},
      {"recent_files_md", "- `scratch/n.md` (20s ago)"},
      {"next_work_md", "- Engineer: pick a`b — one two\\x01\n- CTO: investigate scratch/n.md"},
      {"diffstat_md", "- `a.bin` (binary)\n- `b.txt` (+3 -1)\n- total: 2 files, +3 -1"},
      {"task_id", "t"},
      {"summary", "do $5 {queue_md}"},
      {"mode_hint", "review"},
      {"targets", "x, y"},
      {"files", "- `scratch/n.md`"},
      {"task_md", "````\nLong\n```\ntext\n\nAcceptance:\n- works\n\nRead first:\n- a.cc\n````"},
      {"patch_md", "```\n+x\n```"},
      {"review_md", "```\nFIX: y\n```"},
      {"checks_md", "```\nok\n```"},
      {"approval_token", "APPROVED-1"},
  };
  for (const auto& [name, value] : kRows) {
    EXPECT_EQ(tokens.at(std::string(name)), value) << name;
  }
}

TEST(PromptTokensTest, ALongPatchShowsTwentyFiles) {  // T-6
  std::vector<FileStat> files;
  for (int i = 0; i < 23; ++i) files.push_back({fmt::format("f{:02}", i), 1, 0});
  const std::string text = PromptTokens(BuildHeader({}), {.patch_stat = files}).at("diffstat_md");
  EXPECT_NE(text.find("- `f19` (+1 -0)\n- (+3 more files)\n- total: 23 files, +23 -0"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("f20"), std::string::npos);
}

TEST(FilesOfInterestTest, TakesTheFreshestOfEachQueue) {  // REP-26
  std::vector<Note> notes;
  for (int i = 0; i < 12; ++i) {
    notes.push_back(MakeMeasuredNote("ready_for_review", fmt::format("r{:02}.md", i), 1000 + i));
    notes.push_back(MakeMeasuredNote("proposed_tasks", fmt::format("p{:02}.md", i), 0, 20 - i));
    notes.push_back(MakeMeasuredNote("notes_FROM_CTO", fmt::format("c{:02}.md", i), 1000 + i));
    notes.push_back(MakeMeasuredNote("scratch", fmt::format("s{:02}.md", i), 118 + i));
  }
  notes[0].status = "red";
  notes[45].status = "amber";  // p11, which would be first
  std::vector<std::string> files;
  for (const Note* note : FilesOfInterest(notes, kTime)) files.push_back(note->file);
  EXPECT_THAT(files,
              ElementsAre("r01.md", "r02.md", "r03.md", "r04.md", "r05.md", "r06.md", "r07.md",
                          "r08.md", "r09.md", "r10.md", "p10.md", "p09.md", "p08.md", "p07.md",
                          "p06.md", "p05.md", "p04.md", "p03.md", "p02.md", "p01.md", "c00.md",
                          "c01.md", "c02.md", "c03.md", "c04.md", "s00.md", "s01.md", "s02.md"));
}

TEST(ReplaceTokensTest, OnlyKnownTokensAreReplacedInOnePass) {  // REP-27, REP-28, T-8 to T-12, A10
  const TokenMap tokens = {
      {"summary", "costs $5 \\1 {task_id}"}, {"task_id", "t"}, {"context_header", "---\n"}};
  struct Case {
    std::string_view text, result;
    std::vector<std::string> warnings;
  };
  const Case kCases[] = {
      {"{summary}|{task_id}", "costs $5 \\1 {task_id}|t", {}},
      {"{{X}} {\"a\":1} {} {A} { task_id } {task_id",
       "{{X}} {\"a\":1} {} {A} { task_id } {task_id",
       {}},
      {"a\n{nosuch}\n{task_id}\n{approval_token}",
       "a\n{nosuch}\nt\n{approval_token}",
       {"p.md:2: {nosuch} is no token here and stays as it is",
        "p.md:4: {approval_token} is no token here and stays as it is"}},
      {"", "", {}},
  };
  for (const Case& c : kCases) {
    const Replaced replaced = ReplaceTokens(c.text, tokens, "p.md");
    EXPECT_EQ(replaced.text, c.result);
    EXPECT_EQ(replaced.warnings, c.warnings);
    EXPECT_FALSE(replaced.has_header);
  }
  EXPECT_TRUE(ReplaceTokens("x {context_header}", tokens, "p.md").has_header);
}

TEST(CodeSpanTest, NothingLeavesASpan) {  // REP-28
  EXPECT_EQ(CodeSpan("a"), "`a`");
  EXPECT_EQ(CodeSpan("a`b``c"), "```a`b``c```");
  EXPECT_EQ(CodeSpan("`a"), "`` `a ``");
  EXPECT_EQ(CodeSpan("a\r\nb\x1b"), "`a b\\x1B`");
  EXPECT_EQ(SingleLine("a\u2028b\xff"), "a b\xef\xbf\xbd");
}

}  // namespace
}  // namespace dossier::sources
