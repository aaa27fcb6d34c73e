#include "evaluation/run/runner.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/process/process.h"
#include "base/task_group.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "evaluation/run/judge.h"
#include "evaluation/score.h"

namespace dossier::evaluation {
namespace {

constexpr int kHarnessTries = 3;
constexpr int kModelAwayRows = 5;
constexpr std::string_view kNotScored = "not scored";  // the rule of a row whose scorer failed
constexpr int kEstimateTasks = 3;
constexpr std::string_view kPlanSchema = "dossier.evalplan/1";
constexpr double kNanoPerUnit = 1e9;

Json ArmToJson(const Arm& arm) {
  JsonObject environment;
  for (const auto& [name, value] : arm.environment) {
    environment[name] = IsSecretVariable(name, value) ? "[redacted]" : Json(value);
  }
  return JsonObject{{"name", arm.name},
                    {"system", arm.system},
                    {"argv", JsonArray(arm.argv.begin(), arm.argv.end())},
                    {"env", std::move(environment)},
                    {"setting", arm.setting},
                    {"model", arm.model}};
}

Json ModelToJson(const EvalModel& model) {
  return JsonObject{{"name", model.name},
                    {"model", model.upstream.model},
                    {"window", model.window},
                    {"max_output", model.max_output},
                    {"weights", model.weights},
                    {"script", model.script},
                    {"base_url", Redact(model.address)},
                    {"prices", JsonObject{{"input", OrNull(model.price_input)},
                                          {"cached", OrNull(model.price_cached)},
                                          {"output", OrNull(model.price_output)},
                                          {"as_of", model.prices_of}}}};
}

std::string FirstMatch(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::string(TrimSpace(line.substr(line.find(':') + 1)));
  }
  return "";
}

Json MachineToJson() {
  utsname kernel{};
  uname(&kernel);
  struct sysinfo info{};
  sysinfo(&info);
  return JsonObject{{"cpu", FirstMatch("/proc/cpuinfo", "model name")},
                    {"cores", std::thread::hardware_concurrency()},
                    {"memory", static_cast<std::uint64_t>(info.totalram) * info.mem_unit},
                    {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
                    {"load", static_cast<double>(info.loads[0]) / (1 << SI_LOAD_SHIFT)}};
}

// Describes a difference for readers, to whom a hash means nothing.
std::string InWords(std::string_view path, const Json* before, const Json* now) {
  struct Wording {
    std::string_view head, tail, words;
  };
  constexpr Wording kWordings[] = {{"binary", "", "this program is another build"},
                                   {"sets.", ".sha256", "{} or a file that it names has changed"},
                                   {"models.", ".weights", "the weights of the model have changed"},
                                   {"models.", ".script", "the script of the model has changed"}};
  for (const Wording& one : kWordings) {
    if (!path.starts_with(one.head) || !path.ends_with(one.tail)) continue;
    path.remove_prefix(one.head.size());
    return ReplaceAll(one.words, "{}", path.substr(0, path.size() - one.tail.size()));
  }
  const Json* there = before ? before : now;
  if (there && there->is_object() && (!before || !now)) {
    return fmt::format("{} is {}", path, now ? "new" : "gone");
  }
  const auto shown = [](const Json* value) { return value ? ToJson(*value) : "nothing"; };
  return fmt::format("{}: {}, now {}", path, shown(before), shown(now));
}

void Compare(const Json* before, const Json* now, const std::string& path,
             std::vector<std::string>* differences) {
  const auto shown = [](const Json* value) { return value ? ToJson(*value) : "nothing"; };
  // Lists of named objects are compared by name.
  const auto is_named = [](const Json* list) {
    return list && list->is_array() &&
           std::ranges::all_of(list->get_array(), [](const Json& one) { return one.is_object(); });
  };
  if (is_named(before) && is_named(now)) {
    const auto by_name = [](const Json& list) {
      JsonObject object;
      for (const Json& one : list.get_array()) object[TextAt(one, "name")] = one;
      return Json(std::move(object));
    };
    const Json first = by_name(*before), second = by_name(*now);
    return Compare(&first, &second, path, differences);
  }
  if (before && now && before->is_object() && now->is_object()) {
    std::set<std::string> names;
    for (const Json* side : {before, now}) {
      for (const auto& [name, value] : side->get_object()) names.emplace(name);
    }
    for (const std::string& name : names) {
      Compare(before->get_object().if_contains(name), now->get_object().if_contains(name),
              path.empty() ? name : path + "." + name, differences);
    }
    return;
  }
  if (shown(before) != shown(now)) differences->push_back(InWords(path, before, now));
}

struct Job {
  const Arm* arm;
  const AskedTask* asked;
  int repeat;
};

// Returns all jobs; the arms take turns in going first, so that drift affects them equally.
std::vector<Job> JobsOf(const EvalPlan& plan) {
  std::vector<Job> jobs;
  std::size_t turn = 0;
  for (const AskedSet& set : plan.sets) {
    for (const AskedTask& asked : set.tasks) {
      for (int repeat = 0; repeat < plan.limits.repeats; ++repeat, ++turn) {
        for (std::size_t i = 0; i < plan.arms.size(); ++i) {
          jobs.push_back({&plan.arms[(turn + i) % plan.arms.size()], &asked, repeat});
        }
      }
    }
  }
  return jobs;
}

std::string FileName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '_' || c == '.';
    name += plain ? c : '_';
  }
  // Names that differ only in replaced characters stay distinct.
  return name == text ? name : name + "-" + Sha256Hex(text).substr(0, 8);
}

