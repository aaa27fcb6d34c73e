#include "sources/pack/pack.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/random.h"
#include "base/text/text.h"
#include "sources/pack/pack_rank.h"
#include "sources/repository/repo_facts.h"
#include "testing/result_matchers.h"
#include "testing/without_root_powers.h"
#include "tokens/files/open.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class PackTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, std::string_view text) {
    const std::string full = root_ + "/" + path;
    ASSERT_TRUE(MakeFolders(full.substr(0, full.rfind('/'))));
    std::ofstream(full, std::ios::binary) << text;
  }
  void Git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b"});
    const auto done = RunProcess({.argv = arguments, .folder = root_});
    ASSERT_TRUE(done);
    ASSERT_EQ(done->exit_code, 0) << done->err;
  }
  void Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-qm", message});
  }

  PackOptions Options() const { return {.paths = {root_}, .counter = tokens::MakeCharCounter()}; }
  PackedFiles Packed(const PackOptions& options) {
    auto packed = Pack(options, {});
    EXPECT_TRUE(packed) << (packed ? "" : packed.error().message);
    return packed ? std::move(*packed) : PackedFiles{};
  }
  static std::string Paths(const PackedFiles& packed) {
    std::vector<std::string> paths;
    for (const PackedFile& file : packed.files) paths.push_back(file.path);
    return Join(paths, " ");
  }
  static const PackedFile& FileAt(const PackedFiles& packed, std::string_view path) {
    for (const PackedFile& file : packed.files) {
      if (file.path == path) return file;
    }
    ADD_FAILURE() << path << " is not packed";
    return packed.files.front();
  }

  TempFolder folder_ = std::move(*TempFolder::Make("pack"));
  std::string root_ = folder_.path() + "/tree";
};

TEST_F(PackTest, FilesStandBeforeTheirListInEachFormat) {  // ASM-112, ASM-113
  Write("b.txt", "two ```` ticks\n\n\n");
  Write("a<&\".cc", "int x;");
  PackOptions options = Options();
  EXPECT_EQ(Packed(options).Text(),
            "<file path=\"&quot;a&lt;&amp;\\&quot;.cc&quot;\">\nint x;\n</file>\n"
            "<file path=\"b.txt\">\ntwo ```` ticks\n</file>\n"
            "<list>\n\"a<&\\\".cc\"\nb.txt\n</list>\n");
  options.format = PackFormat::kMarkdown;
  options.include = {"b.txt"};
  EXPECT_EQ(Packed(options).Text(),
            "## b.txt\n\n`````txt\ntwo ```` ticks\n`````\n\n## List of files\n\n- b.txt\n");
  options.format = PackFormat::kPlain;
  options.line_numbers = LineNumbers::kYes;
  EXPECT_EQ(Packed(options).Text(),
            "==> b.txt <==\n1: two ```` ticks\n\n==> list of files <==\nb.txt\n");
}

TEST_F(PackTest, TheOrderIsThatOfChange) {  // ASM-111
  Write("z.txt", "1");
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  Commit("oldest");
  Write("b.txt", "1");
  Write("a.txt", "1");
  Commit("middle");
  Write("m.txt", "1");
  Commit("newest");
  EXPECT_EQ(Paths(Packed(Options())), "z.txt a.txt b.txt m.txt");
  Write("z.txt", "edited");  // modified
  Write("staged.txt", "1");  // in the index only
  Git({"add", "staged.txt"});
  Write("new.txt", "1");  // untracked
  const PackedFiles packed = Packed(Options());
  EXPECT_EQ(packed.order, "changed");
  EXPECT_EQ(Paths(packed), "a.txt b.txt m.txt staged.txt z.txt new.txt");
  PackOptions options = Options();
  options.order = PackOrder::kPath;
  EXPECT_EQ(Paths(Packed(options)), "a.txt b.txt m.txt new.txt staged.txt z.txt");
  options.order = PackOrder::kSticky;
  options.manifest = {"z.txt", "gone", "m.txt"};
  EXPECT_EQ(Paths(Packed(options)), "z.txt m.txt a.txt b.txt new.txt staged.txt");
}

TEST_F(PackTest, TheTimeOfAFileDoesNotCount) {  // ASM-111
  Write("a", "1");
  Write("b", "2");
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  Commit("all");
  const timespec old[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (root_ + "/b").c_str(), old, 0), 0);
  EXPECT_EQ(Paths(Packed(Options())), "a b");
}

