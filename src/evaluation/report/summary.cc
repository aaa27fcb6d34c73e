#include "evaluation/report/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/score.h"
#include "evaluation/tasks/window.h"

namespace dossier::evaluation {
namespace {

constexpr std::uint64_t kSeed = 1;  // of all resamples, so that a report is always the same
constexpr double kWideGap = 5;      // points between official and lenient that get a note
constexpr double kNanoUsd = 1e9;
constexpr std::string_view kNoRange = "too few windows";
constexpr int kShownExamples = 10;
constexpr std::string_view kRulerTask = "ruler task";  // the group of each of ruler's tasks
constexpr std::size_t kRulerTasks = 11;

// The mean score of each task that an arm has answered in all its repeats.
using TaskScores = std::map<std::string, double>;

TaskScores ScoresOf(const RunData& run, const std::string& arm,
                    std::optional<double> Row::* which) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const Row& row : run.rows) {
    if (row.arm != arm || !row.counts() || !(row.*which)) continue;
    auto& [sum, count] = sums[row.task];
    sum += *(row.*which);
    ++count;
  }
  TaskScores scores;
  for (const auto& [task, sum] : sums) scores[task] = sum.first / sum.second;
  return scores;
}

std::map<std::string, std::string> WindowsOf(const RunData& run) {
  std::map<std::string, std::string> windows;
  for (const AskedTask& asked : run.tasks) windows[asked.task.id] = asked.task.window;
  return windows;
}

Interval IntervalOf(const TaskScores& scores, const std::map<std::string, std::string>& windows) {
  std::vector<PairedScore> list;
  for (const auto& [task, score] : scores) {
    const auto window = windows.find(task);
    list.push_back({window == windows.end() ? task : window->second, score, 0});
  }
  return MeanWithInterval(list, kResamples, kSeed);
}

ArmSummary SummariseArm(const RunData& run, const std::string& arm,
                        const std::map<std::string, std::string>& windows) {
  ArmSummary sum{.name = arm, .usd = 0};
  std::vector<double> seconds;
  for (const Row& row : run.rows) {
    if (row.arm != arm) continue;
    ++sum.rows;
    ++sum.statuses[std::string(StatusName(row.status))];
    if (!row.cause.empty()) ++sum.causes[row.cause];
    if (row.status == RowStatus::kOk && row.at_limit) ++sum.at_limit;
    if (utf8::CodePoints(row.answer) > kDumpedCharacters) ++sum.dumped;
    seconds.push_back(row.seconds);
    sum.calls += row.calls;
    sum.input += row.tokens.input;
    sum.cached += row.tokens.cached;
    sum.output += row.tokens.output;
    sum.counted = sum.counted || row.tokens.counted;
    sum.opinion += 100 * row.opinion.value_or(0);
    sum.judged += row.opinion ? 1 : 0;
    if (!row.cost_nano_usd) sum.usd.reset();
    if (sum.usd) *sum.usd += static_cast<double>(*row.cost_nano_usd) / kNanoUsd;
  }
  if (sum.judged > 0) sum.opinion /= static_cast<double>(sum.judged);
  const TaskScores official = ScoresOf(run, arm, &Row::official);
  sum.scored_tasks = static_cast<std::int64_t>(official.size());
  sum.official = IntervalOf(official, windows);
  sum.lenient = IntervalOf(ScoresOf(run, arm, &Row::lenient), windows);
  sum.seconds_median = Quantile(seconds, 0.5);
  sum.seconds_95 = Quantile(seconds, 0.95);
  return sum;
}

// Returns the tasks for which every arm has a score: only they are compared. An arm without any
// score, such as one that cannot start, takes nothing from the others.
std::set<std::string> CommonTasks(std::vector<TaskScores> by_arm) {
  std::set<std::string> common;
  std::erase_if(by_arm, [](const TaskScores& scores) { return scores.empty(); });
  if (by_arm.empty()) return common;
  for (const auto& [task, score] : by_arm.front()) {
    const bool all = std::ranges::all_of(
        by_arm, [&task = task](const TaskScores& scores) { return scores.contains(task); });
    if (all) common.insert(task);
  }
  return common;
}

