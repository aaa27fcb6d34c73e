// An engine that is a model with tools, in a loop.
//
//   const BuiltinEngine engine({.model = opened, .ledger = &ledger, .commands = {{"make",
//   "test"}}}); DOSSIER_ASSIGN_OR_RETURN(const EngineOutcome outcome, engine.Run(job, cancel));
//
// Each turn's prompt is assembled anew: the header is fresh, what was said before is history, cut
// to the model's window. The loop ends at `finish` or `verdict`, after 40 turns, when time or
// budget is up, or at the second turn without a call. A verdict is written to the output as a
// program would say it, so that one reader judges both (approval.h).
//
// Thread-safety: Run may be called from any thread; each call has a conversation of its own.

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
  model::Ledger* ledger = nullptr;                 // of the whole run; outlives the engine
  std::function<void()> spent;                     // called after each reply; may be empty
  std::vector<std::vector<std::string>> commands;  // prefixes of argv for the tool `run`
  std::vector<std::string> environment;            // of those
  std::vector<std::string> degraded;               // layers of their jail that may be missing
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
