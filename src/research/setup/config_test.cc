#include "research/setup/config.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/random.h"
#include "research/setup/config_keys.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

RunConfig Read(std::string_view yaml, const std::vector<std::string>& settings = {}) {
  auto config = ReadConfig(yaml, "/home/ann/my.yml", settings, "/home/ann/here");
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : RunConfig{};
}

TEST(ConfigTest, AnEmptyFileGivesTheDefaultsOfTheSpecification) {
  const RunConfig config = Read("");
  EXPECT_EQ(config.exec.timeout, 3600);
  EXPECT_EQ(config.exec.network, NetworkPolicy::kPhase1);
  EXPECT_EQ(config.num_workers, 4);
  EXPECT_EQ(config.parallel(), 4);
  EXPECT_EQ(config.stage_cap(4), 40);
  EXPECT_EQ(config.num_seeds, 3);
  EXPECT_DOUBLE_EQ(config.roles.at("review").temperature, 0.75);
  EXPECT_DOUBLE_EQ(config.roles.at("feedback").temperature, 0.5);
  EXPECT_EQ(config.roles.size(), Roles().size());
  EXPECT_EQ(config.paper_section_count, 12);
  EXPECT_FALSE(config.max_cost_usd.has_value());
}

TEST(ConfigTest, TheFileAndThenSettingsAreReadEachPathFromItsOwnFolder) {
  const RunConfig config = Read(
      "exec: {timeout: 60, phase_mode: single, network: never, resources: res.yml,\n"
      "       container_extra_args: [--cleanenv], slurm: {time: '01:00:00'}, memory_bytes: 2G}\n"
      "agent:\n"
      "  code: {model: big, temp: 0.2}\n"
      "  stages: {stage1_max_iters: none}\n"
      "memory: {enabled: false, draft_budget_chars: 9000, pressure_thresholds: {high: 0.9}}\n"
      "limits: {max_cost_usd: 2.5}\n",
      {"exec.timeout=90", "agent.max_parallel=2", "exec.timeout=91", "writeup.template=t.tex"});
  EXPECT_EQ(config.exec.timeout, 91);
  EXPECT_EQ(config.exec.phase_mode, PhaseMode::kSingle);
  EXPECT_EQ(config.exec.network, NetworkPolicy::kNever);
  EXPECT_EQ(config.exec.resources, "/home/ann/res.yml");
  EXPECT_EQ(config.writeup_template, "/home/ann/here/t.tex");
  EXPECT_EQ(config.exec.container_extra_args, std::vector<std::string>{"--cleanenv"});
  EXPECT_EQ(config.exec.slurm.at("time"), "01:00:00");
  EXPECT_EQ(config.exec.memory_bytes, 2ll << 30);
  EXPECT_EQ(config.roles.at("code").model, "big");
  EXPECT_EQ(config.stage_cap(1), config.steps);
  EXPECT_EQ(config.parallel(), 2);
  EXPECT_FALSE(config.memory_enabled);
  EXPECT_EQ(FindInt(Json(config.memory), "draft_budget_chars"), 9000);
  EXPECT_EQ(config.max_cost_usd, 2.5);
}

