// The tables of a memory store (schema version 1), and how to open its file.
//
//   DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenMemoryDatabase(path, options));
//
// docs/formats/memory.md describes the tables. Thread-safety: many threads and processes may call
// this on one path.

#ifndef DOSSIER_MEMORY_RECORDS_SCHEMA_H_
#define DOSSIER_MEMORY_RECORDS_SCHEMA_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "memory/records/types.h"
#include "store/sqlite.h"

namespace dossier::memory {

inline constexpr std::int64_t kSchemaVersion = 1;  // meta.schema_version
// Version of the rules that split text into terms; a store with another one gets a new index.
inline constexpr std::int64_t kTokenizerVersion = 1;  // meta.tokenizer_version

enum class UseFts : std::uint8_t { kAuto, kOn, kOff };
enum class WriteDurability : std::uint8_t { kNormal, kFull };  // kFull: survives power loss
enum class OpenMode : std::uint8_t { kExisting, kCreate };
// The kind of file system. On a network file system: a rollback journal and a lock file.
enum class Placement : std::uint8_t { kDetect, kLocal, kNetwork };

struct DatabaseOptions {
  OpenMode mode = OpenMode::kExisting;
  UseFts use_fts = UseFts::kAuto;
  WriteDurability durability = WriteDurability::kNormal;
  Micros now = 0;                            // meta.created_at of a new store
  std::string new_store_id;                  // 32 hex digits; "": random
  Millis busy_wait{60'000};                  // how long to wait for another process
  Placement placement = Placement::kDetect;  // set by tests
};

// Errors: kNotFound ("no memory store at PATH; make one with `dossier memory init`"), kDamaged,
// kConfig (a newer version; names both versions), kPermission, kIo, kLocked. A store that cannot be
// opened is left unchanged.
Result<store::Database> OpenMemoryDatabase(const std::string& path, const DatabaseOptions& options);

// Returns the network file system that `path` is on; nullopt for a local one.
std::optional<std::string> NetworkFileSystemOf(const std::string& path);

// Creates the table `search`: rowids are record ids, its text is the result of IndexText.
inline constexpr std::string_view kCreateSearch =
    "CREATE VIRTUAL TABLE search USING fts5(text, content='', "
    "tokenize='porter unicode61 remove_diacritics 2')";

// Keys of `meta` that record more than how the store was created.
inline constexpr std::string_view kPrunedBefore = "pruned_before";  // a seq

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_SCHEMA_H_
