#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/runs/research_setup.h"
#include "cli/terminal/terminal.h"
#include "research/files/run_folder.h"
#include "research/run/report.h"
#include "research/run/run_history.h"
#include "research/run/run_status.h"
#include "research/run/run_steering.h"
#include "research/search/tree_page.h"

namespace dossier::cli {
namespace {

namespace fs = std::filesystem;
namespace run_files = research::run_files;

using research::ResearchProgress;
using research::ResearchState;
using research::RunHistory;

constexpr int kWatchMillis = 1000;
constexpr std::size_t kMaxShown = 64 << 20;  // bytes of a report or a prompt

Result<RunHistory> HistoryOf(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
                           research::FindRun(call.arguments.out, call.arguments.run));
  return research::ReadRunHistory(folder);
}

bool IsAtWork(const ResearchProgress& status) {
  return status.state == ResearchState::kRunning || status.state == ResearchState::kWaiting;
}

void Print(const ResearchCall& call, std::string_view text) {
  call.out << OutputText(text, Terminal::Detect().out) << std::flush;
}

std::string StatusLine(const ResearchCall& call, const ResearchProgress& status) {
  return call.arguments.json ? ToJson(research::StatusJson(status)) + "\n"
                             : research::StatusText(status);
}

// Returns true if the wait ended without a cancellation.
bool WaitOn(const CancelToken& cancel) {
  const CancelFd stop(cancel);
  pollfd waits[] = {{stop.fd(), POLLIN, 0}};
  poll(waits, 1, kWatchMillis);
  return !cancel.cancelled();
}

JsonObject ReportJson(const RunHistory& history, const ResearchProgress& status,
                      std::string_view text) {
  return {{"schema", "dossier.research.report/1"},
          {"run", history.run},
          {"folder", history.folder},
          {"title", history.results.title},
          {"state", research::RunStateName(status.state)},
          {"reason", history.reason},
          {"best", research::StatusJson(status).at("best")},
          {"stages", research::TreeJson(history, 0).at("stages")},
          {"warnings", JsonArray(history.warnings.begin(), history.warnings.end())},
          {"text", text}};
}

// The prompts of one node or of the run, by name, without their file extension.
struct PromptLog {
  std::string node, name, path;
};

void AddPrompts(const fs::path& folder, const std::string& node, std::vector<PromptLog>* logs) {
  constexpr std::string_view kEnding = ".md";
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(kEnding)) continue;
    logs->push_back({node, name.substr(0, name.size() - kEnding.size()), entry->path().string()});
  }
}

// `nodes/ID` is what a person sees of a node; its prompts are in its phase logs.
Result<std::vector<PromptLog>> FindPrompts(const std::string& folder, const std::string& node) {
  std::vector<PromptLog> logs;
  if (node.empty()) AddPrompts(folder + "/" + run_files::PromptLogs(""), "", &logs);
  std::vector<std::string> nodes;
  std::error_code error;
  const fs::path parent = fs::path(folder + "/" + run_files::PhaseLogs("x")).parent_path();
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("node_" + node)) nodes.push_back(name.substr(5));
  }
  std::sort(nodes.begin(), nodes.end());
  if (!node.empty() && nodes.size() != 1) {
    return MakeError(ErrorCode::kNotFound, "{}: {} node begins with \"{}\"{}", folder,
                     nodes.empty() ? "no" : "more than one", node,
                     nodes.empty() ? "" : ": " + Join(nodes, ", "));
  }
  for (const std::string& id : nodes) {
    AddPrompts(folder + "/" + run_files::PromptLogs(id), id, &logs);
  }
  std::stable_sort(logs.begin(), logs.end(), [](const PromptLog& a, const PromptLog& b) {
    return std::tie(a.node, a.name) < std::tie(b.node, b.name);
  });
  return logs;
}

Result<int> ShowPrompt(const ResearchCall& call, const std::vector<PromptLog>& logs) {
  const std::string& wanted = call.arguments.show;
  std::vector<std::string> names;
  for (const PromptLog& log : logs) {
    names.push_back(log.name);
    if (log.name != wanted && log.name + ".md" != wanted) continue;
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(log.path, kMaxShown));
    Print(call, text);
    return 0;
  }
  return MakeError(ErrorCode::kNotFound, "there is no prompt \"{}\"{}", wanted,
                   DidYouMean(wanted, names, 3));
}

}  // namespace

