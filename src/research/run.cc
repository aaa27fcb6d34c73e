#include "research/run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/deadline.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/node/node_request.h"
#include "research/node/phase0.h"
#include "research/node/select.h"
#include "research/paper/aggregation.h"
#include "research/paper/citations.h"
#include "research/paper/final_memory.h"
#include "research/paper/review.h"
#include "research/paper/writeup.h"
#include "research/run/report.h"
#include "research/run/run_history.h"
#include "research/run/run_setup.h"
#include "research/search/stage_end.h"
#include "research/search/stage_loop.h"
#include "research/search/stage_questions.h"
#include "research/search/stage_rules.h"
#include "research/search/steering.h"
#include "research/search/summaries.h"
#include "research/search/tree_page.h"

namespace dossier::research {
namespace {

// Completes a run when its stages are over: the final memory, figures, the report, citations, the
// paper, its review.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Closed closed, CloseRun(driver, results, facts, cancel));
//   outcome.report_path = closed.report_path;
//
// With Models::kNone in `results` only what needs no model is written. Errors: those of its parts.

struct Closed {
  std::string report_path;  // relative; "": none
  // kStopped: by --until. kFailed: the paper was not written.
  enum class State : std::uint8_t { kWhole, kStopped, kFailed } state = State::kWhole;
  std::string reason;  // of a failure
};

using Skip = RunOrder::Skip;

// The final steps, one after another; each leaves its results to the next.
class Closing {
 public:
  Closing(const Driver& driver, const RunResults& results, const ReportFacts& facts,
          const CancelToken& cancel)
      : driver_(driver), results_(results), facts_(facts), cancel_(cancel) {}

  Result<Closed> Run() {
    DOSSIER_RETURN_IF_ERROR(Remember());
    if (Asks()) DOSSIER_RETURN_IF_ERROR(Draw());
    DOSSIER_RETURN_IF_ERROR(Report());
    if (!Asks()) return closed_;
    if (driver_.order->until == Step::kPlots) return Stopped();
    DOSSIER_RETURN_IF_ERROR(Write());
    if (closed_.state == Closed::State::kFailed) return closed_;
    if (driver_.order->until == Step::kPaper) return Stopped();
    DOSSIER_RETURN_IF_ERROR(Review());
    return closed_;
  }

 private:
  bool Asks() const { return results_.models == Models::kAsk && facts_.end == RunEnd::kDone; }
  bool Skips(Skip what) const { return research::Skips(*driver_.order, what); }
  Status Keep(std::span<const std::string> warnings) {
    return KeepWarnings(driver_, "run", warnings);
  }
  Closed Stopped() {
    closed_.state = Closed::State::kStopped;
    return closed_;
  }

  Status Remember() {
    if (!driver_.config().final_memory_enabled) return {};
    DOSSIER_ASSIGN_OR_RETURN(const FinalMemory memory,
                             MakeFinalMemory(driver_.services, results_, cancel_));
    parts_.final_memory = memory.text;
    return Keep(memory.warnings);
  }

  Status Draw() {
    if (Skips(Skip::kPlots)) return {};
    DOSSIER_ASSIGN_OR_RETURN(Aggregation made, AggregatePlots(driver_.services, results_, cancel_));
    parts_.figures = std::move(made.figures);
    parts_.aggregator = std::move(made.script);
    return Keep(made.warnings);
  }

  Status Report() {
    if (!driver_.config().generate_report && facts_.end == RunEnd::kDone) return {};
    DOSSIER_ASSIGN_OR_RETURN(closed_.report_path, WriteReport(driver_, results_, facts_, cancel_));
    return {};
  }

  Status Write() {
    if (Skips(Skip::kWriteup)) return {};
    if (!Skips(Skip::kCitations)) {
      DOSSIER_ASSIGN_OR_RETURN(Citations found,
                               GatherCitations(driver_.services, results_, cancel_));
      parts_.citations = std::move(found.entries);
      DOSSIER_RETURN_IF_ERROR(Keep(found.warnings));
    }
    parts_.attempt = driver_.retries;
    DOSSIER_ASSIGN_OR_RETURN(const Paper paper,
                             MakePaper(driver_.services, results_, parts_, cancel_));
    DOSSIER_RETURN_IF_ERROR(Keep(paper.warnings));
    if (!paper.failure.empty()) {
      closed_.state = Closed::State::kFailed;
      closed_.reason = paper.failure;
      return {};
    }
    if (paper.pdf.empty() && !paper.message.empty()) {
      return KeepWarning(driver_, "run", paper.message);
    }
    return {};
  }

  Status Review() {
    if (Skips(Skip::kWriteup) || Skips(Skip::kReview)) return {};
    DOSSIER_ASSIGN_OR_RETURN(const Reviewed done, ReviewPaper(driver_.services, results_, cancel_));
    return Keep(done.warnings);
  }

