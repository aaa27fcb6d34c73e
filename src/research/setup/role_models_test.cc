#include "research/setup/role_models.h"

#include <gtest/gtest.h>

#include <vector>

namespace dossier::research {
namespace {

TEST(OpenByRoleTest, RolesShareTheModelThatTheyName) {  // HSE-20
  RunConfig config;
  config.roles["code"].model = "large";
  config.roles["feedback"].model = "small";
  config.roles["plot"].model = "small";
  std::vector<std::string> opened;
  const driver::OpenModel open = OpenByRole(config, [&](const std::string& name) {
    opened.push_back(name);
    return Result<driver::BoundModel>(driver::BoundModel{.name = name});
  });
  for (const auto& [role, model] : {std::pair("feedback", "small"),
                                    {"plot", "small"},
                                    {"code", "large"},
                                    {"review", "large"}}) {
    EXPECT_EQ(open(role)->name, model) << role;
  }
  EXPECT_EQ(opened, (std::vector<std::string>{"small", "large"}));
}

TEST(OpenByRoleTest, AModelThatCouldNotBeOpenedIsAskedForAgain) {
  RunConfig config;
  int calls = 0;
  const driver::OpenModel open =
      OpenByRole(config, [&](const std::string&) -> Result<driver::BoundModel> {
        if (++calls == 1) return MakeError(ErrorCode::kNetwork, "away");
        return driver::BoundModel{.name = "back"};
      });
  EXPECT_FALSE(open("code"));
  EXPECT_EQ(open("code")->name, "back");
}

}  // namespace
}  // namespace dossier::research