std::optional<std::int64_t> CostOf(const EvalModel& model, const RowTokens& tokens) {
  if (!model.price_input || !model.price_output) return std::nullopt;
  const std::int64_t cached = model.price_cached.value_or(*model.price_input);
  return (tokens.input - tokens.cached) * *model.price_input + tokens.cached * cached +
         tokens.output * *model.price_output;
}

// The proxy's data takes precedence over what a system reports.
void Reconcile(const Traffic& traffic, Row* row) {
  switch (row->status) {
    case RowStatus::kEmpty:
    case RowStatus::kError:
    case RowStatus::kCrashed:
    case RowStatus::kNoAnswer:
      break;
    default:
      return;
  }
  if (traffic.limit_met) {
    row->status = RowStatus::kLimit;
  } else if (traffic.context_refused > 0) {
    row->status = RowStatus::kContextTooLong;
  } else if (traffic.failed > 0 && traffic.failed >= traffic.calls) {
    row->status = RowStatus::kProviderError;
  }
  if (row->detail.empty()) row->detail = traffic.failure;
}

// Runs one question: from the systems and the proxy to a scored row.
class Asker {
 public:
  Asker(const EvalPlan& plan, const RunParts& parts, std::string transcripts)
      : plan_(plan), parts_(parts), transcripts_(std::move(transcripts)) {}

  Status Prepare() {
    DOSSIER_ASSIGN_OR_RETURN(proxy_, Proxy::Start({.count = parts_.systems.count}));
    for (const Arm& arm : plan_.arms) {
      DOSSIER_ASSIGN_OR_RETURN(systems_[arm.name], MakeSystem(arm, parts_.systems));
    }
    return {};
  }

  struct Asked {
    Row row;
    Status scored;  // an error: the row has no score yet
  };
  // Errors: kCancelled.
  Result<Asked> Ask(const Job& job, const CancelToken& cancel) {
    Row row;
    for (int attempt = 0; attempt < kHarnessTries; ++attempt) {
      row = AskOnce(job, cancel);
      if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
      if (row.status != RowStatus::kHarnessError) break;
    }
    Status scored = parts_.score(*job.asked, &row);
    if (!scored) row.rule = kNotScored;
    return Asked{std::move(row), std::move(scored)};
  }

