// The interface of engines, which do the work of a role: a program, or a model with tools. An
// engine gets one job and leaves its changes in a worktree.
//
//   DOSSIER_ASSIGN_OR_RETURN(const EngineOutcome outcome, engine.Run(job, cancel));
//   if (outcome.good()) TakePatch(job.worktree);
//
// What an engine reports about its work is only a claim. Its changes are read from the worktree,
// and a review from the files and lines that approval.h evaluates.
//
// Thread-safety: engines are immutable; Run may be called from many threads and blocks the caller.

#ifndef DOSSIER_AGENTS_ENGINE_ENGINE_H_
#define DOSSIER_AGENTS_ENGINE_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/confined_process.h"
#include "agents/git/worktree.h"
#include "assembly/assemble.h"
#include "assembly/layout/capability.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/client/client.h"
#include "tokens/counter/counter.h"

namespace dossier::agents {

std::string_view RoleName(Role role);  // "engineer"

// The prompt of one job, made with the layout of its role.
class EnginePrompt {
 public:
  virtual ~EnginePrompt() = default;

  // The model that the prompt is for; it determines the budget and the role rules.
  struct Reader {
    const assembly::Capability& capability;
    std::shared_ptr<const tokens::Counter> counter;
  };
  // Returns it as one text, for a program. Errors: kTooLong, kConfig.
  virtual Result<std::string> Text() const = 0;
  // Returns it as messages, for a model; `turns` is the conversation so far. Errors: the same.
  virtual Result<assembly::Assembled> Messages(const Reader& reader,
                                               std::span<const assembly::Turn> turns,
                                               std::span<const assembly::ToolSpec> tools) const = 0;
};

struct EngineJob {
  Role role = Role::kEngineer;
  std::string task;  // id
  const EnginePrompt* prompt = nullptr;
  std::string worktree;  // absolute
  std::string folder;    // start folder: the worktree, or a folder in it
  // Files that the run keeps for this job.
  std::string prompt_path, out_path, err_path;
  std::optional<Millis> time_limit;
  ProcessPlaces places;  // besides the worktree: its git folder, the borrowed objects
  // For a model's tools: returns why a path must not be written; unset if it may be.
  std::function<std::optional<std::string>(std::string_view path)> refuse_write;
  std::string approval_token;  // for a reviewer
};

struct EngineOutcome {
  ProcessOutcome::End end = ProcessOutcome::End::kExit;
  int exit_code = -1;
  int signal = 0;
  CappedOutput out, err;
  std::optional<model::UsageSum> usage;  // unset: unknown
  std::optional<std::string> said;       // its last message, if its output identifies it
  std::string reason;                    // in words, if `end` is not good
  std::vector<std::string> warnings;
  Millis took{0};

  bool good() const { return end == ProcessOutcome::End::kExit && exit_code == 0; }
  // Returns an integer, "timeout", "signal N", or null if it was stopped: the run log's form.
  Json ExitJson() const;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Errors: kTooLong (the prompt does not fit), kUnavailable (no confinement), kNotFound (the
  // program), kIo; for models: those of a client. A failed engine is not an error.
  virtual Result<EngineOutcome> Run(const EngineJob& job, const CancelToken& cancel) const = 0;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_ENGINE_H_
