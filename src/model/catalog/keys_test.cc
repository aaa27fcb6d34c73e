#include "model/catalog/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;
using ::testing::Not;
using Variables = std::map<std::string, std::string, std::less<>>;

const Provider kProvider{.name = "openai", .key_variables = {"OPENAI_API_KEY"}};

Result<FoundKey> Find(const Variables& variables, const UserConfig& config,
                      std::string_view env = "") {
  return FindKey(
      kProvider, env,
      [&](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      config);
}

class KeysTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text, unsigned mode) {
    const std::string path = folder_->path() + "/" + name;
    EXPECT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(path, text, mode));
    EXPECT_EQ(chmod(path.c_str(), mode), 0) << "whatever the umask";
    return path;
  }

  Result<TempFolder> folder_ = TempFolder::Make();
};

TEST_F(KeysTest, SourcesAreLookedAtInTheirOrder) {  // MOD-S5
  // Five sources that all have a key; one after the other is taken away.
  Write("bin/secret-tool", "#!/bin/sh\necho from-service\n", 0700);
  const std::string file = Write("named", "from-named-file\n", 0600);
  Write("dossier/keys/openai", "from-usual-file\n", 0600);
  const std::string path = folder_->path() + "/bin:" + getenv("PATH");
  setenv("PATH", path.c_str(), 1);
  Variables variables{{"MY_KEY", "from-flag"},
                      {"OPENAI_API_KEY", "from-variable"},
                      {"DBUS_SESSION_BUS_ADDRESS", "unix:"},
                      {"XDG_CONFIG_HOME", folder_->path()}};
  UserConfig config;
  config.access = {.command = {"sh", "-c", "echo from-command"}, .file = file};
  const auto found = [&](std::string_view env = "") { return Find(variables, config, env)->value; };
  EXPECT_EQ(found("MY_KEY"), "from-flag");
  EXPECT_EQ(found(), "from-variable");
  variables.erase("OPENAI_API_KEY");
  EXPECT_EQ(found(), "from-command");
  config.access.command.clear();
  EXPECT_EQ(found(), "from-service");
  variables.erase("DBUS_SESSION_BUS_ADDRESS");
  EXPECT_EQ(found(), "from-named-file");
  config.access.file.clear();
  EXPECT_EQ(found(), "from-usual-file");
  variables.erase("XDG_CONFIG_HOME");
  EXPECT_EQ(found(), "");
  config.access.command = {"sh", "-c", "echo other"};
  config.providers["openai"].command = {"sh", "-c", "echo own"};
  EXPECT_EQ(found(), "own") << "a provider's own entry comes first";
}

TEST_F(KeysTest, ACommandThatFailsIsNamedWithoutItsOutput) {  // MOD-S5, MOD-A6
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"sh", "-c", "echo hush; exit 3"}, "key_cmd sh ended with status 3"},
      {{"sh", "-c", "true"}, "key_cmd sh gave no key"},
      {{"sh", "-c", "echo 'hush hush'"}, "holds a blank"},
      {{"/no/such/program"}, "/no/such/program"},
  };
  for (const auto& [argv, message] : cases) {
    UserConfig config;
    config.access.command = argv;
    const auto key = Find({}, config);
    EXPECT_THAT(key, FailsWith(ErrorCode::kAuth, message));
    EXPECT_THAT(key.error().message, Not(HasSubstr("hush")));
  }
}

TEST_F(KeysTest, ACommandGetsNoShellAndNoSecrets) {  // MOD-S5
  setenv("SOME_API_KEY", "leak", 1);
  UserConfig config;
  config.access.command = {"sh", "-c", "echo k$SOME_API_KEY"};
  EXPECT_EQ(Find({}, config)->value, "k");
  config.access.command = {"echo", "$HOME;true"};
  EXPECT_EQ(Find({}, config)->value, "$HOME;true");
  unsetenv("SOME_API_KEY");
}

TEST_F(KeysTest, AKeyFileThatOthersMayReadIsRefused) {  // MOD-S5
  UserConfig config;
  config.access.file = Write("named", "k\n", 0640);
  EXPECT_THAT(Find({}, config), FailsWith(ErrorCode::kAuth, "chmod 600"));
  config.access.file = folder_->path() + "/none";
  EXPECT_THAT(Find({}, config), FailsWith(ErrorCode::kAuth, "cannot be read"));
}

