#include "sources/header/agent_header.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "sources/header/header_tokens.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kNow = 1'768'644'000;  // 2026-01-17T10:00:00Z
Clock::Wall At(std::int64_t second) { return Clock::Wall(seconds(second)); }

Note MakeNote(const std::string& queue, const std::string& file, std::int64_t age,
              const std::string& id = "") {
  Note note = ParseNote(queue + "/" + file, "");
  if (!id.empty()) note.id = id;
  note.mtime_ns = (kNow - age) * 1'000'000'000;
  return note;
}

ChangePolicy ExamplePolicy() {
  return {.allow = {"src/**", "tests/**"},
          .deny = {"secrets/**", "**/*.pem"},
          .max_lines_added = 800,
          .max_lines_deleted = 800,
          .max_files = 10,
          .allow_binary = false};
}

TEST(FormatAgoTest, AgesAreRoundedDown) {  // REP-3, A1
  struct Case {
    std::int64_t millis;
    std::string_view age;
  };
  constexpr Case kCases[] = {
      {-5'000, "just now"},   {0, "just now"},          {14'999, "just now"},
      {15'000, "15s ago"},    {59'999, "59s ago"},      {60'000, "1m ago"},
      {3'599'000, "59m ago"}, {3'600'000, "1h ago"},    {86'399'000, "23h ago"},
      {86'400'000, "1d ago"}, {864'000'000, "10d ago"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(FormatAgo(At(kNow), At(kNow) + milliseconds(c.millis)), c.age) << c.millis;
  }
}

TEST(FormatAgoTest, AnyTwoTimesHaveAnAge) {  // REP-3
  EXPECT_EQ(FormatAgo(Clock::Wall::min(), Clock::Wall::max()), "213503d ago");
  EXPECT_EQ(FormatAgo(Clock::Wall::max(), Clock::Wall::min()), "just now");
}

TEST(RoundDownTest, TheClockMovesInSteps) {  // REP-6
  EXPECT_EQ(RoundDown(At(119), seconds(60)), At(60));
  EXPECT_EQ(RoundDown(At(120), seconds(60)), At(120));
  EXPECT_EQ(RoundDown(At(-1), seconds(60)), At(-60));
  EXPECT_EQ(RoundDown(At(7) + milliseconds(900), seconds(1)), At(7));
  EXPECT_EQ(RoundDown(At(7), Millis(0)), At(7));
}

TEST(ReadModeTest, AllButTwoWordsIsPropose) {  // REP-8
  std::string problem;
  EXPECT_EQ(ReadMode("review", &problem), AgentMode::kReview);
  EXPECT_EQ(ReadMode("propose", &problem), AgentMode::kPropose);
  EXPECT_EQ(problem, "");
  for (const char* word : {"", "Review", " review", "review ", "null"}) {
    problem.clear();
    EXPECT_EQ(ReadMode(word, &problem), AgentMode::kPropose) << word;
    EXPECT_NE(problem, "") << word;
  }
}

TEST(ParseHeaderTimeTest, TakesSecondsMinutesHoursAndDays) {
  struct Case {
    std::string_view text;
    std::int64_t seconds;
  };
  constexpr Case kCases[] = {{"90", 90},     {"90s", 90}, {"3m", 180},         {"2h", 7200},
                             {"1d", 86'400}, {"0", 0},    {"365d", 31'536'000}};
  for (const Case& c : kCases) {
    EXPECT_EQ(*ParseHeaderTime("--window", c.text), seconds(c.seconds)) << c.text;
  }
  for (const char* text : {"", "x", "-1", "1.5m", "3 m", "366d", "3mm", "99999999999999999999"}) {
    EXPECT_THAT(ParseHeaderTime("--window", text), FailsWith(ErrorCode::kUsage, "--window"))
        << text;
  }
}

TEST(AgentHeaderTest, TheExampleOfTheSpecIsExact) {  // A3
  std::vector<Note> notes = {
      MakeNote("ready_for_review", "2026-01-17__task-217__feat-auth.md", 300)};
  notes[0].targets = {"src/auth/", "docs/api.md"};
  const std::vector<Task> tasks = {{.id = "fact-001", .summary = "Build src/factorial.py"}};
  const ChangePolicy policy{.max_lines_added = 800, .max_files = 10};
  const HeaderInput input{.repo = {.branch = "main", .head = "0123456"},
                          .notes = notes,
                          .tasks = tasks,
                          .policy = &policy,
                          .targets = {"src/factorial.py", "tests/test_factorial.py"},
                          .now = At(kNow)};
  EXPECT_EQ(ToYaml(BuildHeader(input)),
            R"yaml(---  # agent_context
repo:
  branch: "main"
  head: "0123456"
  recent_window: "180s"
pending:
  - id: "task-217"
    age: "5m ago"
    files: ["src/auth/", "docs/api.md"]
backlog:
  - {id: "fact-001", summary: "Build src/factorial.py"}
hotspots: []
targets: ["src/factorial.py", "tests/test_factorial.py"]
policy: ["patch-only", ".agent/* only", "minimal diff", "respect targets", "+≤800 lines", "files≤10"]
next_work:
  - "CTO: review task-217 (5m ago)"
  - "Engineer: pick fact-001 — Build src/factorial.py"
mode: "propose"
...
)yaml");
}

TEST(AgentHeaderTest, NothingThereIsFourEmptyListsAndNoop) {  // REP-18, A2
  EXPECT_EQ(ToYaml(BuildHeader({})), R"yaml(---  # agent_context
repo:
  branch: "HEAD"
  head: "HEAD"
  recent_window: "180s"
pending: []
backlog: []
hotspots: []
targets: []
policy: ["patch-only", ".agent/* only", "minimal diff", "respect targets"]
next_work:
  - "noop"
mode: "propose"
...
)yaml");
}

TEST(AgentHeaderTest, ListsAreCappedAndNewestFirst) {  // REP-13, REP-14, REP-15, A5
  std::vector<Note> notes;
  for (int i = 0; i < 9; ++i) {
    notes.push_back(MakeNote("ready_for_review", fmt::format("d__r{}__x.md", i), 100 + i));
    notes.back().targets = {"a", "b", "c", "d"};
  }
  notes.push_back(MakeNote("ready_for_review", "d__red__x.md", 1));
  notes.back().status = "red";
  notes.push_back(MakeNote("ready_for_review", "d__amber__x.md", 0));
  notes.back().status = "amber";
  std::vector<Task> tasks;
  for (int i = 9; i > 0; --i) tasks.push_back({.id = fmt::format("t{}", i)});
  const Header header = BuildHeader({.notes = notes, .tasks = tasks, .now = At(kNow)});
  ASSERT_THAT(header.pending, SizeIs(7));
  EXPECT_EQ(header.pending[0].id, "amber");
  EXPECT_EQ(header.pending[0].files[0], "ready_for_review/d__amber__x.md");
  EXPECT_EQ(header.pending[1].id, "r0");
  EXPECT_THAT(header.pending[1].files, ElementsAre("a", "b", "c"));
  ASSERT_THAT(header.backlog, SizeIs(7));
  EXPECT_EQ(header.backlog[0].id, "t1");
  EXPECT_THAT(header.hotspots, SizeIs(7));
  EXPECT_EQ(header.hotspots[1].path, "ready_for_review/d__red__x.md");
  EXPECT_TRUE(header.warnings.empty());
  EXPECT_THAT(header.next_work, ElementsAre("CTO: review amber (just now)", "Engineer: pick t1",
                                            "CTO: investigate ready_for_review/d__amber__x.md"));
}

TEST(AgentHeaderTest, TheWindowHoldsItsEdgeAndEqualTimesStandByPath) {  // REP-15, A5
  const std::vector<Note> notes = {
      MakeNote("scratch", "b.md", 180),        MakeNote("scratch", "late.md", 181),
      MakeNote("notes_FROM_CTO", "z.md", 180), MakeNote("scratch", "a.md", 180),
      MakeNote("proposed_tasks", "p.md", 0),   MakeNote("scratch", "future.md", -50)};
  const std::vector<ChangedFile> changed = {{"src/x.cc", (kNow - 90) * 1'000'000'000},
                                            {"src/old.cc", 0}};
  const Header header = BuildHeader({.notes = notes, .now = At(kNow), .changed_files = changed});
  std::vector<std::string> lines;
  for (const auto& spot : header.hotspots) lines.push_back(spot.path + " " + spot.age);
  EXPECT_THAT(lines, ElementsAre("scratch/future.md just now", "src/x.cc 1m ago",
                                 "notes_FROM_CTO/z.md 3m ago", "scratch/a.md 3m ago",
                                 "scratch/b.md 3m ago"));
}

TEST(AgentHeaderTest, ThePolicyShowsEveryEnforcedLimit) {  // REP-17, A6
  const ChangePolicy policy = ExamplePolicy();
  EXPECT_THAT(BuildHeader({.policy = &policy}).policy,
              ElementsAre("patch-only", ".agent/* only", "minimal diff", "respect targets",
                          "allow:src/**,tests/**", "deny:secrets/**,**/*.pem", "+≤800 lines",
                          "-≤800 lines", "files≤10", "no binary"));
  EXPECT_EQ(BuildHeader({.output = AgentEngine::Output::kWorktree}).policy[1], "worktree only");
}

TEST(AgentHeaderTest, ALongListOfGlobsSaysHowManyAreLeftOut) {  // REP-17
  ChangePolicy policy;
  for (int i = 0; i < 200; ++i) policy.allow.push_back(fmt::format("folder{:03}/**", i));
  const std::string rule = BuildHeader({.policy = &policy}).policy[4];
  EXPECT_TRUE(rule.starts_with("allow:folder000/**,folder001/**,")) << rule;
  EXPECT_TRUE(rule.ends_with(",(+170 more)")) << rule;
  EXPECT_LE(utf8::CodePoints(rule), 430u);
}

TEST(AgentHeaderTest, LongTextsAreCutAndCounted) {  // REP-7
  const std::vector<Task> tasks = {{.id = std::string(201, 'i'), .summary = std::string(301, 's')},
                                   {.id = std::string(200, 'j'), .summary = "bad \xff byte"}};
  const Header header = BuildHeader({.tasks = tasks});
  EXPECT_EQ(header.backlog[0].id, std::string(199, 'i') + "…");
  EXPECT_EQ(header.backlog[0].summary, std::string(299, 's') + "…");
  EXPECT_EQ(header.backlog[1].id, std::string(200, 'j'));
  EXPECT_EQ(header.backlog[1].summary, "bad \xef\xbf\xbd byte");
  EXPECT_EQ(header.cuts, 2u);
}

TEST(AgentHeaderTest, ExtraKeysStandLastInRepo) {  // REP-19
  HeaderInput input{.repo = {.branch = "b",
                             .head = "h",
                             .dirty = true,
                             .upstream = Upstream{1, 2},
                             .commits = {"one", "no"}},
                    .now = At(kNow),
                    .extras = {.dirty = true, .upstream = true, .commits = true, .date = true}};
  input.extras.environment = {
      .os = "Debian", .sandbox = "none", .network = "none", .tools = {"git"}};
  const Header header = BuildHeader(input);
  EXPECT_NE(ToYaml(header).find("  recent_window: \"180s\"\n"
                                "  dirty: true\n"
                                "  upstream: {ahead: 1, behind: 2}\n"
                                "  commits: [\"one\", \"no\"]\n"
                                "  date: \"2026-01-17\"\n"
                                "  environment: {os: \"Debian\", sandbox: \"none\", network: "
                                "\"none\", tools: [\"git\"]}\n"
                                "pending: []\n"),
            std::string::npos)
      << ToYaml(header);
  input.repo.upstream.reset();
  EXPECT_NE(ToYaml(BuildHeader(input)).find("  upstream: null\n"), std::string::npos);
  input.repo.dirty.reset();
  EXPECT_EQ(ToYaml(BuildHeader(input)).find("dirty"), std::string::npos) << "nobody knows";
}

TEST(AgentHeaderTest, JsonAndMarkdownHoldTheSame) {  // REP-20
  const std::vector<Task> tasks = {{.id = "a`b", .summary = "two\nlines"}};
  const Header header = BuildHeader({.tasks = tasks, .targets = {"src"}});
  EXPECT_EQ(
      ToJson(ToJsonValue(header)),
      R"({"schema":"dossier.header/1","repo":{"branch":"HEAD","head":"HEAD",)"
      R"("recent_window":"180s"},"pending":[],"backlog":[{"id":"a`b","summary":"two\nlines"}],)"
      R"("hotspots":[],"targets":["src"],"policy":["patch-only",".agent/* only",)"
      R"("minimal diff","respect targets"],"next_work":["Engineer: pick a`b — two\nlines"],)"
      R"("mode":"propose"})");
  EXPECT_EQ(ToMarkdown(header), R"(### repo
- branch: `HEAD`
- head: `HEAD`
- recent_window: 180s

### pending
- (none)

### backlog
- ``a`b`` • two lines

### hotspots
- (none)

### targets
- `src`

### policy
- patch-only
- .agent/* only
- minimal diff
- respect targets

### next_work
- Engineer: pick a`b — two lines

### mode
- propose
)");
}

TEST(AgentHeaderTest, OddCharactersAreEscaped) {  // REP-21
  const std::vector<Task> tasks = {{.id = "x",
                                    .summary = "\"\\/\n\t\r\x01\x7f\u0085\u061c\u200e\u2028\ufeff"
                                               "\uffff é😀"}};
  EXPECT_NE(ToYaml(BuildHeader({.tasks = tasks}))
                .find(R"(summary: "\"\\/\n\t\r\x01\x7F\x85\u061C\u200E\u2028\uFEFF\uFFFF é😀"})"),
            std::string::npos);
}

// Texts that break YAML writers that are not careful.
std::string HostileText(Random& random) {
  constexpr std::string_view kParts[] = {
      "---",      "...",    ": ",     " #",     "\"",     "'",     "\n",   "\r",      "\t",
      "\\",       "[",      "]",      "{",      "}",      ",",     "&a",   "*a",      "!t",
      "|",        ">",      "%",      "@",      "`",      "no",    "~",    "0123456", "12e4567",
      "12:30:45", "\u202e", "\u2028", "\u0085", "\ufeff", "😀",    "\x01", "\x1b[2J", "é",
      " ",        "<<",     "=",      "?",      "-",      "\uffff"};
  std::string text;
  for (std::uint64_t i = random.Below(8); i > 0; --i) {
    text += kParts[random.Below(std::size(kParts))];
  }
  return text;
}

TEST(AgentHeaderTest, HostileTextsComeBackFromYaml) {  // REP-21, A4 (other readers: tests/header)
  Random random(6);
  for (int round = 0; round < 5'000; ++round) {
    const std::string id = "x" + HostileText(random), summary = HostileText(random);
    const std::vector<Task> tasks = {{.id = id, .summary = summary}};
    const std::string text = ToYaml(BuildHeader({.tasks = tasks, .targets = {summary}}));
    const auto read = assembly::ReadYaml(text, "header");
    ASSERT_TRUE(read) << read.error().message << text;
    const Json data = ToJsonValue(*read);
    ASSERT_EQ(data.at("backlog").at(0).at("id"), Json(id)) << text;
    ASSERT_EQ(data.at("backlog").at(0).at("summary"), Json(summary)) << text;
    ASSERT_EQ(data.at("targets").at(0), Json(summary)) << text;
  }
}

TEST(AgentHeaderTest, SameInputSameBytes) {  // REP-6
  const std::vector<Note> notes = {MakeNote("scratch", "a.md", 30)};
  HeaderInput input{.notes = notes, .age_step = seconds(60), .now = At(kNow)};
  const std::string first = ToYaml(BuildHeader(input));
  input.now = At(kNow + 59);
  EXPECT_EQ(ToYaml(BuildHeader(input)), first);
  input.now = At(kNow + 60);
  EXPECT_NE(ToYaml(BuildHeader(input)), first);
}

}  // namespace
}  // namespace dossier::sources
