#include "cli/runs/ask_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
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

double SecondsSince(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// A running call.
struct RunningCall {
  std::string path, model;
  std::int64_t parent = 0, turn = 0, turns = 0, in_flight = 0;
  std::string doing = "waiting";
  Clock::time_point began = Clock::now();
};

// The counts that both the plain and the live view need.
struct Tally {
  std::int64_t calls = 0, input = 0, output = 0, ended = 0;
  std::map<std::int64_t, RunningCall> running{{0, {}}};  // the root first

  RunningCall& Root() { return running.at(0); }

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
      ++calls;
      ++call.in_flight;
      call.doing = call.in_flight > 1 ? fmt::format("{} requests in flight", call.in_flight)
                                      : "model is reading";
    } else if (event.type == "reply.received" || event.type == "request.failed") {
      if (!Find(event.data, "from_cache") && !Find(event.data, "unsent")) --call.in_flight;
      input += FindInt(data, "input").value_or(0);
      output += FindInt(data, "output").value_or(0);
    } else if (event.type == "block.started") {
      call.doing = "code is running";
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

// Joins the parts that are not empty with `gap`.
std::string Parts(std::initializer_list<std::string_view> parts, std::string_view gap) {
  std::string line;
  for (const std::string_view part : parts) {
    if (!line.empty() && !part.empty()) line += gap;
    line += part;
  }
  return line;
}

// Returns "0.c2 turn 2/30: output", with path and turn if it has them.
std::string StepLine(const RunningCall& call, std::string_view text) {
  return Parts({Parts({call.path, TurnOf(call)}, " "), text}, ": ");
}

class PlainView final : public ask::EventSink {
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
      const auto error = FindString(data, "error");
      const std::string_view output = TextOf(Find(event.data, "output"));
      Line(StepLine(
          call, error ? "error: " + ShownLine(*error, 100) : "output: " + ShownLine(output, 100)));
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
                     tokens("input", tally_.input), tokens("output", tally_.output)));
  }

  void Line(std::string_view text) {
    err_ << fmt::format("[{:6.1f} s] {}\n", SecondsSince(started_), text) << std::flush;
  }

  std::ostream& err_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Tally tally_;
};