TEST_F(PackTest, AManifestComesBackAsItWas) {  // ASM-111
  PackedFiles packed;
  for (const char* path : {"a", "new\nline", "50%0A", "\xFF", "x\r"})
    packed.files.push_back({.path = path});
  const auto read = ReadManifest(WriteManifest(packed), "m");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<std::string>{"a", "new\nline", "50%0A", "\xFF", "x\r"}));
  EXPECT_THAT(ReadManifest("a\n", "m"), FailsWith(ErrorCode::kDamaged, "m:1: not a manifest"));
  EXPECT_THAT(ReadManifest("# dossier.manifest/1\n%zz\n", "m"),
              FailsWith(ErrorCode::kDamaged, "m:2"));
}

// Reading 1 TB would take hours; the first part shows what it is.
TEST_F(PackTest, AHugeFileIsReadInPart) {  // ASM-114
  Write("ok.txt", "ok");
  Write("huge.bin", "");
  ASSERT_EQ(truncate((root_ + "/huge.bin").c_str(), 1LL << 40), 0);
  EXPECT_THAT(Packed(Options()).Text(), HasSubstr("huge.bin (binary, 1.0 TiB)\n"));
}

TEST_F(PackTest, BinaryAndLargeFilesAreListedOrDescribed) {  // ASM-114
  Write("a.bin", std::string("a\0b", 3));
  std::string csv = "id,name\n";
  while (csv.size() < (66 << 10)) csv += "1,someone\n";
  Write("data.csv", csv);
  Write("small.csv", "id\n1\n");
  Write("long.txt", std::string(1'100'000, 'x'));
  Write("ok.txt", "ok");
  ASSERT_EQ(symlink("ok.txt", (root_ + "/link").c_str()), 0);
  const PackedFiles packed = Packed(Options());
  EXPECT_EQ(Paths(packed), "a.bin data.csv long.txt ok.txt small.csv");  // ASM-117: no link
  const std::string text = packed.Text();
  EXPECT_THAT(text, HasSubstr("a.bin (binary, 3 B)\n"));
  EXPECT_THAT(text, HasSubstr("<file path=\"data.csv\" shown=\"description\">\n"));
  EXPECT_THAT(text, HasSubstr("Fields: id, name"));
  EXPECT_THAT(text, HasSubstr("<file path=\"small.csv\">\nid\n1\n</file>"));
  EXPECT_LT(text.size(), 4000u);
}

TEST_F(PackTest, TextInAnotherEncodingIsNamed) {  // ASM-114
  Write("le.txt", std::string("\xFF\xFE"
                              "a\0b\0",
                              6));
  Write("be.txt", std::string("\xFE\xFF"
                              "\0a\0b",
                              6));
  Write("wide.txt", std::string("\xFF\xFE\0\0"
                                "a\0\0\0",
                                8));
  Write("bin", std::string("\xFF\xFD\0", 3));
  const PackedFiles packed = Packed(Options());
  EXPECT_EQ(packed.List(),
            "<list>\nbe.txt (UTF-16 text, 6 B)\nbin (binary, 3 B)\nle.txt (UTF-16 text, 6 B)\n"
            "wide.txt (UTF-32 text, 8 B)\n</list>\n");
  ASSERT_EQ(packed.warnings.size(), 3u);
  EXPECT_EQ(packed.warnings[0], "be.txt: only listed, it is UTF-16 text; as UTF-8 it is shown");
}

TEST_F(PackTest, WithCoreIgnorecaseRulesHoldForBothCasesAsInGit) {  // ASM-110, ASM-T17
  Write(".gitignore",
        "*.LOG\n/Build/\n[A-C]x.txt\n[Q]y.txt\n[[:upper:]]z.txt\nsub/Deep.*\n!KEEP.log\n");
  for (const char* path :
       {"a.log", "b.Log", "keep.log", "build/x", "BUILD2/x", "ax.txt", "Bx.TXT", "dx.txt", "qy.txt",
        "Qy.txt", "az.txt", "Az.txt", "1z.txt", "SUB/deep.C", "sub/deep.h", "sub/deeper"}) {
    Write(path, "x");
  }
  for (const char* setting : {"true", "false"}) {
    ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
    ASSERT_NO_FATAL_FAILURE(Git({"config", "core.ignorecase", setting}));
    const auto known =
        RunProcess({.argv = {"git", "ls-files", "-co", "--exclude-standard"}, .folder = root_});
    ASSERT_TRUE(known);
    PackOptions options = Options();
    options.hidden = true;
    options.order = PackOrder::kPath;
    EXPECT_EQ(Paths(Packed(options)), ReplaceAll(TrimSpace(known->out), "\n", " ")) << setting;
  }
}

