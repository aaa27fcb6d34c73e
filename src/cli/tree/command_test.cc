#include "cli/tree/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/tree/complete.h"
#include "cli/tree/help_text.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"
#include "header_example.h"  // what stands in the comment of command.h
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Given {
  bool json = false, no_color = false, raw = false;
  std::optional<bool> stream;
  std::string mode = "auto", model, note, memory;
  std::vector<std::string> paths, tags;
  int depth = 3;
  double share = 0.5;
};

std::vector<Completion> OfferModels(const CompletionContext&) {
  return {{"openai/gpt", ""}, {"local", "here"}};
}

constexpr ValueKind kSomeModel{.word = "MODEL", .offers = OfferModels};

// A small program with every sort of flag, whose values stay to be looked at.
struct Tree {
  GlobalFlags global;
  Given given;
  CommandNode root{MakeRoot()};

  Command MakeRoot() {
    return {
        .name = "dossier",
        .summary = "About it.",
        .binding = [this](Flags& flags) -> Runner {
          AddGlobalFlags(flags, &global);
          return {};
        },
        .commands = {{.name = "ask",
                      .summary = "answer a question",
                      .examples = "dossier ask x\n    one file",
                      .binding = [this](Flags& flags) { return Declare(flags); }},
                     {.name = "assemble",
                      .summary = "make a prompt",
                      .commands = {{.name = "preview", .summary = "show it"}}},
                     {.name = "secret", .summary = "not shown", .listed = Command::Listed::kNo}}};
  }

  Runner Declare(Flags& flags) {
    flags.Add("--json", &given.json, "one object");
    flags.Add("--no-colour", &given.no_color, "plain");
    flags.Add("--stream", &given.stream, "as it comes");
    flags.Add("--mode", &given.mode, "how").OneOf({"auto", "direct"});
    flags.Add("-m,--model", &given.model, "which").Kind(kSomeModel);
    flags.Add("--note", &given.note, "a text").Excludes("--mode");
    flags.Add("--raw", &given.raw, "as it is").Excludes("--note");
    flags.Add("--memory", &given.memory, "remember").Implies(".");
    flags.Add("--tag", &given.tags, "a word");
    Flags limits = flags.In("Limits");
    limits.Add("--depth", &given.depth, "levels").Between(1, 9).ShowDefault().Often();
    limits.Add("--share", &given.share, "of the window").Positive();
    flags.Add("paths", &given.paths, "files").Kind(kPath);
    return [](Context&) -> Result<int> { return 7; };
  }

  Result<ParsedLine> Parse(std::vector<std::string> words) { return ParseLine(root, words); }
  const CommandNode& ask() const { return *root.below().front(); }
};

std::string Failure(std::vector<std::string> words) {
  Tree tree;
  const auto line = tree.Parse(std::move(words));
  return line ? "" : line.error().message;
}

TEST(CommandTest, OfASwitchAndItsTwinTheLaterHolds) {  // CON-3
  struct Case {
    std::vector<std::string> words;
    bool json, no_color, quiet;
  };
  const Case cases[] = {
      {{"ask", "--json"}, true, false, false},
      {{"ask", "--json", "--no-json"}, false, false, false},
      {{"ask", "--no-json", "--json"}, true, false, false},
      {{"ask", "--json", "--no-json", "--json"}, true, false, false},
      {{"ask", "--no-colour"}, false, true, false},
      {{"ask", "--no-colour", "--colour"}, false, false, false},
      {{"-q", "ask", "--no-quiet"}, false, false, false},
      {{"ask", "-q"}, false, false, true},
  };
  for (const Case& c : cases) {
    Tree tree;
    ASSERT_THAT(tree.Parse(c.words), Succeeds());
    EXPECT_EQ(tree.given.json, c.json) << c.words.back();
    EXPECT_EQ(tree.ask().AsksForJson(), c.json) << c.words.back();
    EXPECT_EQ(tree.given.no_color, c.no_color) << c.words.back();
    EXPECT_EQ(tree.global.quiet, c.quiet) << c.words.back();
  }
}

TEST(CommandTest, ASwitchThatMayBeUnsetKnowsWhetherItWasGiven) {
  Tree unset, on, off;
  ASSERT_THAT(unset.Parse({"ask"}), Succeeds());
  ASSERT_THAT(on.Parse({"ask", "--stream"}), Succeeds());
  ASSERT_THAT(off.Parse({"ask", "--stream", "--no-stream"}), Succeeds());
  EXPECT_EQ(unset.given.stream, std::nullopt);
  EXPECT_EQ(on.given.stream, true);
  EXPECT_EQ(off.given.stream, false);
}

