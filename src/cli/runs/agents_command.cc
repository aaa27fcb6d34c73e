// agents: engineer and reviewer work on a queue of tasks. This file has its flags and the commands
// that read: status, lint-notes, context. Results go to stdout, progress and summary to stderr.

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agents/run/run.h"
#include "agents/task/log_line.h"
#include "agents/task/run_options.h"
#include "agents/task/run_records.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/runs/agents_run.h"
#include "cli/runs/agents_view.h"
#include "cli/terminal/terminal.h"
#include "cli/texts/assembly_table.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"
#include "sources/header/header_source.h"
#include "sources/header/note.h"
#include "sources/repository/repo_facts.h"

namespace dossier::cli {
namespace {

constexpr int kFollowMillis = 2000;  // a log on a network folder sends no notifications

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns the newest log, or the one whose id begins with `wanted`.
Result<std::string> ChooseLog(const std::vector<std::string>& logs, const std::string& wanted) {
  if (wanted.empty()) return agents::NewestRunLog(logs);
  std::vector<std::string> found, names;
  for (const std::string& log : logs) {
    names.push_back(NameOf(log));
    if (names.back().starts_with(wanted)) found.push_back(log);
  }
  if (found.size() == 1) return found.front();
  return MakeError(ErrorCode::kNotFound, "{} run '{}'{}", found.empty() ? "there is no" : "not one",
                   wanted, DidYouMean(wanted, names, 3));
}

void PrintRecord(const agents::LoggedRun& record, const AgentsArguments& arguments,
                 std::ostream& out, std::ostream& err) {
  std::int64_t total = 0;
  JsonObject counts;
  for (const auto& [status, count] : record.counts) {
    total += count;
    counts[status] = count;
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.agents-status/1"},
                             {"file", record.file.empty() ? Json() : Json(record.file)},
                             {"counts", std::move(counts)},
                             {"total", total},
                             {"skipped_lines", record.skipped_lines}})
        << "\n";
    return;
  }
  out << fmt::format("{} run: {}\n", arguments.run.empty() ? "Latest" : "This", Safe(record.file));
  for (const auto& [status, count] : record.counts) {
    out << fmt::format("  {}: {}\n", Safe(status), count);
  }
  out << fmt::format("Total tasks: {}\n", total);
  if (record.skipped_lines > 0) {
    PrintWarning(
        err, fmt::format("{} lines of {} could not be read", record.skipped_lines, record.file));
  }
}

// Prints result lines as they are written, until the run is finished or nobody works on it.
class Follower {
 public:
  Follower(std::string path, std::string journal_folder, std::ostream& out)
      : path_(std::move(path)), journal_folder_(std::move(journal_folder)), out_(out) {}

  Status Run(const CancelToken& cancel) {
    const UniqueFd notices(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    inotify_add_watch(notices.get(), path_.c_str(), IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF);
    const CancelFd stop(cancel);
    while (!finished_ && !cancel.cancelled()) {
      DOSSIER_RETURN_IF_ERROR(Read());
      if (finished_) break;
      pollfd waits[] = {{notices.get(), POLLIN, 0}, {stop.fd(), POLLIN, 0}};
      if (poll(waits, 2, kFollowMillis) == 0 && IsDead()) return Read();
      char drain[4096];
      while (read(notices.get(), drain, sizeof(drain)) > 0) {
      }
    }
    return {};
  }

 private:
  // A killed process reports nothing more, so its log has no end. A run that is not in our journal
  // may be active on another machine.
  bool IsDead() const {
    const auto journal = store::Journal::Open(journal_folder_);
    if (!journal) return false;
    const std::string name = NameOf(path_);
    const auto status = (*journal)->StatusOf(name.substr(0, name.rfind('.')));
    return status && *status != "running";
  }

  Status Read() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
    for (std::size_t end = text.find('\n', at_); end != std::string::npos;
         end = text.find('\n', at_)) {
      const auto line = agents::ParseLogLine(std::string_view(text).substr(at_, end - at_));
      at_ = end + 1;
      if (!line) continue;
      const Json data(line->data);
      finished_ = line->event == "run.finished"  ? true
                  : line->event == "run.resumed" ? false
                                                 : finished_;
      if (line->event != "task.finished") continue;
      out_ << ResultLine(FindString(data, "task-id").value_or(""),
                         FindString(data, "status").value_or(""))
           << std::flush;
    }
    return {};
  }

  const std::string path_, journal_folder_;
  std::ostream& out_;
  std::size_t at_ = 0;
  bool finished_ = false;
};

