#include "base/text/redact.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "base/text/secret_detection.h"
#include "base/text/utf8_kernels.h"

namespace dossier {
namespace {

struct Case {
  std::string text, expected;
};

// Drawn at random, always the same, so that no scanner of this repository takes them for keys.
std::string Key(std::string_view prefix, std::size_t length, std::uint64_t seed = 1) {
  Random random(seed);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string out(prefix);
  while (length-- > 0) out += kAlphabet[random.Below(kAlphabet.size())];
  return out;
}

TEST(RedactTest, EveryKnownShapeIsReplacedByItsKind) {  // INS-77
  const std::string jwt = Key("eyJ", 20) + "." + Key("eyJ", 30) + "." + Key("", 43);
  const std::string drawn = Key("", 20);
  const Case cases[] = {
      {"key " + Key("sk-", 40), "key [redacted:openai_key]"},
      {Key("sk-proj-", 40) + "!", "[redacted:openai_key]!"},
      {Key("sk-ant-api03-", 40), "[redacted:anthropic_key]"},
      {Key("hf_", 34), "[redacted:huggingface_token]"},
      {Key("dsk_", 52), "[redacted:dossier_key]"},
      {Key("ghp_", 36), "[redacted:github_token]"},
      {Key("github_pat_", 60), "[redacted:github_token]"},
      {"AKIA"
       "Q4ZT7XKW2NVB6MHJ",
       "[redacted:aws_key]"},
      {Key("xoxb-", 30), "[redacted:slack_token]"},
      {"jwt=" + jwt + ";", "jwt=[redacted:jwt];"},
      {"Authorization: Bearer " + Key("", 30), "Authorization: Bearer [redacted:bearer]"},
      // user:pa55word
      {"authorization: basic "
       "dXNlcjpwYTU1d29yZA==",
       "authorization: basic [redacted:basic]"},
      {"password=" + drawn + "&x=1", "password=[redacted:password]&x=1"},
      {"{\"password\": \"" + drawn + "\",\"n\":1}",
       "{\"password\": \"[redacted:password]\",\"n\":1}"},
      {"{\\\"password\\\":\\\"" + drawn + "\\\"}",
       "{\\\"password\\\":\\\"[redacted:password]\\\"}"},
      {"DB_PASSWORD='"
       "x9!kQ#7vLp'",
       "DB_PASSWORD='[redacted:password]'"},
      {"api_key: " + drawn, "api_key: [redacted:key]"},
      {"postgres://bob:"
       "tr0ub4dor@db/x",
       "postgres://bob:[redacted:url_password]@db/x"},
      {"-----BEGIN RSA PRIVATE KEY-----\n" + Key("MIIB", 60) +
           "\n-----END RSA PRIVATE KEY-----\nafter",
       "[redacted:private_key]\nafter"},
      {"-----BEGIN PRIVATE KEY-----\n" + Key("MIIB", 60), "[redacted:private_key]"},
      {"x\\n" + Key("ghp_", 36), "x\\n[redacted:github_token]"},
      {"f('" + Key("", 32) + "')", "f('[redacted:high_entropy]')"},
      {"const token: string = \"" + drawn + "\";", "const token: string = \"[redacted:token]\";"},
      {"setenv(\"TOKEN\", \"" + drawn + "\", 1);", "setenv(\"TOKEN\", \"[redacted:token]\", 1);"},
      {"<password>" + drawn + "</password>", "<password>[redacted:password]</password>"},
      {"<add key=\"ApiKey\" value=\"" + drawn + "\"/>",
       "<add key=\"ApiKey\" value=\"[redacted:key]\"/>"},
      {"client.setPassword(\"" + drawn + "\")", "client.setPassword(\"[redacted:password]\")"},
      // A drawn part behind a prefix or a number, whose alphabet is another one.
      {"api_key: zq_5d0c1f7a93be2864f01ba7c6d2e85943", "api_key: [redacted:key]"},
      {"token=2/1204567/0d52f7c1a98be3640fb17ac6d28e5943", "token=[redacted:token]"},
      {"\"api_key\": \"sdk-50cb772a-c693-4d0b-9d43-a4cda8665554\"",
       "\"api_key\": \"[redacted:key]\""},
      {"ADMIN_KEY='85fd14609d250c94945979e6616cabc1'", "ADMIN_KEY='[redacted:key]'"},
      {"machine h login ann password " + Key("", 13),
       "machine h login ann password [redacted:password]"},
      {"curl -u ann:" + drawn + " https://h/", "curl -u ann:[redacted:password] https://h/"},
      {"curl --user 'ann:" + drawn + "'", "curl --user 'ann:[redacted:password]'"},
      {"tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t" + Key("", 600),
       "tls.key: [redacted:private_key]"},
      {"define('AUTH_KEY', 'p,<Qz7)DS1D0XYhC>oG+?w78H&:|>66x5*VLkWC2APK^t!QM|<3?udvfI3Ds8');",
       "define('AUTH_KEY', '[redacted:key]');"},
  };
  for (const Case& c : cases) EXPECT_EQ(Redact(c.text), c.expected) << c.text;
}

TEST(RedactTest, NoWordExpressionTypeOrPlaceholderIsASecret) {  // FLT-40
  for (std::string_view text : {
           "token = self.next_token()",
           "\"what leads to a secret\": (files(**{",
           "pwd = os.getcwd()",
           "password: string",
           "process.env.API_KEY",
           "const apiKey = process.env.API_KEY;",
           "{Token::Kind::kClass, \"class\"}",
           "api_key=os.environ[\"OPENAI_API_KEY\"]",
           "secret: Option<Vec<u8>>,",
           "password = getpass.getpass('Password: ')",
           "token := lexer.Next()",
           "TOKEN=$(cat /run/secrets/token)",
           "password: ${DB_PASSWORD}",
           "PWD=/srv/ann/x9Kq2L",  // FLT-72
           "OLDPWD=/tmp/tmp.aX92kLq1Zt",
           "api_key: your-api-key-here",
           "api_key = \"xxxxxxxxxxxxxxxxxxxxxxxx\"",
           "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
           "AKIAIOSFODNN7EXAMPLE",
           "password = \"changeme\"",
           "postgres://user:password@localhost/db",
           "https://{user}:{password}@host",
           "private_key: Ed25519PrivateKey",
           "if (strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\")) {",
           "-----BEGIN PUBLIC KEY-----",
           "Authorization: Bearer <token>",
           "f\"Bearer {self.token}\"",
           "\"integrity\": \"sha512-z3Kq8vWm1Tn5Lx7Rb2Yc9Md4Pf6Gh0Js/Ka+Qe==\"",
           "commit 8baa397f43a1d2c44a3c2728b93e831952f0aa11",
           "\"8baa397f43a1d2c44a3c2728b93e8319\"",
           "max_tokens = 4096, token: 5",
           "{\"password\":\"\"}",
           "eyJ is how base64 of JSON starts",
           "http://example.com:8080/path",
           "did:plc:abcdefghijklmnopqrstuvwx",
           "the task-management-of-large-systems is hard",
           "basic authentication is described below",
           "# Basic OpenSSL-based signer",
           "seen = true if token == :on___end__",
           "esxi1_password: @ESXI1_PASSWORD",
           "sensitive(\"password1\", \"password2\")",
           "pubkey256 = 'SIXvRyDmBJSgatgTQRGbInBaAK+hZOQ18UmrSwnDlK8='",
           "VENDOR_TOKEN = `[a-z0-9]${KEY_CHAR_RANGE}{0,240}@[a-z]${KEY_CHAR_RANGE}{0,13}`",
           "docker run -u 1000:1000 --user root:staff image",
           "tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJrVENCK3dJSkFLSHh4",
           "",
       }) {
    EXPECT_EQ(Redact(text), text);
  }
}

TEST(RedactTest, AFieldIsASecretByItsValue) {
  EXPECT_EQ(KindOfNamedSecret("api_key", Key("", 20)), "key");
  EXPECT_EQ(KindOfNamedSecret("dbPassword",
                              "hunt"
                              "er2"),
            "password");
  EXPECT_EQ(KindOfNamedSecret("token", "next_token"), "");
  EXPECT_EQ(KindOfNamedSecret("name", Key("", 20)), "");
  EXPECT_EQ(KindOfNamedSecret("password", ""), "");
  EXPECT_EQ(KindOfNamedSecret("password", "two words"), "");
}

TEST(RedactTest, LinesAreThoseOfTheText) {
  const std::string text =
      "a\n" + Key("ghp_", 36) + "\n\n" + Key("hf_", 34) + " " + Key("ghp_", 36, 2);
  EXPECT_EQ(LinesOf(text, FindSecrets(text)), (std::vector<std::size_t>{2, 4, 4}));
}

TEST(RedactTest, SecretsAreInOrderInsideTheTextAndDoNotOverlap) {
  Random random(17);
  const std::string parts[] = {Key("sk-", 40),
                               "password=",
                               "Bearer ",
                               Key("eyJ", 20),
                               ".",
                               "\"",
                               " ",
                               "'",
                               "[",
                               "]",
                               "=",
                               "-----BEGIN ",
                               "PRIVATE KEY-----",
                               "://",
                               "@",
                               ":",
                               "token",
                               "a1B2c3D4",
                               "\n",
                               "\\",
                               "api_key",
                               Key("", 9, 3),
                               Key("", 30, 4),
                               "_key",
                               "value",
                               "&sig=",
                               ",",
                               "(",
                               "hf_",
                               "-us7",
                               "8Q~"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(16); i > 0; --i)
      text += parts[random.Below(std::size(parts))];
    const std::vector<Secret> found = FindSecrets(text);
    std::size_t end = 0;
    std::string outside;
    for (const Secret& secret : found) {
      ASSERT_GE(secret.offset, end) << text;
      ASSERT_GT(secret.length, 0u) << text;
      outside += text.substr(end, secret.offset - end) + "*";
      end = secret.offset + secret.length;
      ASSERT_LE(end, text.size()) << text;
    }
    outside += text.substr(end);
    // What is no secret stays as it is, and nothing more is found in what was put there.
    EXPECT_EQ(Redact(text, found, [](const Secret&) { return std::string("*"); }), outside);
    const std::string once = Redact(text);
    EXPECT_EQ(Redact(once), once) << text;
  }
}

TEST(RedactTest, TheLoopForAvx2FindsWhatTheScalarOneFinds) {  // FLT-40
  if (!utf8::internal::HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  Random random(31);
  const std::string parts[] = {
      Key("ghp_", 36), Key("", 24), Key("", 60), "token = \"", "\"",           "'",       "\n",
      Key("sk-", 40),  "://a:",     "@h",        "key: ",      "next_token()", "\xC3\xA9"};
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const std::size_t size = 3 * secrets::kPartBytes + random.Below(secrets::kPartBytes);
    while (text.size() < size) {
      text += random.Below(3) == 0 ? parts[random.Below(std::size(parts))]
                                   : std::string(random.Below(40), " a_9"[random.Below(4)]);
    }
    const std::vector<Secret> found = secrets::FindSecretsBy(text, secrets::Loop::kAvx2);
    const std::vector<Secret> wanted = secrets::FindSecretsBy(text, secrets::Loop::kScalar);
    ASSERT_EQ(found.size(), wanted.size()) << round;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].offset, wanted[i].offset);
      EXPECT_EQ(found[i].length, wanted[i].length);
      EXPECT_EQ(found[i].kind, wanted[i].kind);
    }
  }
}