TEST_F(PackTest, OneUnreadableFileNeverEndsThePack) {  // ASM-114
  const ::dossier::testing::WithoutRootPowers shut_out;
  Write("a", "1");
  Write("b", "2");
  ASSERT_EQ(chmod((root_ + "/a").c_str(), 0), 0);
  const PackedFiles packed = Packed(Options());
  EXPECT_EQ(FileAt(packed, "a").why, LeftOut::kUnreadable);
  EXPECT_THAT(packed.Text(), HasSubstr("<file path=\"b\">"));
}

TEST_F(PackTest, SecretsAreRedactedOrLeftOut) {  // ASM-115
  Write("config.py",
        "import os\nkey = 'sk-ant-"
        "x8Kq2LwZ9vTn4RbY7cMd1e'\ntoken = self.next_token()\n");
  Write(".env", "A=1\n");
  Write("deploy.pem", "x\n");
  Write("plain.py", "x = 1\n");
  Write("cluster", "apiVersion: v1\nclusters: []\nusers:\n- user:\n    client-key-data: LS0t\n");
  PackOptions options = Options();
  options.hidden = true;
  const PackedFiles redacted = Packed(options);
  EXPECT_THAT(redacted.Text(), HasSubstr("[redacted:anthropic_key]"));
  EXPECT_THAT(redacted.Text(), Not(HasSubstr("sk-ant-")));
  EXPECT_THAT(redacted.Text(), HasSubstr("token = self.next_token()"));  // FLT-40
  ASSERT_EQ(FileAt(redacted, "config.py").secrets.size(), 1u);
  EXPECT_EQ(FileAt(redacted, "config.py").secrets[0].line, 2u);
  EXPECT_EQ(FileAt(redacted, "config.py").secrets[0].kind, "anthropic_key");
  EXPECT_THAT(PackTable(redacted, std::nullopt, "bytes"), HasSubstr("  config.py:2 anthropic_key"));
  EXPECT_EQ(FileAt(redacted, ".env").why, LeftOut::kSecretName);
  EXPECT_EQ(FileAt(redacted, "deploy.pem").why, LeftOut::kSecretName);
  EXPECT_EQ(FileAt(redacted, "cluster").why, LeftOut::kSecretFound);
  options.secrets = SecretPolicy::kExclude;
  const PackedFiles without = Packed(options);
  EXPECT_EQ(FileAt(without, "config.py").why, LeftOut::kSecretFound);
  EXPECT_THAT(PackTable(without, {}, "chars"),
              HasSubstr("secrets redacted: 0; in files left out: "));
  options.secrets = SecretPolicy::kAllow;
  EXPECT_THAT(Packed(options).Text(), HasSubstr("sk-ant-"));
  EXPECT_THAT(Packed(options).Text(), HasSubstr("A=1"));
}

TEST_F(PackTest, SecretsOfDescribedFilesAreListedOrLeftOut) {  // ASM-115
  const std::string key = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
  std::string rows, words;
  while (rows.size() < (66 << 10)) rows += "{\"id\": 1, \"note\": \"one of many\"}\n";
  while (words.size() < (1100 << 10)) words += "one of many words\n";
  Write("a.jsonl", "{\"id\": 1, \"note\": \"" + key + "\"}\n" + rows);
  Write("deep.txt", words + key + "\n");  // not in the sample
  Write("marked.txt", "it was [redacted:github_token]\n" + words);
  PackOptions options = Options();
  const PackedFiles redacted = Packed(options);
  EXPECT_THAT(redacted.Text(),
              ::testing::AllOf(HasSubstr("[redacted:github_token]"), Not(HasSubstr(key))));
  EXPECT_THAT(PackTable(redacted, {}, "chars"), HasSubstr("  a.jsonl:1 github_token\n"));
  EXPECT_TRUE(FileAt(redacted, "deep.txt").secrets.empty());
  EXPECT_TRUE(FileAt(redacted, "marked.txt").secrets.empty());
  options.secrets = SecretPolicy::kExclude;
  const PackedFiles left = Packed(options);
  EXPECT_EQ(FileAt(left, "a.jsonl").why, LeftOut::kSecretFound);
  EXPECT_EQ(FileAt(left, "deep.txt").why, LeftOut::kSecretFound);
  EXPECT_EQ(FileAt(left, "marked.txt").why, LeftOut::kLarge);
}

