#include "cli/tree/command_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/terminal/terminal.h"
#include "cli/tree/complete.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/help_text.h"
#include "cli/tree/man_page.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A small tree with every kind of option.
struct Tree {
  CLI::App app{"About it.", "dossier"};
  GlobalFlags global;
  bool json = false, no_color = false;
  std::string mode = "auto", model, note;
  std::vector<std::string> paths;
  int depth = 3;

  Tree() {
    app.set_help_flag("-h", "short help");
    app.set_help_all_flag("--help", "full help");
    app.require_subcommand(1);
    app.fallthrough();
    AddGlobalFlags(app, &global);
    CLI::App& ask = *app.add_subcommand("ask", "answer a question");
    ask.add_flag("--json", json, "one object");
    ask.add_flag("--no-colour", no_color, "plain");
    ask.add_option("--mode", mode, "how")->check(CLI::IsMember({"auto", "direct"}));
    ask.add_option("-m,--model", model, "which");
    ask.add_option("--note", note, "a text");
    ask.add_option("--depth", depth, "levels")->capture_default_str()->group("Limits");
    ask.add_option("paths", paths, "files");
    app.add_subcommand("assemble", "make a prompt");
    FinishTree(app);
  }

  void Parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
    ApplyTwins(app);
  }

  std::string Failure(std::vector<std::string> words) {
    try {
      Parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      return UsageMessage(app, error);
    }
    return "";
  }
};

TEST(CommandTreeTest, OfAFlagAndItsTwinTheLaterHolds) {  // CON-3
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
    tree.Parse(c.words);
    EXPECT_EQ(tree.json, c.json) << c.words.back();
    EXPECT_EQ(tree.no_color, c.no_color) << c.words.back();
    EXPECT_EQ(tree.global.quiet, c.quiet) << c.words.back();
  }
}

TEST(CommandTreeTest, GlobalFlagsCountBeforeAndBehindTheCommand) {  // CON-2
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"-C", "x", "--color", "never", "-v", "-v", "ask", "a"},
           {"ask", "a", "-C", "x", "--color=never", "-vv"}}) {
    Tree tree;
    tree.Parse(words);
    EXPECT_EQ(tree.global.folder, "x");
    EXPECT_EQ(tree.global.color, "never");
    EXPECT_EQ(tree.global.verbose, 2);
    EXPECT_THAT(tree.paths, ElementsAre("a"));
  }
}

TEST(CommandTreeTest, BehindTwoDashesNothingIsAFlag) {  // CON-3
  Tree tree;
  tree.Parse({"ask", "--", "--json", "-q"});
  EXPECT_THAT(tree.paths, ElementsAre("--json", "-q"));
  EXPECT_FALSE(tree.json);
}

TEST(CommandTreeTest, MistakesNameTheNearest) {  // CON-3
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"ask", "--notes", "x"}, "unknown flag --notes; did you mean --note?; see `dossier ask"},
      {{"ask", "--mod", "auto"}, "unknown flag --mod"},
      {{"ask", "--trust-confg"}, "did you mean --trust-config?"},
      {{"--note", "x", "ask"}, "--note belongs behind the command: dossier ask --note; see"},
      {{"askk"}, "there is no command askk; did you mean ask?"},
      {{"ask", "--mode", "fast"}, "--mode"},
      {{"ask", "--depth", "x"}, "--depth: x is no whole number"},
      {{}, "a command is missing; there are ask, assemble"},
  };
  for (const auto& [words, message] : cases) {
    EXPECT_THAT(Tree().Failure(words), HasSubstr(message));
  }
}

TEST(HelpTextTest, ShortIsShortAndFullHasExamplesFirst) {  // CON-2
  const Tree tree;
  const CLI::App& ask = *FindCommand(tree.app, {"ask"});
  const std::string brief = HelpText(ask, "dossier ask", HelpLength::kShort);
  EXPECT_THAT(brief, HasSubstr("Usage: dossier ask [OPTIONS] [PATHS]..."));
  EXPECT_THAT(brief, HasSubstr("--mode TEXT"));
  EXPECT_THAT(brief, HasSubstr("how: auto, direct"));
  EXPECT_THAT(brief, HasSubstr("More with --help: Limits"));
  EXPECT_THAT(brief, Not(HasSubstr("--no-json")));
  const std::string full = HelpText(ask, "dossier ask", HelpLength::kFull);
  EXPECT_LT(full.find("Examples:"), full.find("Usage:"));
  EXPECT_THAT(full, HasSubstr("levels (default 3)"));
  EXPECT_THAT(full, HasSubstr("--trust-config"));
}

