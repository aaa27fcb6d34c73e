// The state that all parts of one call share: the request, its models, its limits, its log.
// Options, prompts, ledger and tree belong to the run and are the same for all its calls.
//
// Ownership: whoever runs the call owns it while the call lasts; everything else holds references.
// Thread-safety: each member is immutable or thread-safe.

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
#include "ask/run/call_tree.h"
#include "ask/run/prompts.h"
#include "ask/run/run_log.h"
#include "ask/run/run_memory.h"
#include "base/cancel.h"
#include "driver/caller.h"
#include "model/client/ledger.h"

namespace dossier::ask {

// Returns the US dollars left of the run's limit for normal work; unset: no limit.
inline std::optional<double> UsdLeft(const model::Ledger& ledger) {
  const auto left = ledger.nano_usd_left();
  return left ? std::optional(static_cast<double>(*left) / 1e9) : std::nullopt;
}

// The result of one plain call over the whole context that its check did not confirm.
struct PlainAnswer {
  std::string text;     // the first answer
  std::string leading;  // the answer of most readings that the context contains; may be empty
  std::string doubt;    // why it was not confirmed, in a sentence
};

struct RunState {
  const EngineOptions& options;
  const AskRequest& request;
  const ModelPolicy& policy;
  const driver::BoundModel& root;  // drives this call
  const std::string boundary;
  const PromptBook& prompts;
  model::Ledger& ledger;
  const CallLog log;
  driver::Caller& caller;
  SpendGuard& guard;
  CallTree& tree;
  const CallPlace place;
  const CancelToken cancel;
  const std::int64_t max_subcall_chars;     // of ordinary text, as stated in the prompts
  std::shared_ptr<const RunMemory> memory;  // null: no memory
  RunMemory::Shown shown_memory;            // in every prompt, the same for the whole run
  std::optional<PlainAnswer> plain;         // from before the recursive engine; unset: not asked

  // Returns the name by which code asks for `model`; empty if it is one of the default models.
  std::string_view NameOf(const driver::BoundModel& model) const {
    for (const auto& [name, named] : options.named) {
      if (&named == &model) return name;
    }
    return {};
  }
  sandbox::Dialect dialect() const { return options.pool_options.dialect; }
  // Returns how many more levels the tree may grow below this call: 0: no sub-calls, 1: plain ones,
  // more: children.
  int depth_left() const { return request.limits.depth - place.depth; }
  // Returns the stage for the closing request; only the root may use the run's reserve for it.
  model::Stage closing_stage() const {
    return place.depth == 0 ? model::Stage::kFinish : model::Stage::kNormal;
  }
  int iterations() const { return request.limits.iterations.value_or(policy.turns); }
  int votes() const { return request.votes.value_or(policy.votes); }
  std::size_t output_chars() const {
    if (request.limits.output_chars) return *request.limits.output_chars;
    if (policy.output_chars) return *policy.output_chars;
    // Three outputs are never shortened; together they may take most of a small window.
    const std::int64_t window = root.entry.capability.window;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(window / 4, 2000, 20000));
  }
  // Returns the tokens reserved for a reply of the root model.
  std::int64_t reserve_output() const {
    return std::min(root.entry.capability.max_output, policy.reply_tokens);
  }

  // Writes to memory_calls.jsonl; a failure is a warning.
  void LogMemory(memory::LoggedCall call) const {
    if (!memory) return;
    call.run = log.run();
    const Status logged = memory->port().Log(std::move(call));
    if (!logged) log.Warn("memory_not_logged", Json(logged.error().message));
  }
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_STATE_H_
