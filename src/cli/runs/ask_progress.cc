#include "cli/runs/ask_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/ask_view.h"
#include "cli/runs/run_story.h"

namespace dossier::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view TextOf(const Json* body) {
  if (!body) return {};
  return FindString(*body, "text").value_or("");
}

// Returns the first line of a text from a model or from code, made safe for a terminal.
std::string ShownLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  const std::string_view line = trimmed.substr(0, trimmed.find('\n'));
  std::string shown = utf8::CleanForTerminal(utf8::Prefix(line, width));
  if (line.size() < trimmed.size() || shown.size() < line.size()) shown += " …";
  return shown;
}

// What came of a block, and its text.
struct BlockEnd {
  std::string_view how, text;
};
BlockEnd EndOf(const Json& done) {
  if (const auto error = FindString(done, "error")) return {"error", *error};
  if (const auto refused = FindString(done, "refused")) return {"refused", *refused};
  return {"output", TextOf(Find(done, "output"))};
}

double SecondsSince(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// Usage of models: of one call, or of the run.
struct Counts {
  std::int64_t calls = 0, input = 0, output = 0, nano_usd = 0;

  void Add(const Json& reply) {
    if (Find(reply, "from_cache")) return;  // paid for earlier
    input += FindInt(reply, "input").value_or(0);
    output += FindInt(reply, "output").value_or(0);
    nano_usd += FindInt(reply, "nano_usd").value_or(0);
  }
};

// A running call.
struct RunningCall {
  std::string path, model;
  std::int64_t parent = 0, turn = 0, turns = 0, in_flight = 0;
  std::uint64_t received = 0;  // characters of the reply that arrives
  bool in_code = false;
  Counts used;
  Clock::time_point began = Clock::now();
};

// Returns what a call waits for.
std::string DoingOf(const RunningCall& call) {
  if (call.in_flight > 1 || (call.in_flight == 1 && call.in_code)) {
    return Counted(static_cast<std::uint64_t>(call.in_flight), "request") + " in flight";
  }
  if (call.in_code) return "code is running";
  if (call.in_flight == 0) return "waiting";
  return call.received > 0 ? fmt::format("model is writing ({} characters)", call.received)
                           : "model is reading";
}

// The counts that both the plain and the live view need.
struct Tally {
  Counts used;
  std::int64_t ended = 0;
  std::map<std::int64_t, RunningCall> running{{0, {}}};  // the root first

  // Returns the call of `event`, updated by the event.
  RunningCall& Count(const store::Event& event) {
    const Json data(event.data);
    RunningCall& call = running[event.call];
    if (event.type == "call.started") {
      call.path = Safe(FindString(data, "path").value_or(""));
      call.model = Safe(FindString(data, "model").value_or(""));
      call.parent = FindInt(data, "parent").value_or(0);
    } else if (event.type == "turn.started") {
      call.turn = FindInt(data, "turn").value_or(call.turn);
      call.turns = FindInt(data, "turns").value_or(call.turns);
    } else if (event.type == "request.sent") {
      ++used.calls;
      ++call.in_flight;
      call.received = 0;
      if (!call.in_code) call.model = Safe(FindString(data, "model").value_or(call.model));
    } else if (event.type == "reply.received" || event.type == "request.failed") {
      if (!Find(event.data, "from_cache") && !Find(event.data, "unsent")) --call.in_flight;
      used.Add(data);
      call.used.Add(data);
    } else if (event.type == "block.started" || event.type == "block.done") {
      call.in_code = event.type == "block.started";
    }
    return call;
  }

  void Forget(std::int64_t call) {
    running.erase(call);
    ++ended;
  }
};

// Returns "turn 2/30"; empty without turns: before the first one, and in direct mode.
std::string TurnOf(const RunningCall& call) {
  return call.turns > 0 ? fmt::format("turn {}/{}", call.turn, call.turns) : std::string();
}

// Returns "0.c2 turn 2/30: output", with path and turn if it has them.
std::string StepLine(const RunningCall& call, std::string_view text) {
  std::string line = call.path;
  if (call.turns > 0) line += (line.empty() ? "" : " ") + TurnOf(call);
  return line.empty() ? std::string(text) : fmt::format("{}: {}", line, text);
}

// A view that prints texts, and may do without for a time.
class TextView : public ProgressView {
 public:
  bool WhilePaused(const std::function<bool()>& ask) override {
    {
      std::lock_guard lock(mutex_);
      Clear();
      paused_ = true;
    }
    const bool answer = ask();
    std::lock_guard lock(mutex_);
    paused_ = false;
    Draw();
    return answer;
  }

 protected:
  virtual void Clear() {}
  virtual void Draw() = 0;

  std::mutex mutex_;
  bool paused_ = false;
};

class PlainView final : public TextView {
 public:
  explicit PlainView(std::ostream& err) : err_(err), started_(Clock::now()) {}

  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    const RunningCall& call = tally_.Count(event);
    const Json data(event.data);
    if (event.type == "mode.decided") {
      Line(fmt::format(
          "mode {}: {}{} tokens, direct up to {}", FindString(data, "mode").value_or(""),
          FindBool(data, "estimated").value_or(false) ? "about " : "",
          GroupDigits(static_cast<std::uint64_t>(FindInt(data, "tokens").value_or(0))),
          GroupDigits(static_cast<std::uint64_t>(FindInt(data, "threshold").value_or(0)))));
    } else if (event.type == "block.done") {
      const BlockEnd end = EndOf(data);
      Line(StepLine(call, fmt::format("{}: {}", end.how, ShownLine(end.text, 100))));
    } else if (event.type == "passage.read") {
      Line(PassageLine(data));
    } else if (event.type == "answer.refused") {
      Line(StepLine(call,
                    fmt::format("answer refused ({})", FindString(data, "gate").value_or(""))));
    } else if (event.type == "compaction.done") {
      Line(StepLine(call, CompactionLine(data)));
    } else if (event.type == "limit.reached") {
      Line(ShownLine(FindString(data, "reason").value_or(""), 120));
    } else if (event.type == "call.finished") {
      const auto error = FindString(data, "error");
      Line(fmt::format("{} {}: {}", call.path, FindString(data, "status").value_or(""),
                       ShownLine(error ? *error : TextOf(Find(event.data, "answer")), 100)));
      tally_.Forget(event.call);
    } else if (event.type == "run.finished") {
      Finished(data);
    }
  }

 private:
  void Finished(const Json& data) {
    const auto counted = [&](std::string_view name, std::string_view noun) {
      return Counted(static_cast<std::uint64_t>(FindInt(data, name).value_or(0)), noun);
    };
    // The amount charged for the run includes requests without an answer.
    const auto tokens = [&](std::string_view name, std::int64_t counted_here) {
      const std::int64_t count = FindInt(data, name).value_or(counted_here);
      return GroupDigits(static_cast<std::uint64_t>(count));
    };
    Line(fmt::format("{}: {}, {}, {} + {} tokens", FindString(data, "status").value_or(""),
                     counted("turns", "turn"), counted("calls", "call"),
                     tokens("input", tally_.used.input), tokens("output", tally_.used.output)));
  }

  void Line(std::string_view text) {
    held_ += fmt::format("[{:6.1f} s] {}\n", SecondsSince(started_), text);
    Draw();
  }

  void Draw() override {
    if (!paused_) err_ << std::exchange(held_, {}) << std::flush;
  }

  std::ostream& err_;
  const Clock::time_point started_;
  Tally tally_;
  std::string held_;  // written after the pause
};