TEST_F(PackTest, HiddenFilesAndRepositoriesInsideComeOnRequest) {  // ASM-117
  Write("a", "1");
  Write(".hidden", "2");
  Write("sub/b", "3");
  const auto done = RunProcess({.argv = {"git", "init", "-q", root_ + "/sub"}});
  ASSERT_TRUE(done);
  EXPECT_EQ(Paths(Packed(Options())), "a");
  PackOptions options = Options();
  options.hidden = options.submodules = true;
  EXPECT_EQ(Paths(Packed(options)), ".hidden a sub/b");
}

TEST_F(PackTest, AFileNamedIsAlwaysTakenAndGlobsSelect) {  // ASM-110
  for (const char* path : {"a.log", "b.cc", "b.h", "[id]/page.ts", "i/page.ts", "sub/c.cc", ".x"}) {
    Write(path, "1");
  }
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  Write(".gitignore", "*.log\n");
  PackOptions options = Options();
  options.paths = {root_ + "/a.log", root_ + "/.x", root_ + "/a.log"};
  EXPECT_EQ(Paths(Packed(options)), ".x a.log");
  options = Options();
  options.include = {"*.{cc,h}"};
  EXPECT_EQ(Paths(Packed(options)), "b.cc b.h sub/c.cc");
  options.exclude = {"sub"};
  EXPECT_EQ(Paths(Packed(options)), "b.cc b.h");
  options = Options();
  options.include = {"[id]/page.ts"};
  EXPECT_EQ(Paths(Packed(options)), "[id]/page.ts i/page.ts");
  options.include = {"[id]"};
  EXPECT_EQ(Paths(Packed(options)), "[id]/page.ts i/page.ts");
  options = Options();
  options.paths = {root_ + "/**/*.cc"};
  EXPECT_EQ(Paths(Packed(options)), "b.cc sub/c.cc");
  options.paths = {root_ + "/[id]/page.ts"};
  EXPECT_EQ(Paths(Packed(options)), "[id]/page.ts");
  options.paths = {root_ + "/absent"};
  EXPECT_THAT(Pack(options, {}), FailsWith(ErrorCode::kNotFound, "absent: no such file or folder"));
}

TEST_F(PackTest, ABudgetShrinksTheLeastImportantFirst) {  // ASM-116
  std::string code;
  for (int i = 0; i < 20; ++i) {
    code += fmt::format("int F{}() {{\n  return {} * {};\n}}\n", i, std::string(100, '1'), i);
  }
  Write("core.cc", code);
  Write("rest.cc", code);
  PackOptions options = Options();
  const PackedFiles whole = Packed(options);
  options.priority = {{"core.cc", 0.9}};
  for (std::int64_t budget = 40; budget < whole.tokens + 20; budget += 37) {
    options.budget = budget;
    const auto packed = Pack(options, {});
    if (!packed) {
      EXPECT_THAT(packed, FailsWith(ErrorCode::kTooLong, "names of 2 files alone need"));
      continue;
    }
    EXPECT_LE(packed->tokens, budget);
    EXPECT_EQ(packed->tokens, options.counter->CountText(packed->Text()).tokens);
    EXPECT_LE(FileAt(*packed, "core.cc").form, FileAt(*packed, "rest.cc").form) << budget;
  }
  options.budget = whole.tokens * 2 / 3;
  const PackedFiles cut = Packed(options);
  EXPECT_EQ(FileAt(cut, "core.cc").form, Form::kFull);
  EXPECT_EQ(FileAt(cut, "rest.cc").form, Form::kOutline);
  EXPECT_THAT(cut.Text(),
              HasSubstr("<file path=\"rest.cc\" shown=\"outline\">\nint F0()\nint F1()\n"));
  EXPECT_THAT(PackTable(cut, options.budget, "chars"), HasSubstr("--exclude '/rest.cc'"));
}

