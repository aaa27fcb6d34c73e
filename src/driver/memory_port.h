// A driver's access to a memory store: the branch, the summarizer, whether it writes, and the log.
//
//   DOSSIER_ASSIGN_OR_RETURN(MemoryPort memory, MemoryPort::Open(use, "root", "ask"));
//   DOSSIER_RETURN_IF_ERROR(memory.MakeRoom());
//   DOSSIER_ASSIGN_OR_RETURN(const memory::View view, memory.Snapshot());
//   memory::Render(view, memory.limits(), memory.RequestFor(question, *counter, tokens));
//
// A driver decides what it remembers and under which name; all access to the store is here.
// Thread-safety: all methods from any thread; the store is thread-safe.

#ifndef DOSSIER_DRIVER_MEMORY_PORT_H_
#define DOSSIER_DRIVER_MEMORY_PORT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/yaml/yaml.h"
#include "memory/blocks/apply.h"
#include "memory/consolidate/consolidate.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/render/render.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"
#include "tokens/counter/counter.h"

namespace dossier::driver {

// Section `memory` of a configuration, typed and checked.
//
//   DOSSIER_ASSIGN_OR_RETURN(const MemoryConfig memory, ReadMemorySection(node, "dossier.yml"));
//   memory.limits.core_max_chars;        // 2000
//
// Thread-safety: plain data; pure functions.

inline constexpr std::string_view kNoEmbedModel = "none";

struct MemoryConfig {
  std::optional<bool> enabled;  // unset: on if a store is named
  memory::StoreLimits limits;
  memory::UseFts use_fts = memory::UseFts::kAuto;
  memory::WriteDurability durability = memory::WriteDurability::kNormal;
  memory::Redaction redaction = memory::Redaction::kOn;  // redact_secrets
  std::string model;                                     // the role `memory`; "": none
  std::optional<bool> use_llm_compression;               // unset: on if `model` is set
  bool auto_consolidate = true;
  memory::PressureLevel consolidation_trigger = memory::PressureLevel::kHigh;
  bool log_enabled = true;            // memory_log_enabled
  std::int64_t log_max_chars = 1000;  // memory_log_max_chars; code points per text
  std::string embed_model = std::string(kNoEmbedModel);  // as in model/local/local_pull.h

  std::optional<memory::PressureLevel> consolidates_from() const {
    return auto_consolidate ? std::optional(consolidation_trigger) : std::nullopt;
  }
};

// Null values mean "not set". Errors: kConfig with FILE:LINE:COL and the key; an unknown key also
// with the nearest.
Result<MemoryConfig> ReadMemorySection(YamlNode section, const std::string& file);
// Returns the keys of the section.
std::vector<std::string> MemoryKeyNames();

// `data` is the user's data folder. Errors: as model::FindEmbedding, if `embed_model` names one.
Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory, const std::string& data,
                                            std::string path);
// Returns memory_calls.jsonl next to `store`.
memory::MemoryCallLog CallLogOf(const MemoryConfig& memory, const std::string& store,
                                std::shared_ptr<const Clock> clock = SystemClock());

// The memory store that a driver is given, and how to use it.
struct MemoryUse {
  std::shared_ptr<memory::Store> store;                   // null: no memory
  std::string branch;                                     // "": the driver's choice, else `root`
  std::shared_ptr<const memory::MemoryCallLog> calls;     // null: calls are not logged
  enum class Writes { kNo, kYes } writes = Writes::kYes;  // kNo: a session that saves nothing
  std::optional<memory::PressureLevel> consolidate_from;  // unset: no automatic consolidation
  memory::Summarizer summarizer;                          // used by consolidation
};

class MemoryPort {
 public:
  // `use` has a store; `branch` "" is root. `phase` names the driver in records and log: "ask".
  MemoryPort(MemoryUse use, std::string_view branch, std::string_view phase);
  // The same for a branch that must exist. Errors: kNotFound; those of the store.
  static Result<MemoryPort> Open(MemoryUse use, std::string_view branch, std::string_view phase);
  // Forks this branch as of `at` (unset: its current state). Errors: those of Store::Fork.
  Result<MemoryPort> Fork(const std::string& name, std::optional<memory::Seq> at = {}) const;

  const std::string& branch() const { return branch_; }
  const std::string& phase() const { return phase_; }
  const MemoryUse& use() const { return use_; }
  memory::Store& store() const { return *use_.store; }
  const memory::StoreLimits& limits() const { return use_.store->limits(); }
  bool writes() const { return use_.writes == MemoryUse::Writes::kYes; }

  Result<memory::View> Snapshot(std::optional<memory::Seq> at = {}) const;
  // Makes a prompt's request: at most the store's character budget and `max_tokens` by `counter`,
  // which must outlive the request.
  memory::RenderRequest RequestFor(std::string_view query, const tokens::Counter& counter,
                                   std::int64_t max_tokens) const;

  // Consolidates if the pressure requires it. Returns nullopt if it did not, or if writing is off.
  Result<std::optional<memory::ConsolidateOutcome>> MakeRoom() const;
  // Applies a reply's update block. Sets the summarizer of `context`, and its phase if empty.
  Result<memory::UpdateResult> Apply(const memory::UpdateBlock& block,
                                     memory::ApplyContext context) const;
  Status Write(memory::Actor actor,
               const std::function<Status(memory::BranchTransaction&)>& write) const;

  // Write lines to memory_calls.jsonl, if there is one: one for a call, one for each operation of a
  // block. Errors: those of CallLog.
  Status Log(memory::LoggedCall call) const;
  Status LogOperations(memory::LoggedCall as, const JsonArray& operations_log) const;

 private:
  bool logs() const { return writes() && use_.calls; }

  MemoryUse use_;
  std::string branch_, phase_;
};

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_MEMORY_PORT_H_
