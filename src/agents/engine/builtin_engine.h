// The built-in engine: a model with tools, in a loop.
//
//   const BuiltinEngine engine({.model = opened, .ledger = &ledger, .commands = commands});
//   DOSSIER_ASSIGN_OR_RETURN(const EngineOutcome outcome, engine.Run(job, cancel));
//
// The prompt is assembled anew for each turn: a fresh header, then the conversation as history, cut
// to the model's window. The loop ends at `finish` or `verdict`, after 40 turns, when time or
// budget is up, or at the second turn without a call. Verdicts are written as by a program, so that
// one parser reads both (approval.h).
//
// Thread-safety: Run may be called from any thread; each call has its own conversation.

#ifndef DOSSIER_AGENTS_ENGINE_BUILTIN_ENGINE_H_
#define DOSSIER_AGENTS_ENGINE_BUILTIN_ENGINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "driver/bound_model.h"
#include "model/client/ledger.h"

namespace dossier::agents {

inline constexpr std::int64_t kMaxTurns = 40;
inline constexpr int kMaxTurnsWithoutCall = 2;

struct BuiltinEngineSpec {
  driver::BoundModel model;
  model::Ledger* ledger = nullptr;                 // the run's ledger; outlives the engine
  std::function<void()> spent;                     // called after each reply; may be empty
  std::vector<std::vector<std::string>> commands;  // argv prefixes for the tool `run`
  std::vector<std::string> environment;            // for those commands
  std::vector<std::string> degraded;               // jail layers that may be missing for them
};

class BuiltinEngine final : public Engine {
 public:
  explicit BuiltinEngine(BuiltinEngineSpec spec) : spec_(std::move(spec)) {}

  // Errors: also kLimit, when the run's budget is used up.
  Result<EngineOutcome> Run(const EngineJob& job, const CancelToken& cancel) const override;

 private:
  const BuiltinEngineSpec spec_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_BUILTIN_ENGINE_H_
