#include "cli/chat/chat_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <sstream>
#include <thread>

#include "base/files/file.h"
#include "base/random.h"
#include "cli/terminal/line_editor.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns scripted lines, then the end of input.
class ScriptedReader final : public LineReader {
 public:
  explicit ScriptedReader(std::deque<InputLine> lines) : lines_(std::move(lines)) {}

  Result<InputLine> Read(const LinePrompt& prompt) override {
    prompts.push_back(prompt);
    if (lines_.empty()) return InputLine{.kind = InputLine::Kind::kEnd, .text = {}};
    InputLine line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }
  void Remember(std::string_view message) override { remembered.emplace_back(message); }

  std::vector<LinePrompt> prompts;
  std::vector<std::string> remembered;

 private:
  std::deque<InputLine> lines_;
};

InputLine Text(std::string text) { return {.text = std::move(text)}; }
InputLine Interrupted(InputLine::Was was) {
  return {.kind = InputLine::Kind::kInterrupted, .text = {}, .was = was};
}

// Records the requests that it receives.
class RecordingDriver final : public ChatDriver {
 public:
  std::string model() const override { return model_; }
  std::string conversation() const override { return "conv-1"; }
  ChatTurn Send(const ChatMessage& message, ChatSink& sink, const CancelToken& cancel) override {
    std::string call = "send " + message.text;
    for (const std::string& command : message.exec) call += " [" + command + "]";
    calls.push_back(std::move(call));
    sink.OnText("re");
    if (press) press();
    if (press_again) press_again();
    if (cancel.cancelled()) return {.end = ChatTurn::End::kInterrupted};
    if (failure) return {.end = ChatTurn::End::kFailed, .error = failure};
    sink.OnNote("a note");
    sink.OnText("ply\x1b[2J");
    return {.warnings = {"careful"}, .usage = "usage: 1 in"};
  }
  ChatTurn Retry(ChatSink& sink, const CancelToken&) override {
    calls.emplace_back("retry");
    sink.OnText("again");
    return {};
  }
  Result<std::string> Undo(const CancelToken&) override { return Done("undo"); }
  Result<std::string> Fork(std::string_view id, const CancelToken&) override {
    return Done(fmt::format("fork {}", id));
  }
  Result<std::string> Save(std::string_view id, const CancelToken&) override {
    return Done(fmt::format("save {}", id));
  }
  Result<std::string> Refresh(const CancelToken&) override { return Done("refresh"); }
  Result<std::string> Compact(const CancelToken&) override { return Done("compact"); }
  Result<std::string> Context() override { return Done("context"); }
  Result<std::string> Tokens() override { return Done("tokens"); }
  Result<std::string> Usage() override {
    return MakeError(ErrorCode::kNotFound, "nothing was billed");
  }
  Result<std::string> SetModel(std::string_view name) override {
    model_ = name;
    return Done(fmt::format("model {}", name));
  }

  std::vector<std::string> calls;
  std::function<void()> press, press_again;
  std::optional<Error> failure;

 private:
  Result<std::string> Done(const std::string& call) {
    calls.push_back(call);
    return "did " + call;
  }

  std::string model_ = "tiny";
};

struct Played {
  int code = 0;
  std::string out, err;
  std::vector<std::string> remembered;
};

Played Play(std::deque<InputLine> lines, RecordingDriver& driver, ChatSessionOptions options = {}) {
  ScriptedReader reader(std::move(lines));
  std::ostringstream out, err;
  std::function<void()> handler;
  ChatSession session(
      std::move(options), driver, reader,
      [&](std::function<void()> given) { handler = std::move(given); }, out, err);
  const auto press = [&] { handler(); };
  if (driver.press) driver.press = press;
  if (driver.press_again) driver.press_again = press;
  const int code = session.Run({});
  EXPECT_FALSE(handler) << "the session keeps Ctrl-C";
  return {code, out.str(), err.str(), reader.remembered};
}

TEST(ChatSessionTest, EveryCommandReachesTheDriver) {  // A12
  RecordingDriver driver;
  const Played played =
      Play({Text("why?"),     Text("/exec git diff"), Text("/exec make -n"), Text("now?"),
            Text("and now?"), Text("/undo"),          Text("/retry"),        Text("/fork"),
            Text("/fork b"),  Text("/save c"),        Text("/refresh"),      Text("/compact"),
            Text("/context"), Text("/tokens"),        Text("/model big"),    Text("/model"),
            Text("//x"),      Text("/usage"),         Text("/nonsense"),     Text(" ")},
           driver);
  EXPECT_EQ(played.code, 0);
  EXPECT_THAT(driver.calls,
              ElementsAre("send why?", "send now? [git diff] [make -n]", "send and now?", "undo",
                          "retry", "fork ", "fork b", "save c", "refresh", "compact", "context",
                          "tokens", "model big", "send /x"));
  EXPECT_THAT(played.err, HasSubstr("did fork b\n"));
  EXPECT_THAT(played.err, HasSubstr("dossier: nothing was billed\n"));
  EXPECT_THAT(played.err, HasSubstr("dossier: warning: careful\n"));
  EXPECT_THAT(played.err, HasSubstr("unknown command /nonsense"));
  EXPECT_THAT(played.err, Not(HasSubstr("usage: 1 in")));
  EXPECT_EQ(played.remembered.size(), 19);
}