Result<int> ShowResearchStatus(const ResearchCall& call) {
  std::string last;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, HistoryOf(call));
    const ResearchProgress status = research::StatusOf(history, *SystemClock());
    const std::string text = StatusLine(call, status);
    if (text != last) {
      if (!last.empty() && !call.arguments.json) call.out << "\n";
      Print(call, text);
    }
    last = text;
    if (!call.arguments.watch || !IsAtWork(status)) return 0;
    if (!WaitOn(call.cancel)) return 0;
  }
}

Result<int> ShowResearchTree(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, HistoryOf(call));
  const std::string& format = call.arguments.format;
  if (format == "html") {
    if (call.arguments.json) {
      return MakeError(ErrorCode::kUsage, "--json and --format html exclude each other");
    }
    const research::PageRun run = research::ReadPageRun(history.folder, history.usage);
    call.out << research::TreePage(history.results.title,
                                   research::ReadPageStages(history, call.arguments.stage),
                                   call.arguments.stage == 0 ? &run : nullptr);
  } else if (format == "json" || call.arguments.json) {
    call.out << ToJson(research::TreeJson(history, call.arguments.stage)) << "\n";
  } else {
    Print(call, research::TreeText(history, call.arguments.stage));
  }
  return 0;
}

Result<int> ShowResearchReport(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const RunHistory history, HistoryOf(call));
  DOSSIER_RETURN_IF_ERROR(research::CheckRunFolder(history.folder));
  const ResearchProgress status = research::StatusOf(history, *SystemClock());
  const std::string path = fmt::format("{}/{}", history.folder, run_files::kReport);
  // A killed run has no recorded end: it is reported as it is.
  const research::ReportFacts facts{.end = history.end,
                                    .reason = history.end ? history.reason : "",
                                    .primary = history.primary_metric};
  std::string text;
  if (Exists(path) && !call.arguments.rewrite) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadRegularFile(path, kMaxShown));
  } else {
    text = research::PlainReport(history.results, facts);
  }
  if (call.arguments.rewrite) {
    DOSSIER_ASSIGN_OR_RETURN(const research::RunLock lock,
                             research::RunLock::Take(history.folder, *SystemClock()));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, text));
    DOSSIER_RETURN_IF_ERROR(research::WritePagesOf(history));
  }
  if (call.arguments.format == "json" || call.arguments.json) {
    call.out << ToJson(ReportJson(history, status, text)) << "\n";
  } else {
    Print(call, text);
  }
  return 0;
}

Result<int> ShowResearchPrompts(const ResearchCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
                           research::FindRun(call.arguments.out, call.arguments.run));
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<PromptLog> logs,
                           FindPrompts(folder, call.arguments.node));
  if (!call.arguments.show.empty()) return ShowPrompt(call, logs);
  if (call.arguments.json) {
    JsonArray list;
    for (const PromptLog& log : logs) {
      list.push_back(JsonObject{{"node", log.node}, {"name", log.name}, {"path", log.path}});
    }
    call.out << ToJson(JsonObject{{"schema", "dossier.research.prompts/1"},
                                  {"folder", folder},
                                  {"prompts", std::move(list)}})
             << "\n";
    return 0;
  }
  std::string text;
  for (const PromptLog& log : logs) {
    text += fmt::format("{:<8}  {}\n", log.node.empty() ? "run" : log.node.substr(0, 8), log.name);
  }
  Print(call, text);
  return 0;
}

Result<int> SteerResearch(const ResearchCall& call, research::SteerKind kind) {
  const ResearchArguments& arguments = call.arguments;
  const bool of_text = kind == research::SteerKind::kHint || kind == research::SteerKind::kName;
  if (of_text && arguments.text.empty() != arguments.undo) {
    return MakeError(ErrorCode::kUsage, "give the node a {0}, or take it back by --undo",
                     research::SteerKindName(kind));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
                           research::FindRun(arguments.out, arguments.run));
  const bool frees = arguments.undo && !of_text;
  DOSSIER_ASSIGN_OR_RETURN(const research::Steered done,
                           research::SteerRun(folder,
                                              {.kind = frees ? research::SteerKind::kFree : kind,
                                               .node = arguments.node,
                                               .text = arguments.text},
                                              *SystemClock()));
  if (arguments.json) {
    const bool already = done.state == research::Steered::State::kAlready;
    call.out << ToJson(JsonObject{{"schema", "dossier.research.steered/1"},
                                  {"folder", folder},
                                  {"node", done.order.node},
                                  {"name", done.name},
                                  {"kind", research::SteerKindName(done.order.kind)},
                                  {"text", done.order.text},
                                  {"already", already}})
             << "\n";
  } else {
    Print(call, done.line + "\n");
  }
  return 0;
}

}  // namespace dossier::cli
