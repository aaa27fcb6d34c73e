// Lists a folder's conversations and searches their full text: a SQLite file in the cache folder,
// which may be deleted at any time.
//
//   DOSSIER_ASSIGN_OR_RETURN(Index index, Index::Open(folder, cache_folder));
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Listed> list, index.List({.limit = 20}));
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<IndexHit> hits, index.Search({.query = "segfault"}));
//
// Opening compares name, size, time and inode of each file with the index; only files that changed
// are read. If the cache cannot be written, the index is kept in memory. Thread-safety: one owner.
// Several processes may use one index.

#ifndef DOSSIER_CHAT_STORE_INDEX_H_
#define DOSSIER_CHAT_STORE_INDEX_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/document/folder.h"
#include "store/sqlite.h"

namespace dossier::chat {

struct Listed {
  std::string id, model, created_at, updated_at, title;
  std::int64_t messages = 0;
  std::string problem;  // why the file could not be read; empty if it could
};

struct ListQuery {
  std::int64_t limit = 0;  // 0: all
  std::string since;       // the smallest updated_at
};

struct SearchQuery {
  std::string query;
  std::string role;                                            // "": any
  enum class Syntax { kWords, kFts } syntax = Syntax::kWords;  // kFts: the query is in FTS5 syntax
  std::int64_t limit = 50;
};

struct IndexHit {
  std::string id;
  std::int64_t turn = 0;  // 0: the system message
  std::string role, snippet;
};

class Index {
 public:
  // Errors: those of listing the folder; a damaged index is rebuilt.
  static Result<Index> Open(const std::string& folder, const std::string& cache_folder);

  // Newest first; damaged files come last.
  Result<std::vector<Listed>> List(const ListQuery& query);
  // Best hits first. Errors: kUsage (no words; with kFts, a query that is not valid FTS5).
  Result<std::vector<IndexHit>> Search(const SearchQuery& query);

  std::size_t files_read() const { return files_read_; }  // by Open

 private:
  Index(store::Database db, std::string folder) : db_(std::move(db)), folder_(std::move(folder)) {}
  static Result<Index> OpenAt(const std::string& path, const std::string& folder,
                              const std::vector<FileEntry>& files);
  Status Update(const std::vector<FileEntry>& files);
  Status UpdateSome(std::span<const std::string> gone, std::span<const FileEntry* const> changed);
  Status Put(const FileEntry& file);
  Status Remove(std::string_view id);

  store::Database db_;
  std::string folder_;
  std::size_t files_read_ = 0;
  std::int64_t last_row_ = 0;  // row id of the texts; valid within a transaction
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_INDEX_H_