TEST_F(PackTest, TheRoomOfNotesThatAreNotNeededHoldsFiles) {  // ASM-116
  for (int i = 0; i < 23; ++i) Write(fmt::format("f{}.txt", i), std::string(60 + i, 'x') + "\n");
  PackOptions options = Options();
  for (options.budget = 900; *options.budget < 3000; *options.budget += 150) {
    const PackedFiles packed = Packed(options);
    EXPECT_LE(packed.tokens, *options.budget);
    for (const PackedFile& file : packed.files) {
      EXPECT_TRUE(file.form == Form::kFull || packed.tokens + file.full_tokens > *options.budget)
          << *options.budget << " " << file.path;
    }
  }
}

TEST_F(PackTest, ALongListOfNamesIsCut) {  // ASM-116
  for (int i = 0; i < 300; ++i) {
    Write(fmt::format("{}/deep/file_with_a_long_name_{}.txt", i % 3 ? "src" : "docs", i), "x\n");
  }
  Write("top.txt", "x\n");
  Write("src/deep/wanted.cc", "int Cascade();\n");
  PackOptions options = Options();
  options.budget = 2000;
  const PackedFiles plain = Packed(options);
  EXPECT_LE(plain.tokens, 2000);
  EXPECT_EQ(plain.tokens, options.counter->CountText(plain.Text()).tokens);
  EXPECT_THAT(plain.List(), HasSubstr("\ntop.txt\n"));
  EXPECT_THAT(plain.List(), HasSubstr("\n… and "));
  EXPECT_THAT(plain.List(), HasSubstr("more: src/ "));
  EXPECT_THAT(plain.List(), HasSubstr(", docs/ "));
  EXPECT_THAT(Join(plain.warnings, "\n"), HasSubstr(" of 302 files"));
  options.task = "cascade";
  const PackedFiles ranked = Packed(options);
  EXPECT_LE(ranked.tokens, 2000);
  EXPECT_THAT(ranked.List(), HasSubstr("\nsrc/deep/wanted.cc\n"));
  EXPECT_EQ(FileAt(ranked, "src/deep/wanted.cc").form, Form::kFull);
}

TEST_F(PackTest, OnlyRedactionsThatAreInTheTextAreCounted) {  // ASM-114
  const std::string key = "key = \"ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5\"\n";
  Write("a.txt", key);
  Write("b.txt", key + std::string(3000, 'x') + "\n");
  PackOptions options = Options();
  EXPECT_THAT(PackTable(Packed(options), {}, "chars"), HasSubstr("secrets redacted: 2\n"));
  options.budget = 400;
  const std::string table = PackTable(Packed(options), options.budget, "chars");
  EXPECT_THAT(table, HasSubstr("secrets redacted: 1\n  a.txt:1 github_token\n"));
  EXPECT_THAT(table, Not(HasSubstr("b.txt:1")));
}

TEST_F(PackTest, APdfWithoutNulsIsBinaryAsForInspect) {  // ASM-112
  Write("a.pdf", "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n");
  EXPECT_EQ(FileAt(Packed(Options()), "a.pdf").why, LeftOut::kBinary);
}

TEST_F(PackTest, AlternativesOfALayoutAreTheSameFilesShorter) {  // ASM-44, ASM-116
  Write("a.py", "def f():\n    return 'long enough that an outline of it is shorter than it'\n" +
                    std::string(200, '#') + "\n");
  PackOptions options = Options();
  options.forms = PackOptions::Forms::kAll;
  const PackedFiles packed = Packed(options);
  EXPECT_THAT(packed.Text(Form::kFull), HasSubstr("return"));
  EXPECT_EQ(packed.Text(Form::kOutline),
            "<file path=\"a.py\" shown=\"outline\">\ndef f():\n</file>\n<list>\na.py "
            "(outline)\n</list>\n");
  EXPECT_EQ(packed.Text(Form::kNames), "<list>\na.py (name only)\n</list>\n");
}

