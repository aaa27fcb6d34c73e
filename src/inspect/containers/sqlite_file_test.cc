#include "inspect/containers/sqlite_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::inspect {
namespace {

using ::dossier::testing::FailsWith;

// The bytes of a database that `sql` makes.
std::string Made(const std::string& sql) {
  const TempFolder folder = *TempFolder::Make();
  const std::string path = folder.path() + "/made.db";
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &opened), SQLITE_OK);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  EXPECT_EQ(sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(opened);
  return *ReadFile(path, 64 << 20);
}

std::string Rows(std::string_view table, int count) {
  return fmt::format(
      "INSERT INTO {} SELECT n, hex(randomblob(40)) FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION "
      "ALL "
      "SELECT n + 1 FROM c WHERE n < {}) SELECT n FROM c);",
      table, count);
}

TEST(SqliteFileTest, TablesWithTheirStatementsAndRows) {  // REC-76
  const std::string columns = [] {
    std::string list = "c0 TEXT";
    for (int i = 1; i < 900; ++i) list += fmt::format(", c{} TEXT", i);
    return list;
  }();
  const std::string bytes = Made(
      "PRAGMA page_size=512; CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT);" + Rows("a", 5000) +
      "CREATE TABLE \"b é\"(k TEXT PRIMARY KEY, v) WITHOUT ROWID;" + Rows("\"b é\"", 3000) +
      "CREATE INDEX i ON a(x); CREATE VIEW v AS SELECT * FROM a; CREATE TABLE wide(" + columns +
      "); CREATE TABLE empty(x); CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT);");
  const auto file = ReadSqliteFile(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->page_size, 512u);
  EXPECT_EQ(file->pages, bytes.size() / 512);
  EXPECT_EQ(file->encoding, "utf-8");
  std::string told;
  for (const SqliteTable& table : file->tables) {
    told += fmt::format("{} {}\n", table.name, table.rows ? std::to_string(*table.rows) : "-");
  }
  EXPECT_EQ(told, "a 5000\nb é 3000\nv -\nwide 0\nempty 0\ncounted 0\n");
  EXPECT_EQ(file->tables[0].sql, "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT)");
  EXPECT_TRUE(file->tables[3].sql.starts_with("CREATE TABLE wide(c0 TEXT, c1 TEXT"));
  EXPECT_GT(file->tables[3].sql.size(), 3'900u);  // over several pages
}

TEST(SqliteFileTest, OtherEncodingsAndJournals) {  // REC-76
  for (const std::string encoding : {"UTF-16le", "UTF-16be"}) {
    const std::string bytes = Made(fmt::format(
        "PRAGMA encoding='{}'; CREATE TABLE \"naïve 🙂\"(x); INSERT INTO \"naïve 🙂\" VALUES(1);",
        encoding));
    const auto file = ReadSqliteFile(bytes);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->tables[0].name, "naïve 🙂");
    EXPECT_EQ(file->tables[0].rows, 1u);
  }
  const auto file = ReadSqliteFile(Made("PRAGMA journal_mode=WAL; CREATE TABLE t(x);"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->journal, SqliteFile::Journal::kWriteAhead);
}

TEST(SqliteFileTest, NoBytesBreakTheReader) {
  const std::string bytes = Made(
      "PRAGMA page_size=512; CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT);" + Rows("a", 300));
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string broken = bytes;
    // The schema's page is hit more often than its share.
    for (int i = 0; i < 6; ++i) {
      const std::size_t within = random.Below(2) == 0 ? 512 : broken.size();
      broken[random.Below(within)] = static_cast<char>(random.Below(256));
    }
    if (random.Below(3) == 0) broken.resize(random.Below(broken.size()));
    const auto file = ReadSqliteFile(broken);
    if (file) {
      EXPECT_LE(file->tables.size(), kMostSqliteTables);
    }
  }
  EXPECT_THAT(ReadSqliteFile(""), FailsWith(ErrorCode::kDamaged, "no header"));
  EXPECT_THAT(ReadSqliteFile(bytes.substr(0, 200)),
              FailsWith(ErrorCode::kDamaged, "too little room"));
}

TEST(SqliteFileTest, APageThatLeadsBackToItselfEndsTheWalk) {
  std::string bytes = Made("PRAGMA page_size=512; CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT);" +
                           Rows("a", 300));
  const auto whole = ReadSqliteFile(bytes);
  ASSERT_TRUE(whole);
  for (std::uint32_t page = 1; page < whole->pages; ++page) {  // the right child of each inner page
    const std::size_t at = page * std::size_t{512};
    if (bytes[at] != 5) continue;
    for (int i = 0; i < 4; ++i) bytes[at + 8 + i] = static_cast<char>((page + 1) >> (24 - 8 * i));
  }
  const auto file = ReadSqliteFile(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tables[0].rows, std::nullopt);
}

}  // namespace
}  // namespace dossier::inspect
