#include "cli/runs/agents_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/json/json.h"
#include "base/text/text.h"
#include "cli/runs/agents_view.h"
#include "cli/runs/ask_view.h"
#include "cli/runs/run_story.h"
#include "cli/terminal/terminal.h"
#include "store/event_data.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kFilesTold = 10;  // listed for one patch
constexpr double kNanoPerUsd = 1e9;

class AgentsStory {
 public:
  AgentsStory(store::Journal& journal, std::ostream& out) : journal_(journal), out_(out) {}

  void See(const store::Event& event) {
    const Json data(event.data);
    const std::string task = Text(data, "task-id");
    if (event.type == "run.started") {
      Start(data);
    } else if (event.type == "run.finished") {
      answer_ = Text(data, "answer");
    } else if (event.type == "run.resumed") {
      answer_.clear();
    } else if (event.type == "task.finished") {
      Finish(data, &TaskOf(task).steps);
    } else if (event.type == "warning") {
      Add("warning", Text(data, "text"), task.empty() ? &warnings_ : &TaskOf(task).steps);
    } else if (!task.empty()) {
      Step(event, data, &TaskOf(task).steps);
    }
  }

  void End(const store::Event& started, std::string_view status) {
    out_ << warnings_;
    for (const std::string& id : order_) {
      const Task& task = tasks_[id];
      out_ << fmt::format("\nTask {}{}\n{}", OnOneLine(id, kMostNamed),
                          task.summary.empty() ? "" : ": " + OnOneLine(task.summary, kMostNamed),
                          task.steps.empty() ? "  not started\n" : task.steps);
    }
    out_ << fmt::format("\nStatus: {}", Safe(status));
    if (!answer_.empty()) out_ << fmt::format(" ({})", Safe(answer_));
    if (status == "interrupted") {
      out_ << fmt::format("; `dossier agents resume {}` goes on", Safe(started.run));
    }
    out_ << "\n";
    const std::string folder = AgentsFolder(started);
    if (Exists(folder)) out_ << "Prompts and output: " << Safe(folder) << "\n";
  }

 private:
  struct Task {
    std::string summary;
    std::string steps;  // lines
  };

  // A long text is in the content store.
  std::string Text(const Json& data, std::string_view key) const {
    const Json* value = Find(data, key);
    if (!value || value->is_null()) return {};
    if (value->is_string()) return TextAt(data, key);
    return journal_.ReadBody(*value).value_or("");
  }

  Task& TaskOf(const std::string& id) {
    const auto [found, fresh] = tasks_.try_emplace(id);
    if (fresh) order_.push_back(id);
    return found->second;
  }

  void Start(const Json& data) {
    out_ << fmt::format(
        "Repository: {}\nBranch: {}\nEngines: {}\n",
        Safe(Text(data, "root").empty() ? Text(data, "repository") : Text(data, "root")),
        Safe(Text(data, "ref")), Safe(Text(data, "model")));
    const Json* tasks = Find(data, "tasks");
    if (!tasks || !tasks->is_array()) return;
    for (const Json& task : tasks->get_array()) {
      TaskOf(Text(task, "id")).summary = Text(task, "summary");
    }
  }

  // The first line follows the label, the others are below it and marked: they are not our lines.
  static void Add(std::string_view label, std::string_view text, std::string* to) {
    const auto lines = Split(TrimSpace(text), '\n');
    *to += fmt::format("  {}{}{}\n", label, lines.front().empty() ? "" : ": ", Safe(lines.front()));
    for (std::size_t i = 1; i < lines.size(); ++i) *to += "    | " + Safe(lines[i]) + "\n";
  }

  void Step(const store::Event& event, const Json& data, std::string* to) const {
    if (event.type == "engine.finished") {
      Took(data, to);
    } else if (event.type == "review.finished") {
      const std::string verdict = Text(data, "verdict"), reason = Text(data, "reason");
      Took(data, to);
      Add("verdict",
          reason.empty() || reason == verdict ? verdict : fmt::format("{}, {}", verdict, reason),
          to);
    } else if (event.type == "policy.checked") {
      Policy(Find(data, "violations"), to);
    } else if (event.type == "merge.done") {
      Add("merged as " + Safe(Text(data, "commit")).substr(0, 12), "", to);
    } else if (event.type == "note.marked") {
      Add("note", OnOneLine(Text(data, "note"), kMostNamed), to);
    } else if (event.type != "merge.intent" && event.type != "task.claimed") {
      if (const std::string step = AgentStep(event.type, data); !step.empty()) {
        Add(Safe(step), event.type == "patch.taken" ? Files(data) : "", to);
      }
    }
  }

  static std::string Files(const Json& data) {
    std::vector<std::string> files = StringsOf(Find(data, "files"));
    const std::size_t left = files.size() - std::min(files.size(), kFilesTold);
    files.resize(files.size() - left);
    for (std::string& file : files) file = OnOneLine(file, kMostNamed);
    return Join(files, ", ") + (left > 0 ? fmt::format(" and {} more", left) : "");
  }

  void Policy(const Json* violations, std::string* to) const {
    if (!violations || !violations->is_array()) return;
    for (const Json& one : violations->get_array()) {
      const std::string path = Text(one, "path"), limit = Text(one, "limit");
      Add("policy",
          fmt::format("rule {}{}{}", Text(one, "rule"),
                      path.empty() ? "" : ", " + OnOneLine(path, kMostNamed),
                      limit.empty() ? "" : fmt::format(" (limit {})", limit)),
          to);
    }
  }

  // Adds how an engine ended, and what it used.
  void Took(const Json& data, std::string* to) const {
    const Json* exit = Find(data, "exit");
    const std::string end = !exit || exit->is_null() ? "stopped"
                            : exit->is_string()      ? Text(data, "exit")
                                                     : fmt::format("exit {}", ToJson(*exit));
    *to += fmt::format("    {}, {:.1f} s, {}\n", Safe(end), FindNumber(data, "seconds").value_or(0),
                       Usage(Find(data, "usage")));
  }

  static std::string Usage(const Json* usage) {
    if (!usage || !usage->is_object()) return CostText(std::nullopt);
    const auto count = [&](std::string_view key) {
      return GroupDigits(static_cast<std::uint64_t>(FindInt(*usage, key).value_or(0)));
    };
    const auto usd = FindNumber(*usage, "cost_usd");
    return fmt::format("{} + {} tokens, {}", count("input"), count("output"),
                       CostText(usd ? std::optional(static_cast<std::int64_t>(*usd * kNanoPerUsd))
                                    : std::nullopt));
  }

  void Finish(const Json& data, std::string* to) const {
    const std::string status = Text(data, "status"), reason = Text(data, "reason");
    Add("-> " + Safe(status), status == "merged" ? "" : reason, to);
  }

  store::Journal& journal_;
  std::ostream& out_;
  std::map<std::string, Task> tasks_;  // by id
  std::vector<std::string> order_;
  std::string warnings_, answer_;
};

}  // namespace

std::string AgentsFolder(const store::Event& started) {
  return fmt::format("{}/dossier/runs/{}", TextAt(Json(started.data), "repository"), started.run);
}

void TellAgentsRun(store::Journal& journal, const std::vector<store::Event>& events,
                   std::string_view status, std::ostream& out) {
  AgentsStory story(journal, out);
  for (const store::Event& event : events) story.See(event);
  story.End(events.front(), status);
}

}  // namespace dossier::cli
