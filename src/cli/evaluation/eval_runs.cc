// eval run, arms, score, report, compare, diff: the commands for evaluation runs.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/files/output_file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/evaluation/eval_run.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

namespace fs = std::filesystem;
using evaluation::Report;
using evaluation::Row;
using evaluation::RowStatus;
using evaluation::RunData;
using evaluation::Summary;

// Returns --out, or else "eval-NAME" in the current folder, named after the first task set.
std::string FolderOf(const EvalRunArguments& given) {
  if (!given.out.empty()) return given.out;
  fs::path name = fs::path(given.sets.front()).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return "eval-" + name.stem().string();
}

class Progress {
 public:
  Progress(std::int64_t total, Context& context) : total_(total), context_(context) {}

  void Show(const Row& row, std::int64_t answers) {
    if (context_.flags.quiet) return;
    const std::string score = row.official ? fmt::format(", score {:.2f}", *row.official) : "";
    context_.err << utf8::CleanForTerminal(
                        fmt::format("[{}/{}] {} {}: {}{}{}, {:.1f} s, {} call{}{}{}", answers,
                                    total_, row.arm, row.task, StatusName(row.status),
                                    row.at_limit ? " at a limit" : "", score, row.seconds,
                                    row.calls, row.calls == 1 ? "" : "s",
                                    row.detail.empty() ? "" : ": ", FirstLine(row.detail)))
                 << "\n"
                 << std::flush;
  }

 private:
  const std::int64_t total_;
  Context& context_;
};

std::string BrokenArm(std::string_view arm, std::int64_t rows, std::string_view failure) {
  return fmt::format("{} failed at all of {} question{}, so its score says nothing: {}", arm, rows,
                     rows == 1 ? "" : "s", FirstLine(failure));
}

Result<int> ShowEstimate(const PreparedPlan& prepared, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto estimates,
                           evaluation::EstimatePlan(prepared.plan, prepared.parts, context.cancel));
  std::vector<std::string> broken;
  for (const evaluation::Estimate& one : estimates) {
    context.out << fmt::format(
        "{}: about {:.0f} calls, {:.0f} tokens, {:.0f} s, {} (from {} question{})\n", Safe(one.arm),
        one.calls, one.tokens, one.seconds,
        one.usd ? fmt::format("${:.4f}", *one.usd) : "price unknown", one.sampled,
        one.sampled == 1 ? "" : "s");
    if (one.failed == one.sampled) broken.push_back(BrokenArm(one.arm, one.failed, one.failure));
  }
  for (const std::string& one : broken) context.err << "dossier: " << Safe(one) << "\n";
  return broken.empty() ? 0 : ExitCode(ErrorCode::kPartial);
}

// Lists arms without any answer: their score of 0 means a fault.
std::vector<std::string> BrokenArms(const Report& report) {
  std::vector<std::string> found;
  for (const std::string& arm : report.run.arms) {
    std::int64_t rows = 0, broken = 0;
    std::string failure;
    for (const Row& row : report.run.rows) {
      if (row.arm != arm) continue;
      ++rows;
      if (!row.broken()) continue;
      ++broken;
      failure = row.detail;
    }
    if (rows > 0 && rows == broken) found.push_back(BrokenArm(arm, broken, failure));
  }
  return found;
}

// Checks every arm against --min-score and --max-seconds.
std::vector<std::string> Shortfalls(const EvalRunArguments& given, const Report& report) {
  std::vector<std::string> found;
  for (const evaluation::ArmSummary& arm : report.arms) {
    if (given.min_score && arm.official.mean < 100 * *given.min_score) {
      found.push_back(fmt::format("{} scores {:.3f}, below --min-score {}", arm.name,
                                  arm.official.mean / 100, *given.min_score));
    }
    if (given.max_seconds && arm.seconds_95 > *given.max_seconds) {
      found.push_back(fmt::format("{} takes {:.1f} s (95th), above --max-seconds {}", arm.name,
                                  arm.seconds_95, *given.max_seconds));
    }
  }
  return found;
}