  const Driver& driver_;
  const RunResults& results_;
  const ReportFacts& facts_;
  const CancelToken& cancel_;
  PaperParts parts_;
  Closed closed_;
};

Result<Closed> CloseRun(const Driver& driver, const RunResults& results, const ReportFacts& facts,
                        const CancelToken& cancel) {
  return Closing(driver, results, facts, cancel).Run();
}

constexpr std::string_view kNoWorkingProgram = "no_working_implementation";

// Returns the --until step of a stage.
Step StepOf(int stage) { return static_cast<Step>(static_cast<int>(Step::kStage1) + stage - 1); }

// Rewrites the ledger's message about a request over the limit: it knows this process only.
std::string OfWholeRun(const RunConfig& config, const RunSpend& spent, const std::string& message) {
  constexpr std::string_view kNotFitting = "used, and the next request needs more";
  if (config.max_tokens && message.starts_with("tokens:")) {
    return fmt::format("tokens: {} of {} {}",
                       GroupDigits(static_cast<std::uint64_t>(spent.usage.tokens())),
                       GroupDigits(static_cast<std::uint64_t>(*config.max_tokens)), kNotFitting);
  }
  if (config.max_cost_usd && spent.usage.total.cost_nano_usd && message.starts_with("cost:")) {
    return fmt::format("cost: {} of {} USD {}",
                       UsdText(static_cast<double>(*spent.usage.total.cost_nano_usd) / 1e9),
                       UsdText(*config.max_cost_usd), kNotFitting);
  }
  return message;
}

struct Explored {
  RunEnd end = RunEnd::kDone;
  std::string reason;
};

// Runs the stages and collects their results.
class Research {
 public:
  Research(const RunOrder& order, StartedRun& setup, const CancelToken& cancel)
      : order_(order), setup_(setup), user_(cancel), results_(setup.Results()) {}

  Result<RunOutcome> Work();

 private:
  Result<Explored> Explore(const CancelToken& cancel);
  Result<RunOutcome> Close(const Explored& explored, const CancelToken& cancel);
  Result<RunOutcome> Limited(std::string reason);
  Result<RunOutcome> StillLimited(std::string reason);
  Status WriteUnfinishedStage();
  Result<RunOutcome> Finish(const Explored& explored, std::string report);
  Result<RunHistory> History() const;
  Status WritePages() const;
  bool IsLimit(const Error& error, const Deadline& deadline) const;

  const RunOrder& order_;
  StartedRun& setup_;
  const CancelToken& user_;
  RunResults results_;
};

Result<Explored> Research::Explore(const CancelToken& cancel) {
  std::string metrics = setup_.driver.evaluation;
  const bool cut = order_.until && *order_.until < Step::kStage1;
  if (!cut) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string asked, AskMetrics(setup_.driver, cancel));
    if (!asked.empty()) metrics = asked;
  }
  for (const int stage : order_.stages) {
    const StageWork work{.stage = stage,
                         .cap = setup_.config.stage_cap(stage),
                         .retries = stage == 1 ? setup_.driver.retries : 0,
                         .evaluation_metrics = metrics};
    DOSSIER_ASSIGN_OR_RETURN(const StageEnd end, RunStage(setup_.driver, work, &results_, cancel));
    if (end == StageEnd::kNoWorkingProgram) {
      return Explored{.end = RunEnd::kFailed, .reason = std::string(kNoWorkingProgram)};
    }
    if (end == StageEnd::kCut || order_.until == StepOf(stage)) {
      return Explored{.end = RunEnd::kStopped, .reason = "--until"};
    }
  }
  return Explored{};
}

// Reads the run from the journal, so that the pages agree with `status` and `report`.
Result<RunHistory> Research::History() const {
  DOSSIER_ASSIGN_OR_RETURN(RunHistory history, HistoryOf(*setup_.log));
  history.results.title = results_.title;
  return history;
}

// Called last, so that the pages include figures, citations, paper and review.
Status Research::WritePages() const {
  DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, History());
  return WriteRunPages(history, setup_.memory.get());
}

Result<RunOutcome> Research::Finish(const Explored& explored, std::string report) {
  RunOutcome outcome{.end = explored.end,
                     .reason = explored.reason,
                     .best_node = results_.best_node,
                     .report_path = std::move(report)};
  DOSSIER_ASSIGN_OR_RETURN(const auto replies, setup_.log->EventsOf("call.replied"));
  DOSSIER_RETURN_IF_ERROR(WriteArtefact(setup_.driver.services,
                                        std::string(run_files::kTokenTracker),
                                        ToPrettyJson(TokenTracker(replies)) + "\n"));
  DOSSIER_RETURN_IF_ERROR(WritePages());
  DOSSIER_ASSIGN_OR_RETURN(const auto warnings, setup_.log->EventsOf("warning"));
  for (const store::Event& event : warnings) {
    const Json data(setup_.log->Whole(event.data));
    if (const auto text = FindString(data, "text")) outcome.warnings.emplace_back(*text);
  }
  DOSSIER_RETURN_IF_ERROR(setup_.log->Add("run.finished", "",
                                          {{"status", RunEndName(outcome.end)},
                                           {"reason", outcome.reason},
                                           {"best_node", outcome.best_node},
                                           {"report", outcome.report_path}}));
  return outcome;
}

