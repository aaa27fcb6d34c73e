#include "base/random.h"
#include "memory/records/types.h"
#include "memory/transfer/transfer.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;

struct Case {
  std::string text, redacted;
  std::int64_t count = 1;
};

// Random values, assembled from parts so that no source scanner takes them for keys.
const std::string kDrawn =
    "x8Kq2LwZ9vT"
    "n4RbY7cMd1eQ5";

const Case kCases[] = {
    {"api_key = '" + kDrawn + "'", "api_key = '***'"},
    {"MY_API_KEY: " + kDrawn + ", next", "MY_API_KEY: ***, next"},
    {R"({"db_password": "hunter2", "n": 1})", R"({"db_password": "***", "n": 1})"},
    {"max_token = 12345678", "max_token = 12345678", 0},
    {"token: ***", "token: ***", 0},
    {"token = self.next_token()", "token = self.next_token()", 0},  // FLT-40
    {"password: string, api_key: process.env.API_KEY",
     "password: string, api_key: process.env.API_KEY", 0},
    {"the secret is out", "the secret is out", 0},
    {"password:", "password:", 0},
    {"key sk-" + kDrawn + ".", "key ***."},
    {"sk-" + std::string(30, 'a'), "sk-" + std::string(30, 'a'), 0},
    {"hf_" + kDrawn + "zT3kWq9Lp0", "***"},
    {"ghp_" + kDrawn + "zT3kWq9Lp0 gho_" + kDrawn + "zT3kWq9Lp0", "*** ***", 2},
    {"AKIA"
     "Q4ZT7XKW2NVB6MHJ",
     "***"},
    {"Authorization: Bearer " + kDrawn, "Authorization: Bearer ***"},
    {"Bearer authentication", "Bearer authentication", 0},
    {"https://ann:"
     "pw7xQ2@host/x",
     "https://ann:***@host/x"},
    {"https://host/x?a=b:c@d", "https://host/x?a=b:c@d", 0},
    {"-----BEGIN RSA PRIVATE KEY-----\n" + kDrawn + kDrawn + "\n-----END RSA PRIVATE KEY-----",
     "***"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi." + kDrawn + kDrawn, "***"},
};

TEST(RedactionTest, EachShapeGoesOnceAndNothingElse) {  // MEM-52, MEM-T17
  for (const Case& c : kCases) {
    std::string text = c.text;
    EXPECT_EQ(RedactSecrets(&text), c.count) << c.text;
    EXPECT_EQ(text, c.redacted);
    EXPECT_EQ(RedactSecrets(&text), 0) << text;
    EXPECT_EQ(text, c.redacted);
  }
}

TEST(RedactionTest, NoTextBreaksItAndASecondPassChangesNothing) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text = random.Utf8(30) + kCases[random.Below(std::size(kCases))].text +
                       random.Utf8(10) + kCases[random.Below(std::size(kCases))].text;
    text.resize(random.Below(text.size() + 1));
    std::string once = text;
    RedactSecrets(&once);
    std::string twice = once;
    RedactSecrets(&twice);
    RedactSecrets(&twice);
    std::string again = twice;
    RedactSecrets(&again);
    EXPECT_EQ(again, twice) << text;
  }
}

TEST(RedactionTest, NoSecretReachesRowsHistoryOrExport) {  // MEM-T17
  TestStore store;
  for (const Case& c : kCases) {
    if (c.count == 0) continue;
    EXPECT_EQ(
        store.Add({.text = "x " + c.text, .tags = {c.text}, .meta = {{"m", c.text}}})->redacted,
        3 * c.count);
    EXPECT_EQ(store.Set("note", c.text)->redacted, c.count);
  }
  EXPECT_EQ(store.Set("api_key", kDrawn)->redacted, 1);
  EXPECT_EQ(store.Core("api_key"), "***");
  const std::string token = kCases[0].text;
  EXPECT_EQ(store.Add({.kind = token, .text = "y", .phase = token})->redacted, 2 * kCases[0].count);
  EXPECT_THAT(store.Set(token, "v"), FailsWith(ErrorCode::kInvalidArgument, "holds a secret"));
  std::string all;
  for (const ExportFormat format :
       {ExportFormat::kJsonl, ExportFormat::kJson, ExportFormat::kMarkdown}) {
    const ExportOptions options{.format = format, .scope = ExportScope::kAll};
    ASSERT_TRUE(ExportStore(*store, options, [&](std::string_view part) -> Status {
      all += part;
      return {};
    }));
  }
  store.Close();
  all += *ReadFile(store.path());
  for (const std::string secret : {"x8Kq2LwZ9v", "hunter2", "zT3kWq9", "Q4ZT7XKW", "pw7xQ2",
                                   "eyJhbGciOiJIUzI1NiJ9", "RSA PRIVATE"}) {
    EXPECT_EQ(all.find(secret), std::string::npos) << secret;
  }
}

}  // namespace

}  // namespace dossier::memory
