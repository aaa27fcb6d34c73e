#include "agents/engine/agent_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TreeTest : public ::testing::Test {
 protected:
  TreeTest() {
    EXPECT_TRUE(MakeFolders(root_ + "/src/deep"));
    Put("src/a.txt", "one\ntwo\nthree\n");
    Put("src/deep/b.py", "two = 2\n");
    Put(".git", "gitdir: elsewhere\n");
    Put(".agent/APPROVED", "");
    Put("../outside.txt", "secret");
    EXPECT_EQ(symlink("../outside.txt", (root_ + "/way-out").c_str()), 0);
    EXPECT_EQ(symlink("src", (root_ + "/inside").c_str()), 0);
  }

  void Put(const std::string& name, const std::string& content) const {
    const std::string path = root_ + "/" + name;
    EXPECT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(WriteFileAtomic(path, content));
  }
  std::string Get(const std::string& name) const {
    return ReadFile(root_ + "/" + name).value_or("(none)");
  }

  const TempFolder ground_ = *TempFolder::Make();
  const std::string root_ = ground_.path() + "/tree";
};

TEST_F(TreeTest, PathsStayBeneathTheWorktree) {  // REP-54
  const TreeFiles files = *TreeFiles::Open(root_);
  for (const char* path : {"../outside.txt", "/etc/hostname", "way-out", "src/../../outside.txt",
                           "inside/../../outside.txt"}) {
    EXPECT_THAT(files.Read(path), FailsWith(ErrorCode::kPermission, "leads out")) << path;
    EXPECT_FALSE(files.Write(path, "x")) << path;
    EXPECT_FALSE(std::string_view(path) != "way-out" && files.Remove(path)) << path;
  }
  EXPECT_EQ(Get("../outside.txt"), "secret");
  EXPECT_EQ(*files.Read("inside/a.txt"), "one\ntwo\nthree\n");
  EXPECT_THAT(files.Read("none"), FailsWith(ErrorCode::kNotFound, "there is no file none"));
  EXPECT_FALSE(files.Read("src"));
  // A file written through a link is not the one that the policy checked.
  EXPECT_FALSE(files.Write("inside/a.txt", "x"));
  ASSERT_TRUE(files.Write("new/folder/c.txt", "c"));
  EXPECT_EQ(Get("new/folder/c.txt"), "c");
}

TEST_F(TreeTest, NoPathWhateverItsPartsWritesOutside) {  // REP-54
  const TreeFiles files = *TreeFiles::Open(root_);
  Random random(/*seed=*/54);
  constexpr std::string_view kParts[] = {"..",      ".", "src",   "inside",
                                         "way-out", "",  "a.txt", "deep"};
  for (int round = 0; round < 500; ++round) {
    std::string path = random.Below(8) == 0 ? "/" : "";
    for (std::uint64_t i = 1 + random.Below(5); i > 0; --i) {
      path += std::string(kParts[random.Below(std::size(kParts))]) + (i > 1 ? "/" : "");
    }
    static_cast<void>(files.Write(path, "changed").has_value());
    static_cast<void>(files.Remove(path).has_value());
    ASSERT_EQ(Get("../outside.txt"), "secret") << path;
  }
}

class AgentToolsTest : public TreeTest {
 protected:
  std::string Call(std::string name, JsonObject arguments) {
    return tools_.Answer({.id = "1", .name = std::move(name), .arguments = std::move(arguments)},
                         {});
  }
  static std::vector<std::string> Names(const AgentTools& tools) {
    std::vector<std::string> names;
    for (const assembly::ToolSpec& spec : tools.Specs()) names.push_back(spec.name);
    return names;
  }

  const TreeFiles files_ = *TreeFiles::Open(root_);
  AgentTools tools_{{.role = Role::kEngineer,
                     .root = root_,
                     .refuse_write = [](std::string_view path) -> std::optional<std::string> {
                       if (path.starts_with("src/")) return std::nullopt;
                       return "rule allow";
                     },
                     .commands = {{"sh", "-c", "echo"}}},
                    files_};
};

TEST_F(AgentToolsTest, EachRoleHasItsTools) {  // REP-54
  EXPECT_THAT(Names(tools_), ElementsAre("list_files", "read_file", "search", "write_file",
                                         "replace_in_file", "delete_file", "run", "finish"));
  AgentTools reviewer({.role = Role::kReviewer, .root = root_}, files_);
  EXPECT_THAT(Names(reviewer), ElementsAre("list_files", "read_file", "search", "verdict"));
  EXPECT_EQ(reviewer.Answer({.name = "write_file", .arguments = JsonObject{}}, {}),
            "error: there is no tool write_file");
}