Result<RunOutcome> Research::Close(const Explored& explored, const CancelToken& cancel) {
  if (explored.end == RunEnd::kStopped) return Finish(explored, "");
  const ReportFacts facts{
      .end = explored.end, .reason = explored.reason, .primary = setup_.config.primary_metric};
  if (explored.end == RunEnd::kFailed) results_.models = Models::kNone;
  DOSSIER_ASSIGN_OR_RETURN(const Closed closed, CloseRun(setup_.driver, results_, facts, cancel));
  Explored end = explored;
  if (closed.state == Closed::State::kStopped) end = {.end = RunEnd::kStopped, .reason = "--until"};
  if (closed.state == Closed::State::kFailed) {
    end = {.end = RunEnd::kFailed, .reason = closed.reason};
  }
  return Finish(end, closed.report_path);
}

// Completes the stage that the limit interrupted: its best node by metric, its summary, its files.
Status Research::WriteUnfinishedStage() {
  if (results_.stages.empty()) return {};
  StageResults& stage = results_.stages.back();
  DOSSIER_ASSIGN_OR_RETURN(const auto ended, setup_.log->EventsOf("stage.ended"));
  for (const store::Event& event : ended) {
    if (FindString(Json(event.data), "stage") == stage.name) return {};
  }
  if (const Node* best = BestNode(stage.tree, setup_.config.primary_metric)) {
    stage.best_node = best->id;
  }
  KeepBest(&results_, setup_.config.primary_metric);
  DOSSIER_RETURN_IF_ERROR(WriteStageFiles(setup_.driver, stage));
  DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, History());
  DOSSIER_RETURN_IF_ERROR(
      WriteStagePages(order_.folder, results_.title, history.results.stages.back()));
  const CancelToken never;
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Json summary,
                           SummarizeStage(setup_.driver.services, results_, stage, never));
  return {};
}

// Writes all results so far, without a model.
Result<RunOutcome> Research::Limited(std::string reason) {
  DOSSIER_RETURN_IF_ERROR(setup_.log->Add("limit.reached", "", {{"reason", reason}}));
  results_.models = Models::kNone;
  DOSSIER_RETURN_IF_ERROR(WriteUnfinishedStage());
  return Close({.end = RunEnd::kLimited, .reason = std::move(reason)}, CancelToken());
}

// A resume with unchanged limits finds what was written at the limit, and writes nothing.
Result<RunOutcome> Research::StillLimited(std::string reason) {
  const std::string report(run_files::kReport);
  const std::string path = fmt::format("{}/{}", order_.folder, report);
  return Finish({.end = RunEnd::kLimited, .reason = std::move(reason)}, Exists(path) ? report : "");
}

bool Research::IsLimit(const Error& error, const Deadline& deadline) const {
  if (error.code == ErrorCode::kLimit) return true;
  return error.code == ErrorCode::kCancelled && !user_.cancelled() && deadline.passed();
}

Result<RunOutcome> Research::Work() {
  std::string reason = ReachedLimit(setup_.config, setup_.spent);
  if (!reason.empty()) return StillLimited(std::move(reason));
  Result<RunOutcome> outcome = MakeError(ErrorCode::kInternal, "no outcome");
  {
    const Deadline deadline(user_, setup_.ledger->time_left(model::Stage::kNormal),
                            "the run's time is over");
    Result<Explored> explored = Explore(deadline.token());
    outcome = explored ? Close(*explored, deadline.token())
                       : Result<RunOutcome>(tl::unexpected(explored.error()));
    if (outcome || !IsLimit(outcome.error(), deadline)) {
      if (!outcome && !user_.cancelled()) static_cast<void>(WritePages());  // it is reported
      return outcome;
    }
    DOSSIER_ASSIGN_OR_RETURN(const RunSpend spent, SpendOf(*setup_.log));
    reason = ReachedLimit(setup_.config, spent);
    if (reason.empty() && deadline.passed()) {
      reason = fmt::format("seconds: {0} of {0}", *setup_.config.max_seconds);
    }
    if (reason.empty()) reason = OfWholeRun(setup_.config, spent, outcome.error().message);
  }
  return Limited(std::move(reason));
}

}  // namespace

Result<JsonObject> PreviewRun(const RunOrder& order, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<StartedRun> setup, SetUpRun(order, cancel));
  const Driver& driver = setup->driver;
  CallRequest request{.site = "phase0_plan",
                      .scope = {.phase = std::string(PhaseName(Phase::kPlan))},
                      .prefix = driver.prefix,
                      .memory_query = driver.query};
  request.prefix.resources = driver.services.resources[static_cast<std::size_t>(Phase::kPlan)];
  AddHistory(driver.previous_history, "worker-0", &request);
  return driver.caller().Preview(request);
}

Result<RunOutcome> Run(const RunOrder& order, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<StartedRun> setup, SetUpRun(order, cancel));
  Result<RunOutcome> outcome = Research(order, *setup, cancel).Work();
  if (!outcome && !cancel.cancelled()) {
    // A run that was interrupted can continue; this records why it stopped.
    static_cast<void>(setup->log->Add("run.broken", "", {{"reason", outcome.error().message}}));
  }
  return outcome;
}

}  // namespace dossier::research
