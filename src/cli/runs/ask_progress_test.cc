#include "cli/runs/ask_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <sstream>

#include "base/text/text.h"

namespace dossier::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

store::Event Of(std::int64_t call, std::string type, JsonObject data = {}) {
  store::Event event;
  event.call = call;
  event.type = std::move(type);
  event.data = std::move(data);
  return event;
}

store::Event Started(std::int64_t call, std::int64_t parent, const std::string& path) {
  return Of(call, "call.started", {{"parent", parent}, {"path", path}, {"model", "small\x1b[2J"}});
}

// Returns what a terminal of `columns` finally shows of the output written to it.
std::vector<std::string> Screen(std::string_view bytes, std::size_t columns) {
  std::vector<std::string> lines = {""};
  std::size_t row = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\r') {
      lines[row].clear();  // each line is written anew from its start
    } else if (bytes[i] == '\n') {
      if (++row == lines.size()) lines.emplace_back();
      lines[row].clear();
    } else if (bytes.substr(i, 2) == "\x1b[") {
      const std::size_t end = bytes.find_first_of("AJKm", i);
      if (bytes[end] == 'A') row -= std::stoul(std::string(bytes.substr(i + 2, end - i - 2)));
      if (bytes[end] == 'A') lines[row].clear();
      if (bytes[end] == 'J') lines.resize(row + 1);
      i = end;
    } else {
      lines[row] += bytes[i];
      EXPECT_LE(DisplayWidth(lines[row]), static_cast<int>(columns) - 1);
    }
  }
  while (lines.size() > row + 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

class TreeTest : public ::testing::Test {
 protected:
  void Show(int columns, int rows = 24) {
    terminal_.columns = columns;
    terminal_.rows = rows;
    view_.reset();  // it erases what it has drawn
    out_.str("");
    view_ = MakeProgressView(ProgressStyle::kTree, terminal_, out_, /*redraw=*/Millis(3'600'000));
  }
  void Send(const store::Event& event) { view_->OnEvent(event); }
  // Only the root's events are drawn immediately.
  std::vector<std::string> Now() {
    Send(Of(0, "turn.started", {{"turn", 1}, {"turns", 30}}));
    return Screen(out_.str(), static_cast<std::size_t>(terminal_.columns));
  }

  Terminal terminal_;
  std::ostringstream out_;
  std::unique_ptr<ProgressView> view_;
};

TEST_F(TreeTest, EachChildThatRunsHasALineBelowItsParent) {  // REC-75
  Show(100);
  Send(Started(1, 0, "0.c1"));
  Send(Started(2, 0, "0.c2"));
  Send(Started(3, 1, "0.c1.c1"));
  Send(Of(3, "turn.started", {{"turn", 2}, {"turns", 30}}));
  Send(Of(3, "request.sent", {}));
  std::vector<std::string> screen = Now();
  ASSERT_EQ(screen.size(), 4u);
  EXPECT_THAT(screen[0], HasSubstr("3 children at work, 0 ended"));
  EXPECT_THAT(screen[1], HasSubstr("  0.c1  waiting"));
  EXPECT_THAT(screen[2], HasSubstr("    0.c1.c1  turn 2/30  model is reading"));
  EXPECT_THAT(screen[3], HasSubstr("  0.c2 "));
  Send(Of(3, "call.finished", {{"status", "final"}}));
  Send(Of(2, "call.finished", {{"status", "failed"}, {"error", "no answer\x1b[31m"}}));
  screen = Now();
  ASSERT_EQ(screen.size(), 3u);
  EXPECT_THAT(screen[0], HasSubstr("failed    0.c2 no answer"));
  EXPECT_THAT(screen[1], HasSubstr("1 child at work, 2 ended"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b[2J")));  // of a model's name
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b[31m")));
}

TEST_F(TreeTest, ManyChildrenAreCountedAndNarrowTerminalsCutLines) {  // REC-75
  Show(40);
  for (int i = 1; i <= 100; ++i) Send(Started(i, 0, fmt::format("0.c{}", i)));
  const std::vector<std::string> screen = Now();  // whose lines fit
  ASSERT_EQ(screen.size(), 10u);
  EXPECT_THAT(screen[9], EndsWith("… and 92 more"));
}

TEST_F(TreeTest, APlainCallHasNoTurns) {  // REC-75
  Show(100);
  Send(Of(0, "request.sent"));
  const std::vector<std::string> screen = Screen(out_.str(), 100);
  EXPECT_THAT(screen[0], StartsWith("model is reading  1 call  "));
  std::ostringstream plain;
  const auto view = MakeProgressView(ProgressStyle::kPlain, {}, plain);
  view->OnEvent(Of(0, "answer.refused", {{"gate", "requirement"}}));
  EXPECT_THAT(plain.str(), HasSubstr("answer refused (requirement)\n"));
  EXPECT_THAT(out_.str() + plain.str(), Not(HasSubstr("turn")));
}

TEST_F(TreeTest, NothingIsLeftOfTheTreeWhenTheRunEnds) {  // REC-75
  Show(100);
  Send(Started(1, 0, "0.c1"));
  Now();
  Send(Of(0, "run.finished"));
  EXPECT_EQ(Screen(out_.str(), 100), std::vector<std::string>{""});
}

// Returns the parts of the first line of a frame, without the number of seconds.
std::set<std::string> PartsOf(const std::string& line) {
  std::set<std::string> parts;
  for (std::size_t from = 0; from < line.size();) {
    const std::size_t to = std::min(line.find("  ", from), line.size());
    const std::string part = line.substr(from, to - from);
    parts.insert(part.ends_with(" s") ? "seconds" : part);
    from = to + 2;
  }
  return parts;
}

TEST_F(TreeTest, PartsThatDoNotFitAreLeftOutWhole) {  // REC-75
  const auto at = [this](int columns) {
    Show(columns);
    Send(Of(0, "request.sent", {{"model", "large"}}));
    Send(Of(0, "reply.received", {{"input", 12432}, {"output", 169}, {"nano_usd", 1'250'000'000}}));
    Send(Started(1, 0, "0.c1"));
    Send(Of(1, "request.sent", {}));
    Send(Of(1, "request.sent", {}));
    return PartsOf(Now()[0]);
  };
  const std::set<std::string> all = at(200);
  EXPECT_EQ(all, (std::set<std::string>{"turn 1/30", "1 child at work, 0 ended", "2 in flight",
                                        "3 calls", "12,432 + 169 tokens", "$1.2500", "seconds",
                                        "large"}));
  for (int columns = 199; columns > 1; --columns) {
    const std::set<std::string> some = at(columns);
    EXPECT_TRUE(std::ranges::includes(all, some)) << columns;
    EXPECT_TRUE(columns < 60 || some.contains("$1.2500")) << columns;
    EXPECT_TRUE(columns < 20 || some.contains("seconds")) << columns;
  }
}

TEST_F(TreeTest, AFrameIsLowerThanTheWindow) {  // REC-75
  for (int rows = 1; rows <= 24; ++rows) {
    Show(80, rows);
    for (int i = 1; i <= 40; ++i) Send(Started(i, 0, fmt::format("0.c{}", i)));
    const std::vector<std::string> screen = Now();
    EXPECT_EQ(screen.size(), static_cast<std::size_t>(std::clamp(rows - 1, 1, 10))) << rows;
    const std::string more = fmt::format("  … and {} more", 42 - screen.size());
    EXPECT_TRUE(rows < 3 || screen.back() == more) << rows;
  }
}

TEST_F(TreeTest, NothingIsWrittenWhileAPersonIsAsked) {  // REC-75, REC-78
  Show(100);
  Send(Started(1, 0, "0.c1"));
  Now();
  const bool answer = view_->WhilePaused([this] {
    EXPECT_EQ(Screen(out_.str(), 100), std::vector<std::string>{""});
    const std::string asked = out_.str();
    Send(Of(1, "call.finished", {{"status", "failed"}, {"error", "no answer"}}));
    Send(Of(0, "block.done", {{"output", JsonObject{{"text", "42"}}}}));
    view_->OnDelta("more");
    EXPECT_EQ(out_.str(), asked);
    return true;
  });
  EXPECT_TRUE(answer);
  const std::vector<std::string> screen = Screen(out_.str(), 100);
  ASSERT_EQ(screen.size(), 3u);
  EXPECT_THAT(screen[0], HasSubstr("failed    0.c1 no answer"));
  EXPECT_THAT(screen[1], HasSubstr("output    42"));
}

// Counts how often it is flushed.
class Flushed final : public std::stringbuf {
 public:
  int sync() override {
    std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
    return 0;
  }
  bool WaitFor(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(LiveTest, TheSecondsGoOnWhileNothingHappens) {  // REC-75
  Flushed buffer;
  std::ostream out(&buffer);
  const auto view = MakeProgressView(ProgressStyle::kTree, {}, out, /*redraw=*/Millis(1));
  view->OnEvent(Of(0, "request.sent"));
  EXPECT_TRUE(buffer.WaitFor(4));  // one at the event
}

TEST(StyleTest, TheTreeNeedsATerminalThatMovesItsCursor) {  // REC-75
  Terminal terminal{.err = Terminal::Kind::kTerminal, .cursor = Terminal::Cursor::kMoves};
  EXPECT_EQ(ParseProgressStyle("auto", terminal), ProgressStyle::kTree);
  terminal.cursor = Terminal::Cursor::kFixed;
  EXPECT_EQ(ParseProgressStyle("auto", terminal), ProgressStyle::kPlain);
  terminal = {.err = Terminal::Kind::kPipe, .cursor = Terminal::Cursor::kMoves};
  EXPECT_EQ(ParseProgressStyle("auto", terminal), ProgressStyle::kPlain);
}

TEST(PlainTest, ALineATurnNamesTheChildThatItIsOf) {  // REC-75
  std::ostringstream out;
  const auto view = MakeProgressView(ProgressStyle::kPlain, {}, out);
  view->OnEvent(Started(7, 0, "0.c2"));
  view->OnEvent(Of(7, "turn.started", {{"turn", 1}, {"turns", 30}}));
  view->OnEvent(Of(7, "block.done", {{"output", ""}, {"refused", "The block was not run: x"}}));
  view->OnEvent(Of(7, "block.done", {{"output", JsonObject{{"text", "42\nand more"}}}}));
  view->OnEvent(
      Of(7, "call.finished", {{"status", "final"}, {"answer", JsonObject{{"text", "42"}}}}));
  EXPECT_THAT(out.str(), HasSubstr("0.c2 turn 1/30: output: 42 …\n"));
  EXPECT_THAT(out.str(), HasSubstr("0.c2 turn 1/30: refused: The block was not run: x\n"));
  EXPECT_THAT(out.str(), HasSubstr("0.c2 final: 42\n"));
}

}  // namespace
}  // namespace dossier::cli
