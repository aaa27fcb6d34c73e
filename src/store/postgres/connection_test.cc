#include "store/postgres/connection.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json/json.h"
#include "store/postgres/blobs.h"

namespace dossier::store {
namespace {

// SRV-70: every user of the machine can read the words of a command.
TEST(PostgresAddress, APasswordIsRefusedAndNotRepeated) {
  for (const char* address :
       {"postgresql://ann:sesame@db/d", "postgres://:sesame@db",
        "postgresql://db/d?password=sesame", "postgresql://ann@db/d?sslpassword=sesame&x=1",
        "postgresql://ann:se@same@db/d", "postgresql://db/d?%70assword=sesame",
        "postgresql://db/d?pass%77ord=sesame", "postgresql://db/d?ssl%70assword=sesame",
        "postgresql://ann:sesame?2@db/d", "postgresql://ann:sesame/x@db/d"}) {
    const Status refused = RefusePasswordIn("--store", address);
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
    EXPECT_EQ(refused.error().message.find("sesame"), std::string::npos);
    EXPECT_NE(refused.error().message.find("~/.pgpass"), std::string::npos);
  }
  for (const char* address :
       {"postgresql:///d", "postgresql://ann@db:5432/d", "postgresql://[::1]/d",
        "postgresql:///d?host=/run/pg&user=ann", "/a/folder"}) {
    EXPECT_TRUE(RefusePasswordIn("--store", address)) << address;
  }
}

// SRV-70: one sentence, without what is for users of libpq's own programs.
TEST(PostgresMessage, IsOnOneLine) {
  EXPECT_EQ(CauseOf("server closed the connection unexpectedly\n\tThis probably means the server "
                    "terminated abnormally\n\tbefore or while processing the request.\n"),
            "server closed the connection unexpectedly");
  EXPECT_EQ(CauseOf("connection to server at \"::1\" failed: FATAL:  no\nconnection to server at "
                    "\"127.0.0.1\" failed: yes\n"),
            "connection to server at \"::1\" failed: no; connection to server at \"127.0.0.1\" "
            "failed: yes");
}

TEST(PostgresAddress, AFolderIsNone) {
  EXPECT_TRUE(IsPostgresAddress("postgresql:///d"));
  EXPECT_TRUE(IsPostgresAddress("postgres://db/d"));
  EXPECT_FALSE(IsPostgresAddress("/data/postgresql"));
  EXPECT_FALSE(IsPostgresAddress("host=db dbname=d"));
}

// SRV-74: what has to be in the store before an event.
TEST(Blobs, AnEventNamesItsBodies) {
  const std::string one(64, 'a'), two(64, 'b');
  std::set<std::string> found;
  AddBodiesOf(JsonObject{{"body", JsonObject{{"sha256", one}, {"bytes", 5000}}},
                         {"messages", JsonArray{JsonObject{{"sha256", two}}}},
                         {"hash", std::string(64, 'c')},
                         {"sha256", "short"}},
              &found);
  EXPECT_EQ(found, (std::set<std::string>{one, two}));
}

}  // namespace
}  // namespace dossier::store