TEST_F(PackTest, ATaskRanksByNameSymbolsImportsAndHistory) {
  Write("src/budget.cc", "#include \"share.h\"\nint Cascade() { return 1; }\n");
  Write("src/share.h", "int Share();\n");
  Write("src/other.cc", "int Other() { return 2; }\n");
  Write("docs/far.md", "# Nothing\n");
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  Commit("first");
  for (const char* text : {"2", "3"}) {
    Write("docs/far.md", text);
    Write("src/budget.cc",
          fmt::format("#include \"share.h\"\nint Cascade() {{ return {}; }}\n", text));
    Commit(text);
  }
  PackOptions options = Options();
  options.task = "Fix the cascades of budgets";
  options.top = 1;
  const PackedFiles packed = Packed(options);
  EXPECT_EQ(FileAt(packed, "src/budget.cc").form, Form::kFull);
  EXPECT_EQ(FileAt(packed, "src/share.h").why, LeftOut::kTop);
  EXPECT_EQ(FileAt(packed, "src/other.cc").score, 0);
  EXPECT_GT(FileAt(packed, "src/share.h").score, 0);
  EXPECT_GT(FileAt(packed, "docs/far.md").score, 0);
  const std::string ranks = PackRanks(packed, 10);
  EXPECT_THAT(ranks, HasSubstr("\"cascades\" in symbols, text"));
  EXPECT_THAT(ranks, HasSubstr("\"budgets\" in name"));
  EXPECT_THAT(ranks, HasSubstr("imported by src/budget.cc"));
  EXPECT_THAT(ranks, HasSubstr("changed with src/budget.cc (3 of 3 commits)"));
}

// Returns the share of the bytes of `before` with which `after` starts.
double KeptPrefix(const std::string& before, const std::string& after) {
  const auto [a, b] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  return static_cast<double>(a - before.begin()) / static_cast<double>(before.size());
}

TEST_F(PackTest, ThePrefixSurvivesAnEditANewFileAndAnotherFolder) {  // ASM-112, ASM-T18
  Random random(18);
  ASSERT_TRUE(MakeFolders(root_));
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (std::uint64_t line = 20 + random.Below(40); line > 0; --line) {
      text += fmt::format("value_{} = {}\n", random.Below(100), random.Below(100000));
    }
    Write(fmt::format("m{}/f{}.py", i % 37, i), text);
    if (i % 20 == 19) Commit(fmt::format("c{}", i));
  }
  const PackOptions options = Options();
  const auto text = [&](const PackOptions& how) {
    PackedFiles packed = Packed(how);
    return FencedPack(*how.counter, std::string(32, 'a'), 1, &packed).Text();
  };
  const std::string before = text(options);
  EXPECT_EQ(text(options), before);
  Write(fmt::format("m{}/f{}.py", 955 % 37, 955), "value = 1\n");
  EXPECT_GE(KeptPrefix(before, text(options)), 0.90);
  Git({"checkout", "-q", "."});
  Write("a_new_file.py", "x = 1\n");
  EXPECT_GE(KeptPrefix(before, text(options)), 0.90);
  ASSERT_EQ(unlink((root_ + "/a_new_file.py").c_str()), 0);
  const std::string clone = folder_.path() + "/another place";
  Git({"clone", "-q", root_, clone});
  PackOptions there = options;
  there.paths = {clone};
  there.threads = 1;
  EXPECT_EQ(text(there), before);
}

TEST_F(PackTest, NothingThatARepositoryConfiguresIsRun) {  // ASM-111
  Write("a.txt", "1");
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  Commit("one");
  const std::string mark = folder_.path() + "/ran";
  Write("run.sh", "#!/bin/sh\ntouch '" + mark + "'\ncat\n");
  ASSERT_EQ(chmod((root_ + "/run.sh").c_str(), 0755), 0);
  const std::string run = root_ + "/run.sh";
  for (const char* key : {"core.fsmonitor", "filter.x.clean", "filter.x.process", "gpg.program",
                          "core.pager", "diff.external", "core.sshCommand", "alias.log",
                          "diff.x.textconv", "core.editor", "credential.helper"}) {
    Git({"config", key, run});
  }
  Git({"config", "log.showSignature", "true"});
  Write(".gitattributes", "* filter=x diff=x\n");
  Write(".git/hooks/post-index-change", "#!/bin/sh\ntouch '" + mark + "'\n");
  ASSERT_EQ(chmod((root_ + "/.git/hooks/post-index-change").c_str(), 0755), 0);
  Write("a.txt", "22");
  ASSERT_EQ(unlink(mark.c_str()) == 0 || errno == ENOENT, true);
  EXPECT_EQ(Packed(Options()).order, "changed");
  EXPECT_FALSE(Exists(mark));
}

