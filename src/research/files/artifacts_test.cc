#include "research/files/artifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/files/file.h"
#include "base/random.h"
#include "research/files/languages.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ParseContext kContext{.output_name = "sort_data.npy", .compilers = {"gcc", "g++"}};

constexpr std::string_view kCpp = R"({"phase_artifacts": {
  "download": {"commands": ["pip list"], "notes": "n"},
  "coding": {"workspace": {"root": "/workspace", "tree": ["workspace/"], "files": [
    {"path": "src/main.cpp", "mode": "0644", "encoding": "utf-8", "content": "int main() {}\n"}]}},
  "compile": {"build_plan": {"language": "C++", "compiler_selected": "g++", "cflags": ["-O3"],
    "ldflags": [], "workdir": "/workspace", "output": "bin/sort", "std": "c++20"},
    "commands": ["{compiler_selected} {cflags} src/main.cpp -o bin/sort"]},
  "run": {"commands": ["./bin/sort"], "expected_outputs": ["working/x.npy"]}},
  "constraints": {"time": 5}})";

// Returns `coding` with one Python file, and `more` beside it.
std::string Python(std::string_view more = {}) {
  return fmt::format(R"({{"coding": {{"workspace": {{"files": {{"main.py": "x = 1"}}}}}}{}{}}})",
                     more.empty() ? "" : ", ", more);
}

TEST(ArtifactsTest, AllThatAReplySaysIsRead) {  // RSP-9, RSP-10
  const auto read = ParseArtifacts(kCpp, kContext);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->download_commands, ElementsAre("pip list"));
  EXPECT_EQ(read->download_notes, "n");
  ASSERT_EQ(read->files.size(), 1u);
  EXPECT_EQ(read->files[0].path, "src/main.cpp");
  EXPECT_EQ(read->files[0].content, "int main() {}\n");
  EXPECT_EQ(read->build.language, "cpp");
  EXPECT_EQ(read->build.compiler, "g++");
  EXPECT_THAT(read->build.cflags, ElementsAre("-O3"));
  EXPECT_EQ(FindString(Json(read->build.fields), "std"), "c++20");
  EXPECT_THAT(read->run_commands, ElementsAre("./bin/sort"));
  EXPECT_THAT(read->expected_outputs, ElementsAre("working/x.npy"));
  EXPECT_EQ(FindInt(read->constraints, "time"), 5);
}

TEST(ArtifactsTest, EveryFormOfThePayloadGivesTheSame) {  // RSP-9, RSP-T5
  const std::string bare = Python();
  const auto expected = ParseArtifacts(bare, kContext);
  ASSERT_TRUE(expected) << expected.error().message;
  const std::string forms[] = {
      "```json\n" + bare + "\n```",
      "Here it is.\n```\n" + bare + "\n```\nThat is all.",
      "[" + bare + "]",
      R"({"phase_artifacts": )" + bare + "}",
      R"({"phase_artifacts": [)" + bare + "]}",
      R"({"plan": )" + bare + "}",
      R"({"coding": [{"workspace": {"files": [{"path": "main.py", "content": "x = 1"}]}}]})",
      "{'coding': {'workspace': {'files': [{'path': './main.py', 'content': 'x = 1',}]}}, } # x",
  };
  for (const std::string& form : forms) {
    const auto read = ParseArtifacts(form, kContext);
    ASSERT_TRUE(read) << form << ": " << read.error().message;
    EXPECT_EQ(ToJson(ArtifactsJson(*read)), ToJson(ArtifactsJson(*expected))) << form;
  }
  EXPECT_THAT(ParseArtifacts(forms[7], kContext)->warnings,
              ElementsAre(HasSubstr("payload_repaired")));
}

TEST(ArtifactsTest, WhatIsNotSaidHasADefault) {  // RSP-10
  const auto read = ParseArtifacts(Python(), kContext);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->root, "/workspace");
  EXPECT_EQ(read->files[0].mode, "0644");
  EXPECT_EQ(read->files[0].encoding, "utf-8");
  EXPECT_EQ(read->build.language, "python");
  EXPECT_EQ(read->build.workdir, "/workspace");
  EXPECT_EQ(read->build.output, "working/sort_data.npy");
  EXPECT_THAT(read->expected_outputs, ElementsAre("working/sort_data.npy"));
  const auto compiled = ParseArtifacts(
      R"({"coding": {"workspace": {"files": {"a.f90": "end"}}},
          "compile": {"build_plan": {"compiler_selected": "gcc", "cflags": "-O2  -g"}}})",
      kContext);
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->build.language, "fortran");
  EXPECT_EQ(compiled->build.output, "bin/a.out");
  EXPECT_THAT(compiled->build.cflags, ElementsAre("-O2", "-g"));
}

