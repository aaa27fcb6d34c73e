#include <mutex>
#include <utility>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "cli/runs/research_setup.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/run_setup.h"
#include "research/files/run_folder.h"
#include "research/paper/literature.h"
#include "research/run/forecast.h"
#include "research/run/idea.h"
#include "research/run/own_run.h"
#include "research/run/report.h"
#include "research/run/run_history.h"
#include "research/run/run_record.h"
#include "research/run/run_status.h"

namespace dossier::cli {
namespace {

using research::RunEnd;
using research::RunOrder;
using research::RunOutcome;

// Prints lines on stderr, from any thread.
class Progress {
 public:
  Progress(const GlobalFlags& flags, std::ostream& err) : flags_(flags), err_(err) {}

  void Say(std::string_view line) const {
    if (flags_.quiet || line.empty()) return;
    const std::lock_guard lock(mutex_);
    err_ << Safe(line) << "\n";
  }
  void See(const store::Event& event) const {
    // Reporting every written file would hide what a person waits for.
    if (event.type == "artefact.written" && flags_.verbose == 0) return;
    Say(research::EventLine(event));
  }

 private:
  const GlobalFlags& flags_;
  std::ostream& err_;
  mutable std::mutex mutex_;
};

std::vector<RunOrder::Skip> SkipsOf(const ResearchArguments& arguments) {
  std::vector<RunOrder::Skip> skips;
  const std::pair<bool, RunOrder::Skip> flags[] = {
      {arguments.skip_plots, RunOrder::Skip::kPlots},
      {arguments.skip_citations, RunOrder::Skip::kCitations},
      {arguments.skip_writeup, RunOrder::Skip::kWriteup},
      {arguments.skip_review, RunOrder::Skip::kReview}};
  for (const auto& [given, skip] : flags) {
    if (given) skips.push_back(skip);
  }
  return skips;
}

// Sets what run and resume share: models, machine, folders, environment.
Status FillPorts(const ResearchCall& call, const Progress& progress, RunOrder* order) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config loaded, LoadConfig(call.flags, {}, call.err));
  order->open_model = RoleOpener(call, order->config, loaded);
  DOSSIER_ASSIGN_OR_RETURN(order->assets, AssetFoldersFor("", call.flags, call.err));
  order->makers =
      SectionMakersFor({.flags = call.flags, .cancel = call.cancel, .err = call.err, .now = {}});
  DOSSIER_RETURN_IF_ERROR(research::UseOwnMachine(loaded.user, order));
  if (!call.flags.offline) order->fetch = research::HttpFetch();
  order->progress = [&progress](std::string_view line) { progress.Say(line); };
  order->watch = [&progress](const store::Event& event) { progress.See(event); };
  return {};
}

// Records how models are reached, so that a resume without flags reaches them, too. An address that
// contains a password is not written to a file.
JsonObject ConnectionOf(const ResearchArguments& arguments) {
  const ModelFlags& flags = arguments.connection;
  const std::vector<std::string>& prices = arguments.limits.prices;
  JsonObject kept;
  if (!flags.base_url.empty() && Redact(flags.base_url) == flags.base_url) {
    kept["base_url"] = flags.base_url;
  }
  if (!flags.key_env.empty()) kept["key_env"] = flags.key_env;
  if (!flags.script.empty()) kept["script"] = research::AbsolutePath(flags.script);
  if (!prices.empty()) kept["prices"] = JsonArray(prices.begin(), prices.end());
  return kept;
}

// New flags take precedence; with other models nothing of the old connection is used.
void UseConnection(const JsonObject& kept, ResearchArguments* arguments) {
  if (arguments->limits.prices.empty()) {
    arguments->limits.prices = StringsOf(kept.if_contains("prices"));
  }
  ModelFlags& flags = arguments->connection;
  const bool given = !arguments->models.empty() || !flags.base_url.empty() ||
                     !flags.key_env.empty() || !flags.script.empty();
  if (given) return;
  const Json all(kept);
  flags.base_url = TextAt(all, "base_url");
  flags.key_env = TextAt(all, "key_env");
  flags.script = TextAt(all, "script");
}

