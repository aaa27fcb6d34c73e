#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/random.h"
#include "config/keys.h"
#include "testing/result_matchers.h"

namespace dossier::config {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Files = std::map<std::string, std::string>;

FileReader ReaderOf(const Files& files) {
  return [files](const std::string& path) -> Result<std::optional<ConfigFile>> {
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    return ConfigFile{path, path, found->second};
  };
}

Status TrustAll(const Question&) { return {}; }

LoadRequest RequestIn(std::string folder, Variables variables = {}) {
  variables.emplace("HOME", "/h");
  return {.folder = std::move(folder), .root = "/repo", .variables = std::move(variables)};
}

Result<Config> Load(const Files& files, const LoadRequest& request = RequestIn("/repo")) {
  return LoadConfig(request, ReaderOf(files), TrustAll);
}

Result<Config> LoadText(std::string_view text) {
  return Load({{"/repo/dossier.yml", std::string(text)}});
}

TEST(LoadTest, MapsMergeByKeyListsReplaceAndEachValueKnowsItsOrigin) {  // CON-12
  LoadRequest request = RequestIn("/repo/src", {{"DOSSIER_COMPACTION_HORIZON", "7"},
                                                {"DOSSIER_PARAMS_TOP_P", "0.5"},
                                                {"DOSSIER_MEMORY", "/some/where.sqlite"}});
  request.flags = {{"temperature", "0", "--temperature"}};
  const auto config =
      Load({{"/h/.config/dossier/dossier.yml",
             "model: low\ntemperature: 1\nkey_cmd: [a, b]\n"
             "params: {seed: 1, user: ada}\n"},
            {"/repo/dossier.yml", "model: middle\nkey_cmd: [c]\nparams:\n  seed: 2\n"},
            {"/repo/src/Cllmfile.yml", "model: high\n"}},
           request);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->model, "high");
  EXPECT_EQ(config->access.key_cmd, std::vector<std::string>{"c"});
  EXPECT_EQ(ToJson(config->params), R"({"seed":2,"user":"ada","top_p":0.5})");
  EXPECT_EQ(config->temperature, 0.0);
  EXPECT_EQ(config->compaction.horizon, 7);
  const std::pair<const char*, const char*> origins[] = {
      {"model", "/repo/src/Cllmfile.yml:1"},
      {"params.seed", "/repo/dossier.yml:4"},
      {"params.user", "/h/.config/dossier/dossier.yml:4"},
      {"params.top_p", "$DOSSIER_PARAMS_TOP_P"},
      {"compaction.horizon", "$DOSSIER_COMPACTION_HORIZON"},
      {"temperature", "--temperature"},
      {"max_tokens", "default"},
  };
  for (const auto& [key, origin] : origins) {
    EXPECT_EQ(config->OriginOf(key).ToText(), origin) << key;
  }
  EXPECT_THAT(config->files, ElementsAre("/h/.config/dossier/dossier.yml", "/repo/dossier.yml",
                                         "/repo/src/Cllmfile.yml"));
}

TEST(LoadTest, PathsResolveFromTheFileThatNamesThem) {  // CON-12, section 4.13
  const Files files = {{"/repo/.dossier/dossier.yml", "log_file: run.log\n"},
                       {"/repo/.cllm/Cllmfile.yml", "log_file: run.log\n"}};
  EXPECT_EQ(Load(files)->log_file, "/repo/.dossier/run.log");
  LoadRequest compat = RequestIn("/repo");
  compat.mode = CompatMode::kCompat;
  EXPECT_EQ(Load(files, compat)->log_file, "/repo/run.log");
}

TEST(LoadTest, VariablesOfTheEnvironmentExpandButAreShownAsWritten) {  // CON-9, CON-13
  const auto config =
      Load({{"/repo/dossier.yml", "model: \"${NAME:-none}\"\nmax_tokens: ${MAX}\n"}},
           RequestIn("/repo", {{"NAME", "gpt"}, {"MAX", "12"}}));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->model, "gpt");
  EXPECT_EQ(config->max_tokens, 12);
  EXPECT_EQ(config->raw.Find("model")->node.scalar, "${NAME:-none}");
}

