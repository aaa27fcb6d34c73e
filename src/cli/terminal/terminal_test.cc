#include "cli/terminal/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "base/files/file.h"

namespace dossier::cli {
namespace {

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
  // JSON stays JSON: whatever reads the screen gets the same text back.
  const std::string json =
      ToJson(JsonObject{{"answer", "a\u009b5m \u202e \U000e0041 \x7f \x1b ü \u65e5"}, {"n", 1}});
  const std::string shown = OutputText(json, Kind::kTerminal);
  EXPECT_EQ(
      shown,
      "{\"answer\":\"a\\u009b5m \\u202e \\udb40\\udc41 \\u007f \\u001b ü \u65e5\",\"n\":1}\n");
  EXPECT_EQ(ParseJson(shown), ParseJson(json));
  EXPECT_EQ(OutputText(json, Kind::kPipe), json + "\n");
  EXPECT_EQ(OutputText("[\r\n  \"\u009b\"\r\n]", Kind::kTerminal), "[\n  \"\\u009b\"\n]\n");
  EXPECT_EQ(OutputText("say \"\u009b\"", Kind::kTerminal), "say \"\\u{9B}\"\n");
}

// The signal comes before anything waits: a look at what was caught and the wait are one step.
TEST(TerminalTest, AQuestionEndsWithASignalThatComesWhileItIsWritten) {  // FLT-43
  static volatile std::sig_atomic_t seen;
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    seen = 0;
    const auto before = std::signal(ending, [](int signal) { seen = signal; });
    int master = -1, slave = -1;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    const auto answer = AskOn(slave, [&]() -> Status {
      std::raise(ending);
      return {};
    });
    EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(seen, ending) << "the rest of the program was not told";
    std::signal(ending, before);
    close(master);
    close(slave);
  }
}

}  // namespace

namespace {

class TerminalFilterTest : public ::testing::Test {
 protected:
  TerminalFilterTest() : main_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(grantpt(main_.get()), 0);
    EXPECT_EQ(unlockpt(main_.get()), 0);
    terminal_ = UniqueFd(open(ptsname(main_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    pipe_ = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  }

  UniqueFd main_, terminal_, pipe_;
  std::stringbuf shown_;
};

TEST_F(TerminalFilterTest, OnATerminalOnlyTheProgramActs) {  // FLT-87
  TerminalFilter filter(&shown_, terminal_.get());
  std::ostream out(&filter);
  out << "a\x1b]0;t\x07" << Own("\x1b[1m") << "b\n\tc\x7f" << '\x1b' << "\u202e\u009b"
      << Own("\x1b[0m");
  EXPECT_EQ(shown_.str(), "a^[]0;t^G\x1b[1mb\n\tc\\u{7F}^[\\u{202E}\\u{9B}\x1b[0m");
}

TEST_F(TerminalFilterTest, ACodePointMayComeInPieces) {  // FLT-87
  for (const std::string text : {"東京 naïve 🙂", "\u202e\u009b"}) {
    std::stringbuf whole, pieces;
    {
      TerminalFilter filter(&whole, terminal_.get());
      std::ostream(&filter) << text;
    }
    {
      TerminalFilter filter(&pieces, terminal_.get());
      std::ostream out(&filter);
      for (const char c : text) out << c << std::flush;
    }
    EXPECT_EQ(pieces.str(), whole.str());
  }
  {
    TerminalFilter filter(&shown_, terminal_.get());
    std::ostream(&filter) << "x\xe6\x9d";  // never whole
  }
  EXPECT_EQ(shown_.str(), "x\uFFFD");
}

TEST_F(TerminalFilterTest, ElsewhereEveryBytePasses) {  // FLT-87
  TerminalFilter filter(&shown_, pipe_.get());
  std::ostream out(&filter);
  const std::string bytes("a\x1b]0;t\x07\0\xff\xe6\r\n", 13);
  out << bytes << Own("\x1b[1m");
  EXPECT_EQ(shown_.str(), bytes + "\x1b[1m");
}

}  // namespace
}  // namespace dossier::cli