 private:
  Row AskOnce(const Job& job, const CancelToken& cancel) {
    const EvalModel& model = plan_.models.at(job.arm->model);
    const std::string transcript =
        transcripts_.empty()
            ? ""
            : fmt::format("{}/{}.{}.r{}.jsonl", transcripts_, FileName(job.asked->task.id),
                          FileName(job.arm->name), job.repeat);
    if (plan_.limits.jobs == 1) proxy_->WaitUntilIdle();
    const auto question = proxy_->Open(model.upstream,
                                       {.calls = plan_.limits.calls,
                                        .time = plan_.limits.time,
                                        .temperature = plan_.temperature,
                                        .seed = plan_.seed,
                                        .cache = plan_.cache},
                                       transcript);
    const auto began = SystemClock()->Now();
    Answer answer = systems_.at(job.arm->name)
                        ->Ask({.asked = job.asked,
                               .url = question->url(),
                               .model = model.upstream.model,
                               .window = model.window,
                               .max_output = model.max_output,
                               .limit = plan_.limits.time},
                              cancel);
    const std::chrono::duration<double> took = SystemClock()->Now() - began;
    const Traffic traffic = question->Close();
    Row row{.arm = job.arm->name,
            .task = job.asked->task.id,
            .repeat = job.repeat,
            .status = answer.status,
            .answer = std::move(answer.text),
            .detail = std::move(answer.detail),
            .seconds = std::round(took.count() * 1000) / 1000,
            .calls = traffic.calls,
            .tokens = traffic.tokens,
            .cost_nano_usd = CostOf(model, traffic.tokens),
            .turns = answer.turns,
            .sub_calls = answer.sub_calls,
            .ended = std::move(answer.ended),
            .run = std::move(answer.run),
            .at_limit = answer.at_limit || traffic.limit_met};
    Reconcile(traffic, &row);
    return row;
  }

  const EvalPlan& plan_;
  const RunParts& parts_;
  const std::string transcripts_;
  std::unique_ptr<Proxy> proxy_;
  std::map<std::string, std::unique_ptr<System>> systems_;
};

// The conditions that end a run early.
class Budget {
 public:
  Budget(const RunLimits& limits, const std::vector<Row>& before)
      : limits_(limits), began_(SystemClock()->Now()) {
    for (const Row& row : before) nano_usd_ += row.cost_nano_usd.value_or(0);
  }

  void Add(const Row& row) {
    nano_usd_ += row.cost_nano_usd.value_or(0);
    away_ = row.status == RowStatus::kProviderError ? away_ + 1 : 0;
  }

  // Errors: kLimit; kNetwork if the model is away.
  Status Check() const {
    const double usd = static_cast<double>(nano_usd_) / kNanoPerUnit;
    if (limits_.max_cost && usd >= *limits_.max_cost) {
      return MakeError(ErrorCode::kLimit, "{:.4f} of --max-cost {} US dollars are spent", usd,
                       *limits_.max_cost);
    }
    if (limits_.max_time && SystemClock()->Now() - began_ >= *limits_.max_time) {
      return MakeError(ErrorCode::kLimit, "--max-time is over");
    }
    if (away_ >= kModelAwayRows) {
      return MakeError(ErrorCode::kNetwork,
                       "the model did not answer {} questions in a row; start the same command "
                       "again when it does",
                       away_);
    }
    return {};
  }

 private:
  const RunLimits& limits_;
  const Clock::Steady began_;
  std::int64_t nano_usd_ = 0;
  int away_ = 0;
};

Status WriteTasks(const EvalPlan& plan, const std::string& path) {
  std::string lines;
  for (const AskedSet& set : plan.sets) {
    for (const AskedTask& asked : set.tasks) lines += ToJson(AskedTaskToJson(asked)) + "\n";
  }
  return WriteFileAtomic(path, lines);
}

// A folder with other content is not filled with rows and pages.
Status CheckIsOurs(const std::string& folder) {
  constexpr std::string_view kOurs[] = {"plan.json", "tasks.jsonl", "rows.jsonl", "rows.jsonl.pid",
                                        "transcripts"};
  std::error_code none;
  std::string other;
  for (std::filesystem::directory_iterator it(folder, none), end; !none && it != end;
       it.increment(none)) {
    const std::string name = it->path().filename().string();
    if (std::ranges::find(kOurs, name) != std::end(kOurs)) return {};
    if (!name.starts_with('.')) other = name;
  }
  if (other.empty()) return {};
  return MakeError(ErrorCode::kUsage,
                   "{} holds other files, such as {}, and no run; name a new or empty folder with "
                   "--out",
                   folder, other);
}

