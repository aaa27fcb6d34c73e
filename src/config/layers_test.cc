#include "config/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Search search{.folder = "/repo/src", .root = "/repo", .mode = Mode::kCompat, .user = kUser};
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
}  // namespace dossier::config
