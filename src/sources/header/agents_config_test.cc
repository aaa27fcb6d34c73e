#include "sources/header/agents_config.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "config/edit.h"
#include "config/load.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The example in section 5.
constexpr std::string_view kAgentsExample = R"(
header: {window: 90s, age_step: 30s, placement: first, hotspots: [files], with: [dirty, date]}
agents:
  tasks: [config/tasks.edn, tasks]
  policy: config/policy.edn
  prompts: config/prompts
  notes: agent_notes
  runs: null
  engineer: codex
  reviewer: local
  reviewer_prompt: cto
  checks: [{name: unit, argv: [make, test], timeout: 300s}]
  engines:
    codex:
      argv: [codex, exec, --full-auto, -C, "{worktree}", "--", "{prompt}"]
      output: patch-file
      env_allow: [OPENAI_API_KEY]
      writable: ["~/.codex"]
      stdin: true
    local: {builtin: true, model: default, commands: [[make, test]]}
)";

config::ConfigFile File(std::string_view name, std::string_view bytes) {
  return {"/repo/" + std::string(name), "/repo/" + std::string(name), std::string(bytes)};
}

config::FileReader ReaderOf(const config::ConfigFile& file) {
  return [file](const std::string& path) -> Result<std::optional<config::ConfigFile>> {
    if (path != file.path) return std::nullopt;
    return file;
  };
}

Result<AgentsConfig> ReadConfig(std::string_view yaml, std::string_view edn = "") {
  const auto config =
      config::LoadUserFile("/repo/dossier.yml", {}, {}, ReaderOf(File("dossier.yml", yaml)));
  if (!config) return tl::unexpected(config.error());
  std::optional<AgentNet> agentnet;
  if (!edn.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(agentnet,
                             ReadAgentNet("/repo", ReaderOf(File("agentnet.edn", edn)),
                                          [](const config::Question&) { return Status(); }));
  }
  return ReadAgentsConfig(*config, agentnet);
}

