#include "cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/tree/command.h"
#include "cli/tree/help_text.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::IsEmpty;
using ::testing::Not;

struct Program {
  GlobalFlags global;
  CommandNode root{RootCommand(&global)};

  const CommandNode* Find(std::vector<std::string> words) const { return root.Find(words); }
};

// A command and all below it.
std::vector<const CommandNode*> All(const CommandNode& command) {
  std::vector<const CommandNode*> all = {&command};
  for (const auto& below : command.below()) {
    for (const CommandNode* one : All(*below)) all.push_back(one);
  }
  return all;
}

TEST(CommandsTest, EveryCommandSaysWhatItIsForAndCanBeRun) {  // CON-8
  const Program program;
  const auto all = All(program.root);
  EXPECT_GT(all.size(), 80u);
  for (const CommandNode* command : all) {
    if (command->listed()) {
      EXPECT_THAT(std::string(command->summary()), Not(IsEmpty())) << command->path();
    }
    EXPECT_THAT(HelpText(*command, HelpLength::kFull), Not(IsEmpty()));
    EXPECT_THAT(ManPage(*command), Not(IsEmpty()));
  }
}

TEST(CommandsTest, EveryFlagIsExplainedAndDeclaredOnce) {  // CON-8
  const Program program;
  for (const CommandNode* command : All(program.root)) {
    std::multiset<std::string> names;
    for (const Flag& flag : command->flags()) {
      EXPECT_TRUE(flag.IsShown() || !command->listed()) << command->path() << " " << flag.name();
      if (flag.IsArgument()) names.insert(flag.name());
      for (const std::string& name : flag.short_names()) names.insert("-" + name);
      for (const std::string& name : flag.long_names()) names.insert("--" + name);
      for (const std::string& other : flag.excluded()) {
        EXPECT_EQ(names.count(other), 1u) << command->path() << " " << other;
      }
    }
    for (const std::string& name : names) {
      EXPECT_EQ(names.count(name), 1u) << command->path() << " " << name;
    }
  }
}

// A command has its flags alone on a line as among all: each can be parsed.
TEST(CommandsTest, TheHelpOfEveryCommandCanBeAskedFor) {  // CON-2
  const Program names;
  for (const CommandNode* command : All(names.root)) {
    std::vector<std::string> words;
    for (const CommandNode* node = command; node->above(); node = node->above()) {
      words.insert(words.begin(), std::string(node->name()));
    }
    words.emplace_back("--help");
    const Program program;
    const auto line = ParseLine(program.root, words);
    ASSERT_THAT(line, Succeeds());
    if (words.size() > 1 && words[0] == "__complete") continue;
    EXPECT_EQ(line->command->path(), command->path());
    EXPECT_EQ(line->wish, ParsedLine::Wish::kFullHelp);
  }
}

TEST(CommandsTest, OnlyTheCommandThatIsMeantDeclaresItsFlags) {  // CON-8
  const Program none;
  HelpText(none.root, HelpLength::kFull);
  EXPECT_FALSE(none.Find({"ask"})->declared());
  const Program one;
  ASSERT_THAT(ParseLine(one.root, std::vector<std::string>{"-C", "folder", "inspect", "file"}),
              Succeeds());
  EXPECT_TRUE(one.Find({"inspect"})->declared());
  EXPECT_FALSE(one.Find({"ask"})->declared());
}

}  // namespace
}  // namespace dossier::cli