// Creates the folder or reopens it. Errors: as RunPlan.
Status PrepareFolder(const EvalPlan& plan, const std::string& folder, OldRows old_rows) {
  const std::string plan_path = folder + "/plan.json";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder + "/transcripts"));
  const Json now = PlanToJson(plan);
  if (old_rows == OldRows::kDiscard) {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(folder + "/rows.jsonl"));
  } else if (const auto text = ReadFile(plan_path)) {
    DOSSIER_ASSIGN_OR_RETURN(const Json before, ParseJson(*text));
    const auto differences = PlanDifferences(before, now);
    if (!differences.empty()) {
      return MakeError(ErrorCode::kCheckFailed,
                       "{} holds answers to another plan: {}; --new begins anew, another --out "
                       "keeps both",
                       folder, Join(differences, "; "));
    }
    return {};
  }
  DOSSIER_RETURN_IF_ERROR(WriteTasks(plan, folder + "/tasks.jsonl"));
  return WriteFileAtomic(plan_path, ToPrettyJson(now) + "\n");
}

Status CheckPlan(const EvalPlan& plan) {
  std::set<std::string> names, ids;
  for (const Arm& arm : plan.arms) {
    if (!names.insert(arm.name).second) {
      return MakeError(ErrorCode::kConfig, "the arm {} is there twice", arm.name);
    }
  }
  for (const AskedSet& set : plan.sets) {
    for (const AskedTask& asked : set.tasks) {
      if (!ids.insert(asked.task.id).second) {
        return MakeError(ErrorCode::kConfig, "{}: the id {} is in another set, too", set.name,
                         asked.task.id);
      }
    }
  }
  if (names.empty()) return MakeError(ErrorCode::kConfig, "no arm is named");
  if (ids.empty()) return MakeError(ErrorCode::kConfig, "there is no question to ask");
  return {};
}

std::string CauseOf(const AskedTask& asked, const Row& row) {
  if (row.status != RowStatus::kOk || row.official.value_or(1) >= 1) return "";
  if (row.lenient.value_or(0) >= 1) return "format";
  if (*row.official > 0 || row.lenient.value_or(0) > 0) return "near";
  const std::string lower = ToLowerAscii(std::string_view(row.answer).substr(0, 400));
  for (const char* words : {"i cannot", "i can't", "i'm sorry", "i am unable", "not able to"}) {
    if (lower.find(words) != std::string::npos) return "refusal";
  }
  // Under half of the context's tokens: it was not read. Sets without token counts cannot show it.
  std::int64_t window = 0;
  for (const ContextFile& file : asked.task.contexts) window += file.tokens;
  const bool unread =
      row.turns.value_or(0) <= 1 && row.calls <= 1 && window > 0 && row.tokens.input < window / 2;
  return unread ? "guess" : "wrong";
}

// The scorer `command`: prints a number from 0 to 1 on stdout.
Result<double> ScoreByCommand(const AskedTask& asked, const RunScorer& run, const Row& row) {
  if (!run) {
    return MakeError(ErrorCode::kUnavailable, "{}: no program scores answers here", asked.task.id);
  }
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result,
                           run(asked, ToJson(JsonObject{{"question", asked.task.question},
                                                        {"gold", asked.task.gold},
                                                        {"answer", row.answer}})));
  const auto score = ParseNumber(TrimSpace(result.out));
  if (result.exit_code == 0 && score && *score >= 0 && *score <= 1) return *score;
  return MakeError(
      ErrorCode::kConfig,
      "the scorer of {} ended with exit code {} and printed \"{}\"{}; a number from 0 to 1 is "
      "wanted",
      asked.task.id, result.exit_code, std::string_view(result.out).substr(0, 80),
      result.err.empty() ? "" : fmt::format(" (\"{}\")", FirstLine(result.err)));
}

class PlanRun {
 public:
  PlanRun(const EvalPlan& plan, Asker& asker, RowFile& rows, const CancelToken& cancel,
          const SayRow& say)
      : plan_(plan),
        asker_(asker),
        rows_(rows),
        cancel_(cancel),
        say_(say),
        budget_(plan.limits, rows.rows()) {}

