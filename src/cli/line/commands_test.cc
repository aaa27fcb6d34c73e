#include "cli/line/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/tree/command_tree.h"
#include "cli/tree/help_text.h"

namespace dossier::cli {
namespace {

class Tree {
 public:
  explicit Tree(std::vector<std::string> words) : app_("what for", "dossier") {
    BuildTree(app_, words, &arguments_);
  }

  const CLI::App& app() const { return app_; }

  // Of a command and all below it.
  std::string HelpOf(const CLI::App& command, const std::string& path) const {
    std::string text = HelpText(command, path, HelpLength::kFull);
    for (const CLI::App* below : Commands(command)) {
      text += HelpOf(*below, path + " " + below->get_name());
    }
    return text;
  }

 private:
  Arguments arguments_;
  CLI::App app_;
};

TEST(CommandsTest, ACommandHasTheSameFlagsAloneAsAmongAll) {  // CON-8
  const Tree all({"dossier", "help"});
  const auto commands = Commands(all.app());
  EXPECT_GT(commands.size(), 15u);
  for (const CLI::App* command : commands) {
    const std::string name = command->get_name();
    const Tree alone({"dossier", name});
    const CLI::App* same = FindCommand(alone.app(), {name});
    ASSERT_TRUE(same);
    EXPECT_EQ(alone.HelpOf(*same, name), all.HelpOf(*command, name));
  }
}

TEST(CommandsTest, TheProgramsHelpNeedsNoFlagsOfCommands) {  // CON-8
  const Tree all({"dossier", "help"}), none({"dossier", "--help"});
  EXPECT_EQ(HelpText(none.app(), "dossier", HelpLength::kFull),
            HelpText(all.app(), "dossier", HelpLength::kFull));
  EXPECT_FALSE(FindCommand(none.app(), {"ask"})->get_option_no_throw("--mode"));
  EXPECT_TRUE(FindCommand(all.app(), {"ask"})->get_option_no_throw("--mode"));
}

TEST(CommandsTest, OnlyTheCommandThatIsMeantGetsItsFlags) {
  const Tree tree({"dossier", "-C", "folder", "inspect", "file"});
  EXPECT_TRUE(FindCommand(tree.app(), {"inspect"})->get_option_no_throw("--hint"));
  EXPECT_TRUE(Commands(*FindCommand(tree.app(), {"models"})).empty());
  const Tree completed({"dossier", "__complete", "--", "inspect", "--"});
  EXPECT_TRUE(FindCommand(completed.app(), {"inspect"})->get_option_no_throw("--hint"));
  EXPECT_FALSE(FindCommand(completed.app(), {"ask"})->get_option_no_throw("--mode"));
}

}  // namespace
}  // namespace dossier::cli