TEST(ConfigTest, WhatIsWrongIsNamedWithItsPlaceAndTheWayOut) {
  const struct {
    std::string_view yaml;
    std::vector<std::string> settings;
    ErrorCode code;
    std::string_view message;
  } kCases[] = {
      {"exec:\n  timout: 5\n", {}, ErrorCode::kConfig, "my.yml:2:11: unknown key exec.timout"},
      {"exec:\n  timout: 5\n", {}, ErrorCode::kConfig, "exec.timeout"},
      {"num_workers: 5\n", {}, ErrorCode::kConfig, "agent.num_workers?"},
      {"exec: 5\n", {}, ErrorCode::kConfig, "exec must be a map"},
      {"- 5\n", {}, ErrorCode::kConfig, "must be a map"},
      {"exec: {timeout: 0}\n", {}, ErrorCode::kConfig, "whole number from 1"},
      {"agent: {num_workers: 5000}\n", {}, ErrorCode::kConfig, "from 1 to 1024"},
      {"exec: {backend: docker}\n", {}, ErrorCode::kConfig, "local or apptainer"},
      {"exec: {network: sometimes}\n", {}, ErrorCode::kConfig, "phase1 or always or never"},
      {"exec: {use_gpu: perhaps}\n", {}, ErrorCode::kConfig, "true or false"},
      {"exec: {memory_bytes: plenty}\n", {}, ErrorCode::kConfig, "512M"},
      {"exec: {workspace_mount: here}\n", {}, ErrorCode::kConfig, "absolute folder"},
      {"search: {debug_prob: 1.5}\n", {}, ErrorCode::kConfig, "from 0 to 1"},
      {"agent: {painter: {model: x}}\n", {}, ErrorCode::kConfig, "unknown key agent.painter"},
      {"memory: {retrieval_k: many}\n", {}, ErrorCode::kConfig, "my.yml:1:23: retrieval_k must be"},
      {"memory: {redact_secrets: maybe}\n", {}, ErrorCode::kConfig, "true or false"},
      {"memory: {use_fts: perhaps}\n", {}, ErrorCode::kConfig, "use_fts"},
      {"memory: {pressure_thresholds: {most: 1}}\n", {}, ErrorCode::kConfig, "my.yml:1:38: unknown key most"},
      {"memory: {retrieval_q: 5}\n", {}, ErrorCode::kConfig, "memory.retrieval_k"},
      {"memory: {draught_budget_chars: 5}\n", {}, ErrorCode::kConfig, "draft_budget_chars"},
      {"", {"exec.timeout"}, ErrorCode::kUsage, "KEY=VALUE"},
      {"", {"exec.timeout=soon"}, ErrorCode::kConfig, "--set exec.timeout=soon"},
      {"", {"exec.timout=1"}, ErrorCode::kConfig, "exec.timeout"},
      {"exec: {a: 1, a: 2}\n", {}, ErrorCode::kConfig, "my.yml:1"},
  };
  for (const auto& example : kCases) {
    EXPECT_THAT(ReadConfig(example.yaml, "my.yml", example.settings),
                FailsWith(example.code, std::string(example.message)))
        << example.yaml;
  }
}

TEST(ConfigTest, APlaceThatNoProgramCouldUseIsRefused) {
  for (const std::string_view mount :
       {"workspace", "/", "/workspace/", "/a/../b", "/a:b", "/a,b", "/usr/work", "/etc"}) {
    const std::string setting = fmt::format("exec.workspace_mount={}", mount);
    EXPECT_THAT(
        ReadConfig("", "c.yml", std::span(&setting, 1)),
        FailsWith(ErrorCode::kConfig, fmt::format("--set {0}: exec.workspace_mount is \"{1}\"; "
                                                  "it must be an absolute folder such as",
                                                  setting, mount)))
        << mount;
  }
  for (const std::string_view name : {"../../x.md", "a/b.md", ".hidden"}) {
    const std::string setting = fmt::format("memory.final_memory_filename_md={}", name);
    EXPECT_THAT(ReadConfig("", "c.yml", std::span(&setting, 1)),
                FailsWith(ErrorCode::kConfig, "the name of a file"))
        << name;
  }
}

TEST(ConfigTest, AMapWithoutBlanksAfterItsColonsIsNamed) {
  const std::string setting = "exec.slurm={time:5}";
  EXPECT_THAT(ReadConfig("", "c.yml", std::span(&setting, 1)),
              FailsWith(ErrorCode::kConfig, "exec.slurm.time:5 is \"\"; it must be a text, as in"));
}

TEST(ConfigTest, WhatIsWrittenReadsBackTheSame) {
  const RunConfig config = Read(
      "exec: {language: \"c: # 1\", singularity_image: a.sif, slurm: {time: '1'}}\n"
      "agent: {max_parallel: 3, steps: 7, stages: {stage2_max_iters: none}}\n"
      "memory: {retrieval_k: 3, pressure_thresholds: {medium: 0.5}, paper_section_count: 5}\n"
      "limits: {max_tokens: 100}\n");
  const std::string yaml = ConfigYaml(config);
  const RunConfig again = Read(yaml);
  EXPECT_EQ(ConfigYaml(again), yaml);
  EXPECT_TRUE(FrozenDifferences(FrozenDigests(config), again).empty());
  EXPECT_EQ(again.exec.language, "c: # 1");
  EXPECT_EQ(again.stage_cap(2), 7);
}

