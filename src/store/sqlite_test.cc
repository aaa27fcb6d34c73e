#include "store/sqlite.h"

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

struct OpenDatabase {
  TempFolder folder = *TempFolder::Make("sqlite");
  std::string path = folder.path() + "/t.db";
  Database db = std::move(*Database::Open(path));
};

TEST(SqliteTest, EachKindOfValueComesBackAsItWas) {
  OpenDatabase t;
  ASSERT_THAT(t.db.Execute("CREATE TABLE t(v)"), Succeeds());
  auto insert = t.db.Prepare("INSERT INTO t VALUES(?)");
  const std::string bytes("\0\xff'", 3);
  const std::optional<std::string> text = "a\"b";
  ASSERT_THAT(insert->With(0.1).Done(), Succeeds());
  ASSERT_THAT(insert->With(Blob{bytes}).Done(), Succeeds());
  ASSERT_THAT(insert->With(Blob{}).Done(), Succeeds());
  ASSERT_THAT(insert->With(std::nullopt).Done(), Succeeds());
  ASSERT_THAT(insert->With(std::optional<std::int64_t>()).Done(), Succeeds());
  ASSERT_THAT(insert->With(std::optional<std::int64_t>(7)).Done(), Succeeds());
  ASSERT_THAT(insert->With(text).Done(), Succeeds());
  EXPECT_EQ(t.db.last_insert_id(), 7);

  auto query = t.db.Prepare("SELECT v, typeof(v) FROM t ORDER BY rowid");
  const auto step = [&] { return query->Step().value_or(false) ? query->Text(1) : "none"; };
  EXPECT_EQ(step(), "real");
  EXPECT_EQ(query->Text(0), "0.1");
  EXPECT_EQ(step(), "blob");
  EXPECT_EQ(query->Bytes(0), bytes);
  EXPECT_EQ(step(), "blob");
  EXPECT_EQ(query->Bytes(0), "");
  EXPECT_EQ(step(), "null");
  EXPECT_TRUE(query->IsNull(0));
  EXPECT_EQ(query->OptionalText(0), std::nullopt);
  EXPECT_EQ(step(), "null");
  EXPECT_EQ(query->OptionalInt(0), std::nullopt);
  EXPECT_EQ(step(), "integer");
  EXPECT_EQ(query->OptionalInt(0), 7);
  EXPECT_EQ(step(), "text");
  EXPECT_EQ(query->OptionalText(0), text);
  EXPECT_EQ(step(), "none");
}

TEST(SqliteTest, ASavepointIsUndoneAloneAndTheTransactionGoesOn) {
  OpenDatabase t;
  ASSERT_THAT(t.db.Execute("CREATE TABLE t(v)"), Succeeds());
  auto transaction = Transaction::Begin(t.db);
  EXPECT_TRUE(t.db.in_transaction());
  for (const int value : {1, 2, 3}) {
    auto part = Savepoint::Begin(t.db);
    ASSERT_THAT(part, Succeeds());
    ASSERT_THAT(t.db.Execute(fmt::format("INSERT INTO t VALUES({})", value)), Succeeds());
    if (value == 2) continue;
    ASSERT_THAT(part->Release(), Succeeds());
  }
  ASSERT_THAT(transaction->Commit(), Succeeds());
  EXPECT_FALSE(t.db.in_transaction());
  EXPECT_EQ(t.db.QueryInt("SELECT sum(v) FROM t"), 4);
}

TEST(SqliteTest, AHeldLockIsWaitedForAsLongAsAskedAndNoFileIsMadeUnasked) {
  OpenDatabase t;
  auto transaction = Transaction::Begin(t.db);
  auto other = Database::Open(t.path, {.busy_wait = Millis(30)});
  EXPECT_THAT(Transaction::Begin(*other), FailsWith(ErrorCode::kLocked, t.path));
  auto absent = Database::Open(t.folder.path() + "/absent.db", {.file = FileMode::kExisting});
  EXPECT_THAT(absent, FailsWith(ErrorCode::kNotFound, "absent.db"));
  EXPECT_FALSE(Exists(t.folder.path() + "/absent.db"));
}

TEST(SqliteTest, ALogThatSomebodyReadsIsNotSaidToBeEmpty) {
  const TempFolder folder = *TempFolder::Make("sqlite");
  const std::string path = folder.path() + "/t.db";
  auto db = *Database::Open(path, {.busy_wait = Millis(20)});
  ASSERT_THAT(db.Execute("PRAGMA journal_mode = WAL; CREATE TABLE t(x)"), Succeeds());
  auto reader = *Database::Open(path);
  ASSERT_THAT(reader.Execute("BEGIN"), Succeeds());
  ASSERT_THAT(reader.QueryInt("SELECT COUNT(*) FROM t"), Succeeds());
  ASSERT_THAT(db.Execute("INSERT INTO t VALUES(1)"), Succeeds());
  EXPECT_THAT(db.EmptyLog(Database::LogInUse::kLeaveIt), Succeeds());
  EXPECT_THAT(db.EmptyLog(Database::LogInUse::kWait), FailsWith(ErrorCode::kLocked, "-wal"));
  ASSERT_THAT(reader.Execute("COMMIT"), Succeeds());
  EXPECT_THAT(db.EmptyLog(Database::LogInUse::kWait), Succeeds());
  EXPECT_EQ(ReadFile(path + "-wal")->size(), 0u);
}

}  // namespace
}  // namespace dossier::store