TEST(ChatSessionTest, RepliesGoToStdoutAndAllElseToStderr) {  // CON-1, CON-7
  RecordingDriver driver;
  ChatSessionOptions options{.usage = ChatSessionOptions::Usage::kYes};
  EXPECT_EQ(Play({Text("a")}, driver, options).out, "re\nply\x1b[2J\n");  // a pipe: exact text
  options.terminal = {.out = Terminal::Kind::kTerminal};
  const Played played = Play({Text("a")}, driver, options);
  EXPECT_EQ(played.out, "re\nply^[[2J\n");
  EXPECT_THAT(played.err, HasSubstr("a note\n"));
  EXPECT_THAT(played.err, HasSubstr("usage: 1 in\n"));
  EXPECT_THAT(played.err, Not(HasSubstr("\x1b")));
}

TEST(ChatSessionTest, CtrlCStopsAReplyAndTheSecondLeaves) {  // CON 3.2, A12
  RecordingDriver driver;
  driver.press = [] {};
  Played played = Play({Text("a"), Text("b")}, driver);
  EXPECT_EQ(played.code, 0);
  EXPECT_THAT(driver.calls, ElementsAre("send a", "send b"));
  EXPECT_THAT(played.err, HasSubstr("kept as incomplete"));
  driver.calls.clear();
  driver.press_again = [] {};
  played = Play({Text("a"), Text("b")}, driver);
  EXPECT_EQ(played.code, 130);
  EXPECT_THAT(driver.calls, ElementsAre("send a"));
}

TEST(ChatSessionTest, CtrlCAtThePromptClearsAndTwiceOnAnEmptyLineLeaves) {
  RecordingDriver driver;
  constexpr auto kEmpty = InputLine::Was::kEmpty, kFilled = InputLine::Was::kFilled;
  EXPECT_EQ(Play({Interrupted(kEmpty), Interrupted(kEmpty), Text("a")}, driver).code, 130);
  EXPECT_THAT(driver.calls, IsEmpty());
  EXPECT_EQ(Play({Interrupted(kEmpty), Interrupted(kFilled), Interrupted(kEmpty), Text("a"),
                  Interrupted(kEmpty)},
                 driver)
                .code,
            0);
  EXPECT_THAT(driver.calls, ElementsAre("send a"));
}

TEST(ChatSessionTest, AFailedTurnIsToldAndTheSessionGoesOn) {
  RecordingDriver driver;
  driver.failure = Error{ErrorCode::kNetwork, "no route to host"};
  const Played played = Play({Text("/exec ls"), Text("a"), Text("a")}, driver);
  EXPECT_EQ(played.code, 0);
  EXPECT_THAT(played.err, HasSubstr("dossier: no route to host\n"));
  // The command was not sent, so it belongs to the next attempt.
  EXPECT_THAT(driver.calls, ElementsAre("send a [ls]", "send a [ls]"));
}

TEST(ChatSessionTest, EditSendsWhatTheEditorLeft) {
  RecordingDriver driver;
  ChatSessionOptions options;
  std::vector<Result<std::string>> edited = {"from the editor", "",
                                             MakeError(ErrorCode::kFailed, "vi is missing")};
  std::size_t next = 0;
  options.edit = [&](std::string_view) { return edited[next++]; };
  const Played played = Play({Text("/edit"), Text("/edit"), Text("/edit")}, driver, options);
  EXPECT_THAT(driver.calls, ElementsAre("send from the editor"));
  EXPECT_THAT(played.err, HasSubstr("nothing to send"));
  EXPECT_THAT(played.err, HasSubstr("vi is missing"));
}

