#include "chat/store/index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "chat/context/plan.h"
#include "chat/store/store.h"

namespace dossier::chat {
namespace {

constexpr std::int64_t kVersion = 3;  // of the tables; another version is rebuilt

constexpr std::size_t kFilesAtOnce = 500;

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS files(
  id TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, inode INTEGER, first INTEGER, last INTEGER,
  model TEXT, messages INTEGER, created TEXT, updated TEXT, title TEXT, problem TEXT);
CREATE INDEX IF NOT EXISTS by_update ON files(
  updated DESC, id, model, messages, created, title, problem);
CREATE INDEX IF NOT EXISTS by_file ON files(id, size, mtime, inode);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
  text, id UNINDEXED, turn UNINDEXED, role UNINDEXED, tokenize = 'unicode61');
PRAGMA user_version = 3;
)";

struct Known {
  std::int64_t size = 0, mtime = 0, inode = 0;
};

bool Matches(const Known& known, const FileEntry& file) {
  return known.size == static_cast<std::int64_t>(file.size) && known.mtime == file.mtime_ns &&
         known.inode == static_cast<std::int64_t>(file.inode);
}

// Each folder has its own index.
std::string PathFor(const std::string& folder, const std::string& cache_folder) {
  const std::string real = Canonical(folder), &name = real.empty() ? folder : real;
  return fmt::format("{}/conversations/{}.db", cache_folder, Sha256Hex(name).substr(0, 16));
}

void RemoveIndex(const std::string& path) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) ::unlink((path + ending).c_str());
}

// The tables' content for one file.
struct Row {
  Listed listed;
  std::vector<std::pair<std::int64_t, StoredMessage>> messages;  // by turn
};

Row ReadRow(const std::string& folder, const std::string& id) {
  Row row;
  row.listed.id = id;
  const auto loaded = ConversationStore(folder).Load(id);
  if (!loaded) {
    row.listed.problem = loaded.error().message;
    return row;
  }
  const Stored& stored = loaded->stored;
  row.listed.model = stored.model;
  row.listed.created_at = stored.created_at;
  row.listed.updated_at = stored.updated_at;
  row.listed.title = stored.title;
  row.listed.messages = static_cast<std::int64_t>(stored.messages.size());
  std::int64_t turn = 0;
  for (const StoredMessage& message : stored.messages) {
    if (message.role == "user") ++turn;
    if (row.listed.title.empty() && turn == 1) row.listed.title = TitleOf(message.Text());
    row.messages.emplace_back(turn, message);
  }
  return row;
}

// Puts each word in quotation marks, so that nothing in it is syntax.
std::string LiteralWords(std::string_view query) {
  std::string out;
  std::size_t at = 0;
  while ((at = query.find_first_not_of(" \t\r\n", at)) != query.npos) {
    const std::size_t end = std::min(query.find_first_of(" \t\r\n", at), query.size());
    if (!out.empty()) out += ' ';
    out += '"' + ReplaceAll(query.substr(at, end - at), "\"", "\"\"") + '"';
    at = end;
  }
  return out;
}

}  // namespace

Result<Index> Index::Open(const std::string& folder, const std::string& cache_folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto files, ListFolder(folder));
  const std::string path = PathFor(folder, cache_folder);
  if (MakeFolders(cache_folder + "/conversations", 0700)) {
    auto index = OpenAt(path, folder, files);
    if (index) return index;
    if (index.error().code == ErrorCode::kDamaged) {
      RemoveIndex(path);
      index = OpenAt(path, folder, files);
      if (index) return index;
    }
  }
  return OpenAt(":memory:", folder, files);
}

Result<Index> Index::OpenAt(const std::string& path, const std::string& folder,
                            const std::vector<FileEntry>& files) {
  // It contains texts of conversations, so its mode must be private; its log inherits the mode.
  if (path.starts_with('/')) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(path));
  // A cache may lose its last seconds: no syncs, but atomic transactions.
  DOSSIER_RETURN_IF_ERROR(db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"));
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t version, db.QueryInt("PRAGMA user_version"));
  if (version != kVersion) {
    DOSSIER_RETURN_IF_ERROR(db.Execute("DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS words;"));
    DOSSIER_RETURN_IF_ERROR(db.Execute(kTables));
  }
  Index index(std::move(db), folder);
  DOSSIER_RETURN_IF_ERROR(index.Update(files));
  return index;
}