// Returns "12,432 + 169 tokens" and "$0.0123"; empty for nothing.
std::string TokensOf(const Counts& used) {
  if (used.input + used.output == 0) return {};
  return fmt::format("{} + {} tokens", GroupDigits(static_cast<std::uint64_t>(used.input)),
                     GroupDigits(static_cast<std::uint64_t>(used.output)));
}
std::string MoneyOf(const Counts& used) {
  return used.nano_usd > 0 ? CostText(used.nano_usd) : std::string();
}

// Rewrites a few lines in place: the root's first, then one for each running child; above them it
// prints a line for each finished step of the root. Drawn again after `redraw`, so that the seconds
// go on while nothing happens.
class LiveView final : public TextView {
 public:
  LiveView(const Terminal& terminal, std::ostream& err, Millis redraw)
      : lines_(terminal, err),
        color_(terminal.color == Terminal::Color::kYes),
        started_(Clock::now()),
        ticker_([this, redraw](const std::stop_token& stop) { Tick(stop, redraw); }) {}
  ~LiveView() override {
    ticker_.request_stop();
    ticker_.join();
    lines_.Erase();
  }

  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    tally_.Count(event);
    if (event.call == 0) {
      if (event.type == "run.finished") {
        lines_.Erase();
        finished_ = true;
        return;
      }
      Tell(event);
      return Draw();
    }
    if (event.type == "call.finished") Ended(event);
    DrawSoon();
  }

  void OnDelta(std::string_view text) override {
    std::lock_guard lock(mutex_);
    tally_.running.at(0).received += utf8::CodePoints(text);
    DrawSoon();
  }

 private:
  static constexpr std::string_view kDim = "\x1b[2m", kRed = "\x1b[31m", kGreen = "\x1b[32m";
  static constexpr int kMostLines = 10;

  void Tick(const std::stop_token& stop, Millis redraw) {
    std::unique_lock lock(mutex_);
    while (!ticked_.wait_for(lock, stop, redraw, [&] { return stop.stop_requested(); })) Draw();
  }

  // Prints messages of the root above the tree.
  void Tell(const store::Event& event) {
    const Json data(event.data);
    if (event.type == "block.started") {
      Above("code", ShownLine(TextOf(Find(event.data, "code")), 200), kDim);
    } else if (event.type == "block.done") {
      const BlockEnd end = EndOf(data);
      Above(end.how, ShownLine(end.text, 200), end.how == "output" ? kGreen : kRed);
    } else if (event.type == "passage.read") {
      Above("read", PassageLine(data), kDim);
    } else if (event.type == "answer.refused") {
      Above("refused", FindString(data, "gate").value_or(""), kRed);
    } else if (event.type == "compaction.done") {
      Above("compacted", CompactionLine(data), kDim);
    } else if (event.type == "limit.reached") {
      Above("limit", ShownLine(FindString(data, "reason").value_or(""), 200), kRed);
    }
  }

  // Keeps only failures: the parent's code decides what the answers mean.
  void Ended(const store::Event& event) {
    const Json data(event.data);
    if (const auto error = FindString(data, "error")) {
      Above("failed", fmt::format("{} {}", tally_.running[event.call].path, ShownLine(*error, 200)),
            kRed);
    }
    tally_.Forget(event.call);
  }

  // `text` must be safe for a terminal.
  void Above(std::string_view label, std::string_view text, std::string_view color) {
    const std::string line = fmt::format("  {:<9} {}", label, text);
    const std::string_view shown = DisplayPrefix(line, lines_.columns());
    lines_.Above(color_ ? fmt::format("{}{}\x1b[0m", color, shown) : std::string(shown));
  }

  std::string RootLine() const {
    const RunningCall& root = tally_.running.at(0);
    const std::size_t children = tally_.running.size() - 1;
    std::int64_t in_flight = 0;
    for (const auto& [number, call] : tally_.running) in_flight += call.in_flight;
    std::string doing = DoingOf(root), flying;
    if (children > 0) {
      doing = fmt::format("{} {} at work, {} ended", children, children == 1 ? "child" : "children",
                          tally_.ended);
      if (in_flight > 0) flying = fmt::format("{} in flight", in_flight);
    }
    return FittingLine("",
                       {{6, TurnOf(root)},
                        {7, doing},
                        {3, flying},
                        {2, Counted(static_cast<std::uint64_t>(tally_.used.calls), "call")},
                        {4, TokensOf(tally_.used)},
                        {5, MoneyOf(tally_.used)},
                        {8, fmt::format("{:.0f} s", SecondsSince(started_))},
                        {1, root.model}},
                       lines_.columns());
  }

  void AddChildren(std::int64_t parent, std::size_t depth, std::size_t most,
                   std::vector<std::string>* lines) const {
    for (const auto& [number, call] : tally_.running) {
      if (number == 0 || call.parent != parent) continue;
      if (lines->size() >= most) return;
      lines->push_back(FittingLine(std::string(2 * depth, ' '),
                                   {{7, call.path},
                                    {4, TurnOf(call)},
                                    {5, DoingOf(call)},
                                    {2, TokensOf(call.used)},
                                    {3, MoneyOf(call.used)},
                                    {6, fmt::format("{:.0f} s", SecondsSince(call.began))},
                                    {1, call.model}},
                                   lines_.columns()));
      AddChildren(number, depth + 1, most, lines);
    }
  }

  std::vector<std::string> Frame() const {
    const auto most = static_cast<std::size_t>(std::min(lines_.rows(), kMostLines));
    std::vector<std::string> lines = {RootLine()};
    AddChildren(0, 1, most, &lines);
    const std::size_t children = tally_.running.size() - 1;
    if (most > 1 && lines.size() - 1 < children) {
      lines.resize(std::min(lines.size(), most - 1));
      const std::string more = fmt::format("  … and {} more", children + 1 - lines.size());
      lines.push_back(FittingLine("", {{1, more}}, lines_.columns()));
    }
    return lines;
  }

  void DrawSoon() {
    if (Clock::now() - drawn_ >= std::chrono::milliseconds(100)) Draw();
  }

  void Clear() override { lines_.Erase(); }

  void Draw() override {
    if (finished_ || paused_) return;
    lines_.Draw(Frame());
    drawn_ = Clock::now();
  }

  LiveLines lines_;
  const bool color_;
  const Clock::time_point started_;
  std::condition_variable_any ticked_;
  Tally tally_;
  Clock::time_point drawn_{};
  bool finished_ = false;
  std::jthread ticker_;  // the last member: it uses the others
};

