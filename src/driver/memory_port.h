// How a driver uses a memory store: which branch, who summarises, whether it writes, what is
// logged.
//
//   DOSSIER_ASSIGN_OR_RETURN(MemoryPort memory, MemoryPort::Open(use, "root", "ask"));
//   DOSSIER_RETURN_IF_ERROR(memory.MakeRoom());
//   DOSSIER_ASSIGN_OR_RETURN(const memory::View view, memory.Snapshot());
//   memory::Render(view, memory.limits(), memory.RequestFor(question, *counter, tokens));
//
// What a driver remembers, and under which name, is its own; everything that touches the store goes
// through here. Thread-safety: all methods from any thread; the store is safe itself.

#ifndef DOSSIER_DRIVER_MEMORY_PORT_H_
#define DOSSIER_DRIVER_MEMORY_PORT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"
#include "memory/blocks/apply.h"
#include "memory/consolidate/consolidate.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/render/render.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"
#include "tokens/counter/counter.h"

namespace dossier::driver {

// The memory that a driver is given.
struct MemoryUse {
  std::shared_ptr<memory::Store> store;                   // null: off
  std::string branch;                                     // "": the driver's choice, else `root`
  std::shared_ptr<const memory::CallLog> calls;           // null: not logged
  enum class Writes { kNo, kYes } writes = Writes::kYes;  // kNo: a session that saves nothing
  std::optional<memory::PressureLevel> consolidate_from;  // unset: never by itself
  memory::Summarizer summarizer;                          // of consolidation
};

class MemoryPort {
 public:
  // `use` has a store; `branch` "" is root. `phase` names the driver in records and log: "ask".
  MemoryPort(MemoryUse use, std::string_view branch, std::string_view phase);
  // The same for a branch that is there. Errors: kNotFound; those of the store.
  static Result<MemoryPort> Open(MemoryUse use, std::string_view branch, std::string_view phase);
  // For a fork of this branch, as it was at `at`; unset: as it is. Errors: those of Store::Fork.
  Result<MemoryPort> Fork(const std::string& name, std::optional<memory::Seq> at = {}) const;

  const std::string& branch() const { return branch_; }
  const std::string& phase() const { return phase_; }
  const MemoryUse& use() const { return use_; }
  memory::Store& store() const { return *use_.store; }
  const memory::StoreLimits& limits() const { return use_.store->limits(); }
  bool writes() const { return use_.writes == MemoryUse::Writes::kYes; }

  Result<memory::View> Snapshot(std::optional<memory::Seq> at = {}) const;
  // For a prompt: the store's budget of characters, and at most `max_tokens` as `counter` counts,
  // which has to outlive the request.
  memory::RenderRequest RequestFor(std::string_view query, const tokens::Counter& counter,
                                   std::int64_t max_tokens) const;

  // Consolidates where the pressure asks for it; none: it does not, or nothing may be written.
  Result<std::optional<memory::ConsolidateOutcome>> MakeRoom() const;
  // A block of a reply. `context` gets the phase, where it has none, and the summarizer.
  Result<memory::UpdateResult> Apply(const memory::UpdateBlock& block,
                                     memory::ApplyContext context) const;
  Status Write(memory::Actor actor,
               const std::function<Status(memory::BranchTransaction&)>& write) const;

  // Lines of memory_calls.jsonl, if there is one: of a call, of each operation of a block. Errors:
  // those of CallLog.
  Status Log(memory::LoggedCall call) const;
  Status LogOperations(memory::LoggedCall as, const JsonArray& operations_log) const;

 private:
  bool logs() const { return writes() && use_.calls; }

  MemoryUse use_;
  std::string branch_, phase_;
};

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_MEMORY_PORT_H_
