#include "store/prune.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/parse.h"
#include "store/content.h"
#include "store/event_data.h"
#include "store/journal_file.h"
#include "store/sqlite.h"

namespace dossier::store {
namespace {

namespace fs = std::filesystem;

constexpr auto kNobody = std::numeric_limits<std::int64_t>::min();
constexpr auto kAlive = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kGrace = kNamedWithin.count();  // seconds
// Prunes to a tenth below a byte limit, so that not every run has to free space.
constexpr std::uint64_t kRoomShare = 10;
constexpr std::int64_t kWorthVacuum = 256;  // pages

struct StoredRun {
  std::int64_t id = 0;
  std::string run, started;
  std::uint64_t bytes = 0;  // of events
  enum class State { kEnded, kAlive } state = State::kEnded;
};

// A file that stays as long as any run that names it.
struct Kept {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;         // seconds since 1970
  std::int64_t last_user = kNobody;  // index of the newest run that uses it
  std::string target;                // for a memo: its body
};

using Files = std::unordered_map<std::string, Kept>;  // by hash, which is the file name

std::string LinkTarget(const std::string& path) {
  std::array<char, kHashDigits + 1> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length == static_cast<ssize_t>(kHashDigits) ? std::string(target.data(), kHashDigits)
                                                     : std::string();
}

template <typename See>
void ForEachFile(const std::string& folder, const See& see) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    struct stat info{};
    if (lstat(at->path().c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
      see(at->path().string(), info);
    }
  }
}

class Pruner {
 public:
  Pruner(const std::string& folder, const PruneRule& rule, PruneAction action, const Clock& clock)
      : folder_(folder), rule_(rule), action_(action), clock_(clock) {}

  Result<Pruned> Run(const std::string& journal) {
    const std::uint64_t before = BytesBelow(folder_);
    if (rule_.max_bytes && before <= *rule_.max_bytes) return Pruned{.bytes_left = before};
    DOSSIER_ASSIGN_OR_RETURN(Database db, OpenJournalDatabase(journal));
    DOSSIER_ASSIGN_OR_RETURN(const LiveRuns live,
                             LiveRuns::Open(journal + std::string(kLiveSuffix)));
    DOSSIER_RETURN_IF_ERROR(ReadRuns(db, live));
    ListFiles(live.BeAlone() ? Others::kNone : Others::kSome);
    DOSSIER_RETURN_IF_ERROR(FindUsers(db));
    ChooseRuns(before);
    if (action_ == PruneAction::kRemove) DOSSIER_RETURN_IF_ERROR(RemoveRuns(db, live));
    Sweep();
    if (action_ == PruneAction::kRemove) {
      DOSSIER_RETURN_IF_ERROR(GiveBack(db));
      pruned_.bytes_left = BytesBelow(folder_);
    } else {
      pruned_.bytes_left = before - std::min(before, pruned_.bytes);
    }
    pruned_.runs_left = runs_.size() - pruned_.runs.size();
    return pruned_;
  }

 private:
  enum class Others { kNone, kSome };  // other processes with an open journal

  // Oldest first.
  Status ReadRuns(Database& db, const LiveRuns& live) {
    DOSSIER_ASSIGN_OR_RETURN(
        Statement query,
        db.Prepare("SELECT id, run, started, status FROM runs ORDER BY started, id"));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return {};
      StoredRun run{.id = query.Int(0), .run = query.Text(1), .started = query.Text(2)};
      if (live.IsHeld(run.run)) run.state = StoredRun::State::kAlive;
      runs_.push_back(std::move(run));
    }
  }