// `answers`: how many of all asked questions have a stored answer.
int EndOf(const Summary& summary, std::size_t answers, const std::vector<std::string>& broken,
          const std::vector<std::string>& shortfalls, Context& context) {
  if (!summary.why.empty()) context.err << "dossier: " << Safe(summary.why) << "\n";
  switch (summary.end) {
    case Summary::End::kCancelled:
      context.err << fmt::format(
          "dossier: interrupted: {} of {} answers are kept; the same command asks the rest\n",
          answers, summary.rows);
      return 130;
    case Summary::End::kModelAway:
      return ExitCode(ErrorCode::kNetwork);
    case Summary::End::kBudget:
      return ExitCode(ErrorCode::kLimit);
    case Summary::End::kDone:
      break;
  }
  for (const auto* list : {&broken, &shortfalls}) {
    for (const std::string& one : *list) context.err << "dossier: " << Safe(one) << "\n";
  }
  if (!broken.empty()) return ExitCode(ErrorCode::kPartial);
  if (!shortfalls.empty()) return kExitDifferences;
  return summary.harness_errors > 0 ? ExitCode(ErrorCode::kPartial) : 0;
}

Result<int> RunEval(const EvalRunArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const PreparedPlan prepared, PreparePlan(given, context));
  if (given.estimate) return ShowEstimate(prepared, context);
  const std::string folder = FolderOf(given);
  std::int64_t total = 0;
  for (const auto& set : prepared.plan.sets) total += static_cast<std::int64_t>(set.tasks.size());
  total *= static_cast<std::int64_t>(prepared.plan.arms.size()) * given.repeats;
  Progress progress(total, context);
  DOSSIER_ASSIGN_OR_RETURN(
      const Summary summary,
      evaluation::RunPlan(
          prepared.plan, folder, prepared.parts,
          given.renew ? evaluation::OldRows::kDiscard : evaluation::OldRows::kKeep, context.cancel,
          [&progress](const Row& row, std::int64_t answers) { progress.Show(row, answers); }));
  if (summary.skipped > 0 && !context.flags.quiet) {
    context.err << fmt::format("dossier: {} answers were there already\n", summary.skipped);
  }
  DOSSIER_ASSIGN_OR_RETURN(RunData run, evaluation::LoadRun({folder}));
  const Report report = evaluation::MakeReport(std::move(run));
  const std::string page = given.html.empty() ? folder + "/report.html" : given.html;
  DOSSIER_RETURN_IF_ERROR(WriteReport(
      report, {.html = page, .markdown = given.markdown, .junit = given.junit, .json = given.json},
      context));
  if (!context.flags.quiet) context.err << fmt::format("dossier: all answers: {}\n", Safe(page));
  return EndOf(summary, report.run.rows.size(), BrokenArms(report), Shortfalls(given, report),
               context);
}

void DeclareRun(Flags& flags, EvalRunArguments& to) {
  flags.Add("set", &to.sets, "a file of questions, or a task set").Required().Kind(kPath);
  flags
      .Add("--arm", &to.arms,
           "a system to ask: dossier, dossier:FLAGS, direct, … (repeat; dossier)")
      .Kind(kWord)
      .Often();
  flags.Add("-m,--model", &to.models, "model, as [PROVIDER/]NAME (repeat: each arm with each)")
      .Kind(kModel)
      .Often();
  flags.Add("--out", &to.out, "folder of the run (eval-NAME)").Kind(kPath).Often();
  flags.Add("--arms", &to.arms_file, "file that describes further arms").Kind(kPath);
  flags
      .Add("--contexts-from", &to.contexts_from,
           "file or folder that contexts may lie in, beside the folder of the questions (repeat)")
      .Kind(kPath);
  flags.Add("--only", &to.only, "questions whose id or tag fits this pattern").Kind(kWord);
  flags.Add("--sample", &to.sample, "so many questions of each set, evenly spread").Positive();
  flags.Add("--repeat", &to.repeats, "ask each question so often").Between(1, 100).ShowDefault();
  flags.Add("--jobs", &to.jobs, "questions at once; seconds compare only with 1")
      .Between(1, 64)
      .ShowDefault();
  flags.Add("--cache", &to.cache, "cold: no cache of the provider helps")
      .OneOf({"warm", "cold"})
      .ShowDefault();
  flags
      .Add("--stub-errors", &to.stub_errors,
           "score by the answers that `eval stub --errors P` leads to; P as the set has it")
      .Kind(kWord);
  flags.Add("--estimate", &to.estimate, "ask three questions an arm and say what all would take");
  flags.Add("--new", &to.renew, "forget the answers that the folder holds");
  Flags limits = flags.In("Limits");
  limits.Add("--limit-time", &to.limit_time, "of one question").Kind(kTime).ShowDefault();
  limits.Add("--limit-calls", &to.limit_calls, "of one question").Positive().ShowDefault();
  limits.Add("--max-cost", &to.max_cost, "of the whole run, in USD").NotNegative();
  limits.Add("--max-time", &to.max_time, "of the whole run").Kind(kTime);
  Flags result = flags.In("Result");
  result.Add("--json", &to.json, "the report as one object");
  result.Add("--html", &to.html, "the page (OUT/report.html)").Kind(kPath);
  result.Add("--md", &to.markdown, "the report as Markdown").Kind(kPath);
  result.Add("--junit", &to.junit, "the rows as JUnit's XML").Kind(kPath);
  result.Add("--min-score", &to.min_score, "exit 15 if an arm scores less, 0 to 1").Between(0, 1);
  result.Add("--max-seconds", &to.max_seconds, "exit 15 if an arm's 95th percentile is above")
      .Positive();
  Flags model = flags.In("Model");
  AddEndpointFlags(model, &to.base_url, &to.key_env);
  AddScriptFlag(model, &to.script);
  model
      .Add("--judge", &to.judge,
           "model that gives its opinion where the scorer is `judge`; no score")
      .Kind(kModel);
  AddPriceFlag(model, &to.prices);
  model.Add("--window", &to.window, "tokens of a model that is not in the model data").Positive();
  model.Add("--temperature", &to.temperature, "where a system sets none").Between(0, 2);
  model.Add("--seed", &to.seed, "where a system sets none");
}

