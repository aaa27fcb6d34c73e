#include "app/memory_setup.h"

#include <gtest/gtest.h>

#include "assembly/layout/yaml_table.h"
#include "base/yaml/yaml.h"
#include "testing/result_matchers.h"

namespace dossier::app {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

Result<MemoryConfig> Read(std::string_view yaml) {
  config::Config config;
  DOSSIER_ASSIGN_OR_RETURN(YamlNode node, assembly::ReadYaml(yaml, "dossier.yml"));
  config.sections["memory"] = {.node = std::move(node), .file = "dossier.yml"};
  return ReadMemoryConfig(config);
}

TEST(MemoryConfigTest, WithoutASectionTheDefaultsOfTheSpecificationHold) {
  const auto memory = ReadMemoryConfig({});
  ASSERT_THAT(memory, Succeeds());
  EXPECT_FALSE(memory->enabled);
  EXPECT_EQ(memory->limits.core_max_chars, 2000);
  EXPECT_EQ(memory->limits.recall_max_events, 20);
  EXPECT_EQ(memory->redaction, memory::Redaction::kOn);
  EXPECT_EQ(memory->consolidation_trigger, memory::PressureLevel::kHigh);
  EXPECT_TRUE(memory->log_enabled);
}

TEST(MemoryConfigTest, EveryKeyIsRead) {
  const auto memory = Read(R"(
enabled: false
core_max_chars: 1
core_protected_max_chars: 2
recall_max_events: 3
retrieval_k: 4
use_fts: off
memory_budget_chars: 5
archival_snippet_budget_chars: 6
archival_max_chars: 7
model: local
use_llm_compression: true
max_compression_iterations: 8
max_memory_read_rounds: 9
auto_consolidate: false
consolidation_trigger: critical
recall_consolidation_threshold: 2.5
pressure_thresholds: {medium: 0.1, high: 0.2, critical: 0.3}
memory_log_enabled: false
memory_log_max_chars: 10
redact_secrets: false
durability: full
embed_model: none
)");
  ASSERT_THAT(memory, Succeeds());
  const memory::StoreLimits& limits = memory->limits;
  EXPECT_EQ(memory->enabled, false);
  EXPECT_EQ(limits.core_max_chars, 1);
  EXPECT_EQ(limits.core_protected_max_chars, 2);
  EXPECT_EQ(limits.recall_max_events, 3);
  EXPECT_EQ(limits.retrieval_k, 4);
  EXPECT_EQ(memory->use_fts, memory::UseFts::kOff);
  EXPECT_EQ(limits.memory_budget_chars, 5);
  EXPECT_EQ(limits.archival_snippet_budget_chars, 6);
  EXPECT_EQ(limits.archival_max_chars, 7);
  EXPECT_EQ(memory->model, "local");
  EXPECT_EQ(memory->use_llm_compression, true);
  EXPECT_EQ(limits.max_compression_iterations, 8);
  EXPECT_EQ(limits.max_memory_read_rounds, 9);
  EXPECT_FALSE(memory->auto_consolidate);
  EXPECT_EQ(memory->consolidation_trigger, memory::PressureLevel::kCritical);
  EXPECT_EQ(limits.recall_consolidation_threshold, 2.5);
  EXPECT_EQ(limits.pressure_medium, 0.1);
  EXPECT_EQ(limits.pressure_high, 0.2);
  EXPECT_EQ(limits.pressure_critical, 0.3);
  EXPECT_FALSE(memory->log_enabled);
  EXPECT_EQ(memory->log_max_chars, 10);
  EXPECT_EQ(memory->redaction, memory::Redaction::kOff);
  EXPECT_EQ(memory->durability, memory::WriteDurability::kFull);
}

TEST(MemoryConfigTest, WhatCannotBeIsToldByItsPlace) {
  struct Case {
    std::string_view yaml, message;
  };
  constexpr Case kCases[] = {
      {"a: 1\ncore_max_chars: none", "dossier.yml:1:"},
      {"core_max_char: 1", "core_max_chars"},
      {"core_max_chars: 0", "1"},
      {"recall_max_events: 9999999999", "too large"},
      {"pressure_thresholds: {high: 0.99}", "must ascend"},
      {"pressure_thresholds: {low: 0}", "low"},
      {"recall_consolidation_threshold: 0.5", "1"},
      {"embed_model: mine", "no embedding model \"mine\"; known: wordllama, none"},
      {"[]", "must be a map"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(Read(c.yaml), FailsWith(ErrorCode::kConfig, std::string(c.message))) << c.yaml;
  }
  EXPECT_THAT(Read("core_max_chars: null"), Succeeds());
}

TEST(MemoryModelTest, RatingsAreAListOfAsManyNumbersFrom1To5) {  // MEM-47
  const std::vector<int> wanted = {1, 5};
  for (const char* reply : {"[1, 5]", "```json\n[1,5]\n```", "Ratings: [1, 5]."}) {
    const auto ratings = ReadRatings(reply, 2);
    ASSERT_THAT(ratings, Succeeds()) << reply;
    EXPECT_EQ(*ratings, wanted);
  }
  for (const char* reply : {"", "1, 5", "[1]", "[1, 5, 3]", "[0, 5]", "[1, 6]", "[1, \"5\"]", "][",
                            "[1, 5", "[1.5, 2]"}) {
    EXPECT_THAT(ReadRatings(reply, 2), FailsWith(ErrorCode::kProtocol, "list of 2")) << reply;
  }
}

}  // namespace
}  // namespace dossier::app