Result<int> ShowAgentsStatus(const AgentsArguments& arguments, Context& context) {
  agents::RunPorts ports;
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(context.flags, {}, context.err));
  DOSSIER_ASSIGN_OR_RETURN(ports.agents, LoadAgents(context.flags, config, context.err));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, agents::RunLogFolder(ports));
  const std::vector<std::string> logs = agents::RunLogFiles(folder);
  if (logs.empty() && arguments.run.empty()) {
    if (arguments.json) {
      PrintRecord({}, arguments, context.out, context.err);
    } else {
      context.out << "No runs recorded yet.\n";
    }
    return 0;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, ChooseLog(logs, arguments.run));
  // With --json, stdout contains only the object.
  std::ostream& lines = arguments.json ? context.err : context.out;
  if (arguments.follow) {
    DOSSIER_RETURN_IF_ERROR(Follower(path, config.user.data + "/runs", lines).Run(context.cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::LoggedRun record, agents::ReadRunLog(path));
  PrintRecord(record, arguments, context.out, context.err);
  return 0;
}

Result<int> LintAgentNotes(const AgentsArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const sources::AgentsConfig agents,
                           LoadAgents(context.flags, context.err));
  DOSSIER_ASSIGN_OR_RETURN(const sources::NoteScan scan,
                           sources::ScanNotes(sources::RepoRoot("."), {.folder = agents.notes}));
  const std::vector<std::string> problems = sources::LintNotes(scan);
  if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.notes-lint/1"},
                                     {"problems", JsonArray(problems.begin(), problems.end())}})
                << "\n";
  } else if (problems.empty()) {
    context.out << "Notes OK.\n";
  } else {
    for (const std::string& problem : problems)
      context.out << OnOneLine(problem, kMostNamed) << "\n";
  }
  return problems.empty() ? 0 : ExitCode(ErrorCode::kCheckFailed);
}

Result<int> ShowAgentContext(const AgentsArguments& arguments, Context& context) {
  if (arguments.role.empty() != arguments.task.empty()) {
    return MakeError(ErrorCode::kUsage, "--role and --task go together");
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunPorts ports, MakePorts(arguments, context));
  if (arguments.role.empty()) {
    sources::HeaderSource source(".", ports.agents, context.cancel, DoneTasksOf(ports.agents));
    DOSSIER_ASSIGN_OR_RETURN(const sources::CollectedHeader state,
                             source.Collect({.now = ports.clock->WallNow()}));
    for (const std::string& warning : state.warnings) ports.warn(warning);
    context.out << (arguments.json ? ToJson(ToJsonValue(state.header)) + "\n"
                                   : ToYaml(state.header));
    return 0;
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::RolePrompt prompt,
                           agents::PromptOf(arguments.role, arguments.task, ports));
  for (const std::string& warning : prompt.warnings) ports.warn(warning);
  if (arguments.report) {
    context.out << (arguments.json ? ToJson(prompt.report) + "\n" : ReportTable(prompt.report));
  } else if (arguments.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.agents-prompt/1"},
                                     {"text", prompt.text},
                                     {"report", prompt.report}})
                << "\n";
  } else {
    context.out << prompt.text;
    if (!prompt.text.ends_with('\n')) context.out << "\n";
  }
  return 0;
}

// A full disk stops a run; it is not an error of a named file.
template <Result<int> (*kAction)(const AgentsArguments&, Context&)>
Result<int> RunAgentsAction(const AgentsArguments& given, Context& context) {
  Result<int> code = kAction(given, context);
  if (!code && code.error().code == ErrorCode::kIo) {
    return MakeError(ErrorCode::kFailed, "{}", code.error().message);
  }
  return code;
}