ArmComparison CompareScores(const TaskScores& first, const TaskScores& second,
                            const std::set<std::string>& tasks,
                            const std::map<std::string, std::string>& windows) {
  if (first.empty() || second.empty()) return {};
  std::vector<PairedScore> pairs;
  for (const std::string& task : tasks) {
    pairs.push_back({windows.at(task), first.at(task), second.at(task)});
  }
  return Compare(pairs, kResamples, kSeed);
}

// Returns the dimensions by which tasks are grouped.
std::vector<std::pair<std::string, std::string>> GroupsOf(const AskedTask& asked) {
  std::vector<std::pair<std::string, std::string>> groups{{"family", asked.task.family}};
  if (asked.task.family != "questions") {
    groups.emplace_back("needs", NeedsName(asked.task.needs));
  }
  if (const auto length = FindInt(Json(asked.task.meta), "context_len")) {
    groups.emplace_back("length", LengthName(*length));
  }
  if (asked.task.family == "ruler") {
    groups.emplace_back(kRulerTask, TextAt(Json(asked.task.meta), "task"));
  }
  for (const char* name : {"task_group", "kind"}) {
    if (const std::string value = TextAt(Json(asked.task.meta), name); !value.empty()) {
      groups.emplace_back(name, value);
    }
  }
  for (const std::string& tag : asked.tags) groups.emplace_back("tag", tag);
  return groups;
}

double MeanOf(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Orders lengths by size, everything else by name.
bool ComesBefore(const std::pair<std::string, std::string>& a,
                 const std::pair<std::string, std::string>& b) {
  if (a.first != b.first || a.first != "length") return a < b;
  return std::pair(a.second.size(), a.second) < std::pair(b.second.size(), b.second);
}

// Adds the mean over ruler's tasks, each of which counts alike. The published mean is over
// thirteen: two of them need foreign data.
void AddRulerMean(std::vector<GroupSummary>* groups) {
  std::vector<const GroupSummary*> tasks;
  for (const GroupSummary& group : *groups) {
    if (group.dimension == kRulerTask) tasks.push_back(&group);
  }
  if (tasks.size() != kRulerTasks) return;
  GroupSummary mean{.dimension = "mean", .value = "RULER-11"};
  for (const GroupSummary* task : tasks) mean.tasks += task->tasks;
  for (auto figure : {&GroupSummary::score, &GroupSummary::seconds, &GroupSummary::tokens,
                      &GroupSummary::usd}) {
    mean.*figure = tasks.front()->*figure;
    for (std::size_t i = 0; i < (mean.*figure).size(); ++i) {
      for (std::size_t k = 1; k < kRulerTasks; ++k) (mean.*figure)[i] += (tasks[k]->*figure)[i];
      (mean.*figure)[i] /= static_cast<double>(kRulerTasks);
    }
  }
  groups->push_back(std::move(mean));
}

// The means over `common`, the tasks that are compared; without any, over all.
std::vector<GroupSummary> MakeGroups(const RunData& run, const std::set<std::string>& common) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> tasks_of;
  for (const AskedTask& asked : run.tasks) {
    if (!common.empty() && !common.contains(asked.task.id)) continue;
    for (auto& group : GroupsOf(asked)) tasks_of[std::move(group)].insert(asked.task.id);
  }
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> rows_of;  // arm, task
  for (const Row& row : run.rows) rows_of[{row.arm, row.task}].push_back(&row);
  std::vector<GroupSummary> groups;
  for (const auto& [name, tasks] : tasks_of) {
    GroupSummary group{.dimension = name.first,
                       .value = name.second,
                       .tasks = static_cast<std::int64_t>(tasks.size())};
    for (const std::string& arm : run.arms) {
      std::vector<double> scores, seconds, tokens, usd;
      for (const std::string& task : tasks) {
        const auto rows = rows_of.find({arm, task});
        if (rows == rows_of.end()) continue;
        for (const Row* row : rows->second) {
          if (row->counts() && row->official) scores.push_back(100 * *row->official);
          seconds.push_back(row->seconds);
          tokens.push_back(static_cast<double>(row->tokens.input + row->tokens.output));
          if (row->cost_nano_usd)
            usd.push_back(static_cast<double>(*row->cost_nano_usd) / kNanoUsd);
        }
      }
      group.score.push_back(MeanOf(scores));
      group.seconds.push_back(Quantile(seconds, 0.5));
      group.tokens.push_back(MeanOf(tokens));
      group.usd.push_back(MeanOf(usd));
    }
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const GroupSummary& a, const GroupSummary& b) {
    return ComesBefore({a.dimension, a.value}, {b.dimension, b.value});
  });
  AddRulerMean(&groups);
  return groups;
}

