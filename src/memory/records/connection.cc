#include "memory/records/connection.h"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::memory {
namespace {

// From SQLite's file format: the write lock of the WAL is byte 120 of the -shm file; the locks of
// the rollback journal are in the page after the first GiB.
constexpr std::uint64_t kLogWriteLock = 120;
constexpr std::uint64_t kPendingByte = 0x40000000;
constexpr std::uint64_t kSharedSize = 512;

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::optional<pid_t> FindHolderOf(const std::string& file, std::uint64_t first,
                                  std::uint64_t last) {
  struct stat info{};
  if (stat(file.c_str(), &info) != 0) return std::nullopt;
  const Result<std::string> locks = ReadFile("/proc/locks");
  if (!locks) return std::nullopt;
  return FindHolder(*locks, {.inode = info.st_ino, .first = first, .last = last});
}

}  // namespace

// "1: POSIX  ADVISORY  WRITE 4711 fd:01:1234 120 120": proc(5).
std::optional<pid_t> FindHolder(std::string_view locks, const LockedRange& range) {
  for (const std::string_view line : Split(locks, '\n')) {
    const std::vector<std::string_view> words = Words(line);
    // The line of a waiting process has "->" after its number.
    if (words.size() != 8 || words[3] != "WRITE") continue;
    const std::size_t colon = words[5].rfind(':');
    if (colon == std::string_view::npos) continue;
    if (ExactNumber<std::uint64_t>(words[5].substr(colon + 1)) != range.inode) continue;
    const auto first = ExactNumber<std::uint64_t>(words[6]);
    const auto last = words[7] == "EOF" ? UINT64_MAX : ExactNumber<std::uint64_t>(words[7]);
    const auto pid = ExactNumber<pid_t>(words[4]);
    if (first && last && pid && *pid > 0 && *first <= range.last && *last >= range.first) {
      return pid;
    }
  }
  return std::nullopt;
}

std::optional<pid_t> FindLockHolder(const std::string& path) {
  if (const auto pid = FindHolderOf(path + "-shm", kLogWriteLock, kLogWriteLock)) return pid;
  return FindHolderOf(path, kPendingByte, kPendingByte + kSharedSize);
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "this host";
  return name;
}

Result<store::Statement*> Connection::Use(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second.get();
  DOSSIER_ASSIGN_OR_RETURN(store::Statement statement, db_.Prepare(sql));
  auto owned = std::make_unique<store::Statement>(std::move(statement));
  return statements_.emplace(sql, std::move(owned)).first->second.get();
}

ConnectionLease::ConnectionLease(std::unique_ptr<Connection> owned,
                                 std::shared_ptr<ReaderPool> pool)
    : connection_(owned.get()), owned_(std::move(owned)), pool_(std::move(pool)) {}

ConnectionLease::~ConnectionLease() {
  if (owned_) pool_->GiveBack(std::move(owned_));
}

Result<ConnectionLease> ReaderPool::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return ConnectionLease(std::move(connection), shared_from_this());
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenMemoryDatabase(path_, options_));
  // Reading must not change the file: what a writer left in the log stays there.
  DOSSIER_RETURN_IF_ERROR(db.KeepLogAtClose());
  // A search reads the texts once, and the system caches the file's pages: a large cache of the
  // connection would only add to the search's memory.
  DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA cache_size = -1000"));
  return ConnectionLease(std::make_unique<Connection>(std::move(db)), shared_from_this());
}

void ReaderPool::GiveBack(std::unique_ptr<Connection> connection) {
  constexpr std::size_t kMostIdle = 8;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

}  // namespace dossier::memory