Result<RunOrder> OrderOf(const ResearchCall& call) {
  const ResearchArguments& arguments = call.arguments;
  RunOrder order;
  DOSSIER_ASSIGN_OR_RETURN(order.idea, ReadNamedFile(arguments.idea, research::kMaxIdeaBytes));
  DOSSIER_ASSIGN_OR_RETURN(order.config, ReadRunConfig(arguments));
  DOSSIER_ASSIGN_OR_RETURN(order.stages, research::ParseStages(arguments.stages));
  if (!arguments.until.empty()) order.until = research::FindStep(arguments.until);
  order.skip = SkipsOf(arguments);
  order.connection = ConnectionOf(arguments);
  if (!arguments.memory.empty()) order.memory_store = research::AbsolutePath(arguments.memory);
  const std::string& resources = order.config.exec.resources;
  if (!resources.empty()) {
    // Reports what is wrong with it before anything is created.
    DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const research::ResourceFile file,
                             ReadResources(resources, order.config.exec.workspace_mount));
    DOSSIER_ASSIGN_OR_RETURN(order.resources, ReadFile(resources, research::kMaxResourceFileBytes));
    order.resources_path = resources;
  }
  return order;
}

// Returns how the run ended, why, where its report is, and what to do next, as `status` does.
std::string EndLine(const RunOutcome& outcome, const std::string& folder) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (!part.empty()) parts.push_back(std::move(part));
  };
  add(outcome.reason);
  if (const auto history = research::ReadRunHistory(folder)) {
    const research::NodeCount count = research::CountNodes(history->results.stages);
    add(fmt::format("nodes: {} done, {} good, {} buggy", count.done, count.good, count.buggy));
    const std::string failed = research::ErrorCounts(history->results);
    if (outcome.end == RunEnd::kFailed && !failed.empty()) add("nodes that failed: " + failed);
    if (!outcome.report_path.empty()) {
      add(fmt::format("report: {}/{}", folder, outcome.report_path));
    }
    const research::ResearchProgress status = research::StatusOf(*history, *SystemClock());
    add(research::NextStepOf(status));
  }
  constexpr std::string_view kEnds[] = {"is done", "failed", "reached a limit", "stopped"};
  return fmt::format("dossier: the run {}{}{}", kEnds[static_cast<std::size_t>(outcome.end)],
                     parts.empty() ? "" : ": ", Join(parts, "; "));
}

int ExitOf(RunEnd end) {
  switch (end) {
    case RunEnd::kDone:
    case RunEnd::kStopped:
      return 0;
    case RunEnd::kFailed:
      return ExitCode(ErrorCode::kFailed);
    case RunEnd::kLimited:
      return ExitCode(ErrorCode::kLimit);
  }
  return ExitCode(ErrorCode::kInternal);
}

int Finish(const ResearchCall& call, const std::string& folder, const RunOutcome& outcome) {
  if (outcome.end != RunEnd::kDone || !call.flags.quiet) {
    call.err << Safe(EndLine(outcome, folder)) << "\n";
  }
  if (call.arguments.json) {
    call.out << ToJson(JsonObject{
                    {"schema", "dossier.research.run-result/1"},
                    {"folder", folder},
                    {"end", research::RunEndName(outcome.end)},
                    {"reason", outcome.reason},
                    {"best_node", outcome.best_node},
                    {"report", outcome.report_path},
                    {"warnings", JsonArray(outcome.warnings.begin(), outcome.warnings.end())}})
             << "\n";
  } else {
    call.out << folder << "\n";
  }
  return ExitOf(outcome.end);
}

// An error ends this process, not the run: its data is kept.
Error WithResume(Error error, const std::string& folder) {
  if (!Exists(folder + "/" + std::string(research::run_files::kRun))) return error;
  const bool goes_on = error.code != ErrorCode::kLocked && error.code != ErrorCode::kConfig;
  if (goes_on)
    error.message += fmt::format("; `dossier research resume {}` goes on", ShellQuote(folder));
  return error;
}

Result<int> Work(const ResearchCall& call, const RunOrder& order) {
  const Result<RunOutcome> outcome = research::Run(order, call.cancel);
  if (!outcome) return tl::unexpected(WithResume(outcome.error(), order.folder));
  return Finish(call, order.folder, *outcome);
}

research::RunFolderOrder FolderOf(const ResearchCall& call, const research::Idea& idea) {
  const std::string& name = call.arguments.name;
  return {.out = call.arguments.out,
          .name = name.empty() ? idea.title : name,
          .attempt = call.arguments.attempt,
          .time = SystemClock()->WallNow()};
}

// Uses a folder that is deleted afterwards and is not listed as a run.
Result<int> Preview(const ResearchCall& call, const research::Idea& idea, RunOrder order) {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-research"));
  order.folder = folder.path();
  const research::RunFolderOrder place = FolderOf(call, idea);
  order.previous = research::PreviousAttempt(fmt::format(
      "{}/{}", place.out, research::RunFolderName(place.name, place.attempt, place.time)));
  const Progress progress(call.flags, call.err);
  DOSSIER_RETURN_IF_ERROR(FillPorts(call, progress, &order));
  order.journal_folder.clear();
  DOSSIER_ASSIGN_OR_RETURN(JsonObject preview, research::PreviewRun(order, call.cancel));
  preview.emplace("schema", "dossier.research.preview/1");
  call.out << ToPrettyJson(preview) << "\n";
  return 0;
}