struct ArmsArguments {
  bool json = false;
};

Result<int> ListArms(const ArmsArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string peers, PeersFolder());
  JsonArray arms;
  for (const evaluation::SystemInfo& info : evaluation::Systems()) {
    const bool peer = !info.package.empty();
    const std::string folder = fmt::format("{}/{}", peers, info.name);
    const std::string install = evaluation::MissingOf(info, peers);
    const bool there = install.empty();
    const std::string version =
        peer && there ? std::string(TrimSpace(ReadFile(folder + "/version").value_or(""))) : "";
    if (!given.json) {
      context.out << fmt::format(
          "{:<14} {}{}\n", info.name, info.about,
          there ? (version.empty() ? "" : " (" + version + ")") : "; not installed: " + install);
    }
    arms.push_back(JsonObject{{"name", info.name},
                              {"about", info.about},
                              {"installed", there},
                              {"version", version},
                              {"install", install}});
  }
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.arms/1"}, {"arms", std::move(arms)}})
                << "\n";
  }
  return 0;
}

void DeclareArms(Flags& flags, ArmsArguments& to) { flags.Add("--json", &to.json, "one object"); }

struct FoldersArguments {
  std::vector<std::string> folders;
  std::string html, markdown, json_file, junit;
  bool json = false;
};

Result<int> ReportRuns(const FoldersArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(RunData run, evaluation::LoadRun(given.folders));
  const Report report = evaluation::MakeReport(std::move(run));
  DOSSIER_RETURN_IF_ERROR(WriteReport(report,
                                      {.html = given.html,
                                       .markdown = given.markdown,
                                       .json_file = given.json_file,
                                       .junit = given.junit,
                                       .json = given.json},
                                      context));
  return 0;
}

void DeclareReport(Flags& flags, FoldersArguments& to) {
  flags.Add("folder", &to.folders, "folders of runs").Required().Kind(kFolder);
  flags.Add("--html", &to.html, "write a page").Kind(kPath);
  flags.Add("--md", &to.markdown, "write Markdown").Kind(kPath);
  flags.Add("--json-file", &to.json_file, "write the object to a file").Kind(kPath);
  flags.Add("--junit", &to.junit, "write JUnit's XML").Kind(kPath);
  flags.Add("--json", &to.json, "the object on stdout");
}

// Scores stored answers again without asking anything.
Result<int> ScoreAgain(const FoldersArguments& given, Context& context) {
  const evaluation::RunScorer run_scorer = JailedScorer(context.cancel);
  int changed = 0, total = 0;
  for (const std::string& folder : given.folders) {
    std::optional<FileLock> lock;  // a run that goes on would append to the file that is replaced
    if (Exists(folder + "/rows.jsonl")) {
      DOSSIER_ASSIGN_OR_RETURN(lock, evaluation::LockRows(folder));
    }
    DOSSIER_ASSIGN_OR_RETURN(const RunData run, evaluation::LoadRun({folder}));
    std::map<std::string, const evaluation::AskedTask*> tasks;
    for (const evaluation::AskedTask& asked : run.tasks) tasks[asked.task.id] = &asked;
    std::string lines;
    for (Row row : run.rows) {
      const auto asked = tasks.find(row.task);
      if (asked == tasks.end()) {
        return MakeError(ErrorCode::kDamaged, "{}: a row is of the task {}, which is not there",
                         folder, row.task);
      }
      const Json before = evaluation::RowToJson(row);
      if (asked->second->task.scorer != "judge") {
        DOSSIER_RETURN_IF_ERROR(evaluation::ScoreRow(*asked->second, run_scorer, &row));
      }
      const Json after = evaluation::RowToJson(row);
      changed += ToJson(before) == ToJson(after) ? 0 : 1;
      ++total;
      lines += ToJson(after) + "\n";
    }
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder + "/rows.jsonl", lines));
  }
  context.out << fmt::format("{} of {} rows have another score now\n", changed, total);
  return 0;
}

