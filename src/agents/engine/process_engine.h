// An engine that runs a program, such as a coding assistant's command line or `sh -c …`.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto engine, ProcessEngine::Make({.name = "codex",
//       .argv = {"codex", "exec", "-C", "{worktree}", "--", "{prompt}"}}, environment));
//
// In argv the tokens `{prompt} {prompt_file} {worktree} {task_id} {role}` are replaced in one pass:
// tokens inside a value stay as they are.
//
// Thread-safety: Run may be called from any thread; each call starts its own program.

#ifndef DOSSIER_AGENTS_ENGINE_PROCESS_ENGINE_H_
#define DOSSIER_AGENTS_ENGINE_PROCESS_ENGINE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "model/client/ledger.h"
#include "model/providers/command_client.h"
#include "sources/header/agents_config.h"

namespace dossier::agents {

// The longest argument that Linux accepts: MAX_ARG_STRLEN, 32 pages, including NUL.
inline constexpr std::size_t kMaxArgument = 131'071;  // bytes

// Exit status that reports a temporary failure (EX_TEMPFAIL); maximum number of starts.
inline constexpr int kTryAgainLater = 75;
inline constexpr int kMaxStarts = 3;

struct ProcessEngineSpec {
  std::string name;  // name in the configuration, for messages
  std::vector<std::string> argv;
  enum class PromptOnStdin { kNo, kYes } stdin_prompt = PromptOnStdin::kNo;
  std::vector<std::string> env_allow;
  std::vector<std::string> writable, readable;  // absolute
  Walls walls;
  Millis grace = kEngineGrace;
  sources::AgentEngine::Reply reply;
  Millis retry_wait{10'000};        // wait before restarting after exit status 75
  model::Ledger* ledger = nullptr;  // the run's ledger, which outlives the engine; may be null
  std::function<void()> spent;      // called after usage was counted; may be empty
  // Called with a sentence if cost (or tokens) should have been reported and was not; may be empty.
  std::function<void(const std::string&)> cost_untold, tokens_untold;
};

class ProcessEngine final : public Engine {
 public:
  // `environment`: this process's own. Errors: kConfig with program and PATH if it is not on PATH.
  static Result<std::unique_ptr<ProcessEngine>> Make(ProcessEngineSpec spec,
                                                     std::vector<std::string> environment);

  // Errors: also kConfig, naming `{prompt_file}`, for a prompt that cannot be an argument.
  Result<EngineOutcome> Run(const EngineJob& job, const CancelToken& cancel) const override;

  const SecretValues& secrets() const { return secrets_; }

 private:
  ProcessEngine(ProcessEngineSpec spec, std::vector<std::string> environment)
      : spec_(std::move(spec)),
        environment_(EngineEnvironment(environment, spec_.env_allow)),
        secrets_(SecretsOf(environment, spec_.env_allow)) {}

  ConfinedProcess Process(const EngineJob& job, const std::string& prompt) const;
  Result<ProcessOutcome> RunPatiently(const ConfinedProcess& process, std::size_t prompt_bytes,
                                      const CancelToken& cancel, EngineOutcome* outcome) const;
  enum class Start : std::uint8_t { kGood, kFailed };
  Status Report(const std::string& out_path, std::size_t prompt_bytes, Start start,
                EngineOutcome* outcome) const;
  void TellUntold(const model::ProgramReport& report, Start start,
                  std::vector<std::string>* warnings) const;
  void AddPlaces(const EngineJob& job, ProcessPlaces* places) const;

  const ProcessEngineSpec spec_;
  const std::vector<std::string> environment_;
  const SecretValues secrets_;
};

// Checks that `program`, a path or a name on PATH, can be started. Errors: kConfig with the remedy;
// `user` says whose program it is ("engine codex").
Status CheckProgram(std::string_view user, const std::string& program);

// Returns `argument` with its tokens replaced, in one pass.
std::string FillArgument(std::string_view argument,
                         const std::map<std::string, std::string, std::less<>>& values);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_PROCESS_ENGINE_H_