Result<research::Forecast> Foresee(const ResearchCall& call, const RunOrder& order) {
  ResearchArguments arguments = call.arguments;
  arguments.dry_run = true;  // only looks models up: needs no key, starts no server
  const ResearchCall look{arguments, call.flags, call.cancel, call.out, call.err};
  const Progress progress(call.flags, call.err);
  const auto fill = [&](RunOrder* scratch) -> Status {
    DOSSIER_RETURN_IF_ERROR(FillPorts(look, progress, scratch));
    scratch->watch = {};
    scratch->progress = {};
    return {};
  };
  return research::Foresee(order, call.arguments.out, fill, call.cancel);
}

// Asks if money is at stake and a person is present. Errors: kRefused, without having asked.
Status AskToStart(const ResearchCall& call, const RunOrder& order) {
  if (call.flags.yes || !MayAsk(call.flags)) return {};
  DOSSIER_ASSIGN_OR_RETURN(const research::Forecast forecast, Foresee(call, order));
  if (!forecast.usd || forecast.usd->most <= 0) return {};
  call.err << Safe(research::ForecastText(forecast));
  DOSSIER_ASSIGN_OR_RETURN(const bool start,
                           Confirm(call.flags, "Start this run?", "-y", call.err));
  if (start) return {};
  return MakeError(ErrorCode::kRefused, "the run was not started; no model was asked");
}

}  // namespace

Result<int> StartResearch(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(RunOrder order, OrderOf(call));
  DOSSIER_ASSIGN_OR_RETURN(const research::Idea idea,
                           research::ReadIdea(order.idea, call.arguments.idea));
  if (call.arguments.dry_run) return Preview(call, idea, order);
  DOSSIER_RETURN_IF_ERROR(AskToStart(call, order));
  DOSSIER_ASSIGN_OR_RETURN(order.folder, research::MakeRunFolder(FolderOf(call, idea)));
  const Progress progress(call.flags, call.err);
  const Status ready = FillPorts(call, progress, &order);
  if (!ready) {
    static_cast<void>(RemoveAll(order.folder));  // it is empty
    return tl::unexpected(ready.error());
  }
  DOSSIER_ASSIGN_OR_RETURN(const research::OwnRun own,
                           research::OwnRun::Of(order.folder, research::OwnRun::Trust::kApproved));
  order.approve = own.Approver();
  progress.Say("run folder " + order.folder);
  return Work(call, order);
}

Result<int> PlanResearch(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const RunOrder order, OrderOf(call));
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const research::Idea idea,
                           research::ReadIdea(order.idea, call.arguments.idea));
  DOSSIER_ASSIGN_OR_RETURN(const research::Forecast forecast, Foresee(call, order));
  if (call.arguments.json) {
    call.out << ToJson(research::ForecastJson(forecast)) << "\n";
  } else {
    call.out << OutputText(research::ForecastText(forecast), Terminal::Detect().out);
  }
  return 0;
}

Result<int> ResumeResearch(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
                           research::FindRun(call.arguments.out, call.arguments.run));
  using research::OwnRun;
  DOSSIER_ASSIGN_OR_RETURN(const OwnRun own,
                           OwnRun::Of(folder, call.flags.trust_config ? OwnRun::Trust::kGiven
                                                                      : OwnRun::Trust::kApproved));
  DOSSIER_RETURN_IF_ERROR(own.Check());
  DOSSIER_ASSIGN_OR_RETURN(research::RunConfig config, ReadStoredConfig(folder, call.arguments));
  DOSSIER_ASSIGN_OR_RETURN(RunOrder order, research::StoredOrder(folder, std::move(config)));
  if (call.arguments.retry_failed) order.retry = RunOrder::Retry::kFailed;
  DOSSIER_ASSIGN_OR_RETURN(const research::RunHistory history, research::ReadRunHistory(folder));
  // What is done stays done, whatever step is behind it.
  if (!call.arguments.until.empty() && history.end != RunEnd::kDone) {
    order.until = research::FindStep(call.arguments.until);
  }
  ResearchArguments arguments = call.arguments;
  UseConnection(order.connection, &arguments);
  order.connection = ConnectionOf(arguments);
  const ResearchCall connected{arguments, call.flags, call.cancel, call.out, call.err};
  const Progress progress(call.flags, call.err);
  DOSSIER_RETURN_IF_ERROR(FillPorts(connected, progress, &order));
  order.approve = own.Approver();
  progress.Say("run folder " + folder);
  return Work(connected, order);
}

}  // namespace dossier::cli