TEST_F(KeysTest, AStoredKeyIsPrivateAndGoesAway) {  // FLT-45
  const Environment home = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "XDG_CONFIG_HOME") return folder_->path();
    return std::nullopt;
  };
  const Provider provider{.name = "openai", .key_variables = {"OPENAI_API_KEY"}};
  EXPECT_EQ(KeyPlace(provider, KeyPlaces::kFiles, home, {}), std::nullopt);
  ASSERT_THAT(WriteKeyFile(home, "openai", "first"), Succeeds());
  ASSERT_THAT(WriteKeyFile(home, "openai", "second"), Succeeds());
  const std::string path = folder_->path() + "/dossier/keys/openai";
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((folder_->path() + "/dossier/keys").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  const auto found = FindKey(provider, "", home, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->value, "second");
  EXPECT_EQ(KeyPlace(provider, KeyPlaces::kFiles, home, {}), "the key file " + path + " is there");
  EXPECT_THAT(WriteKeyFile(home, "openai", "a b"), FailsWith(ErrorCode::kAuth, "holds a blank"));
  EXPECT_THAT(WriteKeyFile(home, "openai", ""), FailsWith(ErrorCode::kAuth, "no key was given"));
  EXPECT_EQ(RemoveKeyFile(home, "openai"), true);
  EXPECT_EQ(RemoveKeyFile(home, "openai"), false);
}

TEST_F(KeysTest, TheUsersConfigIsRead) {  // MOD-1, MOD-2, MOD-31, MOD-33
  const std::string path = Write("dossier.yml", R"(
model: fast
key_cmd: pass show openai
context_commands: [of others]
models:
  data: [mine.yaml]
  aliases: {fast: openai/gpt-5-mini}
  providers: {gemini: {key_file: g.key}}
local: {server: bin/llama-server, idle: 30m, context: 8192}
)",
                                 0600);
  const auto config = ReadUserConfig(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->model, "fast");
  EXPECT_EQ(config->access.command, (std::vector<std::string>{"pass", "show", "openai"}));
  EXPECT_EQ(config->data_files, std::vector<std::string>{folder_->path() + "/mine.yaml"});
  EXPECT_EQ(config->providers.at("gemini").file, folder_->path() + "/g.key");
  EXPECT_EQ(config->local_server, folder_->path() + "/bin/llama-server");
  EXPECT_EQ(config->local_idle, Millis(1'800'000));
  EXPECT_EQ(config->local_context, 8192);

  const auto catalog = Catalog::Load({});
  const auto none = [](std::string_view) { return std::optional<std::string>(); };
  auto choice = catalog->Choose({.config = *config, .keys = Wanted::Keys::kNone}, none);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->model, "gpt-5-mini");
  EXPECT_THAT(choice->why, HasSubstr("fast is openai/gpt-5-mini"));
  UserConfig circle;
  circle.aliases = {{"a", "b"}, {"b", "a"}};
  EXPECT_THAT(catalog->Choose({.name = "a", .config = circle}, none),
              FailsWith(ErrorCode::kConfig, "unknown model"));
}

TEST_F(KeysTest, MistakesInTheConfigHaveAPlace) {  // MOD-S6
  const std::pair<const char*, const char*> cases[] = {
      {"- a", "dossier.yml:1:1: must contain a dictionary"},
      {"local: {servr: x}", "unknown key servr (server?)"},
      {"local: {idle: soon}", "dossier.yml:1:"},
      {"key_cmd: []", "it must be a program and its arguments"},
      {"models: {aliases: 3}", "aliases is a map"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ReadUserConfig(Write("dossier.yml", text, 0600)),
                FailsWith(ErrorCode::kConfig, message));
  }
  EXPECT_THAT(ReadUserConfig(Write("open.yml", "model: x", 0666)),
              FailsWith(ErrorCode::kRefused, "may be written by others"));
  EXPECT_TRUE(ReadUserConfig(Write("empty.yml", "", 0600)));
}

}  // namespace
}  // namespace dossier::model
