#include "agents/git/diff_output.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/random.h"

namespace dossier::agents {
namespace {

TEST(TreeLinksTest, AWayThroughOtherLinksIsFollowedToItsEnd) {  // REP-38
  TreeLinks links;
  for (const auto& [path, target] :
       std::initializer_list<std::pair<const char*, const char*>>{{"out", "/etc"},
                                                                  {"up", "src/deep/up"},
                                                                  {"src/deep/up", "../.."},
                                                                  {"git", ".git"},
                                                                  {"loop", "src/loop"},
                                                                  {"src/loop", "../loop"},
                                                                  {"folder", "src/deep"},
                                                                  {"a", "folder/file"},
                                                                  {"b", "src/../out/passwd"},
                                                                  {"c", "folder/up/x"},
                                                                  {"d", "folder/up/../x"},
                                                                  {"e", "git/config"},
                                                                  {"f", "loop/x"},
                                                                  {"src/g", "../folder/../../../x"},
                                                                  {"h", "nowhere/at/all"}}) {
    links.Add(path, target);
  }
  struct Case {
    const char *path, *way_out;
  };
  constexpr Case kCases[] = {
      {"a", ""}, {"b", "out"},        {"c", ""}, {"d", "src/deep/up"}, {"e", "git"},
      {"f", ""}, {"src/g", "folder"}, {"h", ""}, {"out", "out"},       {"no-link", ""}};
  for (const Case& c : kCases) EXPECT_EQ(links.WayOut(c.path), c.way_out) << c.path;
}

// The kernel decides where a path ends: RESOLVE_BENEATH makes it refuse paths that leave.
TEST(TreeLinksTest, AgreesWithAFileSystem) {  // REP-38
  namespace fs = std::filesystem;
  const TempFolder ground = *TempFolder::Make();
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    const fs::path root = fs::path(ground.path()) / std::to_string(round) / "root";
    fs::create_directories(root / "d/e");
    TreeLinks links;
    std::vector<std::string> paths;
    constexpr const char* kParts[] = {"..", "d", "e", "l0", "l1", "l2", "l3"};
    for (int link = 0; link < 4; ++link) {
      const std::string path = (link % 2 ? "d/l" : "l") + std::to_string(link);
      std::string target = kParts[random.Below(7)];
      for (std::uint64_t more = random.Below(3); more > 0; --more) {
        target += std::string("/") + kParts[random.Below(7)];
      }
      fs::create_symlink(target, root / path);
      links.Add(path, target);
      paths.push_back(path);
    }
    for (const std::string& path : paths) {
      std::error_code error;
      const fs::path end = fs::canonical(root / path, error);
      if (error) continue;  // it leads nowhere
      const std::string below = end.lexically_relative(fs::canonical(root)).string();
      // A path may leave the tree and come back; if it ends outside it must have left.
      if (below.starts_with("..")) {
        EXPECT_NE(links.WayOut(path), "") << root / path;
      }
    }
  }
}

}  // namespace
}  // namespace dossier::agents
