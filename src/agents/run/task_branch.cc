#include "agents/run/task_branch.h"

#include <fmt/format.h>

#include "agents/git/state_folder.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::agents {
namespace {

std::string BranchOf(const std::string& task_name) { return "agent/" + task_name; }

// Of a commit: one line without control characters.
std::string OneLine(std::string_view text) {
  std::string line = utf8::Sanitize(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return std::string(TrimSpace(line));
}

std::string Message(const TaskBranchRequest& request) {
  return fmt::format("agent:{} {}\n\nDossier-Run: {}\nDossier-Patch-SHA256: {}\n",
                     OneLine(request.task->id), OneLine(request.task->summary), request.run,
                     request.patch->sha256);
}

// Paths and names stand in code spans, so that nothing in them is markup.
std::string Span(std::string_view text) {
  std::string line = OneLine(text);
  std::string fence = "`";
  while (line.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}{1}{2}{1}{0}", fence, fence.size() > 1 ? " " : "", line);
}

std::string PullRequestText(const TaskBranchRequest& request) {
  const sources::Task& task = *request.task;
  const Patch& patch = *request.patch;
  std::string text = fmt::format("# {}\n\n", OneLine(task.summary));
  if (!TrimSpace(task.description).empty()) {
    text += fmt::format("{}\n\n", TrimSpace(utf8::Sanitize(task.description)));
  }
  text +=
      fmt::format("Task {}, +{} -{} in {} file{}:\n\n", Span(task.id), patch.stat.added,
                  patch.stat.deleted, patch.changes.size(), patch.changes.size() == 1 ? "" : "s");
  for (const PathChange& change : patch.changes) text += fmt::format("- {}\n", Span(change.path));
  if (!request.checks.empty()) text += "\nChecks:\n\n";
  for (const std::string_view line : Split(TrimSpace(request.checks), '\n')) {
    if (!line.empty()) text += fmt::format("- {}\n", Span(line));
  }
  text += fmt::format("\nApproved by {} in run {}; patch {}.\n", Span(request.reviewer),
                      request.run, patch.sha256);
  return text;
}

}  // namespace

Result<TaskBranch> MakeTaskBranch(const Git& git, const TaskBranchRequest& request) {
  TaskBranch made{.branch = BranchOf(request.task_name),
                  .text_file = request.folder + "/pull-request.md"};
  DOSSIER_RETURN_IF_ERROR(
      WriteStateFile(made.text_file, PullRequestText(request), Durability::kSurvivesCrash));
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult commit,
      git.Run(git.Common(), {.arguments = {"commit-tree", request.patch->candidate + "^{tree}",
                                           "-p", request.patch->base, "-F", "-"},
                             .input = Message(request)}));
  if (commit.exit_code != 0) {
    made.complaint = GitComplaint(commit);
    return made;
  }
  const std::string hash(TrimSpace(commit.out));
  if (request.guard) request.guard->Expect("refs/heads/" + made.branch, hash);
  // Only if there is none of that name: nobody's branch is moved.
  DOSSIER_ASSIGN_OR_RETURN(
      const ProcessResult ref,
      git.Run(git.Common(), {.arguments = {"update-ref", "refs/heads/" + made.branch, hash,
                                           std::string(hash.size(), '0')}}));
  if (ref.exit_code != 0) {
    made.complaint = GitComplaint(ref);
    return made;
  }
  made.commit = hash;
  return made;
}

Result<std::optional<std::string>> WaitsOnBranch(const Git& git, const std::string& task_name,
                                                 const std::string& merged_into) {
  const std::string branch = BranchOf(task_name);
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult found,
                           git.Run(git.Objects(), {.arguments = {"rev-parse", "--verify", "--quiet",
                                                                 "refs/heads/" + branch}}));
  if (found.exit_code != 0) return std::nullopt;
  if (!merged_into.empty()) {
    // A line for each commit of the branch; "+": the ref has neither it nor its change.
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string commits,
        git.Ask(git.Objects(), {.arguments = {"cherry", merged_into, "refs/heads/" + branch}}));
    if (commits.find('+') == std::string::npos) return std::nullopt;
  }
  return fmt::format("waits on branch {}: merge it, or delete it to have it done again", branch);
}

}  // namespace dossier::agents