TEST(RedactStreamTest, WhatComesInPiecesIsRedactedAsAWhole) {  // FLT-40
  Random random(23);
  const std::string key =
      "-----BEGIN PRIVATE KEY-----\n" + Key("MIIB", 4000) + "\n-----END PRIVATE KEY-----\n";
  for (int round = 0; round < 6; ++round) {
    std::string text;
    while (text.size() < 600'000) {
      switch (random.Below(6)) {
        case 0:
          text += Key("ghp_", 36, random.Below(1000));
          break;
        case 1:
          text += "password = \"" + Key("", 12, random.Below(1000)) + "\"";
          break;
        case 2:
          text += random.Below(8) == 0 ? key : "-----BEGIN ";
          break;
        case 3:
          text += std::string(random.Below(3000), 'a' + static_cast<char>(random.Below(26)));
          break;
        case 4:
          text += '\n';
          break;
        default:
          text += "token = self.next_token() ";
      }
      text += " ";
    }
    RedactStream stream;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random.Below(round % 2 ? 90'000 : 3'000);
      out += stream.Add(std::string_view(text).substr(at, length));
      at += length;
    }
    out += stream.Finish();
    EXPECT_TRUE(out == Redact(text)) << round;  // not EXPECT_EQ: the texts are long
  }
}