TEST(ArtifactsTest, WhatWasStoredIsReadAgain) {
  const auto read = ParseArtifacts(kCpp, kContext);
  ASSERT_TRUE(read);
  const JsonObject stored = ArtifactsJson(*read);
  const auto again = ReadArtifacts(stored, kContext);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToJson(ArtifactsJson(*again)), ToJson(stored));
}

TEST(ArtifactsTest, EachRefusalNamesTheThing) {  // RSP-11, RSP-T5
  const auto with_path = [](std::string_view path) {
    return fmt::format(R"({{"coding": {{"workspace": {{"files": {{"{}": "x"}}}}}}}})", path);
  };
  const auto with_plan = [](std::string_view plan) {
    return Python(fmt::format(R"("compile": {{"build_plan": {}}})", plan));
  };
  struct Case {
    std::string payload;
    std::string message;
  };
  const Case cases[] = {
      {"{}", "phase_artifacts: there is none"},
      {R"({"coding": {"workspace": {"files": []}}})", "there are no files"},
      {R"({"coding": {}})", "there are no files"},
      {with_path("../../etc/x"), "\"../../etc/x\": path leaves the workspace"},
      {with_path("a/../../b"), "path leaves the workspace"},
      {with_path("/workspace/a"), "path is absolute"},
      {with_path("./"), "path names no file"},
      {with_path("a\\nb"), "control character"},
      {R"({"coding": {"workspace": {"root": "/home", "files": {"a": ""}}}})",
       "\"/home\"; it must be /workspace"},
      {R"({"coding": {"workspace": {"files": [{"path": "a", "content": ""},)"
       R"({"path": "./a", "content": ""}]}}})",
       "\"a\" is there twice"},
      {R"({"coding": {"workspace": {"files": {"a": "", "a/b": ""}}}})", "a file and a folder"},
      {R"({"coding": {"workspace": {"files": {"a": 7}}}})", "files[0].content: is no text"},
      {R"({"coding": {"workspace": {"files": [{"path": "a", "content": "", "mode": "4755"}]}}})",
       "\"4755\" is no mode"},
      {R"({"coding": {"workspace": {"files": [{"path": "a", "content": "", "mode": "o"}]}}})",
       "\"o\" is no mode"},
      {R"({"coding": {"workspace": {"files": [{"path": "a", "content": "", "mode": "7o"}]}}})",
       "\"7o\" is no mode"},
      {R"({"coding": {"workspace": {"files": [{"path": "a", "content": "", "encoding": "hex"}]}}})",
       "\"hex\"; it must be utf-8"},
      {with_plan(R"({"language": "cobol"})"), "\"cobol\"; it must be one of"},
      {with_plan(R"({"language": "cpp"})"), "cpp needs a compiler; there are: gcc, g++"},
      {with_plan(R"({"language": "c", "compiler_selected": "icx"})"), "\"icx\" is not there"},
      {with_plan(R"({"workdir": "/etc"})"), "build_plan.workdir"},
      {Python(R"("run": {"commands": [7]})"), "run.commands[0]: is no text"},
      {Python(R"("run": {"expected_outputs": ["../x"]})"), "leaves the workspace"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ParseArtifacts(c.payload, kContext),
                FailsWith(ErrorCode::kInvalidArgument, c.message))
        << c.payload;
  }
  ParseContext only_python = kContext;
  only_python.language = "python";
  EXPECT_THAT(ParseArtifacts(kCpp, only_python),
              FailsWith(ErrorCode::kInvalidArgument, "\"C++\"; it must be python"));
}

TEST(ArtifactsTest, AnyTextIsReadOrRefused) {
  Random random(/*seed=*/11);
  const std::string whole(kCpp);
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (std::uint64_t i = random.Below(4) + 1; i > 0; --i) {
      text[random.Below(text.size())] = static_cast<char>(' ' + random.Below(95));
    }
    if (random.Below(4) == 0) text.resize(random.Below(text.size()));
    if (const auto read = ParseArtifacts(text, kContext)) {
      for (const ArtifactFile& file : read->files) {
        EXPECT_FALSE(file.path.starts_with('/')) << text;
        EXPECT_EQ((file.path + "/").find("../"), std::string::npos) << text;
      }
    }
  }
}

TEST(PlanAndCodeTest, ThePlanStandsBeforeTheFirstFenceAndTheFencesAreJoined) {  // RSP-12
  const auto read = ParsePlanAndCode("Sort.\n```python\na = 1\n```\nthen\n```python\nb = 2\n```");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plan, "Sort.");
  EXPECT_EQ(read->code, "a = 1\n\nb = 2\n");
  EXPECT_THAT(ParsePlanAndCode("Only a plan."), FailsWith(ErrorCode::kInvalidArgument, "no code"));
  EXPECT_THAT(ParsePlanAndCode("```\nx\n```"), FailsWith(ErrorCode::kInvalidArgument, "no plan"));
}

