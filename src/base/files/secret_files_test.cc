#include "base/files/secret_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;

TEST(SecretFilesTest, NamesThatProgramsGiveToSecrets) {  // FLT-134
  for (const char* name : {".env", "a/.env.local", "deploy.pem", "id_ed25519", "x/.aws/credentials",
                           ".claude/.credentials.json", "secrets.yaml", "prod.tfvars", "Id_Rsa",
                           "ENV/.ENV", "Server.PEM", ".envrc", "Prod.env", "x/.vault-token",
                           "x/.docker/config.json", ".Docker/Config.json"}) {
    EXPECT_TRUE(HasSecretName(name)) << name;
  }
  for (const char* name : {".env.example", "env", "id_rsa.pub", "notes.txt", "keyboard.cc",
                           "secrets/readme.md", "pem", "config.json", "docker/config.json",
                           "x.docker/config.json", "example.env"}) {
    EXPECT_FALSE(HasSecretName(name)) << name;
  }
}

TEST(SecretFilesTest, TheNamesAreAttributesOfGit) {
  const std::string lines = SecretAttributes("-diff", "!diff");
  for (const char* line : {"\n.[eE][nN][vV] -diff\n", "\n*.[pP][eE][mM] -diff\n",
                           ".[eE][nN][vV].[sS][aA][mM][pP][lL][eE] !diff\n"}) {
    EXPECT_NE(("\n" + lines).find(line), std::string::npos) << line << lines;
  }
}

constexpr std::string_view kCluster =
    "apiVersion: v1\nclusters:\n- cluster:\n    server: https://k:6443\n  name: k\n"
    "current-context: k\nkind: Config\nusers:\n- name: ann\n  user:\n"
    "    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ==\n";

TEST(SecretFilesTest, ATextIsSecretByWhatItIs) {  // FLT-134
  for (const std::string_view text :
       {kCluster, std::string_view("-----BEGIN PRIVATE KEY-----\nabc\n"),
        std::string_view("\n\n-----BEGIN RSA PRIVATE KEY-----\nabc\n"),
        std::string_view("-----BEGIN PGP PRIVATE KEY BLOCK-----\n"),
        std::string_view("PuTTY-User-Key-File-3: ssh-ed25519\n"),
        std::string_view("# created: 2026\n# public key: age1x\nAGE-SECRET-KEY-1ABC\n"),
        std::string_view("kind: Config\nclusters: []\nusers:\n- user:\n    token: abc\n")}) {
    EXPECT_TRUE(IsSecretText(text)) << text;
  }
  for (const std::string_view text :
       {"", "-----BEGIN PUBLIC KEY-----\n", "-----BEGIN CERTIFICATE-----\n",
        "apiVersion: v1\nkind: Pod\nspec:\n  token: abc\n",
        "kind: Config\nclusters: []\nusers:\n- user:\n    token:\n",
        "A key begins so:\n-----BEGIN PRIVATE KEY-----\n"}) {
    EXPECT_FALSE(IsSecretText(text)) << text;
  }
}

TEST(SecretFilesTest, AKeyIsFoundByWhatItIs) {  // FLT-134
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const auto put = [&](const std::string& name, std::string_view text, mode_t mode) {
    const std::string path = folder->path() + "/" + name;
    EXPECT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(path, text, mode));
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
  };
  constexpr std::string_view kKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n";
  put("deep/work", kKey, 0600);
  put("deep/shared", kKey, 0644);
  put("deep/public", "-----BEGIN CERTIFICATE-----\n", 0600);
  put("kubeconfig", kCluster, 0644);
  std::string large = "# of all clusters\n" + std::string(kCluster);
  large.insert(large.find("users:"), "# " + std::string(9000, 'x') + "\n");
  put("large", large, 0644);
  put("docs.md", "Write this:\n\n" + std::string(kCluster), 0644);
  put("code.py", "KEY = '''\n" + std::string(kKey), 0644);
  put(".env", "X=1\n", 0644);
  ASSERT_EQ(symlink("deep/work", (folder->path() + "/link.pem").c_str()), 0);
  ASSERT_EQ(mkfifo((folder->path() + "/pipe.key").c_str(), 0600), 0);
  const auto found = FindSecretFiles(folder->path());
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(folder->path() + "/.env", folder->path() + "/deep/shared",
                                  folder->path() + "/deep/work", folder->path() + "/kubeconfig",
                                  folder->path() + "/large"));
  EXPECT_THAT(FindSecretFiles(folder->path(), 2),
              FailsWith(ErrorCode::kLimit, "holds more than 2 files"));
}

}  // namespace
}  // namespace dossier
