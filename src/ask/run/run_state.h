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
#include "ask/run/prompts.h"
#include "ask/run/run_log.h"
#include "ask/run/run_memory.h"
#include "base/cancel.h"
#include "model/client/ledger.h"

namespace dossier::ask {

// Tokens kept for a reply of the root model. A code turn of a small model ends at 600: it either is
// done by then or repeats itself (small-models 14).
inline std::int64_t ReserveOutput(Profile profile, const BoundModel& root) {
  if (profile == Profile::kSmall) return 600;
  return std::min<std::int64_t>(root.entry.capability.max_output, 8192);
}

// US dollars left of the run's limit for normal work; unset: none.
inline std::optional<double> UsdLeft(const model::Ledger& ledger) {
  const auto left = ledger.nano_usd_left();
  return left ? std::optional(static_cast<double>(*left) / 1e9) : std::nullopt;
}

struct RunState {
  const EngineOptions& options;
  const Request& request;
  const Profile profile;  // never kAuto
  const std::string boundary;
  const PromptBook prompts;
  model::Ledger& ledger;
  RunLog& log;
  const CancelToken cancel;
  const std::int64_t max_subcall_chars;     // of ordinary text: what the prompts say
  const std::int64_t max_subcall_tokens;    // what holds
  std::shared_ptr<const RunMemory> memory;  // null: off
  RunMemory::Shown shown_memory;            // in every prompt; the same all run

  bool small() const { return profile == Profile::kSmall; }
  int iterations() const { return request.limits.iterations.value_or(small() ? 12 : 30); }
  // Independent attempts of which two must agree; 1: the first answer counts (small-models 10).
  int votes() const { return request.votes.value_or(small() ? 3 : 1); }
  std::size_t output_chars() const {
    if (request.limits.output_chars || small()) return request.limits.output_chars.value_or(4000);
    // Three outputs are never shortened: together they leave most of a small window to the rest.
    const std::int64_t window = options.root.entry.capability.window;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(window / 4, 2000, 20000));
  }
  std::int64_t reserve_output() const { return ReserveOutput(profile, options.root); }

  // Into memory_calls.jsonl; that it cannot be written is a warning.
  void LogMemory(memory::LoggedCall call) const {
    if (!memory) return;
    call.run = log.run();
    const Status logged = memory->Log(std::move(call));
    if (!logged) log.Warn(0, "memory_not_logged", Json(logged.error().message));
  }
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_STATE_H_
