#include "harness/git_filters.h"

#include "harness/test_repository.h"
#include "testing/result_matchers.h"

namespace dossier::harness {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GitFiltersTest, WordsThatMayNameFilesOfTheTree) {  // REP-34
  EXPECT_THAT(RelativeNames("git-lfs clean -- %f"), ElementsAre("clean", "%f"));
  EXPECT_THAT(RelativeNames("/usr/bin/strip -x ~/a"), IsEmpty());
  EXPECT_THAT(RelativeNames("./tools/clean"), ElementsAre("./tools/clean"));
  EXPECT_THAT(RelativeNames("python 'tools/a b.py'|tools/c"),
              ElementsAre("tools/a", "b.py", "tools/c"));
  EXPECT_THAT(RelativeNames(""), IsEmpty());
}

TEST(GitFiltersTest, AFilterOfTheTreeIsNamed) {  // REP-34
  const TestRepository repository;
  const Git git = repository.OpenGit();
  EXPECT_THAT(CheckFilters(git), Succeeds());
  repository.Sh("git config filter.lfs.process 'git-lfs filter-process'");
  EXPECT_THAT(CheckFilters(git), Succeeds());
  repository.Sh("git config filter.ours.smudge 'sh src/tool.sh %f'");
  EXPECT_THAT(CheckFilters(git),
              FailsWith(ErrorCode::kUnavailable, "filter.ours.smudge runs src/tool.sh"));
}

}  // namespace
}  // namespace dossier::harness
