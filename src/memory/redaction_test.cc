#include "memory/redaction.h"

#include "base/random.h"
#include "memory/store_for_test.h"
#include "memory/transfer.h"

namespace dossier::memory {
namespace {

struct Case {
  std::string text, redacted;
  std::int64_t count = 1;
};

// Put together, so that no scanner of sources takes them for keys.
const Case kCases[] = {
    {"api_key = abc", "api_key=***"},
    {"MY_API_KEY: abc, next", "MY_API_KEY=***, next"},
    {"password=\"a b\" x", "password=*** x"},
    {R"({"db_password": "a\"b", "n": 1})", R"({"db_password": "***", "n": 1})"},
    {R"({"token": 12345678})", R"({"token": "***"})"},
    {"max_token = 1234567", "max_token = 1234567", 0},
    {"max_token = 12345678", "max_token=***"},
    {"token: ***", "token: ***", 0},
    {"tokens: abc", "tokens: abc", 0},
    {"the secret is out", "the secret is out", 0},
    {"password:", "password:", 0},
    {"key sk-" + std::string(16, 'a') + ".", "key ***."},
    {"sk-" + std::string(15, 'a'), "sk-" + std::string(15, 'a'), 0},
    {"hf_" + std::string(10, '7'), "***"},
    {"ghp_" + std::string(20, 'x') + " gho_" + std::string(20, 'x'), "*** ***", 2},
    {"AKIA" + std::string(16, 'Z'), "***"},
    {"Authorization: Bearer abc.DEF-1", "Authorization: Bearer ***"},
    {"Bearer authentication", "Bearer authentication", 0},
    {"https://ann:pw@host/x", "https://***@host/x"},
    {"https://host/x?a=b:c@d", "https://host/x?a=b:c@d", 0},
    {"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", "***"},
    {"eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", "***"},
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
  EXPECT_EQ(store.Set("api_key", "hunter2")->redacted, 1);
  EXPECT_EQ(store.Core("api_key"), "***");
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
  for (const std::string secret : {"sk-aaaa", "hunter2", "hf_7777", "ghp_xxx", "AKIAZZ", "ann:pw",
                                   "abc.DEF", "eyJhbG", "RSA PRIVATE", "12345678"}) {
    EXPECT_EQ(all.find(secret), std::string::npos) << secret;
  }
}

}  // namespace
}  // namespace dossier::memory
