#include "cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/text.h"
#include "cli/tree/command.h"
#include "cli/tree/help_text.h"
#include "cli/tree/parser.h"
#include "cli/wiring/global_flags.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Program {
  GlobalFlags global;
  CommandNode root{RootCommand(&global)};

  const CommandNode* Find(std::vector<std::string> words) const { return root.Find(words); }
};

// Returns a command and all commands below it.
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
      for (const std::string& name : flag.former_names()) names.insert(name);
      for (const std::string& other : flag.excluded()) {
        EXPECT_EQ(names.count(other), 1u) << command->path() << " " << other;
      }
    }
    for (const std::string& name : names) {
      EXPECT_EQ(names.count(name), 1u) << command->path() << " " << name;
    }
  }
}

// Returns the kind of a flag's value: nothing, a number, or the word that help writes for it.
std::string ValueOf(const Flag& flag) {
  if (flag.implied() || flag.IsMany()) return std::string(flag.kind().word);
  if (flag.IsSwitch()) return "nothing";
  const bool text = std::holds_alternative<std::string*>(flag.to()) ||
                    std::holds_alternative<std::optional<std::string>*>(flag.to());
  return text ? std::string(flag.kind().word) : "number";
}

// Flags whose values differ by command: its help explains them, so nobody confuses them.
bool IsEachCommandsOwn(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "--branch",    // of a memory, of git
      "--id",        // of a question, of a memory
      "--limit",     // so many runs or changes, or the size of a file
      "--only",      // questions by pattern, or tasks
      "--plan",      // of a stub model, or nothing but a look
      "--run",       // of ask, or of research
      "--set",       // of research, or of a family of tasks
      "--mode",      // of a run, of a prompt's header
      "--model",     // one model, or one for each role
      "--phase",     // of research: by name, by number
      "--record",    // to this file, or whether a gate records
      "--role",      // of a message, of an agent, of a file that a user made
      "--root",      // of paths in rules, or folders that may be read
      "--show",      // what is listed, in full
      "--task",      // a task's words, or its id
      "--tier",      // one, or several
      "--tools",     // a file of tools, or names of ours
      "--until",     // a time, or a step
      "--stages",    // of research
      "--store",     // a folder of a memory, or the database that machines share
      "--priority",  // of files that match a pattern, or of a run
  };
  return std::ranges::find(kNames, name) != std::end(kNames);
}

TEST(CommandsTest, TheFirstScreenFitsATerminalOf80By24) {  // FLT-49
  const Program program;
  const std::string screen = HelpText(program.root, HelpLength::kScreen);
  const auto lines = Split(screen, '\n');
  EXPECT_LE(lines.size(), 23u) << "the line that was typed and the next prompt stand there, too";
  for (const std::string_view line : lines) EXPECT_LE(line.size(), 80u) << line;
  std::size_t examples = 0;
  for (const std::string_view line : lines) examples += line.starts_with("  dossier ") ? 1 : 0;
  EXPECT_EQ(examples, 4u);
  for (const CommandNode* command : program.root.Commands()) {
    EXPECT_THAT(screen, HasSubstr(std::string(command->name())));
  }
}

TEST(CommandsTest, AFlagMeansTheSameBehindEveryCommand) {  // FLT-50
  struct Meaning {
    std::string text, command;
  };
  std::map<std::string, Meaning> meanings;
  const auto expect_same = [&](const std::string& name, std::string text,
                               const CommandNode& command) {
    const auto [known, first] = meanings.try_emplace(name, Meaning{text, command.path()});
    EXPECT_EQ(known->second.text, text)
        << name << " of `" << command.path() << "` and of `" << known->second.command << "`";
  };
  const Program program;
  for (const CommandNode* command : All(program.root)) {
    if (!command->listed()) continue;
    for (const Flag& flag : command->flags()) {
      const std::string& long_name = flag.long_names().empty() ? "" : flag.long_names()[0];
      for (const std::string& name : flag.short_names()) {
        expect_same("-" + name, "--" + long_name, *command);
      }
      for (const std::string& name : flag.long_names()) {
        if (!IsEachCommandsOwn("--" + name)) expect_same("--" + name, ValueOf(flag), *command);
      }
    }
  }
  EXPECT_GT(meanings.size(), 150u);
}

TEST(CommandsTest, AFormerNameIsReadAndNotShown) {  // FLT-50
  const Program program;
  const std::vector<std::string> words = {"chat", "-c", "question"};
  EXPECT_THAT(ParseLine(program.root, words), Succeeds());
  const CommandNode& chat = *program.Find({"chat"});
  EXPECT_EQ(chat.FindFlag("-c"), chat.FindFlag("--continue"));
  EXPECT_THAT(HelpText(chat, HelpLength::kFull), Not(HasSubstr("-c,")));
  const auto names = chat.FlagNames();
  EXPECT_THAT(names, Not(Contains("-c")));
  EXPECT_THAT(names, Contains("--continue"));
}

// The flags of a command parse in the same way alone on a line as together with others.
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
