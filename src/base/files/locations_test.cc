#include "base/files/locations.h"

#include <gtest/gtest.h>

#include <map>

#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;

VariableLookup Of(const std::map<std::string, std::string, std::less<>>& variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(UserFoldersTest, AVariableOfItsOwnComesBeforeHome) {  // CON-16
  struct Case {
    UserFolderKind kind;
    const char *variable, *below_home;
  };
  const Case cases[] = {{UserFolderKind::kConfig, "XDG_CONFIG_HOME", "/h/.config/dossier"},
                        {UserFolderKind::kData, "XDG_DATA_HOME", "/h/.local/share/dossier"},
                        {UserFolderKind::kCache, "XDG_CACHE_HOME", "/h/.cache/dossier"},
                        {UserFolderKind::kState, "XDG_STATE_HOME", "/h/.local/state/dossier"}};
  for (const Case& c : cases) {
    EXPECT_EQ(*UserFolder(c.kind, Of({{"HOME", "/h"}})), c.below_home);
    EXPECT_EQ(*UserFolder(c.kind, Of({{c.variable, "/x"}})), "/x/dossier");
    for (const char* no_path : {"", "relative"}) {
      EXPECT_EQ(*UserFolder(c.kind, Of({{"HOME", "/h"}, {c.variable, no_path}})), c.below_home);
    }
    EXPECT_THAT(UserFolder(c.kind, Of({{"HOME", "h"}})),
                FailsWith(ErrorCode::kConfig, std::string("or set ") + c.variable));
  }
}

}  // namespace

}  // namespace dossier