TEST(LoadTest, MistakesNameFileLineAndKey) {  // CON-13, CON-14, section 6
  const std::pair<std::string, const char*> cases[] = {
      {"- a", "/repo/dossier.yml:1:1: must contain a dictionary"},
      {"a: 1\na: 2", "/repo/dossier.yml:2:1: duplicate key a"},
      {"a: [", "/repo/dossier.yml:"},
      {"model: [x]", "/repo/dossier.yml:1:8: model is a list; it must be a text"},
      {"\ntemperature: 9",
       "/repo/dossier.yml:2:14: temperature is \"9\"; it must be a number from 0 "
       "to 2"},
      {"max_tokens: 0", "a whole number from 1 up"},
      {"stream: maybe", "stream is \"maybe\"; it must be true or false"},
      {"compaction: {mode: on}", "compaction.mode is \"on\"; it must be auto or off"},
      {"compaction: 3", "compaction is \"3\"; it must be a map"},
      {"context_commands: {}", "context_commands is a map; it must be a list"},
      {"dynamic_commands: {timeout: -1}", "500ms or 2m"},
      {"variables: {a-b: 1}", "'a-b' is no name"},
      {"json_schema: nonsense", "a JSON schema"},
      {"extra_headers: {X: \"a\\nb\"}", "header names to texts of one line"},
      {"key_cmd: []", "key_cmd is a list; it must be a program and its arguments"},
      {"model: \xff", "not UTF-8"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(LoadText(text), FailsWith(ErrorCode::kConfig, message)) << text;
  }
  EXPECT_THAT(Load({}, RequestIn("/repo", {{"DOSSIER_TEMPERATURE", "hot"}})),
              FailsWith(ErrorCode::kConfig, "$DOSSIER_TEMPERATURE: temperature is \"hot\""));
  for (const char* text : {"", "# nothing\n", "~"}) EXPECT_TRUE(LoadText(text)) << text;
}

TEST(LoadTest, AHugeFileIsRefusedWithItsLine) {  // CON-13
  std::string many;
  for (int i = 0; i < 6000; ++i) many += fmt::format("k{}: v\n", i);
  EXPECT_THAT(LoadText(many), FailsWith(ErrorCode::kConfig, "10,000 nodes"));
}

TEST(LoadTest, AnUnknownKeyWarnsWithTheNearestAndIsNotSent) {  // CON-14, D16, section 6
  const auto config =
      LoadText("command_allow: [x]\nmodle: y\nzzz: 1\ncompaction: {sof_tokens: 2}\n");
  ASSERT_TRUE(config);
  EXPECT_THAT(
      config->warnings,
      ElementsAre(HasSubstr("unknown key 'command_allow' ignored; did you mean "
                            "dynamic_commands.allow?"),
                  HasSubstr("dossier.yml:2: unknown key 'modle' ignored; did you mean model?"),
                  HasSubstr("unknown key 'zzz' ignored"),
                  HasSubstr("did you mean compaction.soft_tokens?")));
  EXPECT_THAT(config->params, IsEmpty());
}

TEST(LoadTest, CompatSendsUnknownKeysAndNeverKnownOnes) {  // D16, section 4.13
  LoadRequest request = RequestIn("/repo", {{"CLLM_DEBUG", "1"}, {"CLLM_LOG_FILE", "/env.log"}});
  request.mode = CompatMode::kCompat;
  std::string text = "top_p: 0.5\nlog_file: own.log\n";
  for (const Key& key : Keys()) {
    if (key.shape == Shape::kScalar && key.name.find('.') == std::string_view::npos &&
        key.name != "log_file") {
      text += fmt::format("{}: {}\n", key.name, key.type == "true or false" ? "true" : "1");
    }
  }
  const auto config = Load({{"/repo/Cllmfile.yml", text}}, request);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(ToJson(config->params), R"({"top_p":0.5})");
  EXPECT_EQ(config->log_file, "/repo/own.log") << "CLLM_LOG_FILE stands below the files";
  EXPECT_TRUE(config->debug);
}

TEST(LoadTest, CompatReplacesWholeValues) {  // section 4.13
  LoadRequest request = RequestIn("/repo");
  request.mode = CompatMode::kCompat;
  const auto config = Load({{"/h/.cllm/Cllmfile.yml", "params: {a: 1, b: 2}\n"},
                            {"/repo/Cllmfile.yml", "params: {b: 3}\n"}},
                           request);
  EXPECT_EQ(ToJson(config->params), R"({"b":3})");
}

TEST(LoadTest, ANamedFileStandsOnTopOrSaysWhereItWasLookedFor) {  // CON-12, section 6
  LoadRequest request = RequestIn("/repo");
  request.name = "fast";
  const Files files = {{"/repo/dossier.yml", "model: slow\nmax_tokens: 5\n"},
                       {"/repo/fast.dossier.yml", "model: fast\n"},
                       {"/h/.cllm/fast.Cllmfile.yml", "model: far\n"}};
  const auto config = Load(files, request);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->model, "fast");
  EXPECT_EQ(config->max_tokens, 5);
  request.name = "nope";
  EXPECT_THAT(Load(files, request), FailsWith(ErrorCode::kConfig, "/repo/nope.dossier.yml"));
  request.name = "a/b";
  EXPECT_THAT(Load(files, request), FailsWith(ErrorCode::kConfig, "not a path"));
}