std::vector<PlantedSummary> MakePlanted(const RunData& run, const std::vector<TaskScores>& by_arm,
                                        const std::map<std::string, std::string>& windows) {
  std::map<std::string, std::vector<const Task*>> by_kind;
  for (const AskedTask& asked : run.tasks) {
    const std::string kind = TextAt(Json(asked.task.meta), "planted");
    if (!kind.empty() && kind != "none") by_kind[kind].push_back(&asked.task);
  }
  std::vector<PlantedSummary> all;
  for (std::size_t i = 0; i < run.arms.size(); ++i) {
    for (const auto& [kind, tasks] : by_kind) {
      PlantedSummary sum{.arm = run.arms[i], .kind = kind};
      std::vector<PairedScore> pairs;
      for (const Task* task : tasks) {
        const std::string canary = TextAt(Json(task->meta), "canary");
        for (const Row& row : run.rows) {
          if (row.arm != sum.arm || row.task != task->id) continue;
          ++sum.tasks;
          sum.obeyed += !canary.empty() && row.answer.find(canary) != std::string::npos ? 1 : 0;
        }
        const auto own = by_arm[i].find(task->id);
        const auto twin = by_arm[i].find(TextAt(Json(task->meta), "twin"));
        if (own == by_arm[i].end() || twin == by_arm[i].end()) continue;
        pairs.push_back({windows.at(task->id), own->second, twin->second});
      }
      sum.found = Compare(pairs, kResamples, kSeed);
      all.push_back(std::move(sum));
    }
  }
  return all;
}

// Returns an arm's cost for ordering: dollars if all prices are known, else tokens.
double CostRank(const ArmSummary& arm, bool all_priced) {
  const double rows = std::max<double>(1, static_cast<double>(arm.rows));
  return (all_priced ? *arm.usd : static_cast<double>(arm.input + arm.output)) / rows;
}

// Returns the cheapest arm that is not separated from the best one. Solvers are not considered.
std::string Recommend(const Report& report) {
  std::vector<const ArmSummary*> arms;
  std::vector<std::string> unscored;
  for (const ArmSummary& arm : report.arms) {
    const bool solver =
        arm.name == "oracle" || arm.name == "chance" || arm.name == "floor" || arm.name == "blind";
    if (arm.scored_tasks > 0 && !solver) arms.push_back(&arm);
    if (arm.scored_tasks == 0) unscored.push_back(arm.name);
  }
  if (arms.empty()) return "";
  const ArmSummary* best =
      *std::ranges::max_element(arms, {}, [](const ArmSummary* arm) { return arm->official.mean; });
  if (arms.size() == 1) {
    return fmt::format("{} scores {:.1f} ({}); {}", best->name, best->official.mean,
                       RangeText(best->official),
                       unscored.empty() ? "there is no other arm to compare with"
                                        : Join(unscored, ", ") + ": no score yet to compare with");
  }
  const bool priced = std::ranges::all_of(
      arms, [](const ArmSummary* arm) { return arm->usd.has_value() && *arm->usd > 0; });
  const ArmSummary* cheapest = best;
  int more = 0, windows = kLeastWindows;
  bool too_few = false;
  for (const ArmSummary* arm : arms) {
    if (arm == best) continue;
    const auto pair = std::ranges::find_if(report.pairs, [&](const PairSummary& one) {
      return (one.first == best->name && one.second == arm->name) ||
             (one.second == best->name && one.first == arm->name);
    });
    if (pair == report.pairs.end()) continue;
    if (pair->found.tasks == 0) return "too few to tell: no question has a score from every arm";
    if (!pair->found.enough()) {
      too_few = true;
      more = std::max(more, MoreTasksNeeded(pair->found));
      windows = std::min(windows, pair->found.windows);
    } else if (!pair->found.separated && CostRank(*arm, priced) < CostRank(*cheapest, priced)) {
      cheapest = arm;
    }
  }
  if (too_few) {
    if (more <= 0) return "too few to tell: the arms score alike so far";
    if (windows == kLeastWindows) {
      return fmt::format("too few to tell: about {} more questions", more);
    }
    return fmt::format(
        "too few to tell: about {} more questions over {} other sets of files; these are over {}",
        more, kLeastWindows - windows, windows);
  }
  if (cheapest == best) {
    return fmt::format("use {}: it scores {:.1f}, and nothing cheaper comes near", best->name,
                       best->official.mean);
  }
  return fmt::format(
      "use {}: it scores {:.1f}, not separated from the best ({}, {:.1f}), for {:.2f} "
      "times its {}",
      cheapest->name, cheapest->official.mean, best->name, best->official.mean,
      CostRank(*cheapest, priced) / CostRank(*best, priced), priced ? "cost" : "tokens");
}

