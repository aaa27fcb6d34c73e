#include "cli/runs/agents_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "cli/runs/run_story.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr Millis kTick{1000};

constexpr std::size_t kMostTold = 4000;  // characters of a warning or a step

std::string LineAt(const Json& data, std::string_view key) {
  return OnOneLine(FindString(data, key).value_or(""), kMostTold);
}

}  // namespace

std::string ResultLine(std::string_view task, std::string_view status) {
  return fmt::format("{} -> {}\n", OnOneLine(task, kMostNamed), Safe(status));
}

AgentsView::AgentsView(AgentsViewOptions options)
    : options_(options),
      live_(options_.terminal.err == Terminal::Kind::kTerminal &&
            options_.steps == AgentsViewOptions::Steps::kShown),
      started_(SystemClock()->Now()) {
  if (!live_) return;
  ticker_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kTick, [this] { return done_; })) Draw();
  });
}

void AgentsView::Finish() {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) Erase();
    done_ = true;
  }
  changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void AgentsView::OnEvent(const store::Event& event) {
  const std::lock_guard lock(mutex_);
  if (done_) return;
  const Json data(event.data);
  const std::string task(FindString(data, "task-id").value_or(""));
  if (event.type == "run.started") {
    const Json* tasks = Find(data, "tasks");
    if (tasks && tasks->is_array()) {
      total_ = static_cast<std::int64_t>(tasks->get_array().size());
    }
  }
  if (event.type == "task.claimed") {
    const std::int64_t worker = FindInt(data, "worker").value_or(1);
    worker_of_[task] = worker;
    workers_[worker] = {task, "", SystemClock()->Now()};
  }
  if (event.type == "warning") {
    Erase();
    if (options_.steps == AgentsViewOptions::Steps::kShown) {
      PrintWarning(*options_.err, task.empty() ? LineAt(data, "text")
                                               : fmt::format("{}: {}", OnOneLine(task, kMostNamed),
                                                             LineAt(data, "text")));
    }
  }
  if (event.type == "task.finished") {
    Result(data);
    if (const auto worker = worker_of_.find(task); worker != worker_of_.end()) {
      workers_.erase(worker->second);
      worker_of_.erase(worker);
    }
  } else if (const std::string doing = OnOneLine(AgentStep(event.type, data), kMostTold);
             !doing.empty()) {
    Step(task, doing);
  }
  Draw();
}

void AgentsView::Result(const Json& data) {
  Erase();
  const std::string status = LineAt(data, "status");
  ++counts_[status];
  if (options_.results == AgentsViewOptions::Results::kLines) {
    *options_.out << ResultLine(FindString(data, "task-id").value_or(""), status) << std::flush;
  }
}

void AgentsView::Step(const std::string& task, const std::string& text) {
  if (const auto worker = worker_of_.find(task); worker != worker_of_.end()) {
    workers_[worker->second].doing = text;
  }
  if (live_ || options_.steps == AgentsViewOptions::Steps::kNone) return;
  const auto ms = std::chrono::duration_cast<Millis>(SystemClock()->Now() - started_);
  *options_.err << fmt::format("[{:6.1f} s] {}: {}\n", static_cast<double>(ms.count()) / 1000,
                               OnOneLine(task, kMostNamed), text)
                << std::flush;
}

void AgentsView::Erase() {
  if (drawn_ > 0) *options_.err << Own(fmt::format("\x1b[{}A\r\x1b[J", drawn_)) << std::flush;
  drawn_ = 0;
}

std::string AgentsView::Counts() const {
  std::string text;
  std::int64_t ended = 0;
  for (const auto& [status, count] : counts_) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, status);
    ended += count;
  }
  const std::int64_t rest = total_ - ended - static_cast<std::int64_t>(workers_.size());
  if (rest > 0) text += fmt::format("{}{} to come", text.empty() ? "" : ", ", rest);
  return text;
}

std::string AgentsView::Fit(std::string_view text) const {
  return std::string(
      utf8::Prefix(text, static_cast<std::uint64_t>(std::max(20, options_.terminal.columns) - 1)));
}

void AgentsView::Draw() {
  if (!live_) return;
  Erase();
  const auto now = SystemClock()->Now();
  std::string text;
  for (const auto& [worker, line] : workers_) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - line.since).count();
    text += Fit(fmt::format("{:>3}  {}  {}  {} s", worker, OnOneLine(line.task, kMostNamed),
                            line.doing, seconds)) +
            "\n";
    ++drawn_;
  }
  if (const std::string counts = Counts(); !counts.empty()) {
    text += Fit("     " + counts) + "\n";
    ++drawn_;
  }
  *options_.err << text << std::flush;
}

}  // namespace dossier::cli
