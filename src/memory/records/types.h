// The data types of memory: core entries, records, branches, and their limits.
//
//   Record event{.tier = Tier::kRecall, .kind = "user_turn", .text = "Use icpx", .at = now};
//
// Plain data; thread-safety: none needed.

#ifndef DOSSIER_MEMORY_RECORDS_TYPES_H_
#define DOSSIER_MEMORY_RECORDS_TYPES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace dossier::memory {

using Seq = std::int64_t;     // number of a write in the whole store, from 1
using Micros = std::int64_t;  // microseconds since 1970-01-01T00:00:00Z

// Stands for the time at which a record is written. No other value does: 0 is a time like others.
inline constexpr Micros kTimeOfWrite = std::numeric_limits<Micros>::min();

inline constexpr std::string_view kRootBranch = "root";

// The tier of a record. Core is not a tier: it has its own table.
enum class Tier : std::uint8_t { kRecall, kArchival, kSummary };
std::string_view TierName(Tier tier);  // "recall"
std::optional<Tier> FindTier(std::string_view name);

enum class Actor : std::uint8_t { kModel, kUser, kSystem };
std::string_view ActorName(Actor actor);  // "model"

// The reason why a branch hides a record. A later row of a branch replaces its earlier ones, and
// the nearest branch of a chain decides.
enum class HideReason : std::uint8_t {
  kEvicted,
  kConsolidated,  // left the window; still found by search and by id
  kSuperseded,
  kDeleted,
  kReverted,  // written after the point of a revert
  kRestored,  // shown again by a revert
};
std::string_view HideReasonName(HideReason reason);
std::optional<HideReason> FindHideReason(std::string_view name);

// The numbering of new records. kByBranch: each branch has its own kBranchNumbers ids, so a record
// gets the same id whatever is written to other branches at the same time; when they are used up,
// the store's numbers follow. In both modes ids ascend along a chain of branches.
enum class Numbering : std::uint8_t { kByStore, kByBranch };
inline constexpr std::int64_t kBranchNumbers = 10'000;  // #50034: record 34 of the branch with id 6

struct CoreEntry {
  std::string key;  // 1 to 128 code points, no control characters
  std::string value;
  int importance = 3;  // 1 to 5
  std::optional<Micros> expires_at;
  bool pinned = false;
  Micros updated_at = 0;
  Seq seq = 0;
  std::string branch;  // owner; if it differs from the view's branch, the entry is inherited
};

struct Record {
  std::int64_t id = 0;  // unique in the store; 0: not stored yet
  Seq seq = 0;
  std::string branch;
  Tier tier = Tier::kArchival;
  std::string kind;  // kind of an event: "llm_insight"
  std::string text;
  std::string thread;        // "": none
  std::string ref;           // an id chosen by the writer
  Micros at = kTimeOfWrite;  // when it happened
  std::string phase;
  std::optional<std::int64_t> supersedes;
  std::vector<std::string> tags;  // in the order given
  JsonObject meta;                // fields that have no column of their own
};

struct Branch {
  std::int64_t id = 0;
  std::string name;
  std::string parent;  // "" for root
  Seq fork_seq = 0;    // the last write of the parent that this branch sees
  std::string node;    // node of a search tree, if the branch belongs to one
  Micros created_at = 0;
  Seq seq = 0;  // the write that created it
};

// Section `memory` of the configuration; the initial values are the defaults.
struct StoreLimits {
  std::int64_t core_max_chars = 2000;  // code points, like every "chars" limit
  std::int64_t core_protected_max_chars = 16'000;
  int recall_max_events = 20;
  int retrieval_k = 8;
  std::int64_t memory_budget_chars = 24'000;
  std::int64_t archival_snippet_budget_chars = 6000;
  std::int64_t archival_max_chars = 8000;
  int max_compression_iterations = 5;
  int max_memory_read_rounds = 5;
  double recall_consolidation_threshold = 1.5;
  double pressure_medium = 0.7;
  double pressure_high = 0.85;
  double pressure_critical = 0.95;
};

// Maximum size of a record's text. A longer text is refused, never cut.
inline constexpr std::size_t kMaxTextBytes = 1 << 20;

// Returns true for core keys shown elsewhere or reserved for programs, which are never evicted.
bool IsProtectedKey(std::string_view key);
// Returns true for the protected keys that the core section does not print.
bool IsHiddenKey(std::string_view key);

// Returns a time such as "2026-11-21T23:36:43.123456Z".
std::string FormatMicrosTime(Micros time);

// Replaces secrets in stored memory by "***"; base/text/redact.h detects them.
//
//   std::string text = "the key is hf_…";  // with a real tail
//   RedactSecrets(&text);                  // 1; text is "the key is ***"
//   RedactNamed("api_key", &value);        // 1 if the value is a secret; value is "***"
//
// Text that is already redacted stays as it is and is not counted. Thread-safety: pure functions.

// Replaces the value of each secret, so that JSON stays valid. Returns the number of secrets.
std::int64_t RedactSecrets(std::string* text);
// Does the same for a named value, such as a core entry or a field.
std::int64_t RedactNamed(std::string_view name, std::string* value);
// Does the same for all texts of a record that its writer chose.
std::int64_t RedactRecord(Record* record);
// Does the same for all strings of a JSON object, at any depth.
std::int64_t RedactJson(JsonObject* object);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_TYPES_H_