TEST(SourcesTest, TheTextOfAFileHasItsLanguageAndPath) {  // RSP-13
  const ArtifactFile file{.path = "src/main.cpp", .content = "int main() {}\n"};
  EXPECT_EQ(SourcesText({{file}}), "```cpp\n// File: src/main.cpp\nint main() {}\n```\n");
}

TEST(SourcesTest, TheTextSplitsBackIntoTheSameFiles) {  // RSP-13
  std::vector<ArtifactFile> files = {
      {.path = "a.cpp", .content = "int a;\n"},
      {.path = "no end.txt", .content = "x"},
      {.path = "empty", .content = ""},
      {.path = "fences.md", .content = "```sh\nls\n````\n// File: b\n```\n"},
      {.path = "dos.bat", .content = "a\r\nb\r\n"},
      {.path = "lines", .content = "\n\n\n"},
  };
  EXPECT_EQ(SplitSources(SourcesText(files)), files);
  Random random(/*seed=*/5);
  constexpr std::string_view kPieces[] = {"`", "```", "\n", "\r", "x", "// File: a", "\t", " "};
  for (int round = 0; round < 2000; ++round) {
    for (ArtifactFile& file : files) {
      file.content.clear();
      for (std::uint64_t i = random.Below(10); i > 0; --i) {
        file.content += kPieces[random.Below(std::size(kPieces))];
      }
    }
    EXPECT_EQ(SplitSources(SourcesText(files)), files);
  }
}

class WriteFilesTest : public ::testing::Test {
 protected:
  static Artifacts With(std::vector<std::string> paths) {
    Artifacts artifacts;
    for (std::string& path : paths) {
      artifacts.files.push_back({.path = std::move(path), .mode = "0755", .content = "x"});
    }
    return artifacts;
  }
  std::string At(const std::string& path) const { return temp_.path() + "/w/" + path; }
  void SetUp() override {
    std::filesystem::create_directories(At("folder"));
    std::filesystem::create_directories(temp_.path() + "/outside");
  }

  TempFolder temp_ = *TempFolder::Make("artifacts");
};

TEST_F(WriteFilesTest, FilesHaveTheirContentAndMode) {
  ASSERT_THAT(WriteFiles(With({"src/a", "b"}), temp_.path() + "/w"), Succeeds());
  EXPECT_EQ(*ReadFile(At("src/a")), "x");
  struct stat info{};
  ASSERT_EQ(stat(At("b").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);
}

TEST_F(WriteFilesTest, NothingIsWrittenIfOneFileCannotBe) {  // RSP-11
  std::filesystem::create_symlink(temp_.path() + "/outside", At("out"));
  std::filesystem::create_symlink(temp_.path() + "/outside/new", At("link"));
  std::ofstream(At("file")) << "old";
  struct Case {
    std::string path;
    std::string message;
  };
  const Case cases[] = {
      {"out/x", "a link leads out of the workspace"},
      {"link", "a link leads out of the workspace"},
      {"file/x", "a file stands in the way"},
      {"folder", "a folder of that name is there"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(WriteFiles(With({"first", c.path}), temp_.path() + "/w"),
                FailsWith(ErrorCode::kInvalidArgument, c.message));
    EXPECT_FALSE(Exists(At("first"))) << c.path;
  }
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path() + "/outside"));
}

TEST_F(WriteFilesTest, ALinkThatStaysInsideIsReplaced) {
  std::filesystem::create_symlink("folder", At("inside"));
  EXPECT_THAT(WriteFiles(With({"inside/x"}), temp_.path() + "/w"), Succeeds());
  EXPECT_EQ(*ReadFile(At("folder/x")), "x");
}

TEST(LanguagesTest, NamesAndEndingsAreKnown) {  // RSP-10
  for (const std::string_view name : {"c++", "cxx", "CPP", "C++"}) {
    EXPECT_EQ(LanguageOf(name), "cpp") << name;
  }
  EXPECT_EQ(LanguageOf("cobol"), "");
  EXPECT_EQ(LanguageOfFile("a/b.F90"), "fortran");
  EXPECT_EQ(LanguageOfFile("a.b/Makefile"), "");
  EXPECT_EQ(LanguageOfFile(".py"), "");
  EXPECT_TRUE(IsCompiled("cuda"));
  EXPECT_FALSE(IsCompiled("python"));
}

}  // namespace
}  // namespace dossier::research