TEST(ReadMessageTest, SeveralLinesMakeOneMessage) {
  struct Case {
    std::deque<InputLine> lines;
    MessageEnd end;
    std::string text;
    InputLine::Kind kind = InputLine::Kind::kText;
  };
  const InputLine end{.kind = InputLine::Kind::kEnd, .text = {}};
  const Case cases[] = {
      {{Text("a")}, MessageEnd::kLine, "a"},
      {{Text("a\\"), Text("b\\"), Text("c")}, MessageEnd::kLine, "a\nb\nc"},
      {{Text("a\\"), end}, MessageEnd::kLine, "a"},
      {{Text("pasted\ntwo")}, MessageEnd::kLine, "pasted\ntwo"},
      {{end}, MessageEnd::kLine, "", InputLine::Kind::kEnd},
      {{Text("a\\"), Interrupted(InputLine::Was::kEmpty)},
       MessageEnd::kLine,
       "",
       InputLine::Kind::kInterrupted},
      {{Text("a"), Text(""), Text("b\\"), Text(".")}, MessageEnd::kDot, "a\n\nb\\"},
      {{Text("a"), end}, MessageEnd::kDot, "a"},
      {{Text(".")}, MessageEnd::kDot, ""},
  };
  for (const Case& c : cases) {
    ScriptedReader reader(c.lines);
    const auto message = ReadMessage(reader, {}, c.end);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->text, c.text);
    EXPECT_EQ(message->kind, c.kind) << c.text;
  }
}

// Returns the lines that a writer put into a pipe.
class PlainLineReaderTest : public ::testing::Test {
 protected:
  PlainLineReaderTest() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    in_ = UniqueFd(ends[0]);
    out_ = UniqueFd(ends[1]);
  }

  UniqueFd in_, out_;
  CancelSource source_;
};

TEST_F(PlainLineReaderTest, LinesComeOneByOneAndTheLastNeedsNoEnd) {
  ASSERT_TRUE(WriteAll(out_.get(), "one\r\n\nthree"));
  out_.Reset();
  PlainLineReader reader(in_.get(), source_.token());
  for (const char* text : {"one", "", "three"}) EXPECT_EQ(reader.Read({})->text, text);
  EXPECT_EQ(reader.Read({})->kind, InputLine::Kind::kEnd);
}

TEST_F(PlainLineReaderTest, ACancelledTokenEndsTheWaitForALine) {  // CON 3.2: Ctrl-C
  PlainLineReader reader(in_.get(), source_.token());
  std::jthread other([this] { source_.Cancel("interrupted"); });  // the writer never ends its line
  EXPECT_EQ(reader.Read({})->kind, InputLine::Kind::kInterrupted);
}

TEST(ChatSessionTest, WithoutATerminalACancelledSessionSendsNothingMore) {  // CON 3.2, CON-4
  CancelSource source;
  RecordingDriver driver;
  driver.press = [&] { source.Cancel("interrupted"); };
  ScriptedReader reader({Text("one"), Text("two")});
  std::ostringstream out, err;
  ChatSession session({}, driver, reader, {}, out, err);
  EXPECT_EQ(session.Run(source.token()), 0) << "the signal's code is the process's";
  EXPECT_THAT(driver.calls, ElementsAre("send one"));
  EXPECT_THAT(err.str(), Not(HasSubstr("Ctrl-C again")));
}