void DeclareScore(Flags& flags, FoldersArguments& to) {
  flags.Add("folder", &to.folders, "folders of runs").Required().Kind(kFolder);
}

struct CompareArguments {
  std::string folder, first, second;
  bool json = false;
};

Result<int> CompareArms(const CompareArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const RunData run, evaluation::LoadRun({given.folder}));
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::PairSummary pair,
                           evaluation::ComparePair(run, given.first, given.second));
  const evaluation::ArmComparison& found = pair.found;
  if (given.json) {
    context.out << ToJson(
                       JsonObject{{"schema", "dossier.evalcompare/1"},
                                  {"first", pair.first},
                                  {"second", pair.second},
                                  {"difference", found.tasks > 0 ? Json(found.difference) : Json()},
                                  {"low", evaluation::Known(found, found.low)},
                                  {"high", evaluation::Known(found, found.high)},
                                  {"p", evaluation::Known(found, found.p)},
                                  {"tasks", found.tasks},
                                  {"windows", found.windows},
                                  {"separated", found.separated},
                                  {"verdict", evaluation::VerdictOf(found)}})
                << "\n";
    return 0;
  }
  context.out << fmt::format(
      "{} minus {}: {} points ({}){}, {} tasks in {} window{}: {}\n", Safe(pair.first),
      Safe(pair.second), evaluation::DifferenceText(found), evaluation::RangeText(found),
      found.has_interval() ? fmt::format(", p {:.3f}", found.p) : "", found.tasks, found.windows,
      found.windows == 1 ? "" : "s", evaluation::VerdictOf(found));
  const int more = evaluation::MoreTasksNeeded(found);
  if (!found.separated && more > 0) {
    context.out << fmt::format("such a difference would stand out with about {} more questions\n",
                               more);
  }
  return 0;
}

void DeclareCompare(Flags& flags, CompareArguments& to) {
  flags.Add("folder", &to.folder, "folder of a run").Required().Kind(kFolder);
  flags.Add("first", &to.first, "an arm").Required().Kind(kWord);
  flags.Add("second", &to.second, "another arm").Required().Kind(kWord);
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Status WriteReport(const Report& report, const ReportFiles& files, Context& context) {
  if (!files.html.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteOutput(files.html, {evaluation::ReportHtml(report)}));
  }
  if (!files.markdown.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteOutput(files.markdown, {evaluation::ReportMarkdown(report)}));
  }
  if (!files.junit.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteOutput(files.junit, {evaluation::ReportJunit(report)}));
  }
  const std::string object = ToJson(evaluation::ReportToJson(report)) + "\n";
  if (!files.json_file.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteOutput(files.json_file, {object}));
  }
  context.out << (files.json ? object : evaluation::ReportTable(report));
  return {};
}

Command EvalRunCommand() {
  return {.name = "run",
          .summary = "ask every question of every arm, score, and say which one to use",
          .examples =
              "dossier eval run my.yml --arm dossier --arm direct -m local\n"
              "    your own questions, by two ways, with one model\n"
              "dossier eval run set --estimate\n"
              "    what a whole run would take",
          .binding = Bind(DeclareRun, RunEval)};
}

Command EvalArmsCommand() {
  return {.name = "arms",
          .summary = "the systems that can be asked, and how to install those that are missing",
          .binding = Bind(DeclareArms, ListArms)};
}

Command EvalScoreCommand() {
  return {.name = "score",
          .summary = "score stored answers again",
          .binding = Bind(DeclareScore, ScoreAgain)};
}

Command EvalReportCommand() {
  return {.name = "report",
          .summary = "the report of one run or several",
          .binding = Bind(DeclareReport, ReportRuns)};
}

Command EvalCompareCommand() {
  return {.name = "compare",
          .summary = "two arms of a run, task by task",
          .binding = Bind(DeclareCompare, CompareArms)};
}

}  // namespace dossier::cli
