#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/result_matchers.h"

namespace dossier::config {
namespace {

using ::testing::ElementsAre;

const UserFolders kUser = {.home = "/home/ada",
                           .config = "/home/ada/.config/dossier",
                           .data = "/home/ada/.local/share/dossier"};

std::vector<std::string> Paths(const std::vector<Candidate>& candidates) {
  std::vector<std::string> paths;
  for (const Candidate& candidate : candidates) paths.push_back(candidate.path);
  return paths;
}

TEST(LayersTest, FilesStandFromTheUserToTheWorkingFolder) {  // CON-12
  EXPECT_THAT(
      Paths(FindCandidates({.folder = "/repo/src", .root = "/repo", .user = kUser})),
      ElementsAre("/home/ada/.cllm/Cllmfile.yml", "/home/ada/.config/dossier/dossier.yml",
                  "/repo/.cllm/Cllmfile.yml", "/repo/Cllmfile.yml", "/repo/.dossier/dossier.yml",
                  "/repo/dossier.yml", "/repo/src/.cllm/Cllmfile.yml", "/repo/src/Cllmfile.yml",
                  "/repo/src/.dossier/dossier.yml", "/repo/src/dossier.yml"));
}

TEST(LayersTest, OutsideARepositoryOnlyTheWorkingFolderCounts) {  // CON-12
  EXPECT_THAT(ProjectFolders("/a/b", ""), ElementsAre("/a/b"));
  EXPECT_THAT(ProjectFolders("/a/b", "/a"), ElementsAre("/a/b", "/a"));
  EXPECT_THAT(ProjectFolders("/a/b", "/"), ElementsAre("/a/b", "/a", "/"));
  EXPECT_THAT(ProjectFolders("/ab", "/a"), ElementsAre("/ab"));
}

TEST(LayersTest, TheUsersOwnFilesAreNoProjectFiles) {  // CON-15
  for (const Candidate& candidate :
       FindCandidates({.folder = "/home/ada", .root = "/home/ada", .user = kUser})) {
    const bool own = candidate.path == "/home/ada/.cllm/Cllmfile.yml" ||
                     candidate.path == "/home/ada/.config/dossier/dossier.yml";
    EXPECT_EQ(candidate.owner == Candidate::Owner::kUser, own) << candidate.path;
  }
}

TEST(LayersTest, AConfigFolderReplacesTheSearch) {  // CON-2, CON-12
  EXPECT_THAT(Paths(FindCandidates(
                  {.folder = "/repo", .root = "/repo", .config_dir = "/c", .user = kUser})),
              ElementsAre("/c/Cllmfile.yml", "/c/dossier.yml"));
}

TEST(LayersTest, AFolderOfTheCommandLineIsTheUsersOwn) {  // FLT-51
  using From = Search::ConfigDir;
  for (const From from : {From::kNamed, From::kFromVariable}) {
    for (const Candidate& candidate : FindCandidates(
             {.folder = "/repo", .config_dir = "/c", .config_dir_from = from, .user = kUser})) {
      EXPECT_EQ(candidate.owner == Candidate::Owner::kUser, from == From::kNamed) << candidate.path;
    }
  }
}

TEST(LayersTest, CompatLooksWhereCllmDoes) {  // section 4.13
  Search search{.folder = "/repo/src", .root = "/repo", .mode = CompatMode::kCompat, .user = kUser};
  EXPECT_THAT(Paths(FindCandidates(search)),
              ElementsAre("/home/ada/.cllm/Cllmfile.yml", "/repo/src/.cllm/Cllmfile.yml",
                          "/repo/src/Cllmfile.yml"));
  search.name = "fast";
  EXPECT_THAT(FindCandidates(search), ElementsAre()) << "--config stands instead";
  const auto groups = FindNamedCandidates(search);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(Paths(groups[0]), ElementsAre("/home/ada/.cllm/fast.Cllmfile.yml"));
  search.cllm_path = "/p";
  ASSERT_EQ(FindNamedCandidates(search).size(), 1u);
  EXPECT_THAT(Paths(FindNamedCandidates(search)[0]), ElementsAre("/p/fast.Cllmfile.yml"));
}

TEST(LayersTest, ANamedFileIsTheNearest) {  // CON-12
  const auto groups =
      FindNamedCandidates({.folder = "/repo", .root = "/repo", .name = "fast", .user = kUser});
  EXPECT_THAT(Paths(groups[0]),
              ElementsAre("/repo/fast.dossier.yml", "/repo/.dossier/fast.dossier.yml",
                          "/repo/fast.Cllmfile.yml"));
  EXPECT_THAT(Paths(groups.back()).back(), "/home/ada/.cllm/fast.Cllmfile.yml");
}

}  // namespace

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
  const auto locate = [&] {
    return ConversationFolder(places,
                              [&](const std::string& path) { return there.contains(path); });
  };
  const auto find = [&] { return locate().path; };
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
  EXPECT_EQ(locate().owner, Located::Owner::kUser);
  places.cllm_path.clear();
  EXPECT_EQ(locate().owner, Located::Owner::kProject);
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