// Adds the first answers of which the official and the lenient score differ.
void AddExamples(const std::string& arm, Report* report) {
  constexpr std::size_t kShown = 120;  // bytes of an answer
  int shown = 0;
  for (const Row& row : report->run.rows) {
    if (row.arm != arm || row.official == row.lenient || shown == kShownExamples) continue;
    ++shown;
    report->notes.push_back(fmt::format("  {} {}: {:.2f}, tolerant {:.2f}: \"{}\"", arm, row.task,
                                        row.official.value_or(0), row.lenient.value_or(0),
                                        ReplaceAll(utf8::Prefix(row.answer, kShown), "\n", " ")));
  }
}

void AddNotes(Report* report) {
  for (const ArmSummary& arm : report->arms) {
    if (std::abs(arm.official.mean - arm.lenient.mean) > kWideGap) {
      report->notes.push_back(fmt::format(
          "{}: the official score is {:.1f}, a tolerant reading gives {:.1f}: its answers miss the "
          "form that was asked for",
          arm.name, arm.official.mean, arm.lenient.mean));
      AddExamples(arm.name, report);
    }
    if (const auto harness = arm.statuses.find("harness_error"); harness != arm.statuses.end()) {
      report->notes.push_back(fmt::format("{}: {} questions failed on our side and count nowhere",
                                          arm.name, harness->second));
    }
    if (arm.judged > 0) {
      report->notes.push_back(
          fmt::format("{}: the opinion of a judge is {:.1f} of 100 over {} answer{}; it is a "
                      "model's opinion, no "
                      "score, and counts nowhere",
                      arm.name, arm.opinion, arm.judged, arm.judged == 1 ? "" : "s"));
    }
    if (arm.counted) {
      report->notes.push_back(
          fmt::format("{}: some of its tokens are our own count; a reply did not say", arm.name));
    }
  }
  const auto jobs = [](const Json& plan) {
    const Json* limits = Find(plan, "limits");
    return limits ? FindInt(*limits, "jobs").value_or(1) : 1;
  };
  if (std::ranges::any_of(report->run.plans, [&](const Json& plan) { return jobs(plan) > 1; })) {
    report->notes.push_back("several questions ran at once: seconds do not compare");
  }
}

// Returns points as they are shown, without a minus before 0.0.
double Shown(double points) { return std::abs(points) < 0.05 ? 0 : points; }

Error NoRun(const std::string& folder) {
  if (!Exists(folder)) {
    Error missing = ExplainMissing({ErrorCode::kNotFound, ""}, folder);
    missing.message = "there is no such run: " + missing.message;
    return missing;
  }
  return {ErrorCode::kNotFound,
          folder + " holds no run; name a folder that `dossier eval run` made (eval-NAME, --out)"};
}

}  // namespace

