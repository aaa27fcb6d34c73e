#include "cli/chat/slash_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SlashCommandTest, EveryCommandOfTheSpecIsReadWithItsArgument) {  // CON 3.2
  struct Case {
    std::string_view text;
    SlashCommand command;
    std::string_view argument;
  };
  constexpr Case kCases[] = {
      {"/help", SlashCommand::kHelp, ""},
      {"/exit", SlashCommand::kExit, ""},
      {"exit", SlashCommand::kExit, ""},  // FLT-49
      {" quit ", SlashCommand::kExit, ""},
      {"exit the loop", SlashCommand::kPrompt, "exit the loop"},
      {"/context", SlashCommand::kContext, ""},
      {"/refresh", SlashCommand::kRefresh, ""},
      {"/tokens", SlashCommand::kTokens, ""},
      {"/usage", SlashCommand::kUsage, ""},
      {"/model gpt-4o", SlashCommand::kModel, "gpt-4o"},
      {"/model", SlashCommand::kModel, ""},
      {"/exec  git log -n 2 ", SlashCommand::kExec, "git log -n 2"},
      {"/edit", SlashCommand::kEdit, ""},
      {"/multi", SlashCommand::kMulti, ""},
      {"/undo", SlashCommand::kUndo, ""},
      {"/retry", SlashCommand::kRetry, ""},
      {"/fork", SlashCommand::kFork, ""},
      {"/fork bug-13", SlashCommand::kFork, "bug-13"},
      {"/save bug-12", SlashCommand::kSave, "bug-12"},
      {"/compact", SlashCommand::kCompact, ""},
      {"/undo ", SlashCommand::kUndo, ""},
      {"//etc/passwd is what?", SlashCommand::kPrompt, "/etc/passwd is what?"},
      {"why?", SlashCommand::kPrompt, "why?"},
      {"  /help", SlashCommand::kPrompt, "  /help"},
      {"/usr/bin/make: no rule\nwhy?", SlashCommand::kPrompt, "/usr/bin/make: no rule\nwhy?"},
      {"", SlashCommand::kPrompt, ""},
  };
  for (const Case& c : kCases) {
    const auto input = ParseChatInput(c.text);
    ASSERT_TRUE(input) << c.text;
    EXPECT_EQ(input->command, c.command) << c.text;
    EXPECT_EQ(input->argument, c.argument) << c.text;
  }
}

TEST(SlashCommandTest, WrongUseNamesTheCommandAndTheWayOut) {
  EXPECT_THAT(ParseChatInput("/modle x"), FailsWith(ErrorCode::kUsage, "did you mean /model?"));
  EXPECT_THAT(ParseChatInput("/qqqqqqqqq"), FailsWith(ErrorCode::kUsage, "/help lists them"));
  EXPECT_THAT(ParseChatInput("/exec"), FailsWith(ErrorCode::kUsage, "/exec CMD"));
  EXPECT_THAT(ParseChatInput("/save  "), FailsWith(ErrorCode::kUsage, "/save ID"));
  EXPECT_THAT(ParseChatInput("/undo 3"), FailsWith(ErrorCode::kUsage, "takes no argument"));
}

TEST(SlashCommandTest, CompletionKnowsEveryCommandThatHelpLists) {
  EXPECT_THAT(CompleteSlash("/ex"), ElementsAre("/exit", "/exec"));
  EXPECT_THAT(CompleteSlash("/co"), ElementsAre("/context", "/copy", "/compact"));
  EXPECT_TRUE(CompleteSlash("ex").empty());
  EXPECT_EQ(CompleteSlash("/").size(), 16);
  for (const std::string& name : CompleteSlash("/")) {
    EXPECT_THAT(SlashHelp(), HasSubstr("  " + name + " "));
  }
}

TEST(SlashCommandTest, WhatIsNoCommandIsSentAsItIs) {
  Random random(/*seed=*/3);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random.Utf8(40);
    const auto input = ParseChatInput(text);
    if (text.starts_with('/')) continue;
    ASSERT_TRUE(input);
    EXPECT_EQ(input->argument, text);
    EXPECT_EQ(ParseChatInput("//" + text)->argument, "/" + text);
  }
}

// FLT-141
TEST(SlashCommandTest, CopyTakesTheReplyOrItsCode) {
  EXPECT_TRUE(ParseChatInput("/copy"));
  EXPECT_EQ(ParseChatInput("/copy code")->argument, "code");
  EXPECT_THAT(ParseChatInput("/copy all"), FailsWith(ErrorCode::kUsage, "say code"));
}

}  // namespace
}  // namespace dossier::cli
