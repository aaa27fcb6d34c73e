#include "cli/runs/progress_view.h"

#include <array>
#include <chrono>
#include <mutex>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/event_lines.h"
#include "cli/terminal/counted.h"
#include "cli/terminal/terminal_filter.h"

namespace dossier::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view TextOf(const Json* body) {
  if (!body) return {};
  return FindString(*body, "text").value_or("");
}

// The first line of a text that came from a model or from code, fit for a terminal.
std::string ShownLine(std::string_view text, std::size_t width) {
  const std::string_view trimmed = TrimSpace(text);
  const std::string_view line = trimmed.substr(0, trimmed.find('\n'));
  std::string shown = utf8::CleanForTerminal(utf8::Prefix(line, width));
  if (line.size() < trimmed.size() || shown.size() < line.size()) shown += " …";
  return shown;
}

// What both the plain and the live view count.
struct Tally {
  std::int64_t turn = 0, turns = 0, calls = 0, in_flight = 0, input = 0, output = 0, cached = 0;
  std::string doing;

  void Count(const store::Event& event) {
    if (event.type == "turn.started") {
      turn = FindInt(Json(event.data), "turn").value_or(turn);
      turns = FindInt(Json(event.data), "turns").value_or(turns);
    } else if (event.type == "request.sent") {
      ++calls;
      ++in_flight;
    } else if (event.type == "reply.received" || event.type == "request.failed") {
      if (!Find(event.data, "from_cache")) --in_flight;
      input += FindInt(Json(event.data), "input").value_or(0);
      output += FindInt(Json(event.data), "output").value_or(0);
      cached += FindInt(Json(event.data), "cached").value_or(0);
    }
  }
};

class PlainView final : public ask::EventSink {
 public:
  explicit PlainView(std::ostream& err) : err_(err), started_(Clock::now()) {}

  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    tally_.Count(event);
    const Json data(event.data);
    if (event.type == "mode.decided") {
      Line(fmt::format(
          "mode {}: {} tokens, direct up to {}", FindString(data, "mode").value_or(""),
          GroupDigits(static_cast<std::uint64_t>(FindInt(data, "tokens").value_or(0))),
          GroupDigits(static_cast<std::uint64_t>(FindInt(data, "threshold").value_or(0)))));
    } else if (event.type == "block.done") {
      const auto error = FindString(data, "error");
      const std::string_view output = TextOf(Find(event.data, "output"));
      Line(fmt::format(
          "turn {}/{}: {}", tally_.turn, tally_.turns,
          error ? "error: " + ShownLine(*error, 100) : "output: " + ShownLine(output, 100)));
    } else if (event.type == "passage.read") {
      Line(PassageLine(data));
    } else if (event.type == "answer.refused") {
      Line(fmt::format("turn {}/{}: answer refused ({})", tally_.turn, tally_.turns,
                       FindString(data, "gate").value_or("")));
    } else if (event.type == "compaction.done") {
      Line(fmt::format("turn {}/{}: {}", tally_.turn, tally_.turns, CompactionLine(data)));
    } else if (event.type == "limit.reached") {
      Line(ShownLine(FindString(data, "reason").value_or(""), 120));
    } else if (event.type == "run.finished") {
      const auto counted = [&](std::string_view name, std::string_view noun) {
        return Counted(static_cast<std::uint64_t>(FindInt(data, name).value_or(0)), noun);
      };
      // What the run was charged for includes requests that got no answer.
      const auto tokens = [&](std::string_view name, std::int64_t counted_here) {
        const std::int64_t count = FindInt(data, name).value_or(counted_here);
        return GroupDigits(static_cast<std::uint64_t>(count));
      };
      Line(fmt::format("{}: {}, {}, {} + {} tokens", FindString(data, "status").value_or(""),
                       counted("turns", "turn"), counted("calls", "call"),
                       tokens("input", tally_.input), tokens("output", tally_.output)));
    }
  }

 private:
  void Line(std::string_view text) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
    err_ << fmt::format("[{:6.1f} s] {}\n", static_cast<double>(ms.count()) / 1000, text)
         << std::flush;
  }

  std::ostream& err_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Tally tally_;
};

// One status line that is rewritten in place, above it a line for each finished step.
class LiveView final : public ask::EventSink {
 public:
  LiveView(const Terminal& terminal, std::ostream& err)
      : err_(err),
        columns_(std::max(20, terminal.columns)),
        color_(terminal.color == Terminal::Color::kYes),
        started_(Clock::now()) {}
  ~LiveView() override {
    std::lock_guard lock(mutex_);
    Erase();
  }

  void OnEvent(const store::Event& event) override {
    std::lock_guard lock(mutex_);
    tally_.Count(event);
    const Json data(event.data);
    if (event.type == "request.sent") {
      tally_.doing = tally_.in_flight > 1 ? fmt::format("{} requests in flight", tally_.in_flight)
                                          : "model is reading";
    } else if (event.type == "block.started") {
      Above("code", ShownLine(TextOf(Find(event.data, "code")), 200), kDim);
      tally_.doing = "code is running";
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
    } else if (event.type == "run.finished") {
      Erase();
      err_ << std::flush;
      finished_ = true;
      return;
    }
    Draw();
  }

  void OnDelta(std::string_view text) override {
    std::lock_guard lock(mutex_);
    received_ += utf8::CodePoints(text);
    tally_.doing = fmt::format("model is writing ({} characters)", received_);
    const auto now = Clock::now();
    if (now - drawn_ < std::chrono::milliseconds(100)) return;
    Draw();
  }

 private:
  static constexpr std::string_view kDim = "\x1b[2m", kRed = "\x1b[31m", kGreen = "\x1b[32m";

  std::string Fit(std::string_view text) const {
    const std::string_view cut = utf8::Prefix(text, static_cast<std::uint64_t>(columns_ - 1));
    return std::string(cut);
  }

  void Erase() {
    if (shown_) err_ << Own("\r\x1b[K");
    shown_ = false;
  }

  void Above(std::string_view label, std::string_view text, std::string_view color) {
    Erase();
    const std::string line = Fit(fmt::format("  {:<9} {}", label, text));
    err_ << Own(color_ ? color : "") << line << Own(color_ ? "\x1b[0m" : "") << "\n";
  }

  void Draw() {
    if (finished_) return;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - started_).count();
    std::string line =
        fmt::format("turn {}/{}  {}  {} calls  {}+{} tokens  {:.0f} s", tally_.turn, tally_.turns,
                    tally_.doing, tally_.calls, tally_.input, tally_.output, seconds);
    Erase();
    err_ << Fit(std::move(line)) << std::flush;
    shown_ = true;
    drawn_ = now;
    if (tally_.doing.starts_with("code")) received_ = 0;
  }

  std::ostream& err_;
  const int columns_;
  const bool color_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Tally tally_;
  Clock::time_point drawn_{};
  std::uint64_t received_ = 0;
  bool shown_ = false, finished_ = false;
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
