#include "base/redact.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier {
namespace {

struct Case {
  std::string text, expected;
};

// Built from parts, so that no scanner of this repository takes the examples for real keys.
std::string Key(std::string_view prefix, std::size_t length) {
  std::string out(prefix);
  for (std::size_t i = 0; i < length; ++i) out += "aB3dE5gH7"[i % 9];
  return out;
}

TEST(RedactTest, EveryKnownShapeIsReplacedByItsKind) {  // INS-77
  const std::string jwt = Key("eyJ", 20) + "." + Key("eyJ", 30) + "." + Key("", 40);
  const Case cases[] = {
      {"key " + Key("sk-", 40), "key [redacted:openai_key]"},
      {Key("sk-proj-", 40) + "!", "[redacted:openai_key]!"},
      {Key("sk-ant-api03-", 40), "[redacted:anthropic_key]"},
      {Key("hf_", 34), "[redacted:huggingface_token]"},
      {Key("ghp_", 36), "[redacted:github_token]"},
      {Key("github_pat_", 60), "[redacted:github_token]"},
      {"AKIA" + std::string(16, 'Q'), "[redacted:aws_key]"},
      {"xoxb-" + std::string(12, '1') + "-abc", "[redacted:slack_token]"},
      {"jwt=" + jwt + ";", "jwt=[redacted:jwt];"},
      {"Authorization: Bearer " + Key("", 30), "Authorization: Bearer [redacted:bearer]"},
      {"authorization: basic dXNlcjpwYXNzd29yZA==", "authorization: basic [redacted:basic]"},
      {"password=hunter2&x=1", "password=[redacted:password]&x=1"},
      {"{\"password\": \"hunter2\",\"n\":1}", "{\"password\": \"[redacted:password]\",\"n\":1}"},
      {"{\\\"password\\\":\\\"hunter2\\\"}", "{\\\"password\\\":\\\"[redacted:password]\\\"}"},
      {"DB_PASSWORD='s3 cret'", "DB_PASSWORD='[redacted:password]'"},
      {"api_key: 0123456789", "api_key: [redacted:password]"},
      {"postgres://bob:hunter2@db/x", "postgres://bob:[redacted:url_password]@db/x"},
      {"-----BEGIN RSA PRIVATE KEY-----\nMIIB\nqrs=\n-----END RSA PRIVATE KEY-----\nafter",
       "[redacted:private_key]\nafter"},
      {"-----BEGIN PRIVATE KEY-----\nMIIBcut", "[redacted:private_key]"},
      {"x\\n" + Key("ghp_", 36), "x\\n[redacted:github_token]"},
  };
  for (const Case& c : cases) EXPECT_EQ(Redact(c.text), c.expected) << c.text;
}

TEST(RedactTest, OrdinaryTextIsLeftAlone) {
  for (std::string_view text : {
           "",
           "the task-management-of-large-systems is hard",
           "sk-short",
           "basic authentication is described below",
           "bearer of good news",
           "password: null, token: 5, max_tokens=4096",
           "{\"password\":\"\"}",
           "eyJ is how base64 of JSON starts",
           "-----BEGIN CERTIFICATE-----",
           "http://example.com:8080/path",
           "AKIAnotakey",
           "passwordless login",
           "did:plc:abcdefghijklmnopqrstuvwx",
       }) {
    EXPECT_EQ(Redact(text), text);
  }
}

TEST(RedactTest, SecretsAreInOrderInsideTheTextAndDoNotOverlap) {
  Random random(17);
  const std::string parts[] = {
      Key("sk-", 20), "password=",        "Bearer ", "eyJ", ".", "\"",    " ",
      "-----BEGIN ",  "PRIVATE KEY-----", "://",     "@",   ":", "token", "a1B2c3D4"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i)
      text += parts[random.Below(std::size(parts))];
    std::size_t end = 0;
    for (const Secret& secret : FindSecrets(text)) {
      ASSERT_GE(secret.offset, end) << text;
      ASSERT_GT(secret.length, 0u) << text;
      end = secret.offset + secret.length;
      ASSERT_LE(end, text.size()) << text;
    }
    const std::string once = Redact(text);
    EXPECT_EQ(Redact(once), once) << text;
  }
}

TEST(RedactTest, TextMadeOfBeginningsTakesLinearTime) {
  // A quadratic search over these would not end within the test's time limit.
  for (std::string_view piece : {"eyJ", "sk-", "-----BEGIN PRIVATE KEY-----",
                                 "://a:", "password=", "-----BEGIN ", "\"password\":\"a,"}) {
    std::string text;
    while (text.size() < 2'000'000) text += piece;
    EXPECT_LE(Redact(text).size(), text.size() * 8);
  }
}

}  // namespace
}  // namespace dossier
