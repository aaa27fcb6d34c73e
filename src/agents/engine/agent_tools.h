// The tools that a model has in the built-in loop: they read and write files of the worktree, run
// allowed programs, and end the model's work.
//
//   AgentTools tools({.role = Role::kEngineer, .root = worktree}, *files);
//   for (const assembly::ToolSpec& spec : tools.Specs()) …          // for the model
//   const std::string text = tools.Answer(call, cancel);            // a result for every call
//   if (tools.ending()) Stop(tools.ending()->summary);
//
// A call that cannot be carried out is answered with a sentence for the model; it never ends the
// loop. Thread-safety: one owner.

#ifndef DOSSIER_AGENTS_ENGINE_AGENT_TOOLS_H_
#define DOSSIER_AGENTS_ENGINE_AGENT_TOOLS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/files/file.h"
#include "base/result.h"
#include "model/client/client.h"

namespace dossier::agents {

// Accesses the files of a worktree for a model's tools: the kernel resolves every path beneath the
// worktree, whatever links and `..` it contains.
//
//   DOSSIER_ASSIGN_OR_RETURN(const TreeFiles files, TreeFiles::Open(worktree.path()));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, files.Read("src/a.cc"));
//   DOSSIER_RETURN_IF_ERROR(files.Write("src/new/b.cc", "int b;\n"));
//
// Thread-safety: methods may be called from many threads.

inline constexpr std::uint64_t kMaxToolFile = 4 << 20;  // maximum bytes of a file that a tool reads

class TreeFiles {
 public:
  static Result<TreeFiles> Open(const std::string& root);

  // Reads a regular file. Errors: kNotFound, kPermission ("leads out of the worktree"), kTooLong.
  Result<std::string> Read(const std::string& path) const;
  // Makes missing folders; an existing file keeps its mode. Links are not followed.
  // Errors: kPermission, kIo.
  Status Write(const std::string& path, std::string_view content) const;
  // Removes a file or a link. Errors: kNotFound, kPermission.
  Status Remove(const std::string& path) const;
  // Returns paths of regular files that match `glob` ("": all), in byte order, without ignored
  // files, `.git` and `.agent`.
  Result<std::vector<std::string>> List(const std::string& glob, const CancelToken& cancel) const;

 private:
  TreeFiles(std::string root, UniqueFd folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  Result<UniqueFd> OpenParent(const std::string& path, bool make, std::string* name) const;

  std::string root_;
  UniqueFd folder_;
};

struct AgentToolsOptions {
  Role role = Role::kEngineer;
  std::string root;  // the worktree, absolute
  // Returns the reason why a path must not be written; empty: nothing is refused.
  std::function<std::optional<std::string>(std::string_view path)> refuse_write;
  std::vector<std::vector<std::string>> commands;  // argv prefixes that `run` may start
  std::vector<std::string> environment;            // for `run`, "NAME=value"
  std::vector<std::string> degraded;               // jail layers that may be missing for `run`
};

class AgentTools {
 public:
  AgentTools(AgentToolsOptions options, const TreeFiles& files)
      : options_(std::move(options)), files_(files) {}

  // An engineer has all tools except `verdict`; a reviewer has the reading tools and `verdict`.
  // `run` is offered only if there are commands.
  std::vector<assembly::ToolSpec> Specs() const;

  std::string Answer(const model::ToolCall& call, const CancelToken& cancel);

  // The way the model ended its work.
  struct Ending {
    std::string summary;         // from `finish`, or the comments of `verdict`
    std::string verdict, token;  // from a reviewer: approved, needs_changes, rejected
  };
  const std::optional<Ending>& ending() const { return ending_; }

 private:
  struct Tool;
  static const Tool kTools[];

  bool Offers(const Tool& tool) const;
  Status MayWrite(const std::string& path) const;
  Result<std::string> ListFiles(const Json& arguments, const CancelToken& cancel);
  Result<std::string> ReadOne(const Json& arguments, const CancelToken& cancel);
  Result<std::string> Search(const Json& arguments, const CancelToken& cancel);
  Result<std::string> WriteOne(const Json& arguments, const CancelToken& cancel);
  Result<std::string> ReplaceIn(const Json& arguments, const CancelToken& cancel);
  Result<std::string> DeleteOne(const Json& arguments, const CancelToken& cancel);
  Result<std::string> RunProgram(const Json& arguments, const CancelToken& cancel);
  Result<std::string> FinishWork(const Json& arguments, const CancelToken& cancel);
  Result<std::string> GiveVerdict(const Json& arguments, const CancelToken& cancel);

  const AgentToolsOptions options_;
  const TreeFiles& files_;
  std::optional<Ending> ending_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_AGENT_TOOLS_H_