  Result<Summary> Run() {
    jobs_ = JobsOf(plan_);
    summary_.rows = static_cast<std::int64_t>(jobs_.size());
    {
      TaskGroup workers;
      for (int i = 1; i < plan_.limits.jobs; ++i) workers.Run([this] { Work(); });
      Work();
    }
    if (failure_) return tl::unexpected(*failure_);
    for (const Row& row : rows_.rows()) {
      summary_.harness_errors += row.status == RowStatus::kHarnessError ? 1 : 0;
    }
    return summary_;
  }

 private:
  void Work() {
    while (const Job* job = Next()) {
      const auto asked = asker_.Ask(*job, cancel_);
      const std::lock_guard lock(mutex_);
      if (!asked) {
        summary_.end = Summary::End::kCancelled;
        return;
      }
      // The answer is paid for: without a score it is kept, too, for `eval score`.
      Status kept = rows_.Append(asked->row);
      if (kept && !asked->scored) {
        const Error& error = asked->scored.error();
        kept = MakeError(error.code, "{}; the answer is kept, and `eval score` scores it",
                         error.message);
      }
      if (!kept) {
        failure_ = kept.error();
        return;
      }
      ++summary_.asked;
      budget_.Add(asked->row);
      say_(asked->row, static_cast<std::int64_t>(rows_.rows().size()));
    }
  }

  // Returns the next job without a row; null: there is none, or the run ends.
  const Job* Next() {
    const std::lock_guard lock(mutex_);
    if (failure_ || summary_.end != Summary::End::kDone) return nullptr;
    for (; next_ < jobs_.size(); ++next_, ++summary_.skipped) {
      const Job& job = jobs_[next_];
      if (!rows_.Has({job.arm->name, job.asked->task.id, job.repeat})) break;
    }
    if (next_ == jobs_.size()) return nullptr;
    if (cancel_.cancelled()) {
      summary_.end = Summary::End::kCancelled;
      return nullptr;
    }
    if (const Status left = budget_.Check(); !left) {
      summary_.end =
          left.error().code == ErrorCode::kLimit ? Summary::End::kBudget : Summary::End::kModelAway;
      summary_.why = left.error().message;
      return nullptr;
    }
    return &jobs_[next_++];
  }

  const EvalPlan& plan_;
  Asker& asker_;
  RowFile& rows_;
  const CancelToken& cancel_;
  const SayRow& say_;
  std::mutex mutex_;
  Budget budget_;
  std::vector<Job> jobs_;
  std::size_t next_ = 0;
  Summary summary_;
  std::optional<Error> failure_;
};

}  // namespace

Json PlanToJson(const EvalPlan& plan) {
  JsonArray arms, sets;
  JsonObject models;
  for (const Arm& arm : plan.arms) arms.push_back(ArmToJson(arm));
  for (const auto& [key, model] : plan.models) models[key] = ModelToJson(model);
  for (const AskedSet& set : plan.sets) {
    sets.push_back(
        JsonObject{{"name", set.name}, {"sha256", set.sha256}, {"tasks", set.tasks.size()}});
  }
  const RunLimits& limits = plan.limits;
  return JsonObject{
      {"schema", kPlanSchema},
      {"made", FormatTime(SystemClock()->WallNow())},
      {"argv", JsonArray(plan.argv.begin(), plan.argv.end())},
      {"version", plan.version},
      {"binary", plan.binary},
      {"machine", MachineToJson()},
      {"arms", std::move(arms)},
      {"models", std::move(models)},
      {"sets", std::move(sets)},
      {"limits", JsonObject{{"seconds", static_cast<double>(limits.time.count()) / 1000},
                            {"calls", limits.calls},
                            {"repeats", limits.repeats},
                            {"jobs", limits.jobs}}},
      {"sampling",
       JsonObject{{"temperature", OrNull(plan.temperature)}, {"seed", OrNull(plan.seed)}}},
      {"judge", plan.judge},
      {"cache", plan.cache == QuestionRules::Cache::kCold ? "cold" : "warm"}};
}