TEST(RedactStreamTest, ASecretCutInTwoIsFound) {  // FLT-40
  const std::string text = "x = '" + Key("ghp_", 36) + "'\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    RedactStream stream;
    std::string out = stream.Add(text.substr(0, cut));
    out += stream.Add(text.substr(cut));
    EXPECT_EQ(out + stream.Finish(), "x = '[redacted:github_token]'\n");
  }
}

TEST(RedactTest, TextMadeOfBeginningsTakesLinearTime) {
  // A quadratic search over these would not end within the test's time limit.
  for (std::string_view piece : {"eyJ",
                                 "sk-",
                                 "-----BEGIN PRIVATE KEY-----",
                                 "://a:",
                                 "password=",
                                 "-----BEGIN ",
                                 "\"password\":\"a,",
                                 "-eyJa",
                                 "8Q~",
                                 "hooks.slack.com/",
                                 ":AA",
                                 "a/",
                                 "token ",
                                 "access_token$production$",
                                 "x9K",
                                 "bearer ",
                                 "N23456789012345678901234.",
                                 "-u a",
                                 "-user a:",
                                 "LS0tLS1CRUdJTi",
                                 "login a password "}) {
    std::string text;
    while (text.size() < 2'000'000) text += piece;
    EXPECT_LE(Redact(text).size(), text.size() * 8);
  }
}

}  // namespace