TEST(CompleteTest, EachPlaceOffersWhatMayStandThere) {  // CON-8
  const Tree tree;
  const Offers offers = [](std::string_view kind) -> std::vector<Completion> {
    if (kind == "MODEL") return {{"openai/gpt", ""}, {"local", "here"}};
    return {};
  };
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> offered;
    Completions::Files files = Completions::Files::kNone;
  };
  const Case cases[] = {
      {{"a"}, {"ask", "assemble"}},
      {{"-q", "as"}, {"ask", "assemble"}},
      {{"-C", "as"}, {}, Completions::Files::kFolders},
      {{"ask", "-m", ""}, {"local", "openai/gpt"}},
      {{"ask", "--model=o"}, {"--model=openai/gpt"}},
      {{"ask", "--mode", "d"}, {"direct"}},
      {{"ask", "--js"}, {"--json"}},
      {{"ask", "--no-js"}, {"--no-json"}},
      {{"ask", "--trust"}, {"--trust-config"}},
      {{"ask", ""}, {}, Completions::Files::kFiles},
      {{"ask", "--", "--js"}, {}, Completions::Files::kFiles},
      {{"ask", "--note", ""}, {}},
      {{"zzz"}, {}},
  };
  for (const Case& c : cases) {
    const Completions found = Complete(tree.app, c.words, offers);
    std::vector<std::string> words;
    for (const Completion& completion : found.words) words.push_back(completion.word);
    EXPECT_EQ(words, c.offered) << c.words.back();
    EXPECT_EQ(found.files, c.files) << c.words.back();
  }
}

TEST(ManPageTest, TextIsNeverARequest) {  // CON-8
  EXPECT_EQ(RoffText(".x\n'y \\ -z"), "\\&.x\n\\&\\(aqy \\e \\-z");
  const Tree tree;
  const std::string page = ManPage(*FindCommand(tree.app, {"ask"}), "dossier ask");
  EXPECT_THAT(page, HasSubstr(".TH DOSSIER\\-ASK 1"));
  EXPECT_THAT(page, HasSubstr("\\-\\-depth INT"));
  EXPECT_THAT(page, HasSubstr(".SH LIMITS OPTIONS"));
}

TEST(ExitCodesTest, EveryErrorHasItsRowInTheTable) {  // CON-4
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

TEST(TerminalTest, ColourFollowsTheFlagThenTheVariablesThenTheTerminal) {  // CON-7, A12
  using Color = Terminal::Color;
  using Kind = Terminal::Kind;
  struct Case {
    ColorWish wish;
    config::Variables variables;
    Kind kind;
    Color color;
  };
  const Case cases[] = {
      {ColorWish::kAuto, {{"TERM", "xterm"}}, Kind::kTerminal, Color::kYes},
      {ColorWish::kAuto, {{"TERM", "xterm"}}, Kind::kPipe, Color::kNo},
      {ColorWish::kAuto, {{"TERM", "dumb"}}, Kind::kTerminal, Color::kNo},
      {ColorWish::kAuto, {}, Kind::kTerminal, Color::kNo},
      {ColorWish::kAuto, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, Kind::kTerminal, Color::kNo},
      {ColorWish::kAuto, {{"TERM", "xterm"}, {"NO_COLOR", ""}}, Kind::kTerminal, Color::kYes},
      {ColorWish::kAuto, {{"CLICOLOR_FORCE", "1"}}, Kind::kPipe, Color::kYes},
      {ColorWish::kAuto, {{"CLICOLOR_FORCE", "0"}}, Kind::kPipe, Color::kNo},
      {ColorWish::kAuto, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}, Kind::kPipe, Color::kNo},
      {ColorWish::kAlways, {{"NO_COLOR", "1"}}, Kind::kPipe, Color::kYes},
      {ColorWish::kNever,
       {{"CLICOLOR_FORCE", "1"}, {"TERM", "xterm"}},
       Kind::kTerminal,
       Color::kNo},
  };
  for (const Case& c : cases) EXPECT_EQ(DecideColor(c.wish, c.variables, c.kind), c.color);
}

TEST(TerminalTest, ControlBytesShowOnATerminalAndPassThroughAPipe) {  // CON-7, A12
  using Kind = Terminal::Kind;
  EXPECT_EQ(OutputText("a\x1b[2J", Kind::kTerminal), "a^[[2J\n");
  EXPECT_EQ(OutputText("a\x1b[2J", Kind::kPipe), "a\x1b[2J\n");
  EXPECT_EQ(OutputText("a\n", Kind::kPipe), "a\n");
  EXPECT_EQ(OutputText("", Kind::kPipe), "");
}

}  // namespace
}  // namespace dossier::cli