std::vector<std::string> PlanDifferences(const Json& before, const Json& now) {
  std::vector<std::string> differences;
  for (const char* part :
       {"schema", "binary", "arms", "models", "sets", "limits", "sampling", "judge", "cache"}) {
    Compare(Find(before, part), Find(now, part), part, &differences);
  }
  return differences;
}

Result<void> ScoreRow(const AskedTask& asked, const RunScorer& run, Row* row) {
  row->official = row->lenient = std::nullopt;
  row->parsed = row->rule = row->cause = "";
  if (!row->counts()) return {};
  if (asked.task.scorer == kJudgeScorer) return {};
  const bool by_command = asked.task.scorer == "command";
  if (!asked.has_gold() && !by_command) return {};
  if (row->status != RowStatus::kOk) {
    row->official = row->lenient = 0;
    return {};
  }
  if (by_command) {
    DOSSIER_ASSIGN_OR_RETURN(const double score, ScoreByCommand(asked, run, *row));
    row->official = row->lenient = score;
    row->rule = "command";
  } else {
    DOSSIER_ASSIGN_OR_RETURN(Score score, ScoreAnswer(asked.task, row->answer));
    row->official = score.official;
    row->lenient = score.lenient;
    row->parsed = std::move(score.parsed);
    row->rule = std::move(score.rule);
  }
  row->cause = CauseOf(asked, *row);
  return {};
}

Result<Summary> RunPlan(const EvalPlan& plan, const std::string& folder, const RunParts& parts,
                        OldRows old_rows, const CancelToken& cancel, const SayRow& say) {
  DOSSIER_RETURN_IF_ERROR(CheckPlan(plan));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
  DOSSIER_RETURN_IF_ERROR(CheckIsOurs(folder));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockRows(folder));
  DOSSIER_RETURN_IF_ERROR(PrepareFolder(plan, folder, old_rows));
  DOSSIER_ASSIGN_OR_RETURN(const auto rows, RowFile::Open(folder + "/rows.jsonl"));
  Asker asker(plan, parts, folder + "/transcripts");
  DOSSIER_RETURN_IF_ERROR(asker.Prepare());
  return PlanRun(plan, asker, *rows, cancel, say).Run();
}

Result<std::vector<Estimate>> EstimatePlan(const EvalPlan& plan, const RunParts& parts,
                                           const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckPlan(plan));
  Asker asker(plan, parts, "");
  DOSSIER_RETURN_IF_ERROR(asker.Prepare());
  std::vector<const AskedTask*> tasks;
  for (const AskedSet& set : plan.sets) {
    for (const AskedTask& asked : set.tasks) tasks.push_back(&asked);
  }
  std::vector<Estimate> estimates;
  for (const Arm& arm : plan.arms) {
    Estimate estimate{.arm = arm.name, .usd = 0};
    const std::size_t count = std::min<std::size_t>(kEstimateTasks, tasks.size());
    for (std::size_t i = 0; i < count; ++i) {
      // The first, the middle and the last, because sets are ordered by length.
      const std::size_t at = count == 1 ? 0 : i * (tasks.size() - 1) / (count - 1);
      DOSSIER_ASSIGN_OR_RETURN(const auto asked, asker.Ask({&arm, tasks[at], 0}, cancel));
      DOSSIER_RETURN_IF_ERROR(asked.scored);
      const Row& row = asked.row;
      estimate.calls += static_cast<double>(row.calls);
      estimate.tokens += static_cast<double>(row.tokens.input + row.tokens.output);
      estimate.seconds += row.seconds;
      if (row.broken()) {
        ++estimate.failed;
        estimate.failure = row.detail;
      }
      if (!row.cost_nano_usd) estimate.usd.reset();
      if (estimate.usd) *estimate.usd += static_cast<double>(*row.cost_nano_usd) / kNanoPerUnit;
    }
    estimate.sampled = static_cast<int>(count);
    const double scale =
        static_cast<double>(tasks.size()) * plan.limits.repeats / static_cast<double>(count);
    for (double* sum : {&estimate.calls, &estimate.tokens, &estimate.seconds}) *sum *= scale;
    if (estimate.usd) *estimate.usd *= scale;
    estimates.push_back(std::move(estimate));
  }
  return estimates;
}

}  // namespace dossier::evaluation