void DeclareAgentsJson(Flags& flags, AgentsArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

void DeclareWork(Flags& flags, AgentsArguments& to) {
  constexpr static ValueKind kBranch{"BRANCH"}, kEngine{"ENGINE"}, kLayer{"LAYER"};
  flags.Add("--workers", &to.workers, "tasks at the same time, 1 to 64")
      .Between(1, agents::kMaxWorkers)
      .ShowDefault();
  flags.Add("--target", &to.target, "branch to merge into (the current one)").Kind(kBranch);
  flags.Add("--engineer", &to.engineer, "engine that makes the changes").Kind(kEngine);
  flags.Add("--reviewer", &to.reviewer, "engine that judges them").Kind(kEngine);
  flags.Add("--attempts", &to.attempts, "how often a task is tried, 1 to 10")
      .Between(1, agents::kMaxAttempts)
      .ShowDefault();
  flags.Add("--dry-run", &to.dry_run, "do all but the merge; patches are kept");
  flags.Add("--branch", &to.branch, "a branch for each approved patch, instead of the merge");
  flags.Add("--plan", &to.plan,
            "order, base, engines, prompt tokens, what is missing; start nothing");
  flags.Add("--confine", &to.confine, "walls around engines and checks")
      .OneOf({"jail", "none"})
      .ShowDefault();
  flags.Add("--degraded", &to.degraded, "a wall that may be missing here").Kind(kLayer);
  AddLimitFlags(flags, &to.limits);
  flags.Add("--keep-worktrees", &to.keep_worktrees, "leave the worktrees of engines");
  flags.Add("--no-notes", &to.no_notes, "write no notes about refusals");
  AddScriptFlag(flags.In("Model"), &to.script);
}

void DeclareAgentsRun(Flags& flags, AgentsArguments& to) {
  flags.Add("--tasks", &to.tasks, "list of tasks or folder queue, instead of those configured")
      .Kind(kPath);
  flags.Add("--only", &to.only, "only these tasks").Kind(kTask);
  DeclareWork(flags, to);
  DeclareAgentsJson(flags, to);
}

void DeclarePrompt(Flags& flags, AgentsArguments& to) {
  constexpr static ValueKind kCsv{"CSV"};
  flags.Add("--targets", &to.targets, "paths it may touch (src,tests,docs)").Kind(kCsv);
  DeclareWork(flags, to);
  flags.Add("text", &to.text, "what is to be done, behind --; - for stdin").Required();
  DeclareAgentsJson(flags, to);
}

void DeclareContext(Flags& flags, AgentsArguments& to) {
  flags.Add("--role", &to.role, "whose prompt").OneOf({"engineer", "reviewer", "cto"});
  flags.Add("--task", &to.task, "of which task").Kind(kTask);
  flags.Add("--explain", &to.report, "what the prompt is made of, instead of it")
      .Formerly("--report");
  DeclareAgentsJson(flags, to);
}

void DeclareAgentsRunName(Flags& flags, AgentsArguments& to) {
  flags.Add("run", &to.run, "id, or the start of one (the latest)").Kind(kAgentRun);
}

void DeclareAgentsStatus(Flags& flags, AgentsArguments& to) {
  DeclareAgentsRunName(flags, to);
  flags.Add("--follow", &to.follow, "show results as they come, until the run ends");
  DeclareAgentsJson(flags, to);
}

void DeclareAgentsResume(Flags& flags, AgentsArguments& to) {
  DeclareAgentsRunName(flags, to);
  flags.Add("--abandon", &to.abandon, "close it: worktrees, claims, tasks are free");
  AddScriptFlag(flags.In("Model"), &to.script);
  AddPriceFlag(flags.In("Model"), &to.limits.prices);
  DeclareAgentsJson(flags, to);
}

void DeclareRetry(Flags& flags, AgentsArguments& to) {
  DeclareAgentsRunName(flags, to);
  AddScriptFlag(flags.In("Model"), &to.script);
  AddPriceFlag(flags.In("Model"), &to.limits.prices);
  DeclareAgentsJson(flags, to);
}

void DeclareMerge(Flags& flags, AgentsArguments& to) {
  flags.Add("task", &to.task, "whose approved patch").Kind(kTask).Required();
  flags.Add("--no-checks", &to.no_checks, "merge without the checks; said in the log of the run");
  AddScriptFlag(flags.In("Model"), &to.script);
  AddPriceFlag(flags.In("Model"), &to.limits.prices);
  DeclareAgentsJson(flags, to);
}

void DeclareGc(Flags& flags, AgentsArguments& to) {
  flags.Add("--older-than", &to.older_than, "only what began before that")
      .Kind(kTime)
      .ShowDefault();
  flags.Add("--tell", &to.tell, "say what would be removed, and remove nothing");
  DeclareAgentsJson(flags, to);
}

}  // namespace

Command AgentsCommand() {
  return {.name = "agents",
          .summary =
              "work through tasks in a repository: one model changes, another reviews, rules hold",
          .examples =
              "dossier agents run --workers 4\n"
              "    work the queue: each task is reviewed and merged as one commit, or not at "
              "all\n"
              "dossier agents prompt --targets src --dry-run -- add a --json flag\n"
              "    one change: patch and verdict, nothing is merged\n"
              "dossier agents resume\n"
              "    go on after Ctrl-C or a power cut",
          .commands = {{.name = "run",
                        .summary = "work the queue of tasks",
                        .binding = Bind(DeclareAgentsRun, RunAgentsAction<WorkQueue>)},
                       {.name = "prompt",
                        .summary = "one task from the command line",
                        .binding = Bind(DeclarePrompt, RunAgentsAction<WorkPrompt>)},
                       {.name = "context",
                        .summary = "the repository header, or the prompt that a run would send",
                        .binding = Bind(DeclareContext, RunAgentsAction<ShowAgentContext>)},
                       {.name = "lint-notes",
                        .summary = "what is wrong with the notes",
                        .binding = Bind(DeclareAgentsJson, RunAgentsAction<LintAgentNotes>)},
                       {.name = "status",
                        .summary = "how the tasks of a run ended",
                        .binding = Bind(DeclareAgentsStatus, RunAgentsAction<ShowAgentsStatus>)},
                       {.name = "resume",
                        .summary = "go on with an interrupted run",
                        .binding = Bind(DeclareAgentsResume, RunAgentsAction<ResumeWork>)},
                       {.name = "retry",
                        .summary = "try again what the last run did not merge",
                        .binding = Bind(DeclareRetry, RunAgentsAction<RetryWork>)},
                       {.name = "merge",
                        .summary = "merge a patch that was approved and not merged",
                        .binding = Bind(DeclareMerge, RunAgentsAction<MergeWork>)},
                       {.name = "gc",
                        .summary = "remove what finished runs left behind",
                        .binding = Bind(DeclareGc, RunAgentsAction<TidyWork>)}}};
}

}  // namespace dossier::cli