TEST_F(AgentToolsTest, CallsAndWhatTheyAnswer) {  // REP-54, A32
  struct Case {
    std::string name;
    JsonObject arguments;
    std::string answer;
  };
  const Case kCases[] = {
      {"list_files", {}, "src/a.txt\nsrc/deep/b.py"},
      {"list_files", {{"glob", "*.py"}}, "src/deep/b.py"},
      {"list_files", {{"glob", "src/*"}}, "src/a.txt"},
      {"list_files", {{"glob", "none"}}, "no file"},
      {"read_file", {{"path", "src/a.txt"}}, "one\ntwo\nthree\n"},
      {"read_file",
       {{"path", "src/a.txt"}, {"offset", 2}, {"limit", 1}},
       "two\n[lines 2 to 2 of 3]"},
      {"read_file", {{"path", "src/a.txt"}, {"offset", 9}}, "[lines 9 to 3 of 3]"},
      {"read_file", {}, "error: `path` must be given, as a text"},
      {"search", {{"pattern", "^two"}}, "src/a.txt:2: two\nsrc/deep/b.py:1: two = 2\n"},
      {"search", {{"pattern", "two"}, {"glob", "*.py"}}, "src/deep/b.py:1: two = 2\n"},
      {"search", {{"pattern", "zebra"}}, "no match"},
      {"search", {{"pattern", "("}}, "error: `pattern`: missing ): ("},
      {"write_file", {{"path", "src/n.txt"}, {"content", "new\n"}}, "src/n.txt has 4 bytes"},
      {"write_file",
       {{"path", "etc/n"}, {"content", ""}},
       "error: etc/n must not be changed: rule allow"},
      {"replace_in_file",
       {{"path", "src/a.txt"}, {"old", "two"}, {"new", "2"}},
       "replaced in src/a.txt"},
      {"replace_in_file",
       {{"path", "src/a.txt"}, {"old", "zebra"}, {"new", ""}},
       "error: `old` does not stand in src/a.txt"},
      {"replace_in_file",
       {{"path", "src/a.txt"}, {"old", "e"}, {"new", ""}},
       "error: `old` stands in src/a.txt more than once; give more of the text around it"},
      {"delete_file", {{"path", "src/n.txt"}}, "src/n.txt is removed"},
      {"delete_file", {{"path", "src/n.txt"}}, "error: there is no file src/n.txt"},
      {"run",
       {{"argv", JsonArray{"rm", "-r", "src"}}},
       "error: `rm -r src` is not among the commands that may run"},
      {"run", {{"argv", "sh"}}, "error: `argv` must be a list of texts"},
      {"no_tool", {}, "error: there is no tool no_tool"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Call(c.name, c.arguments), c.answer) << c.name << ToJson(Json(c.arguments));
  }
  EXPECT_EQ(Get("src/a.txt"), "one\n2\nthree\n");
}

TEST_F(AgentToolsTest, LongResultsAreCutAndSaySo) {  // REP-54
  Put("src/long.txt", std::string(100'000, 'x') + "\n");
  const std::string answer = Call("read_file", {{"path", "src/long.txt"}});
  EXPECT_LT(answer.size(), 17'000u);
  EXPECT_THAT(answer, HasSubstr("[left out: "));
  Put("src/data.bin", std::string("a\0b", 3));
  EXPECT_THAT(Call("read_file", {{"path", "src/data.bin"}}),
              StartsWith("error: src/data.bin is no"));
}

TEST_F(AgentToolsTest, FinishAndVerdictEndTheWork) {  // REP-54, A32
  EXPECT_FALSE(tools_.ending());
  Call("finish", {{"summary", "made it"}});
  ASSERT_TRUE(tools_.ending());
  EXPECT_EQ(tools_.ending()->summary, "made it");
  AgentTools reviewer({.role = Role::kReviewer, .root = root_}, files_);
  reviewer.Answer({.name = "verdict", .arguments = JsonObject{{"verdict", "maybe"}}}, {});
  EXPECT_FALSE(reviewer.ending());
  reviewer.Answer({.name = "verdict",
                   .arguments = JsonObject{{"verdict", "APPROVED"}, {"token", "APPROVED-1"}}},
                  {});
  ASSERT_TRUE(reviewer.ending());
  EXPECT_EQ(reviewer.ending()->verdict, "approved");
  EXPECT_EQ(reviewer.ending()->token, "APPROVED-1");
}

}  // namespace
}  // namespace dossier::agents
