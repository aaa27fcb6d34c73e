#include "assembly/fit/prompt_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::string_view kSecret =
    "sk-x8Kq2LwZ9vT"
    "n4RbY7cMd1eQ5";

Assembled PromptOf(std::string_view task) {
  const Layout layout = Parse(
      "sections: [{name: rules, zone: system, text: Rules}, "
      "{name: task, zone: request, source: var, with: {var: task}}]");
  return *Assemble(layout, {}, {}, Plain(), *tokens::MakeCharCounter(),
                   Options({{"task", std::string(task)}}));
}

class PromptLogTest : public ::testing::Test {
 protected:
  Json ReadJson(const std::string& name) const {
    return ParseJson(ReadFile(folder_.path() + "/" + name).value_or("{}")).value_or(nullptr);
  }
  std::string Read(const std::string& name) const {
    return ReadFile(folder_.path() + "/" + name).value_or("(absent)");
  }

  TempFolder folder_ = *TempFolder::Make();
  PromptLog log_{folder_.path()};
  PromptCall call_{.session = "run 7/é",
                   .label = "phase0:draft",
                   .stage = "draft",
                   .model = "m",
                   .time = "2026-11-21T10:00:00Z"};
};

TEST_F(PromptLogTest, NamesAreCleanNumberedAndNeverOverwritten) {  // ASM-101, ASM-T15
  const auto first = log_.Write(call_, PromptOf("one"));
  ASSERT_THAT(first, Succeeds());
  EXPECT_EQ(*first, "run_7____001_phase0_draft_attempt1_round1");
  call_.attempt = 2;
  EXPECT_EQ(*log_.Write(call_, PromptOf("two")), "run_7____002_phase0_draft_attempt2_round1");
  EXPECT_NE(Read(*first + ".md").find("one"), std::string::npos);
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/run_7____999_x.md", ""), Succeeds());
  EXPECT_EQ(*log_.Write(call_, PromptOf("three")), "run_7____1000_phase0_draft_attempt2_round1");
}

TEST_F(PromptLogTest, WithoutSecretsTheMessagesRebuildTheBytesSent) {  // ASM-102, ASM-103
  const Assembled prompt = PromptOf("Count the lines.");
  const std::string name = *log_.Write(call_, prompt);
  const Json json = ReadJson(name + ".json");
  const std::string messages = dossier::ToJson(*Find(json, "messages"));
  EXPECT_EQ(messages, dossier::ToJson(ToCanonicalJson(prompt.messages)));
  EXPECT_EQ(Sha256Hex(messages), FindString(*Find(json, "report"), "messages_sha256"));
  EXPECT_TRUE(Find(json, "redactions")->get_array().empty());
  const Json& meta = *Find(json, "meta");
  EXPECT_EQ(FindString(meta, "label"), "phase0:draft");
  EXPECT_EQ(FindInt(meta, "counter"), 1);
  EXPECT_EQ(FindString(Find(json, "prompt")->get_array()[1], "name"), "task");
  EXPECT_EQ(Read(name + ".md"), "# " + name +
                                    "\n\n## rules (system)\n\n```\nRules\n```\n"
                                    "\n## task (user)\n\n```\nCount the lines.\n```\n");
}

TEST_F(PromptLogTest, SecretsAreInNoFileAndEachIsTold) {  // ASM-103, ASM-T15
  const std::string task = fmt::format("use {} now", kSecret);
  const Assembled prompt = PromptOf(task);
  const std::string name = *log_.Write(call_, prompt);
  for (const std::string_view ending : {".md", ".json"}) {
    EXPECT_EQ(Read(name + std::string(ending)).find(kSecret), std::string::npos) << ending;
  }
  const Json json = ReadJson(name + ".json");
  const JsonArray& redactions = Find(json, "redactions")->get_array();
  ASSERT_EQ(redactions.size(), 1u);
  EXPECT_EQ(FindString(redactions[0], "section"), "task");
  EXPECT_EQ(FindInt(redactions[0], "offset"), 4);
  EXPECT_EQ(FindInt(redactions[0], "length"), static_cast<std::int64_t>(kSecret.size()));
  // The hash is of what was sent, not of what is kept.
  EXPECT_EQ(FindString(*Find(json, "report"), "messages_sha256"),
            Sha256Hex(dossier::ToJson(ToCanonicalJson(prompt.messages))));
  ASSERT_THAT(log_.WriteReply(name, JsonObject{{"text", kSecret}}, kSecret), Succeeds());
  EXPECT_EQ(Read(name + "_response.json").find(kSecret), std::string::npos);
  EXPECT_EQ(Read(name + "_response.txt").find(kSecret), std::string::npos);
  EXPECT_THAT(log_.WriteReply(name, JsonObject(), ""), FailsWith(ErrorCode::kLocked, "exists"));
}

TEST_F(PromptLogTest, TheAliasPointsToTheNewestAndNeverReplacesAFile) {  // ASM-101
  call_.alias = "phase0_prompt";
  ASSERT_THAT(log_.Write(call_, PromptOf("one")), Succeeds());
  ASSERT_THAT(log_.Write(call_, PromptOf("two")), Succeeds());
  EXPECT_EQ(FindInt(*Find(ReadJson("phase0_prompt.json"), "meta"), "counter"), 2);
  std::filesystem::remove(folder_.path() + "/phase0_prompt.md");
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/phase0_prompt.md", "mine"), Succeeds());
  EXPECT_THAT(log_.Write(call_, PromptOf("three")), FailsWith(ErrorCode::kFailed, "of its own"));
  EXPECT_EQ(Read("phase0_prompt.md"), "mine");
}

TEST_F(PromptLogTest, ManyWritersAtOnceLoseNothing) {  // ASM-101
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      PromptLog log(folder_.path());
      for (int j = 0; j < 5; ++j) {
        EXPECT_THAT(log.Write(call_, PromptOf(fmt::format("{}-{}", i, j))), Succeeds());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t json = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.starts_with('.')) << name;
    if (!name.ends_with(".json")) continue;
    ++json;
    EXPECT_TRUE(Exists(folder_.path() + "/" + name.substr(0, name.size() - 5) + ".md"));
  }
  EXPECT_EQ(json, 40u);
}

TEST_F(PromptLogTest, WhatAKilledProcessLeftIsReplacedOrReadPast) {  // ASM-T15, ASM-T20
  // Killed between the two files: the number is taken, and no .json lacks its .md.
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/run_7____004_a_attempt1_round1.md", "half"),
              Succeeds());
  const std::string partial = folder_.path() + "/.partial-0123456789abcdef";
  ASSERT_THAT(WriteFileAtomic(partial, "ha"), Succeeds());
  const timespec old[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, partial.c_str(), old, 0), 0);
  EXPECT_EQ(*log_.Write(call_, PromptOf("x")), "run_7____005_phase0_draft_attempt1_round1");
  EXPECT_FALSE(Exists(partial));
}

TEST_F(PromptLogTest, AFolderThatCannotBeWrittenIsAnErrorForTheCallerToTell) {  // ASM-104
  ASSERT_THAT(WriteFileAtomic(folder_.path() + "/file", ""), Succeeds());
  EXPECT_FALSE(PromptLog(folder_.path() + "/file").Write(call_, PromptOf("x")));
}

}  // namespace
}  // namespace dossier::assembly
