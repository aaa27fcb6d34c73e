#include "agents/run/progress.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "agents/task/task_json.h"
#include "base/text/parse.h"

namespace dossier::agents {
namespace {

using Stage = TaskProgress::Stage;

class Reader {
 public:
  explicit Reader(store::Journal& journal) : journal_(journal) {}

  void Read(const store::Event& event, TaskProgress* task) {
    const Json data(event.data);
    if (event.type == "task.claimed") {
      // A second claim is made by a resume, which knows the earlier events.
      if (task->stage == Stage::kNotStarted) task->stage = Stage::kAttempt;
    } else if (event.type == "engine.started") {
      task->stage = Stage::kAttempt;
      task->approved = false;
      task->attempt = FindInt(data, "attempt").value_or(1);
      task->feedback = Text(data, "feedback");
      failed_.erase(task);
    } else if (event.type == "engine.finished") {
      const Json* exit = Find(data, "exit");
      if (exit && FindInt(data, "exit") != 0) failed_.insert(task);
    } else if (event.type == "patch.taken") {
      task->stage = MayBeMerged(data, task) ? Stage::kPatchTaken : Stage::kAttempt;
      task->base = Text(data, "base");
      task->candidate = Text(data, "candidate");
      task->patch_sha256 = Text(data, "patch_sha256");
    } else if (event.type == "review.started") {
      task->stage = Stage::kReviewed;
    } else if (event.type == "approval.accepted") {
      task->stage = Stage::kApproved;
      task->approved = true;
      task->base = Text(data, "base");
      task->candidate = Text(data, "candidate");
      task->patch_sha256 = Text(data, "patch_sha256");
    } else if (event.type == "merge.intent") {
      task->stage = Stage::kIntent;
      task->commit = Text(data, "new");
    } else if (event.type == "merge.done") {
      task->stage = Stage::kMerged;
      task->commit = Text(data, "commit");
    } else if (event.type == "task.finished") {
      Finish(event, data, task);
    }
  }

  // Returns a string, or the body that replaced a long one.
  std::string Text(const Json& data, std::string_view key) {
    const Json* value = Find(data, key);
    if (!value) return {};
    if (const auto* text = value->if_string()) return std::string(text->data(), text->size());
    return value->is_object() ? journal_.ReadBody(*value).value_or("") : std::string();
  }

 private:
  // What a failed engine left is only evidence, not a patch to continue with; and findings beside
  // the changes (writes to the git folder) are in no commit that a resume could check again.
  bool MayBeMerged(const Json& patch, const TaskProgress* task) {
    return !failed_.contains(task) && FindInt(patch, "violations").value_or(0) == 0 &&
           !Text(patch, "candidate").empty();
  }

  // An interrupted task is not finished, and keeps its stage.
  void Finish(const store::Event& event, const Json& data, TaskProgress* task) {
    const auto status = ParseStatus(Text(data, "status"));
    if (status == TaskStatus::kInterrupted) return;
    task->stage = Stage::kFinished;
    task->result = event.data;
  }

  store::Journal& journal_;
  std::set<const TaskProgress*> failed_;  // tasks whose engineer failed in the current attempt
};

// Long strings inside a task are bodies, too.
Json WithTexts(const Json& value, store::Journal& journal) {
  if (const auto* object = value.if_object()) {
    if (object->contains("sha256") && object->contains("bytes")) {
      return Json(journal.ReadBody(value).value_or(""));
    }
    JsonObject out;
    for (const auto& [key, one] : *object) out[key] = WithTexts(one, journal);
    return out;
  }
  if (const auto* list = value.if_array()) {
    JsonArray out;
    for (const Json& one : *list) out.push_back(WithTexts(one, journal));
    return out;
  }
  return value;
}

// Adds what an engine or a reviewer used. An unknown cost counts as none.
void AddUsage(const Json& data, model::Usage* sum) {
  const Json* usage = Find(data, "usage");
  if (!usage || !usage->is_object()) return;
  sum->input += FindInt(*usage, "input").value_or(0);
  sum->output += FindInt(*usage, "output").value_or(0);
  sum->cached += FindInt(*usage, "cached").value_or(0);
  sum->cache_write += FindInt(*usage, "cache_write").value_or(0);
  const double usd = FindNumber(*usage, "cost_usd").value_or(0);
  sum->cost_nano_usd = sum->cost_nano_usd.value_or(0) + model::NanoUsdLimit(usd);
}

// Returns the seconds while a process worked: from its first event to its last.
double SecondsWorked(const std::vector<store::Event>& events) {
  double seconds = 0;
  std::optional<Clock::Wall> last;
  for (const store::Event& event : events) {
    const auto time = ParseTime(event.time);
    if (!time) continue;
    if (last && event.type != "run.resumed") {
      seconds += std::max(std::chrono::duration<double>(*time - *last).count(), 0.0);
    }
    last = *time;
  }
  return seconds;
}

}  // namespace

Result<RunProgress> ReadProgress(const std::vector<store::Event>& events, store::Journal& journal) {
  if (events.empty() || events.front().type != "run.started" ||
      !Find(events.front().data, "options")) {
    return MakeError(ErrorCode::kDamaged, "this is no run of `dossier agents`");
  }
  const Json started = WithTexts(Json(events.front().data), journal);
  Reader reader(journal);
  RunProgress progress;
  progress.options = OptionsFromJson(*Find(started, "options"));
  progress.repository = reader.Text(started, "repository");
  progress.ref = reader.Text(started, "ref");
  progress.policy_sha256 = reader.Text(started, "policy_sha256");
  if (const Json* tasks = Find(started, "tasks"); tasks && tasks->is_array()) {
    for (const Json& task : tasks->get_array()) {
      progress.tasks.push_back(TaskFromJson(task));
      progress.progress[progress.tasks.back().id];
    }
  }
  progress.spent.seconds = SecondsWorked(events);
  for (const store::Event& event : events) {
    const Json data(event.data);
    if (event.type == "run.finished") {
      progress.finished = reader.Text(data, "status") != "interrupted";
    } else if (event.type == "run.resumed") {
      progress.finished = false;
    }
    if (event.type == "engine.finished" || event.type == "review.finished") {
      AddUsage(data, &progress.spent.usage);
    }
    const auto id = FindString(data, "task-id");
    const auto found = id ? progress.progress.find(*id) : progress.progress.end();
    if (found != progress.progress.end()) reader.Read(event, &found->second);
  }
  return progress;
}

}  // namespace dossier::agents
