// What memory is made of: core entries, records, branches, and the limits they live under.
//
//   Record event{.tier = Tier::kRecall, .kind = "user_turn", .text = "Use icpx", .at = now};
//
// Plain data; thread-safety: none needed.

#ifndef DOSSIER_MEMORY_RECORDS_TYPES_H_
#define DOSSIER_MEMORY_RECORDS_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace dossier::memory {

using Seq = std::int64_t;     // number of a write, over the whole store; from 1
using Micros = std::int64_t;  // microseconds since 1970-01-01T00:00:00Z

inline constexpr std::string_view kRootBranch = "root";

// Core is a table of its own; records are in one of these.
enum class Tier : std::uint8_t { kRecall, kArchival, kSummary };
std::string_view TierName(Tier tier);  // "recall"
std::optional<Tier> FindTier(std::string_view name);

enum class Actor : std::uint8_t { kModel, kUser, kSystem };
std::string_view ActorName(Actor actor);  // "model"

// Why a branch hides a record. A later row of a branch replaces its earlier ones, and the nearest
// branch of a chain decides.
enum class HideReason : std::uint8_t {
  kEvicted,
  kConsolidated,  // left the window; found by search and by id as before
  kSuperseded,
  kDeleted,
  kReverted,  // written after the point that was gone back to
  kRestored,  // shown again, by a revert
};
std::string_view HideReasonName(HideReason reason);
std::optional<HideReason> FindHideReason(std::string_view name);

// How new records are numbered. kByBranch: each branch has kBranchNumbers ids of its own, so a
// record gets the same id whatever is written to other branches at the same time; once they are
// used up, the store's numbers follow. In both modes ids ascend along a chain of branches.
enum class Numbering : std::uint8_t { kByStore, kByBranch };
inline constexpr std::int64_t kBranchNumbers = 10'000;  // #50034: record 34 of the branch of id 6

struct CoreEntry {
  std::string key;  // 1 to 128 code points, no control characters
  std::string value;
  int importance = 3;  // 1 to 5
  std::optional<Micros> expires_at;
  bool pinned = false;
  Micros updated_at = 0;
  Seq seq = 0;
  std::string branch;  // whose entry this is; another than the view's: inherited
};

struct Record {
  std::int64_t id = 0;  // of the store; 0: not stored yet
  Seq seq = 0;
  std::string branch;
  Tier tier = Tier::kArchival;
  std::string kind;  // of an event: "llm_insight"
  std::string text;
  std::string thread;  // "": none
  std::string ref;     // the writer's own name for it
  Micros at = 0;       // when it happened; the time of the write, unless said otherwise
  std::string phase;
  std::optional<std::int64_t> supersedes;
  std::vector<std::string> tags;  // in the order given
  JsonObject meta;                // fields that have no column
};

struct Branch {
  std::int64_t id = 0;
  std::string name;
  std::string parent;  // "" of root
  Seq fork_seq = 0;    // of the parent's writes, those up to this one are seen
  std::string node;    // of a search tree, if it stands for one
  Micros created_at = 0;
  Seq seq = 0;  // the write that made it
};

// Section `memory` of the configuration; the members' values are the defaults.
struct StoreLimits {
  std::int64_t core_max_chars = 2000;  // code points, as all "chars"
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

// A text of a record, at most: above it is refused, never cut.
inline constexpr std::size_t kMaxTextBytes = 1 << 20;

// Core keys that have a place of their own or are kept for programs: never evicted.
bool IsProtectedKey(std::string_view key);
// Those of them that are not printed in the core section.
bool IsHiddenKey(std::string_view key);

// "2026-11-21T23:36:43.123456Z".
std::string FormatMicrosTime(Micros time);

// Replaces secrets in what memory keeps by "***", found by the detector of base/text/redact.h.
//
//   std::string text = "the key is hf_…";  // with a real tail
//   RedactSecrets(&text);                  // 1; text is "the key is ***"
//   RedactNamed("api_key", &value);        // 1 if the value is a secret; value is "***"
//
// What is redacted already stays as it is and is not counted. Thread-safety: pure functions.

// Replaces each secret's value, so that JSON stays valid, and returns how many there were.
std::int64_t RedactSecrets(std::string* text);
// The same for the value of something with a name, such as a core entry or a field.
std::int64_t RedactNamed(std::string_view name, std::string* value);
// The same for all texts of a record that its writer chose.
std::int64_t RedactRecord(Record* record);
// The same for all strings of a JSON object, at any depth.
std::int64_t RedactJson(JsonObject* object);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_TYPES_H_
