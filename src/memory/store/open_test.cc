// Opens stores: new, absent, newer, damaged, foreign, without an index, on a network.

#include <unistd.h>

#include "base/cancel.h"
#include "base/files/file.h"
#include "memory/records/connection.h"
#include "store/sqlite.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OpenTest, AnAbsentStoreIsNotMadeByReading) {
  const TempFolder folder = *TempFolder::Make("memory");
  const std::string path = folder.path() + "/deep/memory.sqlite";
  EXPECT_THAT(Store::Open({.path = path}), FailsWith(ErrorCode::kNotFound, "dossier memory init"));
  EXPECT_FALSE(Exists(folder.path() + "/deep"));
  ASSERT_THAT(Store::Open({.path = path, .mode = OpenMode::kCreate}), Succeeds());
  const auto first = Store::Open({.path = path, .mode = OpenMode::kCreate});
  EXPECT_EQ((*first)->store_id().size(), 32u);
  EXPECT_EQ((*Store::Open({.path = path}))->store_id(), (*first)->store_id());
}

TEST(OpenTest, AStoreThatIsNoneOfOursIsRefusedAndUntouched) {  // defect list, section 6
  struct Case {
    std::string_view what;
    std::string sql;  // "": the bytes of `what`
    ErrorCode code;
    std::string_view message;
  };
  const Case kCases[] = {
      {"newer", "UPDATE meta SET value = '2' WHERE key = 'schema_version'", ErrorCode::kConfig,
       "version 2, this one knows 1"},
      {"no meta", "DELETE FROM meta", ErrorCode::kDamaged, "does not say its version"},
      {"meta dropped", "DROP TABLE meta", ErrorCode::kDamaged, "no such table: meta"},
      {"foreign", "PRAGMA application_id = 7", ErrorCode::kDamaged, "another program"},
      {"bytes", "", ErrorCode::kDamaged, "not a database"},
      {"rows without end",
       "DROP TABLE tags; CREATE VIEW tags(record_id, position, tag) AS WITH RECURSIVE n(x) AS "
       "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x, x FROM n",
       ErrorCode::kRefused, "its tags computes its rows"},
      {"a version without end",
       "DROP TABLE meta; CREATE VIEW meta(key, value) AS WITH RECURSIVE n(x) AS "
       "(SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'k', x FROM n",
       ErrorCode::kRefused, "its meta computes its rows"},
      {"a computed column",
       "ALTER TABLE core ADD COLUMN big TEXT AS (hex(zeroblob(100000000)))", ErrorCode::kRefused,
       "its core computes its rows"},
  };
  for (const Case& c : kCases) {
    TestStore store;
    store.Close();
    if (c.sql.empty()) {
      ASSERT_THAT(WriteFileAtomic(store.path(), std::string(8192, 'x')), Succeeds());
    } else {
      auto db = store::Database::Open(store.path());
      ASSERT_THAT(db->Execute(c.sql), Succeeds());
    }
    const auto before = ReadFile(store.path());
    for (const OpenMode mode : {OpenMode::kExisting, OpenMode::kCreate}) {
      EXPECT_THAT(Store::Open({.path = store.path(), .mode = mode}),
                  FailsWith(c.code, std::string(c.message)))
          << c.what;
    }
    EXPECT_EQ(ReadFile(store.path()), before) << c.what;
  }
}

TEST(OpenTest, AStoreWithoutAnIndexIsScannedOrRefusedAsAsked) {
  TestStore store;
  store.Close();
  {
    auto db = store::Database::Open(store.path());
    ASSERT_THAT(db->Execute("DROP TABLE search"), Succeeds());
  }
  store.Reopen();
  EXPECT_THAT(store->warnings(), ElementsAre(HasSubstr("--rebuild-index")));
  ASSERT_THAT(store.Add({.tier = Tier::kArchival, .text = "one"}), Succeeds());
  EXPECT_THAT(Store::Open({.path = store.path(), .use_fts = UseFts::kOn}),
              FailsWith(ErrorCode::kConfig, "use_fts is on"));
  store.options().use_fts = UseFts::kOff;
  store.Reopen();
  EXPECT_THAT(store->warnings(), ElementsAre());
  ASSERT_THAT(store->Check(CheckMode::kRebuildIndex), Succeeds());
  EXPECT_THAT(Store::Open({.path = store.path(), .use_fts = UseFts::kOn}), Succeeds());
}

TEST(OpenTest, ATriggerWithoutEndDoesNotRun) {
  TestStore store;
  store.Close();
  {
    auto db = store::Database::Open(store.path());
    ASSERT_THAT(db->Execute("CREATE TRIGGER t AFTER INSERT ON core BEGIN SELECT count(*) FROM "
                            "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                            "SELECT x FROM n); END"),
                Succeeds());
  }
  store.Reopen();
  EXPECT_THAT(store.Set("a", "1"), Succeeds());
}

TEST(OpenTest, AnIndexOfOtherRulesIsMadeAnew) {
  TestStore store;
  ASSERT_THAT(store.Add({.tier = Tier::kArchival, .text = "one"}), Succeeds());
  store.Close();
  {
    auto db = store::Database::Open(store.path());
    ASSERT_THAT(db->Execute("UPDATE meta SET value = '0' WHERE key = 'tokenizer_version'; "
                            "INSERT INTO search(search) VALUES('delete-all'); "
                            "UPDATE records SET tokens = 0"),
                Succeeds());
  }
  store.Reopen();
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
}

TEST(OpenTest, ANetworkFileSystemHasARollbackJournalALockFileAndAWarning) {  // MEM-56
  TestStore store({.busy_wait = Millis(100), .placement = Placement::kNetwork});
  EXPECT_THAT(store->warnings(), ElementsAre(HasSubstr("network file system")));
  ASSERT_THAT(store.Set("a", "1"), Succeeds());
  EXPECT_FALSE(Exists(store.path() + "-wal"));
  const std::string lock = store.path() + ".lock";
  const std::string me = fmt::format("process {} on {}", getpid(), HostName());
  EXPECT_THAT(ReadFile(lock).value_or(""), HasSubstr(me));
  {
    const auto other = FileLock::Take(lock, Millis(0), {});
    ASSERT_THAT(other, Succeeds());
    EXPECT_THAT(store.Set("a", "2"), FailsWith(ErrorCode::kLocked, me));
  }
  EXPECT_THAT(store.Set("a", "2"), Succeeds());
}

TEST(LockHolderTest, ReadsTheKernelsList) {
  constexpr std::string_view kLocks =
      "1: POSIX  ADVISORY  WRITE 4711 fd:01:1234 120 120\n"
      "1: -> POSIX  ADVISORY  WRITE 9 fd:01:1234 120 120\n"
      "2: POSIX  ADVISORY  READ 12 fd:01:99 120 120\n"
      "3: POSIX  ADVISORY  WRITE 13 fd:01:99 100 EOF\n"
      "4: FLOCK  ADVISORY  WRITE x fd:01:5 0 EOF\nnonsense\n";
  struct Case {
    LockedRange range;
    std::optional<pid_t> holder;
  };
  constexpr Case kCases[] = {
      {{1234, 120, 120}, 4711}, {{1234, 121, 121}, {}}, {{99, 120, 120}, 13},
      {{99, 1, 2}, {}},         {{5, 0, 0}, {}},        {{7, 0, 0}, {}},
  };
  for (const Case& c : kCases) EXPECT_EQ(FindHolder(kLocks, c.range), c.holder) << c.range.inode;
}

}  // namespace
}  // namespace dossier::memory