  void ListFiles(Others others) {
    // Without others, all files that existed at the start belong to the known runs.
    const std::int64_t now = std::time(nullptr);
    spared_from_ = others == Others::kNone ? now + 1 : now - kGrace;
    for (const StoredRun& run : runs_) {
      if (run.state != StoredRun::State::kAlive) continue;
      if (const auto began = ParseTime(run.started)) {
        const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(began->time_since_epoch());
        spared_from_ = std::min(spared_from_, seconds.count() - kGrace);
      }
    }
    const auto add = [](Files& files, const std::string& path, const struct stat& info) {
      const std::string name = path.substr(path.rfind('/') + 1);
      files[name] = {.path = path,
                     .bytes = static_cast<std::uint64_t>(info.st_size),
                     .modified = info.st_mtime,
                     .target = S_ISLNK(info.st_mode) ? LinkTarget(path) : std::string()};
    };
    // A file with another name was being written by a killed process.
    ForEachFile(folder_ + "/objects", [&](const std::string& path, const struct stat& info) {
      add(objects_, path, info);
    });
    ForEachFile(folder_ + "/memo",
                [&](const std::string& path, const struct stat& info) { add(memos_, path, info); });
  }

  // Finds the last run that needs each file.
  Status FindUsers(Database& db) {
    std::unordered_map<std::int64_t, std::size_t> places;
    for (std::size_t i = 0; i < runs_.size(); ++i) places[runs_[i].id] = i;
    DOSSIER_ASSIGN_OR_RETURN(Statement query, db.Prepare("SELECT run_id, data FROM events"));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      const auto place = places.find(query.Int(0));
      // Of a run that began since: its files are new, too.
      if (place == places.end()) continue;
      StoredRun& run = runs_[place->second];
      const std::string_view data = query.View(1);
      run.bytes += data.size();
      const std::int64_t user =
          run.state == StoredRun::State::kAlive ? kAlive : static_cast<std::int64_t>(place->second);
      ForEachHash(data, [&](std::string_view hash) { NoteUser(std::string(hash), user); });
    }
    for (const auto& [key, memo] : memos_) Raise(objects_, memo.target, UserOf(memo));
    return {};
  }

  void NoteUser(const std::string& hash, std::int64_t user) {
    Raise(objects_, hash, user);
    Raise(memos_, hash, user);
  }

  static void Raise(Files& files, const std::string& name, std::int64_t user) {
    const auto found = files.find(name);
    if (found != files.end()) found->second.last_user = std::max(found->second.last_user, user);
  }

  std::int64_t UserOf(const Kept& file) const {
    return file.modified >= spared_from_ ? kAlive : file.last_user;
  }

  // Decides how many of the oldest runs are removed.
  void ChooseRuns(std::uint64_t bytes) {
    std::size_t most = 0;
    if (rule_.keep || rule_.older || rule_.max_bytes) most = runs_.size();
    if (rule_.keep) most = std::min(most, runs_.size() - std::min(runs_.size(), *rule_.keep));
    // Nothing is older than the clock's epoch; an earlier time would overflow.
    const auto since_epoch =
        std::chrono::duration_cast<Millis>(clock_.WallNow().time_since_epoch());
    if (rule_.older && *rule_.older >= since_epoch) {
      most = 0;
    } else if (rule_.older) {
      const std::string from = FormatTime(clock_.WallNow() - *rule_.older);
      std::size_t old = 0;
      while (old < runs_.size() && runs_[old].started < from) ++old;
      most = std::min(most, old);
    }
    if (rule_.max_bytes && !runs_.empty()) most = std::min({most, runs_.size() - 1, Enough(bytes)});
    gone_ = static_cast<std::int64_t>(most);
  }

  // Returns the number of oldest runs to remove until the folder is small enough.
  std::size_t Enough(std::uint64_t bytes) const {
    std::vector<std::uint64_t> freed(runs_.size() + 1);  // by the run after whose removal
    for (const auto& [hash, file] : objects_) {
      const std::int64_t user = UserOf(file);
      if (user == kNobody) freed[0] += file.bytes;
      if (user >= 0 && user != kAlive) freed[static_cast<std::size_t>(user) + 1] += file.bytes;
    }
    const std::uint64_t goal = *rule_.max_bytes - *rule_.max_bytes / kRoomShare;
    std::uint64_t left = bytes - std::min(bytes, freed[0]);
    std::size_t count = 0;
    for (; count < runs_.size() && left > goal; ++count) {
      const std::uint64_t own =
          runs_[count].state == StoredRun::State::kAlive ? 0 : runs_[count].bytes;
      left -= std::min(left, own + freed[count + 1]);
    }
    return count;
  }

  Status RemoveRuns(Database& db, const LiveRuns& live) {
    // Removed text must not stay in free pages of the file.
    DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA secure_delete = ON"));
    DOSSIER_ASSIGN_OR_RETURN(Statement events, db.Prepare("DELETE FROM events WHERE run_id = ?"));
    DOSSIER_ASSIGN_OR_RETURN(Statement row, db.Prepare("DELETE FROM runs WHERE id = ?"));
    for (std::int64_t i = 0; i < gone_; ++i) {
      const StoredRun& run = runs_[static_cast<std::size_t>(i)];
      if (run.state == StoredRun::State::kAlive) continue;
      if (live.IsHeld(run.run)) {  // resumed meanwhile: it and later runs stay
        gone_ = i;
        return {};
      }
      DOSSIER_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
      DOSSIER_RETURN_IF_ERROR(events.With(run.id).Done());
      DOSSIER_RETURN_IF_ERROR(row.With(run.id).Done());
      DOSSIER_RETURN_IF_ERROR(transaction.Commit());
    }
    return {};
  }

  void Sweep() {
    for (std::int64_t i = 0; i < gone_; ++i) {
      const StoredRun& run = runs_[static_cast<std::size_t>(i)];
      if (run.state == StoredRun::State::kAlive) continue;
      pruned_.runs.push_back(run.run);
      pruned_.bytes += run.bytes;
    }
    for (const auto& [key, memo] : memos_) {
      if (UserOf(memo) < gone_ && action_ == PruneAction::kRemove) Remove(memo);
    }
    for (const auto& [hash, body] : objects_) {
      if (UserOf(body) >= gone_) continue;
      if (action_ == PruneAction::kRemove && !Remove(body)) continue;
      ++pruned_.bodies;
      pruned_.bytes += body.bytes;
    }
  }

  // A body that somebody used meanwhile (ContentStore::Put sets its time) is restored.
  bool Remove(const Kept& file) const {
    const std::string aside = fmt::format("{}/incoming/{}", folder_, RandomHex(16));
    if (rename(file.path.c_str(), aside.c_str()) != 0) return false;
    struct stat info{};
    if (lstat(aside.c_str(), &info) == 0 && info.st_mtime >= spared_from_ &&
        info.st_mtime != file.modified) {
      rename(aside.c_str(), file.path.c_str());
      return false;
    }
    return unlink(aside.c_str()) == 0;
  }

  // Returns free pages of the database to the file system if there are many; others may read.
  Status GiveBack(Database& db) const {
    if (pruned_.runs.empty()) return {};
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t pages, db.QueryInt("PRAGMA page_count"));
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t unused, db.QueryInt("PRAGMA freelist_count"));
    if (unused > kWorthVacuum && unused > pages / 4) static_cast<void>(db.Execute("VACUUM"));
    return db.EmptyLog(Database::LogInUse::kLeaveIt);
  }

  const std::string& folder_;
  const PruneRule& rule_;
  const PruneAction action_;
  const Clock& clock_;
  std::vector<StoredRun> runs_;
  Files objects_, memos_;
  std::int64_t spared_from_ = 0;  // files of this second or later stay
  std::int64_t gone_ = 0;         // number of oldest runs to remove
  Pruned pruned_;
};

}  // namespace

Result<Pruned> PruneRuns(const std::string& folder, const PruneRule& rule, PruneAction action,
                         const Clock& clock) {
  const std::string journal = folder + "/journal.db";
  if (!Exists(journal)) return Pruned();
  return Pruner(folder, rule, action, clock).Run(journal);
}

std::uint64_t BytesBelow(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return 0;
  if (!S_ISDIR(info.st_mode)) return static_cast<std::uint64_t>(info.st_size);
  std::uint64_t bytes = 0;
  ForEachFile(path, [&](const std::string&, const struct stat& file) {
    bytes += static_cast<std::uint64_t>(file.st_size);
  });
  return bytes;
}

}  // namespace dossier::store
