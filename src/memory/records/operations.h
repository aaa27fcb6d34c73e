// The operations of a `<memory_update>` block; parser, help, completion and docs use this table.
//
//   if (const MemoryOperation* operation = FindOperation("mem_core_set")) Use(operation->name);
//   std::string told = HelpText(HelpForm::kLong);          // what a model is told
//   for (const MemoryOperation& operation : kOperations) …       // in the order in which they run
//
// Thread-safety: constants and pure functions.

#ifndef DOSSIER_MEMORY_RECORDS_OPERATIONS_H_
#define DOSSIER_MEMORY_RECORDS_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dossier::memory {

enum class OperationId : std::uint8_t {
  kCoreSet,
  kCoreDelete,
  kArchivalWrite,
  kArchivalUpdate,
  kArchivalDelete,
  kRecallAppend,
  kRecallEvict,
  kRecallSummarize,
  kConsolidate,
  kCoreGet,
  kArchivalGet,
  kArchivalSearch,
  kRecallSearch,
};

enum class Access : std::uint8_t { kWrite, kRead };

// The form of an operation's value. It decides how a block that uses both a name and its synonym is
// merged: maps by key, lists by appending; for other values the later one counts.
enum class ValueShape : std::uint8_t { kMap, kList, kOne };

struct MemoryOperation {
  OperationId id;
  std::string_view name;
  std::array<std::string_view, 2> synonyms;  // "": none
  ValueShape shape;
  Access access;
  std::string_view value;    // for people and models: `{key: text}`
  std::string_view result;   // "-": none
  std::string_view help;     // one line
  std::string_view example;  // a value in JSON that the parser accepts
};

// In the order in which they run: writes, then reads.
inline constexpr std::array<MemoryOperation, 13> kOperations = {{
    {OperationId::kCoreSet,
     "core_set",
     {"core", "mem_core_set"},
     ValueShape::kMap,
     Access::kWrite,
     "`{key: text}` or `{key: {value, importance?, ttl?, pin?}}`",
     "`evicted`",
     "keep short facts that every later prompt shows; importance 1 to 5, ttl like 30m or 7d",
     R"({"compiler": "icpx", "queue": {"value": "gpu", "importance": 5, "ttl": "7d"}})"},
    {OperationId::kCoreDelete,
     "core_delete",
     {"core_del", "mem_core_del"},
     ValueShape::kList,
     Access::kWrite,
     "`[key…]` or key",
     "-",
     "forget core facts",
     R"(["queue"])"},
    {OperationId::kArchivalWrite,
     "archival_write",
     {"archival", "mem_archival_write"},
     ValueShape::kList,
     Access::kWrite,
     "`[{text, tags?, meta?, supersedes?}]` or one",
     "ids",
     "store longer texts that are found by search; supersedes names the record that it replaces",
     R"([{"text": "The linker needs -lfftw3 after -lm", "tags": ["build"]}])"},
    {OperationId::kArchivalUpdate,
     "archival_update",
     {"mem_archival_update", ""},
     ValueShape::kList,
     Access::kWrite,
     "`[{id, text?, tags?}]`",
     "`[{id, supersedes}]`",
     "replace the text or tags of your own records",
     R"([{"id": 12, "text": "The linker needs -lfftw3_mpi"}])"},
    {OperationId::kArchivalDelete,
     "archival_delete",
     {"mem_archival_delete", ""},
     ValueShape::kList,
     Access::kWrite,
     "`[id…]` (own; hides)",
     "-",
     "hide your own records",
     R"([12])"},
    {OperationId::kRecallAppend,
     "recall_append",
     {"recall", "mem_recall_append"},
     ValueShape::kList,
     Access::kWrite,
     "event or list",
     "ids",
     "note what happened; the newest events stand in every later prompt",
     R"([{"text": "Run 7 converged after 41 steps", "kind": "result"}])"},
    {OperationId::kRecallEvict,
     "recall_evict",
     {"mem_recall_evict", ""},
     ValueShape::kOne,
     Access::kWrite,
     "`{ids?, kind?, oldest?}` or `[id…]`",
     "`{evicted_count, archived_count}`",
     "move your own events to archival memory",
     R"({"oldest": 5})"},
    {OperationId::kRecallSummarize,
     "recall_summarize",
     {"mem_recall_summarize", ""},
     ValueShape::kOne,
     Access::kWrite,
     "`true` or `{}`",
     "`{status, events_consolidated}`",
     "summarise old events once there are too many",
     "true"},
    {OperationId::kConsolidate,
     "consolidate",
     {"mem_consolidate", ""},
     ValueShape::kOne,
     Access::kWrite,
     "`true` (level high)",
     "`{status, details}`",
     "make room: unimportant core facts and old events move to archival memory",
     "true"},
    {OperationId::kCoreGet,
     "core_get",
     {"mem_core_get", ""},
     ValueShape::kList,
     Access::kRead,
     "`[key…]` or key",
     "`{key: value or null}`",
     "read core facts",
     R"(["compiler"])"},
    {OperationId::kArchivalGet,
     "archival_get",
     {"mem_archival_get", ""},
     ValueShape::kList,
     Access::kRead,
     "`[id…]`",
     "`[{id, text, tags}]`",
     "read records by id, also events",
     R"([12])"},
    {OperationId::kArchivalSearch,
     "archival_search",
     {"mem_archival_search", ""},
     ValueShape::kOne,
     Access::kRead,
     "`{query, k=10, tags?}` or string",
     "`[{id, text, tags, score}]`",
     "search archival memory",
     R"({"query": "linker error fftw3", "k": 5})"},
    {OperationId::kRecallSearch,
     "recall_search",
     {"mem_recall_search", ""},
     ValueShape::kOne,
     Access::kRead,
     "`{query, k=20, kind?}` or string",
     "`[{id, kind, summary, ts}]`",
     "search all events, old ones too",
     R"("which run converged")"},
}};

// Finds an operation by name or synonym; nullptr if there is none.
const MemoryOperation* FindOperation(std::string_view name);
const MemoryOperation& OperationOf(OperationId id);
// Returns the nearest operation name: `archival_write` for "archive"; "" if no name is near.
std::string NearestOperation(std::string_view name);

enum class HelpForm : std::uint8_t { kLong, kShort };
// Returns what a model is told about the block and its operations. It ends with a newline.
std::string HelpText(HelpForm form);
// Returns the rows of the table in docs/guide/memory.md, including its head.
std::string OperationsTable();

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_OPERATIONS_H_
