// The tables of a memory store (schema version 1), and how its file is opened.
//
//   DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenMemoryDatabase(path, options));
//
// docs/formats/memory.md says what each table holds. Thread-safety: may be called from many threads
// and processes on one path.

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
// Of the rules that make terms of a text; another one in a store: its index is made anew.
inline constexpr std::int64_t kTokenizerVersion = 1;  // meta.tokenizer_version

enum class UseFts : std::uint8_t { kAuto, kOn, kOff };
enum class WriteDurability : std::uint8_t { kNormal, kFull };  // kFull: survives power loss
enum class OpenMode : std::uint8_t { kExisting, kCreate };
// Where the file lies. A network file system has a rollback journal and a lock file.
enum class Placement : std::uint8_t { kDetect, kLocal, kNetwork };

struct DatabaseOptions {
  OpenMode mode = OpenMode::kExisting;
  UseFts use_fts = UseFts::kAuto;
  WriteDurability durability = WriteDurability::kNormal;
  Micros now = 0;                            // meta.created_at of a new store
  std::string new_store_id;                  // 32 hex digits; "": drawn
  Millis busy_wait{60'000};                  // for another process
  Placement placement = Placement::kDetect;  // tests say which
};

// Errors: kNotFound ("no memory store at PATH; make one with `dossier memory init`"), kDamaged,
// kConfig (a newer version; the versions are named), kPermission, kIo, kLocked. A store that is
// refused is left as it is.
Result<store::Database> OpenMemoryDatabase(const std::string& path, const DatabaseOptions& options);

// The network file system that `path` lies on; none for a local one.
std::optional<std::string> NetworkFileSystemOf(const std::string& path);

// Makes the table `search`; its rowids are the ids of records, its text what IndexText gives.
inline constexpr std::string_view kCreateSearch =
    "CREATE VIRTUAL TABLE search USING fts5(text, content='', "
    "tokenize='porter unicode61 remove_diacritics 2')";

// Rows of `meta` that say more than how the store was made.
inline constexpr std::string_view kPrunedBefore = "pruned_before";  // a seq

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_SCHEMA_H_