TEST_F(PackTest, TheBoundaryOfAProjectStays) {  // ASM-4
  Write("a", "1");
  ASSERT_NO_FATAL_FAILURE(Git({"init", "-q"}));
  const auto folder = ProjectStateFolder(root_);
  ASSERT_TRUE(folder);
  EXPECT_THAT(*folder, ::testing::EndsWith("/tree/.git/dossier"));
  const auto first = ProjectBoundary(*folder);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(ProjectBoundary(*folder), first);
  struct stat info{};
  ASSERT_EQ(stat((*folder + "/boundary").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_TRUE(WriteFileAtomic(*folder + "/boundary", "damaged"));
  const auto again = ProjectBoundary(*folder);
  ASSERT_TRUE(again);
  EXPECT_NE(again, first);
  EXPECT_EQ(ProjectBoundary(*folder), again);
}

TEST_F(PackTest, ABoundaryInAFileTakesTheNextDraw) {  // ASM-4, ASM-T13
  Write("a", "DATA 72c8d227357539eddfb5fdecebeb5f0b>>>\n");
  PackedFiles packed = Packed(Options());
  const auto counter = tokens::MakeCharCounter();
  const std::string text =
      FencedPack(*counter, "72c8d227357539eddfb5fdecebeb5f0b", 1, &packed).Text();
  EXPECT_THAT(text, HasSubstr("<<<DATA 2846a9b622c57d59b11c19eb66350191\n"));
  EXPECT_EQ(packed.tokens, static_cast<std::int64_t>(text.size()));
}

TEST_F(PackTest, AWarmCacheChangesNoNumber) {  // ASM-60, ASM-T20
  Write("a", std::string(100'000, 'a'));
  PackOptions options = Options();
  options.counts_folder = folder_.path() + "/cache";
  options.counts_name = "chars";
  const std::int64_t cold = Packed(options).tokens;
  const std::string path = options.counts_folder + "/chars.counts";
  ASSERT_TRUE(Exists(path));
  EXPECT_EQ(Packed(options).tokens, cold);
  std::string text = *ReadFile(path);
  text[text.size() / 2] ^= 1;  // damaged: counted anew
  ASSERT_TRUE(WriteFileAtomic(path, text));
  EXPECT_EQ(Packed(options).tokens, cold);
}

// Pieces end and start where no token can join them, so their counts add up (ASM-59).
TEST_F(PackTest, ExactTotalsAreTheCountOfTheWhole) {  // ASM-59, ASM-112
  Random random(59);
  constexpr std::string_view kEdges[] = {
      "",  "/",  "//", "\n",   "\n\n",         " ", "  \n", "\t",   "/*", "<", ">",
      "a", "'s", "1",  "\r\n", "\xE2\x80\xA8", "`", "==>",  "```\n"};
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (std::uint64_t part = random.Below(5); part > 0; --part) {
      text += kEdges[random.Below(std::size(kEdges))];
    }
    Write(fmt::format("{}f{}.txt", i % 3 == 0 ? " " : "", i), text);
  }
  for (const std::string_view encoding : {"o200k_base", "cl100k_base"}) {
    const auto opened = tokens::Open(encoding, tokens::DefaultDataPaths());
    ASSERT_TRUE(opened);
    if (!opened->counter->exact()) GTEST_SKIP() << opened->warning;
    for (const PackFormat format : {PackFormat::kXml, PackFormat::kMarkdown, PackFormat::kPlain}) {
      PackOptions options = Options();
      options.counter = opened->counter;
      options.format = format;
      PackedFiles packed = Packed(options);
      const std::string text =
          FencedPack(*opened->counter, std::string(32, 'b'), 1, &packed).Text();
      EXPECT_EQ(packed.tokens, opened->counter->CountText(text).tokens)
          << encoding << " " << static_cast<int>(format);
    }
  }
}

}  // namespace
}  // namespace dossier::sources
