#include "base/files/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

class OutputFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Link(const std::string& target, const std::string& name) const {
    ASSERT_EQ(symlink(target.c_str(), Path(name).c_str()), 0);
  }
  bool IsLink(const std::string& name) const { return std::filesystem::is_symlink(Path(name)); }

  TempFolder folder_ = *TempFolder::Make("output");
};

TEST_F(OutputFileTest, ALinkStaysAndTheFileThatItMeansIsReplaced) {
  ASSERT_TRUE(MakeFolders(Path("dot")));
  ASSERT_TRUE(WriteFileAtomic(Path("dot/out"), "old"));
  Link("dot/out", "out");
  Link(Path("out"), "again");
  EXPECT_THAT(WriteOutput(Path("again"), {"ne", "w"}), Succeeds());
  EXPECT_EQ(*ReadFile(Path("dot/out")), "new");
  Link("dot/later", "later");
  EXPECT_THAT(WriteOutput(Path("later"), {"made"}), Succeeds());
  EXPECT_EQ(*ReadFile(Path("dot/later")), "made");
  EXPECT_TRUE(IsLink("again") && IsLink("out") && IsLink("later"));
}

TEST_F(OutputFileTest, LinksThatLeadToEachOtherAreTold) {
  Link("b", "a");
  Link("a", "b");
  EXPECT_THAT(WriteOutput(Path("a"), {"x"}), FailsWith(ErrorCode::kIo, "/a: "));
}

// As `--out /dev/stdout >> file`, with a link of our own in the place of /dev/stdout.
TEST_F(OutputFileTest, AnOpenDescriptorIsWrittenWhereItStands) {
  const UniqueFd file(open(Path("file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteAll(file.get(), "before "));
  Link("/proc/self/fd/" + std::to_string(file.get()), "stdout");
  EXPECT_THAT(WriteOutput(Path("stdout"), {"one "}), Succeeds());
  EXPECT_THAT(WriteOutput("/dev/fd/" + std::to_string(file.get()), {"two "}), Succeeds());
  ASSERT_TRUE(WriteAll(file.get(), "after"));
  EXPECT_EQ(*ReadFile(Path("file")), "before one two after");
  EXPECT_TRUE(IsLink("stdout"));
}

}  // namespace
}  // namespace dossier
