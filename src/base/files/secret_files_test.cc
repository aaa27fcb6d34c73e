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
                           ".claude/.credentials.json", "secrets.yaml", "prod.tfvars"}) {
    EXPECT_TRUE(HasSecretName(name)) << name;
  }
  for (const char* name : {".env.example", "env", "id_rsa.pub", "notes.txt", "keyboard.cc",
                           "secrets/readme.md", "pem"}) {
    EXPECT_FALSE(HasSecretName(name)) << name;
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
  put("deep/shown", kKey, 0644);  // as examples in tests are
  put("deep/public", "-----BEGIN CERTIFICATE-----\n", 0600);
  put(".env", "X=1\n", 0644);
  ASSERT_EQ(symlink("deep/work", (folder->path() + "/link.pem").c_str()), 0);
  ASSERT_EQ(mkfifo((folder->path() + "/pipe.key").c_str(), 0600), 0);
  const auto found = FindSecretFiles(folder->path());
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre(folder->path() + "/.env", folder->path() + "/deep/work"));
  EXPECT_THAT(FindSecretFiles(folder->path(), 2),
              FailsWith(ErrorCode::kLimit, "holds more than 2 files"));
}

}  // namespace
}  // namespace dossier