TEST(CommandTest, CountingStartsAgainBehindTheTwin) {
  Tree tree;
  ASSERT_THAT(tree.Parse({"-vv", "ask", "-v", "--no-verbose"}), Succeeds());
  EXPECT_EQ(tree.global.verbose, 0);
}

TEST(CommandTest, GlobalFlagsCountBeforeAndBehindTheCommand) {  // CON-2
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"-C", "x", "--color", "never", "-v", "-v", "ask", "a"},
           {"ask", "a", "-C", "x", "--color=never", "-vv"}}) {
    Tree tree;
    ASSERT_THAT(tree.Parse(words), Succeeds());
    EXPECT_EQ(tree.global.folder, "x");
    EXPECT_EQ(tree.global.color, "never");
    EXPECT_EQ(tree.global.verbose, 2);
    EXPECT_THAT(tree.given.paths, ElementsAre("a"));
  }
}

TEST(CommandTest, ValuesGoWhereTheirTypeSays) {
  Tree tree;
  ASSERT_THAT(tree.Parse({"ask", "--tag", "a", "x", "--tag=b", "--memory", "y", "--share", "0.25"}),
              Succeeds());
  EXPECT_THAT(tree.given.tags, ElementsAre("a", "b"));  // one value each time
  EXPECT_THAT(tree.given.paths, ElementsAre("x", "y"));
  EXPECT_EQ(tree.given.memory, ".");
  EXPECT_EQ(tree.given.share, 0.25);
  Tree named;
  ASSERT_THAT(named.Parse({"ask", "--memory=s.db"}), Succeeds());
  EXPECT_EQ(named.given.memory, "s.db");
}

TEST(CommandTest, BehindTwoDashesNothingIsAFlag) {  // CON-3
  Tree tree;
  ASSERT_THAT(tree.Parse({"ask", "--", "--json", "-q"}), Succeeds());
  EXPECT_THAT(tree.given.paths, ElementsAre("--json", "-q"));
  EXPECT_FALSE(tree.given.json);
}

TEST(CommandTest, MistakesAreToldInOneSentence) {  // CON-3
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"ask", "--notes", "x"}, "unknown flag --notes; did you mean --note?; see `dossier ask"},
      {{"ask", "--trust-confg"}, "did you mean --trust-config?"},
      {{"--note", "x", "ask"}, "--note belongs behind the command: dossier ask --note; see"},
      {{"askk"}, "there is no command askk; did you mean ask?"},
      {{"preview"}, "there is no command preview; did you mean `dossier assemble preview`?; see"},
      {{"nosuch", "--help"}, "there is no command nosuch; there are ask, assemble; see `dossier"},
      {{"assemble", "-h", "nosuch"},
       "there is no command nosuch; there are preview; see `dossier as"},
      {{"ask", "--mode", "fast"}, "--mode: fast is not one of auto, direct"},
      {{"ask", "--depth", "x"}, "--depth: x is no whole number"},
      {{"ask", "--depth", "10"}, "--depth: 10 is not between 1 and 9; see"},
      {{"ask", "--depth", "010"}, "--depth"},
      {{"ask", "--share", "0"}, "--share: 0 is too small; see"},
      {{"ask", "--share", "nan"}, "--share"},
      {{"ask", "--depth", "2", "--depth", "3"}, "--depth is given 2 times; once is enough; see"},
      {{"ask", "--note", "\xff"}, "is not UTF-8: byte 0"},
      {{"ask", "--note", "x", "--mode", "auto"}, "--mode excludes --note"},
      {{"ask", "--note", "x", "--raw"}, "--note excludes --raw"},
  };
  for (const auto& [words, message] : cases) EXPECT_THAT(Failure(words), HasSubstr(message));
  EXPECT_EQ(Failure({"ask", "\xff"}), "");               // a path may be any bytes
  EXPECT_EQ(Failure({"ask", "--notes", "--help"}), "");  // help for who has mistyped a flag
}

TEST(ParseLineTest, AnEmptyLineAsksForHelp) {  // FLT-49
  const Tree tree;
  const auto line = ParseLine(tree.root, {});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->wish, ParsedLine::Wish::kFirstScreen);
}