namespace {

struct Variable {
  const char* name;
  const char* value;
};

TEST(SecretVariablesTest, NamesAndValuesOfSecretsAreKnown) {  // FLT-89
  const Variable secrets[] = {
      {"OPENAI_API_KEY", "x"},
      {"GH_PAT", "x"},
      {"PAT", "x"},
      {"DB_PASSWD", "x"},
      {"PGPASSWORD", "x"},
      {"db_pass", "x"},
      {"MYSQL_PWD", "x"},
      {"NPM_TOKEN", "x"},
      {"AWS_CREDS", "x"},
      {"GOOGLE_APPLICATION_CREDENTIALS", "/x"},
      {"REDISCLI_AUTH", "x"},
      {"SLURM_JWT", "x"},
      {"DATABASE_URL", "postgres://ann:pw@db.local/shop"},
      {"CACHE", "redis://:pw@db.local:6379/0"},
      {"MANY", "http://plain.local http://ann:pw@db.local"},
      {"ANYTHING",
       "Bearer "
       "9fQ2mX7vLk3Rt8Zb1Ns6Wd4Yc0Hj5Pg"},
      {"ANYTHING",
       "gh"
       "p_9fQ2mX7vLk3Rt8Zb1Ns6Wd4Yc0Hj5PgAaBb"},
  };
  for (const Variable& one : secrets) {
    EXPECT_TRUE(IsSecretVariable(one.name, one.value)) << one.name << "=" << one.value;
  }
}

TEST(SecretVariablesTest, OrdinaryVariablesStay) {  // FLT-89
  const Variable ordinary[] = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"},
      {"PWD", "/home/ann"},
      {"OLDPWD", "/home/ann/src"},
      {"HOME", "/home/ann"},
      {"LANG", "C.UTF-8"},
      {"SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"},
      {"SSH_ASKPASS", "/usr/bin/ksshaskpass"},
      {"GIT_ASKPASS", "/usr/bin/askpass"},
      {"XAUTHORITY", "/home/ann/.Xauthority"},
      {"COMPAT", "1"},
      {"AUTHOR", "Ann"},
      {"DATABASE_URL", "postgres://db.local:5432/shop"},
      {"HOMEPAGE_URL", "https://ann@db.local/x"},
      {"MAIL_URL", "https://db.local/a:b@c"},
      {"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"},
      {"LS_COLORS", "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:do=01;35:bd=40;33;01"},
      {"XDG_DATA_DIRS", "/usr/local/share:/usr/share"},
      {"EMPTY", ""},
  };
  for (const Variable& one : ordinary) {
    EXPECT_FALSE(IsSecretVariable(one.name, one.value)) << one.name << "=" << one.value;
  }
}

}  // namespace

}  // namespace dossier
