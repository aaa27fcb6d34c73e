#include "config/folders.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/result_matchers.h"

namespace dossier::config {
namespace {

using ::dossier::testing::FailsWith;

TEST(FoldersTest, XdgVariablesMoveTheFolders) {  // CON-9
  const auto plain = UserFoldersOf({{"HOME", "/h"}});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->config, "/h/.config/dossier");
  EXPECT_EQ(plain->state, "/h/.local/state/dossier");
  const auto moved = UserFoldersOf({{"HOME", "/h"},
                                    {"XDG_CONFIG_HOME", "/c"},
                                    {"XDG_DATA_HOME", "relative"},
                                    {"XDG_CACHE_HOME", ""}});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->config_file(), "/c/dossier/dossier.yml");
  EXPECT_EQ(moved->data, "/h/.local/share/dossier") << "the XDG rules pass over relative paths";
  EXPECT_EQ(moved->cache, "/h/.cache/dossier");
  EXPECT_THAT(UserFoldersOf({}), FailsWith(ErrorCode::kConfig, "HOME is not set"));
}

TEST(FoldersTest, PathsResolveFromTheirFile) {  // CON-12
  EXPECT_EQ(ResolvePath("logs/a.log", "/repo/.dossier", "/h"), "/repo/.dossier/logs/a.log");
  EXPECT_EQ(ResolvePath("../a", "/repo/.dossier", "/h"), "/repo/a");
  EXPECT_EQ(ResolvePath("/a", "/repo", "/h"), "/a");
  EXPECT_EQ(ResolvePath("~/a", "/repo", "/h"), "/h/a");
  EXPECT_EQ(ResolvePath("~b", "/repo", "/h"), "/repo/~b");
  EXPECT_EQ(ResolvePath("", "/repo", "/h"), "");
}

TEST(FoldersTest, TheConversationFolderIsTheHighestThatIsNamed) {  // CON-16
  const UserFolders user = *UserFoldersOf({{"HOME", "/h"}});
  ConversationPlaces places{.flag = "/flag",
                            .dossier_variable = "/d",
                            .cllm_variable = "/c",
                            .config = "/config",
                            .config_dir = "/dir",
                            .dossier_config_dir = "/ddir",
                            .cllm_path = "/cdir",
                            .project_folders = {"/repo/src", "/repo"},
                            .user = user};
  std::set<std::string> there = {"/repo/.cllm", "/repo/src/.cllm", "/repo/.dossier",
                                 "/h/.cllm/conversations"};
  const auto find = [&] {
    return ConversationFolder(places, [&](const std::string& path) { return there.contains(path); })
        .path;
  };
  EXPECT_EQ(find(), "/flag");
  places.flag.clear();
  EXPECT_EQ(find(), "/d");
  places.dossier_variable.clear();
  EXPECT_EQ(find(), "/c");
  places.cllm_variable.clear();
  EXPECT_EQ(find(), "/config");
  places.config.clear();
  EXPECT_EQ(find(), "/dir/conversations");
  places.config_dir.clear();
  EXPECT_EQ(find(), "/ddir/conversations");
  places.dossier_config_dir.clear();
  EXPECT_EQ(find(), "/cdir/conversations");
  places.cllm_path.clear();
  EXPECT_EQ(find(), "/repo/src/.cllm/conversations");
  there.erase("/repo/src/.cllm");
  EXPECT_EQ(find(), "/repo/.dossier/conversations") << "before .cllm of the same folder";
  there.erase("/repo/.dossier");
  there.erase("/repo/.cllm");
  EXPECT_EQ(find(), "/h/.cllm/conversations") << "only it exists";
  there.insert("/h/.local/share/dossier/conversations");
  EXPECT_EQ(find(), "/h/.local/share/dossier/conversations");
}

TEST(FoldersTest, CllmsFolderInTheHomeIsNoProject) {  // CON-16
  const UserFolders user = *UserFoldersOf({{"HOME", "/h"}});
  const auto found = ConversationFolder({.project_folders = {"/h"}, .user = user},
                                        [](const std::string& path) { return path == "/h/.cllm"; });
  EXPECT_EQ(found.path, "/h/.local/share/dossier/conversations");
}

}  // namespace
}  // namespace dossier::config
