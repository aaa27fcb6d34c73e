#include "cli/runs/agents_status.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agents/run/run.h"
#include "agents/task/log_line.h"
#include "agents/task/run_records.h"
#include "base/files/file.h"
#include "base/process/cancel_fd.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/agents_run.h"
#include "cli/runs/agents_view.h"
#include "cli/terminal/terminal.h"
#include "cli/texts/assembly_table.h"
#include "cli/wiring/agents_setup.h"
#include "sources/header/header_source.h"
#include "sources/header/note_scan.h"
#include "sources/repository/repo_facts.h"

namespace dossier::cli {
namespace {

constexpr int kFollowMillis = 2000;  // a log on a network folder sends no notices

std::string Safe(std::string_view text) { return utf8::CleanForTerminal(utf8::Sanitize(text)); }

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The newest log, or the one that `wanted` is the start of.
Result<std::string> ChooseLog(const std::vector<std::string>& logs, const std::string& wanted) {
  if (wanted.empty()) return agents::NewestRunLog(logs);
  std::vector<std::string> found, names;
  for (const std::string& log : logs) {
    names.push_back(NameOf(log));
    if (names.back().starts_with(wanted)) found.push_back(log);
  }
  if (found.size() == 1) return found.front();
  const auto near = NearestNames(wanted, names, 3);
  return MakeError(ErrorCode::kNotFound, "{} run '{}'{}", found.empty() ? "there is no" : "not one",
                   wanted, near.empty() ? "" : "; did you mean " + Join(near, ", ") + "?");
}

void PrintRecord(const agents::RunRecord& record, const AgentsArguments& arguments,
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

// Result lines as they are written, until the run is finished or nobody is at work on it.
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
  // A killed process says nothing more; its log has no end. What is in no journal of ours may be at
  // work on another machine.
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

}  // namespace

Result<int> ShowAgentsStatus(const AgentsArguments& arguments, const GlobalFlags& flags,
                             const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  agents::RunPorts ports;
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, LoadConfig(flags, {}, err));
  DOSSIER_ASSIGN_OR_RETURN(ports.agents, LoadAgents(flags, config, err));
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder, agents::RunLogFolder(ports));
  const std::vector<std::string> logs = agents::RunLogFiles(folder);
  if (logs.empty() && arguments.run.empty()) {
    if (arguments.json) {
      PrintRecord({}, arguments, out, err);
    } else {
      out << "No runs recorded yet.\n";
    }
    return 0;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, ChooseLog(logs, arguments.run));
  // The object stays alone on stdout.
  std::ostream& lines = arguments.json ? err : out;
  if (arguments.follow) {
    DOSSIER_RETURN_IF_ERROR(Follower(path, config.user.data + "/runs", lines).Run(cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunRecord record, agents::ReadRunLog(path));
  PrintRecord(record, arguments, out, err);
  return 0;
}

Result<int> LintAgentNotes(const AgentsArguments& arguments, const GlobalFlags& flags,
                           std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const sources::AgentsConfig agents, LoadAgents(flags, err));
  DOSSIER_ASSIGN_OR_RETURN(const sources::NoteScan scan,
                           sources::ScanNotes(sources::RepoRoot("."), {.folder = agents.notes}));
  const std::vector<std::string> problems = sources::LintNotes(scan);
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.notes-lint/1"},
                             {"problems", JsonArray(problems.begin(), problems.end())}})
        << "\n";
  } else if (problems.empty()) {
    out << "Notes OK.\n";
  } else {
    for (const std::string& problem : problems) out << Safe(problem) << "\n";
  }
  return problems.empty() ? 0 : ExitCode(ErrorCode::kCheckFailed);
}

Result<int> ShowAgentContext(const AgentsArguments& arguments, const GlobalFlags& flags,
                             const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  if (arguments.role.empty() != arguments.task.empty()) {
    return MakeError(ErrorCode::kUsage, "--role and --task go together");
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::RunPorts ports, MakePorts(arguments, flags, cancel, err));
  if (arguments.role.empty()) {
    sources::HeaderSource source(".", ports.agents, cancel);
    DOSSIER_ASSIGN_OR_RETURN(const sources::CollectedHeader state,
                             source.Collect({.now = ports.clock->WallNow()}));
    for (const std::string& warning : state.warnings) ports.warn(warning);
    out << (arguments.json ? ToJson(ToJsonValue(state.header)) + "\n" : ToYaml(state.header));
    return 0;
  }
  DOSSIER_ASSIGN_OR_RETURN(const agents::RolePrompt prompt,
                           agents::PromptOf(arguments.role, arguments.task, ports));
  for (const std::string& warning : prompt.warnings) ports.warn(warning);
  if (arguments.report) {
    out << (arguments.json ? ToJson(prompt.report) + "\n" : ReportTable(prompt.report));
  } else if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.agents-prompt/1"},
                             {"text", prompt.text},
                             {"report", prompt.report}})
        << "\n";
  } else {
    out << prompt.text;
    if (!prompt.text.ends_with('\n')) out << "\n";
  }
  return 0;
}

}  // namespace dossier::cli
