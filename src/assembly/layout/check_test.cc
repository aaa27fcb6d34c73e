#include "assembly/layout/check.h"

#include <gtest/gtest.h>

#include <set>

#include "assembly/layout/lookup.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void Write(const std::string& folder, const std::string& name, std::string_view text) {
  const std::string path = folder + "/" + name;
  ASSERT_THAT(MakeFolders(path.substr(0, path.rfind('/'))), Succeeds());
  ASSERT_THAT(WriteFileAtomic(path, text), Succeeds());
}

TEST(CheckAssetsTest, EveryBuiltInFilePasses) {  // ASM-27, REC-A29
  for (const std::string& line : CheckAssets({})) EXPECT_THAT(line, StartsWith("ok ")) << line;
  const std::size_t files = BuiltInAssets("layouts/").size() + BuiltInAssets("prompts/").size();
  EXPECT_EQ(CheckAssets({}).size(), files);
}

TEST(CheckAssetsTest, GoodFilesAreOkAndEachBrokenOneIsNamedWithItsPlace) {  // ASM-27, REC-A29
  const auto folder = TempFolder::Make();
  ASSERT_THAT(folder, Succeeds());
  const std::string& root = folder->path();
  Write(root, "prompts/rules.md", "Be brief.");
  Write(root, "prompts/bad.md", "---\nplaceholders: {}\n---\nHi {who}");
  Write(root, "prompts/ruels.md", "A typing error.");
  Write(root, "layouts/good.yaml",
        "sections:\n  - {name: a, zone: request, template: rules.md}\n"
        "  - {name: b, zone: request, template: bad.md}\n");
  Write(root, "layouts/fine.yaml", "sections: [{name: a, zone: request, template: rules.md}]");
  Write(root, "layouts/absent.yaml", "sections:\n  - {name: a, template: no.md}");
  Write(root, "layouts/variable.yaml",
        "vars: {task: {}}\nsections:\n  - {name: a, source: var, with: {var: taks}}");
  const std::vector<std::string> lines = CheckAssets({.overrides = {root}});
  EXPECT_THAT(lines, Contains("ok " + root + "/layouts/fine.yaml"));
  EXPECT_THAT(lines, Contains("ok " + root + "/prompts/rules.md"));
  EXPECT_THAT(lines, Contains(root + "/prompts/bad.md:4:4: unknown placeholder who"));
  EXPECT_THAT(lines, Contains(HasSubstr("/layouts/absent.yaml:2:5: template no.md: not found")));
  EXPECT_THAT(lines,
              Contains(root + "/layouts/variable.yaml:3:5: undeclared variable taks (task?)"));
  EXPECT_THAT(
      lines,
      Contains(root + "/prompts/ruels.md:1:1: no layout uses a template ruels.md (rules.md?)"));
}

TEST(CheckAssetsTest, WarnsWhereTheCacheIsWasted) {  // ASM-14
  const auto layout = ParseLayout(R"(sections:
  - {name: clock, zone: system, text: now, changes: call}
  - {name: rules, zone: system, text: rules, changes: never}
  - {name: notes, zone: stable, fit: head, changes: run}
  - {name: fixed, zone: stable, fit: head, tokens: 100, changes: run}
)",
                                  "x.yaml");
  ASSERT_THAT(layout, Succeeds());
  const std::vector<std::string> warnings = CacheWarnings(*layout);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0], HasSubstr("2:5: clock changes each call and stands before rules"));
  EXPECT_THAT(warnings[1], HasSubstr("4:5: the cut of notes depends on other sections"));
}

TEST(BuiltInTest, NoSystemTextHoldsAFactAboutTheContext) {  // ASM-29, ASM-T14
  // Limits and settings of the run may be there; counts, names and questions may not.
  const std::set<std::string> allowed = {"max_subcall_chars", "words", "persona"};
  const std::set<std::string> of_the_run = {"domain", "caller_tools", "children"};
  // A conversation's system message is the user's own, and frozen when it was made (CON-10).
  const std::set<std::string> of_the_user = {"chat.yaml"};
  int checked = 0;
  for (const std::string& file : ListAssets("layouts/", {".yaml"}, {})) {
    if (of_the_user.contains(file)) continue;
    const auto layout = FindLayout(file.substr(0, file.size() - 5), {});
    ASSERT_THAT(layout, ::dossier::testing::Succeeds());
    for (const LayoutSection& section : layout->sections) {
      if (section.role != Role::kSystem || section.source == "tools") continue;
      if (of_the_run.contains(section.name)) continue;
      EXPECT_TRUE(section.source == "template" || section.source == "text") << file;
      if (section.source != "template") continue;
      ++checked;
      for (const Placeholder& placeholder :
           layout->templates.at(section.template_name).placeholders) {
        EXPECT_TRUE(allowed.contains(placeholder.name)) << file << " " << placeholder.name;
      }
    }
  }
  EXPECT_GT(checked, 2);
}

}  // namespace
}  // namespace dossier::assembly