TEST(InputHistoryTest, MessagesComeBackInAPrivateBoundedFile) {
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/state/history";
  InputHistory history(path);
  for (const char* message : {"one", "two\nlines \\n", "two\nlines \\n", ""}) history.Add(message);
  EXPECT_THAT(InputHistory(path).Load(), ElementsAre("one", "two\nlines \\n"));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  for (int i = 0; i < 2500; ++i) history.Add(fmt::format("message {}", i));
  EXPECT_EQ(InputHistory(path).Load().size(), InputHistory::kMaxEntries);
  EXPECT_EQ(InputHistory(path).Load().back(), "message 2499");
  EXPECT_LT(ReadFile(path)->size(), 20'000);
  InputHistory("").Add("x");
  EXPECT_THAT(InputHistory("/proc/nowhere/history").Load(), IsEmpty());
}

TEST(ReplyViewTest, APipeGetsTheExactBytesAndHalfACodePointWaits) {  // CON-7, CON-46
  std::ostringstream out;
  auto view = MakeReplyView(MarkdownMode::kAuto, {}, out);
  view->Write("**a**\x1b[1m \xe6\x9d");
  EXPECT_EQ(out.str(), "**a**\x1b[1m ");
  view->Write("\xb1\xff");
  EXPECT_EQ(out.str(), "**a**\x1b[1m \xe6\x9d\xb1\xff");
  view->End();
  EXPECT_EQ(out.str(), "**a**\x1b[1m \xe6\x9d\xb1\xff\n");
}

TEST(ReplyViewTest, ATerminalWithoutMarkdownShowsControlBytes) {  // CON-7
  std::ostringstream out;
  auto view = MakeReplyView(MarkdownMode::kOff, {.out = Terminal::Kind::kTerminal}, out);
  for (const char* chunk : {"**a**\r", "\nb\x1b[1m", "\r", "c\xc2"}) view->Write(chunk);
  view->End();
  EXPECT_EQ(out.str(), "**a**\nb^[[1m^Mc\xEF\xBF\xBD\n");
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SlashCommandTest, EveryCommandOfTheSpecIsReadWithItsArgument) {  // CON 3.2
  struct Case {
    std::string_view text;
    SlashCommand command;
    std::string_view argument;
  };
  constexpr Case kCases[] = {
      {"/help", SlashCommand::kHelp, ""},
      {"/exit", SlashCommand::kExit, ""},
      {"exit", SlashCommand::kExit, ""},  // FLT-49
      {" quit ", SlashCommand::kExit, ""},
      {"exit the loop", SlashCommand::kPrompt, "exit the loop"},
      {"/context", SlashCommand::kContext, ""},
      {"/refresh", SlashCommand::kRefresh, ""},
      {"/tokens", SlashCommand::kTokens, ""},
      {"/usage", SlashCommand::kUsage, ""},
      {"/model gpt-4o", SlashCommand::kModel, "gpt-4o"},
      {"/model", SlashCommand::kModel, ""},
      {"/exec  git log -n 2 ", SlashCommand::kExec, "git log -n 2"},
      {"/edit", SlashCommand::kEdit, ""},
      {"/multi", SlashCommand::kMulti, ""},
      {"/undo", SlashCommand::kUndo, ""},
      {"/retry", SlashCommand::kRetry, ""},
      {"/fork", SlashCommand::kFork, ""},
      {"/fork bug-13", SlashCommand::kFork, "bug-13"},
      {"/save bug-12", SlashCommand::kSave, "bug-12"},
      {"/compact", SlashCommand::kCompact, ""},
      {"/undo ", SlashCommand::kUndo, ""},
      {"//etc/passwd is what?", SlashCommand::kPrompt, "/etc/passwd is what?"},
      {"why?", SlashCommand::kPrompt, "why?"},
      {"  /help", SlashCommand::kPrompt, "  /help"},
      {"/usr/bin/make: no rule\nwhy?", SlashCommand::kPrompt, "/usr/bin/make: no rule\nwhy?"},
      {"", SlashCommand::kPrompt, ""},
  };
  for (const Case& c : kCases) {
    const auto input = ParseChatInput(c.text);
    ASSERT_TRUE(input) << c.text;
    EXPECT_EQ(input->command, c.command) << c.text;
    EXPECT_EQ(input->argument, c.argument) << c.text;
  }
}

TEST(SlashCommandTest, WrongUseNamesTheCommandAndTheWayOut) {
  EXPECT_THAT(ParseChatInput("/modle x"), FailsWith(ErrorCode::kUsage, "did you mean /model?"));
  EXPECT_THAT(ParseChatInput("/qqqqqqqqq"), FailsWith(ErrorCode::kUsage, "/help lists them"));
  EXPECT_THAT(ParseChatInput("/exec"), FailsWith(ErrorCode::kUsage, "/exec CMD"));
  EXPECT_THAT(ParseChatInput("/save  "), FailsWith(ErrorCode::kUsage, "/save ID"));
  EXPECT_THAT(ParseChatInput("/undo 3"), FailsWith(ErrorCode::kUsage, "takes no argument"));
}

TEST(SlashCommandTest, CompletionKnowsEveryCommandThatHelpLists) {
  EXPECT_THAT(CompleteSlash("/ex"), ElementsAre("/exit", "/exec"));
  EXPECT_THAT(CompleteSlash("/co"), ElementsAre("/context", "/copy", "/compact"));
  EXPECT_TRUE(CompleteSlash("ex").empty());
  EXPECT_EQ(CompleteSlash("/").size(), 16);
  for (const std::string& name : CompleteSlash("/")) {
    EXPECT_THAT(SlashHelp(), HasSubstr("  " + name + " "));
  }
}

TEST(SlashCommandTest, WhatIsNoCommandIsSentAsItIs) {
  Random random(/*seed=*/3);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random.Utf8(40);
    const auto input = ParseChatInput(text);
    if (text.starts_with('/')) continue;
    ASSERT_TRUE(input);
    EXPECT_EQ(input->argument, text);
    EXPECT_EQ(ParseChatInput("//" + text)->argument, "/" + text);
  }
}

// FLT-141
TEST(SlashCommandTest, CopyTakesTheReplyOrItsCode) {
  EXPECT_TRUE(ParseChatInput("/copy"));
  EXPECT_EQ(ParseChatInput("/copy code")->argument, "code");
  EXPECT_THAT(ParseChatInput("/copy all"), FailsWith(ErrorCode::kUsage, "say code"));
}

}  // namespace
}  // namespace dossier::cli