TEST(LoadTest, TheUsersOwnKeysDoNotCountInProjects) {  // CON-15
  const auto config = Load({{"/h/.config/dossier/dossier.yml", "models: {aliases: {a: b}}\n"},
                            {"/repo/dossier.yml", "models: {aliases: {a: evil}}\n"}});
  ASSERT_TRUE(config);
  ASSERT_TRUE(config->models);
  EXPECT_EQ(config->models->node.entries[0].value.entries[0].value.scalar, "b");
  EXPECT_THAT(config->warnings, ElementsAre(HasSubstr("'models' is ignored here")));
}

TEST(LoadTest, ContextCommandsAreOfferedWithFileAndLine) {  // CON-14
  const auto config = Load({{"/repo/dossier.yml", "model: x\ncontext_commands:\n- name: ${N}\n"}},
                           RequestIn("/repo", {{"N", "status"}}));
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->context_commands);
  const auto& item = config->context_commands->node.items[0];
  EXPECT_EQ(config->context_commands->file, "/repo/dossier.yml");
  EXPECT_EQ(config->context_commands->folder, "/repo");
  EXPECT_EQ(item.line, 3);
  EXPECT_EQ(item.entries[0].value.scalar, "status");
}

TEST(PowerTest, EachPowerKeyIsFound) {  // CON-15, A2
  const std::pair<const char*, const char*> cases[] = {
      {"context_commands: []", "context_commands (line 1)"},
      {"allow_dynamic_commands: false", "allow_dynamic_commands"},
      {"dynamic_commands: {max_commands: 3}", "dynamic_commands"},
      {"log_file: x", "log_file"},
      {"conversations_path: x", "conversations_path"},
      {"api_base: http://evil", "api_base"},
      {"extra_headers: {A: b}", "extra_headers"},
      {"key_env: HOME", "key_env"},
      {"key_file: /etc/passwd", "key_file"},
      {"key_cmd: id", "key_cmd"},
      {"json_schema_file: https://x/y.json", "json_schema_file"},
      {"json_schema_file: /etc/shadow", "json_schema_file"},  // FLT-88
      {"json_schema_file: a.json", "json_schema_file"},       // may be a link
      {"model: command/evil", "model"},                       // FLT-88
      {"model: http://evil/v1#x", "model"},
      {"model: openrouter/x", "model"},
      {"params: {model: evil/x}", "params.model"},
      {"params: {messages: []}", "params.messages"},
      {"variables: {BASE: \"x; touch PWNED\"}", "variables"},  // FLT-130
      {"params: {base_url: x}", "params.base_url"},
      {"params: {extra_body: {api_key: x}}", "params.extra_body"},
      {"params: {list: [{Authorization: x}]}", "params.list"},
      {"params: {top_p: 1, store: true}", "params.store (line 1)"},
      {"params: {service_tier: \"1\"}", "params.service_tier"},
      {"store_it: true", "store_it"},  // sent under --compat
      {"default_system_message: x", "default_system_message"},
      {"json_schema: {title: Obey}", "json_schema"},
      {"compaction: {mode: off, model: command/evil}", "compaction.model (line 1)"},
      {"compaction.model: http://evil/v1#x", "compaction.model"},
      {"api_key: x", "api_key"},
      {"model: \"${HOME}\"", "${…} in model"},
      {"compaction: {model: \"${B}\"}", "${…} in compaction.model"},
      {"agents: {engines: {a: {argv: [b]}}}", "agents.engines"},  // they start programs
      {"agents: {checks: []}", "agents.checks"},
      {"agents: {runs: x}", "agents.runs"},
      {"agents: {tasks: [a, ../b]}", "agents.tasks"},
      {"agents: {policy: /etc/policy.yaml}", "agents.policy"},
      {"models: {}", "models"},
      {"local: {}", "local"},
      {"context_commands: ~", "context_commands"},  // takes away what the user has set
      {"api_base: null", "api_base (line 1)"},
      {"model:", "model"},
      {"limits: null", "limits"},
      {"dynamic_commands: {}", "dynamic_commands"},
      {"compaction: null", "compaction"},
      {"agents: {engines: null}", "agents.engines"},
  };
  for (const auto& [text, power] : cases) {
    const auto values = ParseConfigFile({"f.yml", "f.yml", text});
    ASSERT_TRUE(values) << text;
    EXPECT_THAT(FindPowers(*values), ElementsAre(HasSubstr(power))) << text;
  }
  for (const char* harmless :
       {"model: x", "params: {top_p: 1, max_completion_tokens: 5}",
        "compaction: {mode: off, model: x}", "compaction:\n  model: $${HOME}\n",
        "agents: {tasks: [config/tasks.edn], engineer: a}", ""}) {
    const auto values = ParseConfigFile({"f.yml", "f.yml", harmless});
    ASSERT_TRUE(values) << harmless;
    EXPECT_THAT(FindPowers(*values), IsEmpty()) << harmless;
  }
}

