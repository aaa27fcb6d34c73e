// SQLite's FTS5 as the measure of terms: tests and fuzzing compare with it. Aborts if SQLite fails.
//
//   Fts5ForTest fts5;
//   fts5.Add(1, "The builds failed");
//   fts5.Read().at(1);   // {"the", "build", "fail"}
//
// Thread-safety: one owner.

#ifndef DOSSIER_TESTING_FTS5_FOR_TEST_H_
#define DOSSIER_TESTING_FTS5_FOR_TEST_H_

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::memory {

// An index in memory.
class Fts5ForTest {
 public:
  explicit Fts5ForTest(std::string_view tokenizer = "porter unicode61 remove_diacritics 2") {
    Check(sqlite3_open(":memory:", &db_));
    Execute(
        fmt::format("CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize='{}');"
                    "CREATE VIRTUAL TABLE terms USING fts5vocab(search, instance); BEGIN;",
                    tokenizer));
    Check(sqlite3_prepare_v2(db_, "INSERT INTO search(rowid, text) VALUES(?, ?)", -1, &insert_,
                             nullptr));
  }
  Fts5ForTest(const Fts5ForTest&) = delete;
  Fts5ForTest& operator=(const Fts5ForTest&) = delete;
  ~Fts5ForTest() {
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
  }

  void Add(std::int64_t id, std::string_view text) {
    sqlite3_reset(insert_);
    sqlite3_bind_int64(insert_, 1, id);
    sqlite3_bind_text64(insert_, 2, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    if (sqlite3_step(insert_) != SQLITE_DONE) Check(SQLITE_ERROR);
  }

  // By id, in the order of the text.
  std::map<std::int64_t, std::vector<std::string>> Read() {
    std::map<std::int64_t, std::vector<std::string>> terms;
    sqlite3_stmt* rows = nullptr;
    Check(sqlite3_prepare_v2(db_, "SELECT doc, offset, term FROM terms", -1, &rows, nullptr));
    while (sqlite3_step(rows) == SQLITE_ROW) {
      std::vector<std::string>& text = terms[sqlite3_column_int64(rows, 0)];
      const auto offset = static_cast<std::size_t>(sqlite3_column_int64(rows, 1));
      if (text.size() <= offset) text.resize(offset + 1);
      text[offset] = std::string(static_cast<const char*>(sqlite3_column_blob(rows, 2)),
                                 static_cast<std::size_t>(sqlite3_column_bytes(rows, 2)));
    }
    sqlite3_finalize(rows);
    return terms;
  }

 private:
  void Check(int code) const {
    if (code == SQLITE_OK) return;
    std::fprintf(stderr, "FTS5: %s\n", sqlite3_errmsg(db_));
    std::abort();
  }
  void Execute(const std::string& sql) {
    Check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace dossier::memory

#endif  // DOSSIER_TESTING_FTS5_FOR_TEST_H_