// As programs before wrote them: a run that one of them began can be resumed.
TEST(ConfigTest, DigestsOfKeysOfMemoryStayTheSame) {
  const JsonObject digests = FrozenDigests(
      Read("memory: {use_fts: off, memory_log_max_chars: 5, draft_budget_chars: 9}\n"));
  EXPECT_EQ(FindString(Json(digests), "memory.use_fts"), Sha256Hex("\"off\"").substr(0, 16));
  EXPECT_EQ(FindString(Json(digests), "memory.memory_log_max_chars"), Sha256Hex("5").substr(0, 16));
  EXPECT_EQ(FindString(Json(digests), "memory.draft_budget_chars"), Sha256Hex("9").substr(0, 16));
}

TEST(ConfigTest, ANumberThatDoesNotFitIsRefused) {
  for (const std::string_view setting :
       {"exec.processes=4294967297", "exec.timeout=9000000000000000000",
        "limits.max_seconds=9000000000000000000", "limits.max_cost_usd=1e300"}) {
    const std::string one(setting);
    EXPECT_THAT(ReadConfig("", "c.yml", std::span(&one, 1)), FailsWith(ErrorCode::kConfig, ""))
        << setting;
  }
}

// RSP-48: limits, models and max_parallel only.
TEST(ConfigTest, AResumeMayChangeLimitsModelsAndParallelismAndNothingElse) {
  const JsonObject before = FrozenDigests(Read(""));
  EXPECT_TRUE(FrozenDifferences(before, Read("", {"limits.max_cost_usd=9", "agent.code.model=m",
                                                  "agent.code.temp=0", "agent.max_parallel=1"}))
                  .empty());
  const std::vector<std::string> wanted = {"exec.timeout", "search.seed", "memory.retrieval_k"};
  EXPECT_EQ(FrozenDifferences(
                before, Read("", {"search.seed=1", "memory.retrieval_k=2", "exec.timeout=1"})),
            wanted);
}

}  // namespace

namespace {

TEST(OutputNameTest, NamesFollowTheRule) {  // RSP-28, RSP-T12
  const struct {
    std::string run, name;
  } cases[] = {
      {"", "experiment_data.npy"},
      {"2026-01-28_17-46-11_Matrix Opt!_attempt_3", "matrix_opt_data.npy"},
      {"Matrix Opt", "matrix_opt_data.npy"},
      {"2026-01-28_17-46-11_x", "x_data.npy"},
      {"2026-1-28_17-46-11_x", "2026-1-28_17-46-11_x_data.npy"},
      {"x_attempt_", "x_attempt_data.npy"},
      {"a_attempt_1_attempt_2", "a_attempt_1_data.npy"},
      {"__a---b__", "a---b_data.npy"},
      {"größe", "gr_e_data.npy"},
      {"!!!", "experiment_data.npy"},
      {"2026-01-28_17-46-11__attempt_0", "experiment_data.npy"},
      {std::string(60, 'a'), std::string(50, 'a') + "_data.npy"},
      {std::string(49, 'a') + "_b", std::string(49, 'a') + "_data.npy"},
  };
  for (const auto& c : cases) EXPECT_EQ(OutputName(c.run), c.name) << c.run;
}

TEST(OutputNameTest, AnyNameGivesAPlainFileName) {  // RSP-28
  Random random(/*seed=*/5);
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
  for (int round = 0; round < 1000; ++round) {
    const std::string name = OutputName(random.Utf8(/*max_bytes=*/120));
    EXPECT_EQ(name.find_first_not_of(kAllowed), std::string::npos) << name;
    EXPECT_LE(name.size(), 59u);
    EXPECT_TRUE(name.ends_with("_data.npy"));
  }
}

}  // namespace
}  // namespace dossier::research