TEST(LoadTest, OnlyProjectFilesWithPowerAreAskedAbout) {  // CON-15, A2
  std::vector<std::string> asked;
  const Decide decide = [&](const Question& question) -> Status {
    asked.push_back(question.file.path);
    return MakeError(ErrorCode::kRefused, "no");
  };
  const Files own = {{"/h/.config/dossier/dossier.yml", "key_cmd: x\n"},
                     {"/h/.cllm/Cllmfile.yml", "context_commands: []\n"},
                     {"/repo/dossier.yml", "model: x\n"}};
  EXPECT_TRUE(LoadConfig(RequestIn("/repo"), ReaderOf(own), decide));
  EXPECT_THAT(asked, IsEmpty());
  Files project = own;
  project["/repo/Cllmfile.yml"] = "api_base: http://evil\n";
  for (const CompatMode mode : {CompatMode::kDefault, CompatMode::kCompat}) {
    LoadRequest request = RequestIn("/repo");
    request.mode = mode;
    EXPECT_THAT(LoadConfig(request, ReaderOf(project), decide),
                FailsWith(ErrorCode::kRefused, "no"));
  }
  EXPECT_THAT(asked, ElementsAre("/repo/Cllmfile.yml", "/repo/Cllmfile.yml"));
}

TEST(ReadConfigFileTest, OwnerModeAndKindAreThoseOfTheOpenFile) {  // CON-13
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/dossier.yml";
  EXPECT_FALSE(ReadConfigFile(path).value().has_value()) << "absent is no error";
  ASSERT_TRUE(WriteFileAtomic(path, "model: x\n"));
  ASSERT_EQ(symlink(path.c_str(), (folder->path() + "/link").c_str()), 0);
  const auto linked = ReadConfigFile(folder->path() + "/link");
  ASSERT_TRUE(linked && *linked);
  EXPECT_THAT((*linked)->real_path, ::testing::EndsWith("/dossier.yml"));
  EXPECT_EQ((*linked)->bytes, "model: x\n");
  ASSERT_EQ(chmod(path.c_str(), 0646), 0);
  EXPECT_THAT(ReadConfigFile(path), FailsWith(ErrorCode::kRefused, "may be written by others"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(WriteFileAtomic(path, std::string((1 << 20) + 1, '#')));
  EXPECT_THAT(ReadConfigFile(path), FailsWith(ErrorCode::kConfig, "larger than 1.0 MiB"));
  ASSERT_EQ(mkfifo((folder->path() + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadConfigFile(folder->path() + "/pipe"),
              FailsWith(ErrorCode::kConfig, "no regular file"));
}

TEST(KeysTest, EveryDefaultInTheTableIsTheDefaultOfTheStruct) {  // CON-14
  // Reading back the written defaults changes nothing.
  std::string text;
  Value root = MakeMap({});
  for (const Key& key : Keys()) {
    EXPECT_FALSE(key.about.empty()) << key.name;
    if (key.fallback.empty()) continue;
    Set(key.name, FromText(key.fallback, {}), &root);
  }
  Config read, plain;
  read.expanded = root;
  ASSERT_TRUE(ReadKeys("/", &read));
  EXPECT_EQ(read.compaction.soft_tokens, plain.compaction.soft_tokens);
  EXPECT_EQ(read.compaction.hard_tokens, plain.compaction.hard_tokens);
  EXPECT_EQ(read.compaction.keep_turns, plain.compaction.keep_turns);
  EXPECT_EQ(read.compaction.summary_tokens, plain.compaction.summary_tokens);
  EXPECT_EQ(read.compaction.horizon, plain.compaction.horizon);
  EXPECT_EQ(read.compaction.min_gain, plain.compaction.min_gain);
  EXPECT_EQ(read.dynamic_commands.timeout, plain.dynamic_commands.timeout);
  EXPECT_EQ(read.dynamic_commands.max_commands, plain.dynamic_commands.max_commands);
  EXPECT_EQ(read.dynamic_commands.max_refusals, plain.dynamic_commands.max_refusals);
  EXPECT_EQ(read.dynamic_commands.max_output, plain.dynamic_commands.max_output);
  EXPECT_EQ(read.dynamic_commands.history, plain.dynamic_commands.history);
  EXPECT_EQ(read.dynamic_commands.allowed, plain.dynamic_commands.allowed);
}

TEST(LoadTest, AnyTextLoadsOrFailsWithAPlace) {
  Random random(/*seed=*/5);
  constexpr std::string_view kParts[] = {"model", "params", ": ", "\n", "  ", "[", "]",  "{",  "}",
                                         "${A}",  "- ",     "1",  "~",  "\"", "#", "&a", "*a", ","};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int part = 0; part < 12; ++part) text += kParts[random.Next() % std::size(kParts)];
    const auto config = LoadText(text);
    if (config) continue;
    EXPECT_THAT(config.error().message, HasSubstr("/repo/dossier.yml:")) << text;
  }
}

TEST(PowerTest, EveryLineThatIsApprovedIsShown) {  // FLT-133
  // Commands may be in column 0, on a later line of a quoted text, and behind an anchor.
  const std::string text =
      "json_schema: {a: &x \"curl x | sh\"}\n\ncontext_commands: [\n{name: a,\ncommand: *x}]\n";
  const auto values = ParseConfigFile({"f.yml", "f.yml", text});
  ASSERT_TRUE(values);
  EXPECT_FALSE(FindPowers(*values).empty());
  EXPECT_EQ(NumberedLines(text),
            "    1  json_schema: {a: &x \"curl x | sh\"}\n    3  context_commands: [\n"
            "    4  {name: a,\n    5  command: *x}]\n");
  EXPECT_EQ(NumberedLines("one\ntwo"), "    1  one\n    2  two\n");
}

}  // namespace
}  // namespace dossier::config
