// An approved patch as a branch of its own, for people to review, with the text of a pull request.
//
//   DOSSIER_ASSIGN_OR_RETURN(const TaskBranch made, MakeTaskBranch(git, {.task = &task, …}));
//   if (!made.commit.empty()) Tell(made.branch, made.text_file);      // "agent/fact-001"
//
// The commit stands on the base of the patch; nothing else moves. Thread-safety: functions.

#ifndef DOSSIER_AGENTS_RUN_TASK_BRANCH_H_
#define DOSSIER_AGENTS_RUN_TASK_BRANCH_H_

#include <optional>
#include <string>

#include "agents/git/git.h"
#include "agents/git/git_dir_guard.h"
#include "agents/git/patch.h"
#include "base/result.h"
#include "sources/header/task.h"

namespace dossier::agents {

struct TaskBranchRequest {
  std::string run;
  const sources::Task* task = nullptr;
  std::string task_name;  // the id for files and refs
  const Patch* patch = nullptr;
  std::string checks;  // what they said
  std::string reviewer;
  std::string folder;            // for the text
  GitDirGuard* guard = nullptr;  // not owned; knows then that the branch is ours
};

struct TaskBranch {
  std::string branch;     // without refs/heads/
  std::string commit;     // empty: git would not make it, and `complaint` says why
  std::string text_file;  // Markdown
  std::string complaint;
};

// Errors: kFailed (git), kIo.
Result<TaskBranch> MakeTaskBranch(const Git& git, const TaskBranchRequest& request);

// Why a task is not worked on again: its branch is there. Unset if it is not, or if `merged_into`
// (empty: no ref) has what it holds.
Result<std::optional<std::string>> WaitsOnBranch(const Git& git, const std::string& task_name,
                                                 const std::string& merged_into);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_RUN_TASK_BRANCH_H_
