// The operations of a memory block, checked and ready to run.
//
//   const auto json = ReadBlockJson(R"({"core_set": {"compiler": "icpx"}})");
//   const UpdateBlock block = CheckBlock(json.members, {});
//   for (const BlockOperation& operation : block.operations) …   // in the order in which they run
//
// A value of the wrong type makes its operation an error that gives the JSON path; the other
// operations stay valid. Thread-safety: plain data; CheckBlock is pure.

#ifndef DOSSIER_MEMORY_BLOCKS_BLOCK_H_
#define DOSSIER_MEMORY_BLOCKS_BLOCK_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "memory/blocks/block_json.h"
#include "memory/consolidate/summarizer.h"
#include "memory/records/operations.h"
#include "memory/records/types.h"
#include "memory/store/branch_transaction.h"

namespace dossier::memory {

// The lifetime of a core entry.
//
//   std::optional<Ttl> ttl = ParseTtl("2h");      // or "30s", "10m", "7d", "4w", seconds, RFC 3339
//   entry.expires_at = ttl->ExpiryAt(now);
//
// Thread-safety: plain data; pure functions.

struct Ttl {
  enum class Kind : std::uint8_t { kAfter, kAt } kind = Kind::kAfter;
  Micros time = 0;  // a span that starts now, or an instant

  Micros ExpiryAt(Micros now) const { return kind == Kind::kAt ? time : now + time; }
};

// Returns nullopt if `text` is neither a span nor a time. Spans are above 0 and at most 100 years.
std::optional<Ttl> ParseTtl(std::string_view text);
std::optional<Ttl> ParseTtl(const Json& value);  // a string, or a number of seconds

struct CoreSetItem {
  std::string key;
  CoreValue value;  // without its expiry
  std::optional<Ttl> ttl;
  std::string refused;  // reason ("bad_value: …") if this one item is not stored
};
struct RecordChange {
  std::int64_t id = 0;
  std::optional<std::string> text;
  std::optional<std::vector<std::string>> tags;
};
struct SearchRequest {
  std::string query;
  int k = 10;
  std::vector<std::string> tags;
  std::optional<std::string> kind;
};

struct CoreSetItems {
  std::vector<CoreSetItem> items;
};
struct Keys {
  std::vector<std::string> keys;
};
struct Ids {
  std::vector<std::int64_t> ids;
};
struct NewRecords {
  std::vector<Record> records;
};
struct RecordChanges {
  std::vector<RecordChange> changes;
};
// The value of an operation that only has to be switched on: `recall_summarize`, `consolidate`.
struct SwitchedOn {};
struct BadValue {
  std::string path;      // "$.archival_search.k"
  std::string expected;  // "a whole number from 1 to 200, not 0"
  std::string Text() const { return path + ": expected " + expected; }
};

struct BlockOperation {
  OperationId id = OperationId::kCoreSet;
  std::variant<BadValue, CoreSetItems, Keys, Ids, NewRecords, RecordChanges, EvictSelection,
               SwitchedOn, SearchRequest>
      value;
};

struct UpdateBlock {
  std::vector<BlockOperation> operations;
  JsonObject input;  // as written, duplicate names merged
  std::vector<Notice> warnings;

  bool Writes() const;
  bool Reads() const;
};

UpdateBlock CheckBlock(std::vector<std::pair<std::string, Json>> members,
                       const RepeatedNames& repeated);

// Checks the value of one operation of a block. Used only by block.cc.
//
// Thread-safety: pure.

// `path` is the value's place in the block, such as "$.core_set". A value that is interpreted
// differently from how it was written adds an entry to `warnings`.
BlockOperation CheckValue(const MemoryOperation& operation, const std::string& path,
                          const Json& value, std::vector<Notice>& warnings);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_H_