TEST(AgentsConfigTest, TheExampleOfTheSpecIsRead) {
  const auto agents = ReadConfig(kAgentsExample);
  ASSERT_THAT(agents, Succeeds());
  EXPECT_THAT(agents->warnings, IsEmpty());
  EXPECT_THAT(agents->tasks, ElementsAre("config/tasks.edn", "tasks"));
  EXPECT_EQ(agents->policy, "config/policy.edn");
  EXPECT_EQ(agents->runs, "");
  EXPECT_EQ(agents->reviewer_prompt, "cto");
  ASSERT_EQ(agents->checks.size(), 1u);
  EXPECT_EQ(agents->checks[0].name, "unit");
  EXPECT_EQ(agents->checks[0].timeout, Millis(300'000));
  EXPECT_THAT(agents->EngineNames(), ElementsAre("codex", "local"));
  const AgentEngine* codex = agents->FindEngine(agents->engineer);
  ASSERT_TRUE(codex);
  EXPECT_THAT(codex->argv,
              ElementsAre("codex", "exec", "--full-auto", "-C", "{worktree}", "--", "{prompt}"));
  EXPECT_EQ(codex->output, AgentEngine::Output::kPatchFile);
  EXPECT_EQ(codex->input, AgentEngine::Input::kPrompt);
  EXPECT_THAT(codex->env_allow, ElementsAre("OPENAI_API_KEY"));
  EXPECT_THAT(codex->writable, ElementsAre("~/.codex"));
  const AgentEngine* local = agents->FindEngine("local");
  ASSERT_TRUE(local && local->builtin);
  EXPECT_THAT(local->commands, ElementsAre(ElementsAre("make", "test")));
  EXPECT_EQ(agents->header.window, Millis(90'000));
  EXPECT_EQ(agents->header.age_step, Millis(30'000));
  EXPECT_EQ(agents->header.placement, HeaderConfig::Placement::kFirst);
  EXPECT_FALSE(agents->header.hotspot_notes);
  EXPECT_TRUE(agents->header.hotspot_files);
  EXPECT_THAT(agents->header.with, ElementsAre("dirty", "date"));
}

TEST(AgentsConfigTest, DefaultsHoldWithoutAFile) {
  const auto agents = ReadConfig("");
  ASSERT_THAT(agents, Succeeds());
  EXPECT_THAT(agents->tasks, IsEmpty());
  EXPECT_EQ(agents->notes, "agent_notes");
  EXPECT_EQ(agents->prompts, "config/prompts");
  EXPECT_EQ(agents->header.window, Millis(180'000));
  EXPECT_EQ(agents->header.age_step, Millis(60'000));
  EXPECT_EQ(agents->FindEngine("any"), nullptr);
}

TEST(AgentsConfigTest, AgentNetStandsBelow) {  // section 5
  const auto agents =
      ReadConfig("agents: {reviewer: other}\n", R"({:recent-sec 90 :engineer "my-tool"
      :reviewer :my-tool :engines {:my-tool {:argv ["tool" "{prompt}"] :env-allow ["KEY"]}}
      :surprise 1})");
  ASSERT_THAT(agents, Succeeds());
  EXPECT_EQ(agents->header.window, Millis(90'000));
  EXPECT_EQ(agents->reviewer, "other");
  ASSERT_TRUE(agents->FindEngine("my-tool"));
  EXPECT_THAT(agents->FindEngine("my-tool")->env_allow, ElementsAre("KEY"));
  EXPECT_THAT(agents->warnings, ElementsAre(HasSubstr("agentnet.edn: unknown key surprise")));
}

TEST(AgentsConfigTest, WrongValuesAreNamed) {
  struct Case {
    std::string_view yaml, message;
  };
  constexpr Case kCases[] = {
      {"agents: {engines: {a: {}}}", "agents: engines.a: needs argv, preset or builtin: true"},
      {"agents: {engines: {a: {argv: [x], builtin: true}}}", "not both"},
      {"agents: {engines: {a: {argv: x}}}", "argv is \"x\"; it must be a list"},
      {"agents: {engines: {a: {argv: [x], outptu: worktree}}}", "unknown key outptu (output?)"},
      {"agents: {engines: {a: {argv: [x], output: file}}}", "must be worktree or patch-file"},
      {"agents: {engines: [a]}", "engines is a list; it must be a map"},
      {"agents: {checks: [{name: x}]}", "check 1: needs argv"},
      {"agents: {checks: [{argv: [x], timeout: never}]}", "timeout is \"never\""},
      {"agents: {reviewer_prompt: boss}", "must be reviewer or cto"},
      {"header: {window: 400d}", "header: window is \"400d\""},
      {"header: {age_step: 0}", "age_step is 0"},
      {"header: {hotspots: [notes, all]}", "a list of some of notes, files"},
      {"header: {with: all}", "a list of some of dirty, upstream"},
      {"header: {placement: last}", "must be volatile or first"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ReadConfig(c.yaml), FailsWith(ErrorCode::kConfig, std::string(c.message)))
        << c.yaml;
  }
}

TEST(AgentNetTest, ProgramsNeedTrust) {  // section 5, A34
  const auto refuse = [](const config::Question& question) -> Status {
    return MakeError(ErrorCode::kRefused, "{}", question.powers.at(0));
  };
  const auto read = [&](std::string_view edn) {
    return ReadAgentNet("/repo", ReaderOf(File("agentnet.edn", edn)), refuse);
  };
  EXPECT_THAT(read("{:engines {:a {:argv [\"x\"]}}}"), FailsWith(ErrorCode::kRefused, "engines"));
  EXPECT_THAT(read("{:checks [{:argv [\"x\"]}]}"), FailsWith(ErrorCode::kRefused, "checks"));
  EXPECT_THAT(read("{:runs \"runs\"}"), FailsWith(ErrorCode::kRefused, "runs"));
  EXPECT_THAT(read("{:notes \"../other\"}"), FailsWith(ErrorCode::kRefused, "notes"));
  EXPECT_THAT(read("{:tasks [\"/etc/x.edn\"]}"), FailsWith(ErrorCode::kRefused, "tasks"));
  EXPECT_THAT(read("{:tasks [\"a.edn\"] :engineer \"x\" :runs nil}"), Succeeds());
  EXPECT_THAT(read("[1]"), FailsWith(ErrorCode::kConfig, "agentnet.edn: must be a map"));
  EXPECT_THAT(read("{:a"), FailsWith(ErrorCode::kConfig, "agentnet.edn:1:1: { is never closed"));
}

TEST(AgentNetTest, SoDoThoseOfDossierYml) {  // CON-15
  const auto powers = [](std::string_view yaml) {
    return config::FindPowers(*config::ParseConfigFile(File("dossier.yml", yaml)));
  };
  EXPECT_THAT(powers("agents:\n  tasks: [a.edn]\n  engineer: x\nheader: {window: 3m}\n"),
              IsEmpty());
  EXPECT_THAT(powers("agents:\n  engines:\n    a: {argv: [x]}\n  notes: ~/x\n"),
              ElementsAre(HasSubstr("agents.engines (line 3)"), HasSubstr("agents.notes")));
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;

constexpr std::string_view kPolicyExample =
    R"({:allow ["src/**" "tests/**"] :deny ["secrets/**" "**/*.pem"] :max-lines-added 800
        :max-lines-deleted 800 :max-files 10 :allow-binary? false :review-timeout-seconds 600
        :propose-timeout-seconds 300})";

TEST(ChangePolicyTest, TheExampleOfTheSpecIsRead) {
  const auto policy = ParseChangePolicy(std::string(kPolicyExample), "config/policy.edn");
  ASSERT_THAT(policy, Succeeds());
  EXPECT_THAT(policy->allow, ElementsAre("src/**", "tests/**"));
  EXPECT_THAT(policy->deny, ElementsAre("secrets/**", "**/*.pem"));
  EXPECT_EQ(policy->max_lines_added, 800u);
  EXPECT_EQ(policy->max_lines_deleted, 800u);
  EXPECT_EQ(policy->max_files, 10u);
  EXPECT_EQ(policy->max_patch_bytes, 8u << 20);
  EXPECT_FALSE(policy->allow_binary);
  EXPECT_FALSE(policy->allow_symlinks || policy->allow_submodules || policy->allow_control_files);
  EXPECT_EQ(policy->review_timeout, Millis(600'000));
  EXPECT_EQ(policy->propose_timeout, Millis(300'000));
  EXPECT_EQ(policy->sha256, Sha256Hex(kPolicyExample));
  EXPECT_EQ(policy->file, "config/policy.edn");
}

TEST(ChangePolicyTest, WithoutAFileTheDefaultsHoldAndAreTold) {
  const TempFolder root = *TempFolder::Make("policy");
  const auto policy = LoadChangePolicy(root.path(), "");
  ASSERT_THAT(policy, Succeeds());
  EXPECT_THAT(policy->allow, ElementsAre("src/**", "scripts/**", "docs/**", "config/**"));
  EXPECT_EQ(policy->warnings.size(), 1u);
  EXPECT_TRUE(policy->allow_binary);
  EXPECT_FALSE(policy->max_files);
  EXPECT_THAT(LoadChangePolicy(root.path(), "rules.edn"),
              FailsWith(ErrorCode::kConfig, "rules.edn: there is no such file"));
}

TEST(ChangePolicyTest, AFileInYamlIsFound) {
  const TempFolder root = *TempFolder::Make("policy");
  ASSERT_TRUE(MakeFolders(root.path() + "/config"));
  ASSERT_TRUE(WriteFileAtomic(root.path() + "/config/policy.yaml", "max-files: 3\n"));
  EXPECT_EQ(LoadChangePolicy(root.path(), "")->max_files, 3u);
  ASSERT_TRUE(WriteFileAtomic(root.path() + "/config/policy.json", "{}"));
  EXPECT_THAT(LoadChangePolicy(root.path(), ""),
              FailsWith(ErrorCode::kConfig, "config/policy.yaml and config/policy.json"));
}

TEST(ChangePolicyTest, AMistypedRuleNeverVanishes) {  // section 6
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"{:max-line-added 1}", "p.edn:1:2: unknown key max_line_added (max_lines_added?)"},
      {"{:max-files \"ten\"}",
       "p.edn:1:2: max_files is \"ten\"; it must be a whole number from 0 up"},
      {"{:max-files -1}", "max_files is -1"},
      {"{:max-files 1.5}", "max_files is 1.5"},
      {"{:max-patch-bytes 0}", "a whole number from 1 up"},
      {"{:allow-binary? 1}", "allow_binary is 1; it must be true or false"},
      {"{:allow [1]}", "allow is a list; it must be a list of texts"},
      {"{:allow [\"a[\"]}", "p.edn:1:2: allow: a[:2: [ is never closed"},
      {"{:review-timeout-seconds 0}", "review_timeout_seconds is 0; it must be a time from 1 s"},
      {"[]", "p.edn:1:1: must be a map of keys"},
      {"{:allow [\"a\"}", "p.edn:1:13: } where ] was expected"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ParseChangePolicy(std::string(c.text), "p.edn"),
                FailsWith(ErrorCode::kConfig, std::string(c.message)))
        << c.text;
  }
}

TEST(CheckGlobTest, MalformedPatternsAreNamedWithTheirColumn) {  // REP-39
  for (const char* good : {"src/**", "**/*.pem", "a[a-z]b", "[!a]", "[]]", "[a-]", "{a,b}", "a}",
                           "a\\[", "+.()$", "é[à-ü]"}) {
    EXPECT_THAT(CheckGlob(good), Succeeds()) << good;
  }
  struct Case {
    std::string_view glob, message;
  };
  constexpr Case kCases[] = {
      {"", "matches nothing"},
      {"a[b", "a[b:2: [ is never closed"},
      {"é[", "é[:2: ["},
      {"{a,{b}", "{a,{b}:1: { is never closed"},
      {"a\\", "a\\:2: \\ escapes"},
      {"[z-a]", "a range runs backwards"},
      {"/src", "without /"},
      {"a/../b", "a/../b:3: no path holds .."},
      {"[]", "[]:1: [ is never closed"},
      {"secrets/", "secrets/:9: no path has an empty part; all below a folder is folder/**"},
      {"a//b", "a//b:3: no path has an empty part"},
      {"./a", "./a:1: no path holds ."},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(CheckGlob(c.glob), FailsWith(ErrorCode::kConfig, std::string(c.message)));
  }
  const std::string deep(kMaxGlobDepth + 1, '{');
  EXPECT_THAT(CheckGlob(deep), FailsWith(ErrorCode::kConfig, "33: { nested deeper than 32"));
  const auto longer = CheckGlob(std::string(kMaxGlobBytes + 1, 'x'));
  EXPECT_THAT(longer, FailsWith(ErrorCode::kConfig, "longer than 4,096 bytes"));
  EXPECT_LT(longer.error().message.size(), 300u);
}

}  // namespace
}  // namespace dossier::sources
