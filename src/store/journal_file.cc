#include "store/journal_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <thread>

#include "base/clock.h"

namespace dossier::store {
namespace {

constexpr std::int64_t kApplicationId = 0x444F5352;  // "DOSR": tells a journal from other databases

// One B-tree for events, in the order in which they are read. `question`, `model`, `status` and
// `answer` repeat what events say, for the list of runs.
constexpr char kCreate[] = R"sql(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL UNIQUE,
  started TEXT NOT NULL,
  status TEXT NOT NULL,
  question TEXT NOT NULL,
  model TEXT NOT NULL,
  answer TEXT NOT NULL);
CREATE TABLE events(
  run_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  time TEXT NOT NULL,
  call INTEGER NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY(run_id, seq)) WITHOUT ROWID;
)sql";

// Checks that the file is ours and of a known version; returns true if its tables must be made.
Result<bool> IsNew(Database& db, const std::string& path) {
  // One statement, so one snapshot: another process may be making the tables just now.
  DOSSIER_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT user_version, application_id, (SELECT COUNT(*) FROM sqlite_schema) "
                 "FROM pragma_user_version, pragma_application_id"));
  DOSSIER_RETURN_IF_ERROR(query.Step());
  const std::int64_t version = query.Int(0);
  const std::int64_t id = query.Int(1);
  const std::int64_t tables = query.Int(2);
  if (id == 0 && version == 0 && tables == 0) return true;
  if (id != kApplicationId) {
    return MakeError(ErrorCode::kDamaged, "{} is a database of another program; move it away",
                     path);
  }
  if (version > kJournalVersion) {
    return MakeError(ErrorCode::kConfig,
                     "{} was written by a newer dossier (format {}, this one knows {}): use that "
                     "version, or move the file away",
                     path, version, kJournalVersion);
  }
  return false;
}

// If two processes make the file at the same moment, SQLite reports "busy" at once for this pragma,
// without its own waiting.
Status UseWriteAheadLog(Database& db) {
  const auto end = std::chrono::steady_clock::now() + Database::kBusyWait;
  while (true) {
    Status done = db.Execute("PRAGMA journal_mode = WAL");
    if (done || done.error().code != ErrorCode::kLocked || std::chrono::steady_clock::now() > end) {
      return done;
    }
    std::this_thread::sleep_for(Millis(2));
  }
}

Status CreateTables(Database& db, const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  DOSSIER_ASSIGN_OR_RETURN(const bool still_new, IsNew(db, path));
  if (!still_new) return {};
  DOSSIER_RETURN_IF_ERROR(db.Execute(kCreate));
  DOSSIER_RETURN_IF_ERROR(db.Execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kJournalVersion)));
  return transaction.Commit();
}

}  // namespace

JournalAccess AccessTo(const std::string& path) {
  const bool closed = ::access(path.c_str(), R_OK) == 0 && ::access(path.c_str(), W_OK) != 0;
  return closed ? JournalAccess::kRead : JournalAccess::kWrite;
}

Result<Database> OpenJournalDatabase(const std::string& path) {
  if (AccessTo(path) == JournalAccess::kRead) {
    DOSSIER_ASSIGN_OR_RETURN(Database db, Database::Open(path, {.file = FileMode::kReadOnly}));
    DOSSIER_RETURN_IF_ERROR(IsNew(db, path));
    return db;
  }
  DOSSIER_ASSIGN_OR_RETURN(Database db, Database::Open(path));
  DOSSIER_ASSIGN_OR_RETURN(const bool is_new, IsNew(db, path));
  DOSSIER_RETURN_IF_ERROR(UseWriteAheadLog(db));
  // NORMAL: when its statement ends, an event is in the log file, which outlives this process; only
  // a power failure may lose the newest events, never the file. The file grows at its end, so few
  // of its pages are read again.
  DOSSIER_RETURN_IF_ERROR(
      db.Execute("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; "
                 "PRAGMA trusted_schema = OFF; PRAGMA cache_size = -256; "
                 "PRAGMA journal_size_limit = 16777216"));
  DOSSIER_RETURN_IF_ERROR(db.KeepLogAtClose());
  if (is_new) DOSSIER_RETURN_IF_ERROR(CreateTables(db, path));
  return db;
}

namespace {

// The byte after those of all runs: locked by whoever uses the folder.
constexpr off_t kFolderByte = std::numeric_limits<off_t>::max() - 1;
constexpr int kJoinTries = 5'000;
constexpr Millis kJoinNap{2};

struct flock FolderLock(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFolderByte;
  lock.l_len = 1;
  return lock;
}

// Returns the run's byte. Offsets have 63 bits, so no two runs of a journal will collide.
struct flock ByteOf(std::string_view run) {
  std::uint64_t offset = 14'695'981'039'346'656'037ull;  // FNV-1a
  for (const char c : run) offset = (offset ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ull;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset >> 2);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<LiveRuns> LiveRuns::Open(const std::string& path, JournalAccess access) {
  if (access == JournalAccess::kRead) {
    // Without the file nothing is known to be held.
    return LiveRuns(UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  }
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return MakeErrnoError(errno, path);
  return LiveRuns(std::move(file));
}

void LiveRuns::Hold(std::string_view run) const {
  struct flock lock = ByteOf(run);
  (void)fcntl(file_.get(), F_OFD_SETLK, &lock);
}

void LiveRuns::Drop(std::string_view run) const {
  struct flock lock = ByteOf(run);
  lock.l_type = F_UNLCK;
  (void)fcntl(file_.get(), F_OFD_SETLK, &lock);
}

bool LiveRuns::IsHeld(std::string_view run) const {
  struct flock lock = ByteOf(run);
  return fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void LiveRuns::Join() const {
  struct flock lock = FolderLock(F_RDLCK);
  for (int i = 0; i < kJoinTries && fcntl(file_.get(), F_OFD_SETLK, &lock) != 0; ++i) {
    if (errno != EAGAIN && errno != EACCES) return;
    std::this_thread::sleep_for(kJoinNap);
  }
}

bool LiveRuns::BeAlone() const {
  struct flock lock = FolderLock(F_WRLCK);
  return fcntl(file_.get(), F_OFD_SETLK, &lock) == 0;
}

}  // namespace dossier::store