class JsonView final : public ProgressView {
 public:
  explicit JsonView(std::ostream& err) : err_(err) {}
  void OnEvent(const store::Event& event) override {
    const std::string line = ToJson(JsonObject{{"run", event.run},
                                               {"seq", event.seq},
                                               {"time", event.time},
                                               {"call", event.call},
                                               {"type", event.type},
                                               {"data", event.data}});
    std::lock_guard lock(mutex_);
    err_ << line << "\n" << std::flush;
  }

 private:
  std::ostream& err_;
  std::mutex mutex_;
};

class NoView final : public ProgressView {
 public:
  void OnEvent(const store::Event&) override {}
};

}  // namespace

Result<ProgressStyle> ParseProgressStyle(std::string_view word, const Terminal& terminal) {
  if (word == "auto") {
    return terminal.err == Terminal::Kind::kTerminal && terminal.cursor == Terminal::Cursor::kMoves
               ? ProgressStyle::kTree
               : ProgressStyle::kPlain;
  }
  if (word == "tree") return ProgressStyle::kTree;
  if (word == "plain") return ProgressStyle::kPlain;
  if (word == "json") return ProgressStyle::kJson;
  if (word == "none") return ProgressStyle::kNone;
  return MakeError(ErrorCode::kUsage, "--progress {}: unknown; {}", word,
                   OneOf(word, std::array{"auto", "tree", "plain", "json", "none"}));
}

std::unique_ptr<ProgressView> MakeProgressView(ProgressStyle style, const Terminal& terminal,
                                               std::ostream& err, Millis redraw) {
  switch (style) {
    case ProgressStyle::kTree:
      return std::make_unique<LiveView>(terminal, err, redraw);
    case ProgressStyle::kPlain:
      return std::make_unique<PlainView>(err);
    case ProgressStyle::kJson:
      return std::make_unique<JsonView>(err);
    case ProgressStyle::kNone:
      break;
  }
  return std::make_unique<NoView>();
}

}  // namespace dossier::cli