Status Index::Update(const std::vector<FileEntry>& files) {
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) places.emplace(files[i].id, i);
  std::vector<bool> known(files.size(), false);
  std::vector<std::string> gone;
  {
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                             db_.Prepare("SELECT id, size, mtime, inode FROM files"));
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      std::string id = query.Text(0);
      const auto found = places.find(id);
      if (found == places.end()) {
        gone.push_back(std::move(id));
      } else {
        known[found->second] =
            Matches({query.Int(1), query.Int(2), query.Int(3)}, files[found->second]);
      }
    }
  }
  std::vector<const FileEntry*> changed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!known[i]) changed.push_back(&files[i]);
  }
  // In parts, so that an interrupted first update is not lost completely.
  for (std::size_t at = 0; at < changed.size() || !gone.empty(); at += kFilesAtOnce) {
    const std::size_t count = std::min(kFilesAtOnce, changed.size() - std::min(at, changed.size()));
    DOSSIER_RETURN_IF_ERROR(
        UpdateSome(gone, std::span(changed).subspan(std::min(at, changed.size()), count)));
    gone.clear();
  }
  return {};
}

Status Index::UpdateSome(std::span<const std::string> gone,
                         std::span<const FileEntry* const> changed) {
  DOSSIER_ASSIGN_OR_RETURN(store::Transaction transaction, store::Transaction::Begin(db_));
  DOSSIER_ASSIGN_OR_RETURN(last_row_, db_.QueryInt("SELECT coalesce(max(last), 0) FROM files"));
  for (const std::string& id : gone) DOSSIER_RETURN_IF_ERROR(Remove(id));
  for (const FileEntry* file : changed) DOSSIER_RETURN_IF_ERROR(Put(*file));
  return transaction.Commit();
}

Status Index::Remove(std::string_view id) {
  DOSSIER_ASSIGN_OR_RETURN(store::Statement rows,
                           db_.Prepare("SELECT first, last FROM files WHERE id = ?"));
  DOSSIER_ASSIGN_OR_RETURN(const bool known, rows.With(id).Step());
  if (!known) return {};
  // Numbers instead of a subquery: FTS5 scans the whole table if a bound is NULL.
  DOSSIER_ASSIGN_OR_RETURN(store::Statement words,
                           db_.Prepare("DELETE FROM words WHERE rowid BETWEEN ? AND ?"));
  DOSSIER_RETURN_IF_ERROR(words.With(rows.Int(0), rows.Int(1)).Done());
  DOSSIER_ASSIGN_OR_RETURN(store::Statement file, db_.Prepare("DELETE FROM files WHERE id = ?"));
  return file.With(id).Done();
}

Status Index::Put(const FileEntry& file) {
  ++files_read_;
  DOSSIER_RETURN_IF_ERROR(Remove(file.id));
  const Row row = ReadRow(folder_, file.id);
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement words,
      db_.Prepare("INSERT INTO words(rowid, text, id, turn, role) VALUES(?, ?, ?, ?, ?)"));
  const std::int64_t first = last_row_ + 1;
  for (const auto& [turn, message] : row.messages) {
    const std::string text = message.Text();
    DOSSIER_RETURN_IF_ERROR(words.With(++last_row_, text, file.id, turn, message.role).Done());
  }
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement insert,
      db_.Prepare("INSERT INTO files VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  const Listed& listed = row.listed;
  return insert
      .With(file.id, file.size, file.mtime_ns, file.inode, first, last_row_, listed.model,
            listed.messages, listed.created_at, listed.updated_at, listed.title, listed.problem)
      .Done();
}

Result<std::vector<Listed>> Index::List(const ListQuery& query) {
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement select,
      db_.Prepare("SELECT id, model, messages, created, updated, title, problem FROM files "
                  "WHERE updated >= ? OR problem <> '' ORDER BY updated DESC, id LIMIT ?"));
  select.With(query.since, query.limit > 0 ? query.limit : -1);
  std::vector<Listed> out;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return out;
    out.push_back({.id = select.Text(0),
                   .model = select.Text(1),
                   .created_at = select.Text(3),
                   .updated_at = select.Text(4),
                   .title = select.Text(5),
                   .messages = select.Int(2),
                   .problem = select.Text(6)});
  }
}

Result<std::vector<IndexHit>> Index::Search(const SearchQuery& query) {
  const bool fts = query.syntax == SearchQuery::Syntax::kFts;
  const std::string match = fts ? query.query : LiteralWords(query.query);
  if (match.empty()) return MakeError(ErrorCode::kUsage, "the search has no words");
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement select,
      db_.Prepare("SELECT id, turn, role, snippet(words, 0, '', '', '…', 16) FROM words "
                  "WHERE words MATCH ?1 AND (?2 = '' OR role = ?2) ORDER BY rank LIMIT ?3"));
  select.With(match, query.role, query.limit);
  std::vector<IndexHit> out;
  while (true) {
    const auto row = select.Step();
    if (!row && fts) {
      return MakeError(ErrorCode::kUsage, "--fts: the query is not in FTS5's syntax: {}",
                       query.query);
    }
    if (!row) return tl::unexpected(row.error());
    if (!*row) return out;
    out.push_back({.id = select.Text(0),
                   .turn = select.Int(1),
                   .role = select.Text(2),
                   .snippet = select.Text(3)});
  }
}

}  // namespace dossier::chat