// Rewrites a few lines in place: the root's first, then one for each running child; above them it
// prints a line for each finished step of the root. A frame is written at once and overwrites the
// last one line by line, so that the screen never flickers.
class LiveView final : public ask::EventSink {
 public:
  LiveView(const Terminal& terminal, std::ostream& err)
      : err_(err),
        terminal_(terminal),
        color_(terminal.color == Terminal::Color::kYes),
        started_(Clock::now()) {}
  ~LiveView() override {
    std::lock_guard lock(mutex_);
    Erase();
  }

  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    tally_.Count(event);
    if (event.call == 0) {
      if (event.type == "block.started") received_ = 0;
      if (event.type == "run.finished") {
        Erase();
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
    received_ += utf8::CodePoints(text);
    tally_.Root().doing = fmt::format("model is writing ({} characters)", received_);
    DrawSoon();
  }

 private:
  static constexpr std::string_view kDim = "\x1b[2m", kRed = "\x1b[31m", kGreen = "\x1b[32m";
  static constexpr std::size_t kMostChildren = 8;  // that are shown

  // Prints messages of the root above the tree.
  void Tell(const store::Event& event) {
    const Json data(event.data);
    if (event.type == "block.started") {
      Above("code", ShownLine(TextOf(Find(event.data, "code")), 200), kDim);
    } else if (event.type == "block.done") {
      if (const auto error = FindString(data, "error")) {
        Above("error", ShownLine(*error, 200), kRed);
      } else {
        Above("output", ShownLine(TextOf(Find(event.data, "output")), 200), kGreen);
      }
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

  std::string Fit(std::string_view text) const {
    return std::string(DisplayPrefix(text, std::max(20, ColumnsNow(terminal_)) - 1));
  }

  // Moves to the first column of the frame's first line.
  std::string ToStart() const {
    return lines_ > 1 ? fmt::format("\r\x1b[{}A", lines_ - 1) : std::string("\r");
  }

  void Erase() {
    if (lines_ > 0) err_ << Own(ToStart() + "\x1b[J") << std::flush;
    lines_ = 0;
  }

  // `text` must be safe for a terminal.
  void Above(std::string_view label, std::string_view text, std::string_view color) {
    const std::string line = Fit(fmt::format("  {:<9} {}", label, text));
    err_ << Own(lines_ > 0 ? ToStart() + "\x1b[J" : std::string()) << Own(color_ ? color : "")
         << line << Own(color_ ? "\x1b[0m" : "") << "\n";
    lines_ = 0;
  }

  std::string RootLine() {
    const std::string counted = fmt::format("{} calls  {}+{} tokens  {:.0f} s", tally_.calls,
                                            tally_.input, tally_.output, SecondsSince(started_));
    return Parts({TurnOf(tally_.Root()), Doing(), counted}, "  ");
  }

  // For the root, while it waits for its children: their number.
  std::string Doing() {
    const std::size_t children = tally_.running.size() - 1;
    if (children == 0) return tally_.Root().doing;
    return fmt::format("{} {} at work, {} ended", children, children == 1 ? "child" : "children",
                       tally_.ended);
  }

  void AddChildren(std::int64_t parent, std::size_t depth, std::vector<std::string>* lines) const {
    for (const auto& [number, call] : tally_.running) {
      if (number == 0 || call.parent != parent) continue;
      if (lines->size() <= kMostChildren) {
        const std::string time = fmt::format("{:.0f} s", SecondsSince(call.began));
        lines->push_back(std::string(2 * depth, ' ') +
                         Parts({call.path, TurnOf(call), call.doing, time, call.model}, "  "));
      }
      AddChildren(number, depth + 1, lines);
    }
  }

  void DrawSoon() {
    if (Clock::now() - drawn_ >= std::chrono::milliseconds(100)) Draw();
  }

  void Draw() {
    if (finished_) return;
    std::vector<std::string> lines = {RootLine()};
    AddChildren(0, 1, &lines);
    const std::size_t shown = lines.size() - 1, children = tally_.running.size() - 1;
    if (shown < children) lines.push_back(fmt::format("  … and {} more", children - shown));
    std::string frame = lines_ > 0 ? ToStart() : std::string();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      frame += (i > 0 ? "\n" : "") + Fit(lines[i]) + "\x1b[K";
    }
    err_ << Own(frame + "\x1b[J") << std::flush;
    lines_ = lines.size();
    drawn_ = Clock::now();
  }

  std::ostream& err_;
  const Terminal terminal_;
  const bool color_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Tally tally_;
  Clock::time_point drawn_{};
  std::uint64_t received_ = 0;
  std::size_t lines_ = 0;  // lines in the current frame
  bool finished_ = false;
};

class JsonView final : public ask::EventSink {
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

class NoView final : public ask::EventSink {
 public:
  void OnEvent(const store::Event&) override {}
};

}  // namespace

Result<ProgressStyle> ParseProgressStyle(std::string_view word, const Terminal& terminal) {
  if (word == "auto") {
    return terminal.err == Terminal::Kind::kTerminal ? ProgressStyle::kTree : ProgressStyle::kPlain;
  }
  if (word == "tree") return ProgressStyle::kTree;
  if (word == "plain") return ProgressStyle::kPlain;
  if (word == "json") return ProgressStyle::kJson;
  if (word == "none") return ProgressStyle::kNone;
  return MakeError(ErrorCode::kUsage, "--progress {}: unknown; {}", word,
                   OneOf(word, std::array{"auto", "tree", "plain", "json", "none"}));
}

std::unique_ptr<ask::EventSink> MakeProgressView(ProgressStyle style, const Terminal& terminal,
                                                 std::ostream& err) {
  switch (style) {
    case ProgressStyle::kTree:
      return std::make_unique<LiveView>(terminal, err);
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
