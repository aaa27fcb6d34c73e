#include "base/text/secret_variables.h"

#include <gtest/gtest.h>

#include <string>

namespace dossier {
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