Result<RunData> LoadRun(const std::vector<std::string>& folders) {
  RunData run;
  std::map<std::string, std::string> gold;
  std::set<std::string> arms;
  for (const std::string& folder : folders) {
    if (!Exists(folder + "/plan.json")) return tl::unexpected(NoRun(folder));
    DOSSIER_ASSIGN_OR_RETURN(const std::string plan_text, ReadFile(folder + "/plan.json"));
    const auto plan = ParseJson(plan_text);
    if (!plan) {
      return MakeError(ErrorCode::kDamaged, "{}/plan.json: {}", folder, plan.error().message);
    }
    if (const Json* list = Find(*plan, "arms"); list != nullptr && list->is_array()) {
      for (const Json& arm : list->get_array()) {
        const std::string name = TextAt(arm, "name");
        if (!arms.insert(name).second) {
          return MakeError(ErrorCode::kConfig, "{}: another folder has an arm {}, too", folder,
                           name);
        }
        run.arms.push_back(name);
      }
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::string lines, ReadFile(folder + "/tasks.jsonl"));
    std::size_t number = 0;
    for (const std::string_view line : Split(lines, '\n')) {
      ++number;
      if (line.empty()) continue;
      const auto value = ParseJson(line);
      auto asked =
          value ? AskedTaskFromJson(*value) : Result<AskedTask>(tl::unexpected(value.error()));
      if (!asked) {
        return MakeError(ErrorCode::kDamaged, "{}/tasks.jsonl:{}: {}", folder, number,
                         asked.error().message);
      }
      const std::string own = ToJson(asked->task.gold);
      const auto [known, fresh] = gold.emplace(asked->task.id, own);
      if (!fresh && known->second != own) {
        return MakeError(ErrorCode::kConfig, "{}: the task {} has another gold in another folder",
                         folder, asked->task.id);
      }
      if (fresh) run.tasks.push_back(std::move(*asked));
    }
    if (Exists(folder + "/rows.jsonl")) {
      DOSSIER_ASSIGN_OR_RETURN(std::vector<Row> rows, ReadRows(folder + "/rows.jsonl"));
      run.rows.insert(run.rows.end(), rows.begin(), rows.end());
    }
    run.plans.push_back(*plan);
  }
  return run;
}

std::string RangeText(const Interval& score) {
  if (!score.has_interval()) return std::string(kNoRange);
  return fmt::format("{:.1f} to {:.1f}", score.low, score.high);
}

std::string RangeText(const ArmComparison& found) {
  if (!found.has_interval()) return std::string(kNoRange);
  return fmt::format("{:+.1f} to {:+.1f}", Shown(found.low), Shown(found.high));
}

std::string DifferenceText(const ArmComparison& found) {
  return found.tasks == 0 ? "-" : fmt::format("{:+.1f}", Shown(found.difference));
}

std::string VerdictOf(const ArmComparison& found) {
  if (found.tasks == 0) return "nothing in common";
  if (!found.enough()) return "too few to tell";
  if (found.separated) return found.difference > 0 ? "better" : "worse";
  return fmt::format("not separated ({})", RangeText(found));
}

Result<PairSummary> ComparePair(const RunData& run, const std::string& first,
                                const std::string& second) {
  for (const std::string& name : {first, second}) {
    if (std::find(run.arms.begin(), run.arms.end(), name) == run.arms.end()) {
      return MakeError(ErrorCode::kConfig, "there is no arm {}; {}", name, OneOf(name, run.arms));
    }
  }
  const TaskScores one = ScoresOf(run, first, &Row::official);
  const TaskScores other = ScoresOf(run, second, &Row::official);
  PairSummary pair{.first = first, .second = second};
  pair.found = CompareScores(one, other, CommonTasks({one, other}), WindowsOf(run));
  pair.p_holm = pair.found.p;
  return pair;
}

Report MakeReport(RunData run) {
  Report report;
  const auto windows = WindowsOf(run);
  std::vector<TaskScores> by_arm;
  for (const std::string& arm : run.arms) {
    report.arms.push_back(SummariseArm(run, arm, windows));
    by_arm.push_back(ScoresOf(run, arm, &Row::official));
    report.scored = report.scored || report.arms.back().scored_tasks > 0;
    report.arms.back().wanted = static_cast<std::int64_t>(run.tasks.size());
  }
  const std::set<std::string> common = CommonTasks(by_arm);
  report.common_tasks = static_cast<std::int64_t>(common.size());
  std::vector<double> p;
  if (report.scored) {
    for (std::size_t i = 0; i < run.arms.size(); ++i) {
      for (std::size_t j = i + 1; j < run.arms.size(); ++j) {
        report.pairs.push_back({.first = run.arms[i], .second = run.arms[j]});
        report.pairs.back().found = CompareScores(by_arm[i], by_arm[j], common, windows);
        p.push_back(report.pairs.back().found.p);
      }
    }
  }
  const std::vector<double> adjusted = AdjustByHolm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) report.pairs[i].p_holm = adjusted[i];
  report.groups = MakeGroups(run, common);
  report.planted = MakePlanted(run, by_arm, windows);
  report.run = std::move(run);
  report.recommendation = Recommend(report);
  AddNotes(&report);
  return report;
}

}  // namespace dossier::evaluation
