// What all parts of one run share: the request, its models, its limits, its log.
//
// Ownership: the engine owns it for the length of the run; everything else holds references.
// Thread-safety: the members are immutable or safe by themselves.

#ifndef DOSSIER_ASK_RUN_RUN_STATE_H_
#define DOSSIER_ASK_RUN_RUN_STATE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ask/engine.h"
#include "ask/policy/model_policy.h"
#include "ask/run/prompts.h"
#include "ask/run/run_log.h"
#include "ask/run/run_memory.h"
#include "base/cancel.h"
#include "driver/caller.h"
#include "model/client/ledger.h"

namespace dossier::ask {

// US dollars left of the run's limit for normal work; unset: none.
inline std::optional<double> UsdLeft(const model::Ledger& ledger) {
  const auto left = ledger.nano_usd_left();
  return left ? std::optional(static_cast<double>(*left) / 1e9) : std::nullopt;
}

// What one plain call over the whole context said, where its check did not settle it.
struct PlainAnswer {
  std::string text;     // the first answer
  std::string leading;  // what most readings say and the context holds; may be empty
  std::string doubt;    // why it was not settled, in a sentence
};

struct RunState {
  const EngineOptions& options;
  const Request& request;
  const ModelPolicy& policy;
  const std::string boundary;
  const PromptBook prompts;
  model::Ledger& ledger;
  RunLog& log;
  driver::Caller& caller;
  SpendGuard& guard;
  const CancelToken cancel;
  const std::int64_t max_subcall_chars;     // of ordinary text: what the prompts say
  const std::int64_t max_subcall_tokens;    // what holds
  std::shared_ptr<const RunMemory> memory;  // null: off
  RunMemory::Shown shown_memory;            // in every prompt; the same all run
  std::optional<PlainAnswer> plain;  // before the recursive engine; unset: none was asked for

  sandbox::Dialect dialect() const { return options.pool_options.dialect; }
  int iterations() const { return request.limits.iterations.value_or(policy.turns); }
  int votes() const { return request.votes.value_or(policy.votes); }
  std::size_t output_chars() const {
    if (request.limits.output_chars) return *request.limits.output_chars;
    if (policy.output_chars) return *policy.output_chars;
    // Three outputs are never shortened: together they leave most of a small window to the rest.
    const std::int64_t window = options.root.entry.capability.window;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(window / 4, 2000, 20000));
  }
  // Tokens kept for a reply of the root model.
  std::int64_t reserve_output() const {
    return std::min(options.root.entry.capability.max_output, policy.reply_tokens);
  }

  // Into memory_calls.jsonl; that it cannot be written is a warning.
  void LogMemory(memory::LoggedCall call) const {
    if (!memory) return;
    call.run = log.run();
    const Status logged = memory->port().Log(std::move(call));
    if (!logged) log.Warn(0, "memory_not_logged", Json(logged.error().message));
  }
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_STATE_H_