TEST(HelpTextTest, ShortIsShortAndBothHaveExamplesFirst) {  // CON-2
  const Tree tree;
  const std::string brief = HelpText(tree.ask(), HelpLength::kShort);
  EXPECT_THAT(brief, HasSubstr("Usage: dossier ask [OPTIONS] [PATHS]..."));
  EXPECT_LT(brief.find("Examples:"), brief.find("Usage:"));
  EXPECT_THAT(brief, HasSubstr("--mode WORD"));
  EXPECT_THAT(brief, HasSubstr("how: auto, direct"));
  EXPECT_THAT(brief, HasSubstr("--depth N"));
  EXPECT_THAT(brief, Not(HasSubstr("--share")));
  EXPECT_THAT(brief, HasSubstr("More with --help: Limits"));
  EXPECT_THAT(brief, Not(HasSubstr("--no-json")));
  const std::string full = HelpText(tree.ask(), HelpLength::kFull);
  EXPECT_LT(full.find("Examples:"), full.find("Usage:"));
  EXPECT_THAT(full, HasSubstr("levels (default 3)"));
  EXPECT_THAT(full, HasSubstr("--trust-config"));
  EXPECT_THAT(HelpText(tree.root, HelpLength::kFull), Not(HasSubstr("secret")));
}

TEST(CompleteTest, EachPlaceOffersWhatMayStandThere) {  // CON-8
  const Tree tree;
  using Files = ValueKind::Files;
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> offered;
    Files files = Files::kNone;
  };
  const Case cases[] = {
      {{"a"}, {"ask", "assemble"}},
      {{"-q", "as"}, {"ask", "assemble"}},
      {{"-C", "as"}, {}, Files::kFolders},
      {{"ask", "-m", ""}, {"local", "openai/gpt"}},
      {{"ask", "--model=o"}, {"--model=openai/gpt"}},
      {{"ask", "--mode", "d"}, {"direct"}},
      {{"ask", "--js"}, {"--json"}},
      {{"ask", "--no-js"}, {"--no-json"}},
      {{"ask", "--trust"}, {"--trust-config"}},
      {{"ask", ""}, {}, Files::kFiles},
      {{"ask", "--", "--js"}, {}, Files::kFiles},
      {{"ask", "--note", ""}, {}},
      {{"zzz"}, {}},
  };
  for (const Case& c : cases) {
    const Completions found = Complete({tree.global, tree.root}, c.words);
    std::vector<std::string> words;
    for (const Completion& completion : found.words) words.push_back(completion.word);
    EXPECT_EQ(words, c.offered) << c.words.back();
    EXPECT_EQ(found.files, c.files) << c.words.back();
  }
}

TEST(ManPageTest, TextIsNeverARequest) {  // CON-8
  EXPECT_EQ(RoffText(".x\n'y \\ -z"), "\\&.x\n\\&\\(aqy \\e \\-z");
  const Tree tree;
  const std::string page = ManPage(tree.ask());
  EXPECT_THAT(page, HasSubstr(".TH DOSSIER\\-ASK 1"));
  EXPECT_THAT(page, HasSubstr("\\-\\-depth N"));
  EXPECT_THAT(page, HasSubstr(".SH LIMITS OPTIONS"));
}

// The example of the header: it compiles, and does what it says.
TEST(CommandTest, TheExampleOfTheHeaderWorks) {  // HSE-31
  const GlobalFlags global;
  const CommandNode greet(GreetCommand());
  ASSERT_THAT(ParseLine(greet, std::vector<std::string>{"Ann", "-n", "2"}), Succeeds());
  std::istringstream in;
  std::ostringstream out, err;
  Context context{.flags = global,
                  .command = greet,
                  .interrupt = nullptr,
                  .cancel = {},
                  .in = in,
                  .out = out,
                  .err = err,
                  .argv = {}};
  ASSERT_THAT(greet.Run(context), Succeeds());
  EXPECT_EQ(out.str(), "Hello, Ann\nHello, Ann\n");
  EXPECT_THAT(HelpText(greet, HelpLength::kFull), HasSubstr("Usage: greet [OPTIONS] NAME..."));
  EXPECT_THAT(ParseLine(CommandNode(GreetCommand()), std::vector<std::string>{"-n", "10", "A"}),
              FailsWith(ErrorCode::kUsage, "10 is not between 1 and 9"));
}

TEST(FailureTest, EveryErrorHasItsRowInTheTable) {  // CON-4
  for (int code = 0; code <= static_cast<int>(ErrorCode::kFailed); ++code) {
    const int exit_code = ExitCode(static_cast<ErrorCode>(code));
    EXPECT_TRUE(std::any_of(std::begin(kExitMeanings), std::end(kExitMeanings),
                            [&](const ExitMeaning& row) { return row.code == exit_code; }))
        << exit_code;
  }
  EXPECT_EQ(CompatExitCode(2), 2);
  EXPECT_EQ(CompatExitCode(3), 1);
  EXPECT_EQ(CompatExitCode(16), 1);
  EXPECT_EQ(CompatExitCode(130), 130);
}

}  // namespace
}  // namespace dossier::cli
