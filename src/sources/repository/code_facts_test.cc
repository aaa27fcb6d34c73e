#include "sources/repository/code_facts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier::sources {
namespace {

std::string NamesIn(Language language, std::string_view text) {
  std::vector<std::string> names;
  for (const Symbol& symbol : ReadCode(language, text).symbols) names.push_back(symbol.name);
  return Join(names, " ");
}

std::string ImportsIn(Language language, std::string_view text) {
  return Join(ReadCode(language, text).imports, " ");
}

TEST(CodeFactsTest, DeclarationsAreFoundInEachLanguage) {  // ASM-116
  struct Case {
    Language language;
    std::string_view text, names;
  };
  const Case kCases[] = {
      {Language::kCpp,
       "#define LIMIT 3\nnamespace a::b {\nint Add(int x) { return Call(x); }\n"
       "class Shape : public Base {\n public:\n  void Draw() const;\n private:\n"
       "  int size_;\n};\n}  // namespace\n",
       "LIMIT a Add Shape Draw"},
      {Language::kCpp,
       "// int No() {}\n/* class No {}; */\nconst char* kText = \"int No() {\";\n"
       "auto raw = R\"x(void No() { )x\";\nResult<int> Yes(std::string_view a,\n"
       "   int b = f({1, 2})) {\n  if (a) { No(); }\n}\n",
       "Yes"},
      {Language::kPython,
       "import os\n\ndef top(a):\n    def inner(): pass\n    return 1\n\n"
       "class Box(Base):\n    \"\"\"doc\n    def no(): pass\n    \"\"\"\n"
       "    async def open(self):\n        pass\n    def shut(self): pass\n",
       "top Box open shut"},
      {Language::kScript,
       "import x from './x'\nexport function load(path) {\n  return {a: 1}\n}\n"
       "const run = async (a) => {\n  if (a) { no() }\n}\n"
       "export default class Store extends Base {\n  get(key) { return /[{]/ }\n}\n"
       "export interface Row { a: string }\n",
       "load run Store get Row"},
      {Language::kGo,
       "package a\nimport (\n\t\"fmt\"\n)\ntype Box struct {\n\ta int\n}\n"
       "func (b *Box) Open(x int) error {\n\treturn nil\n}\nfunc Top() {}\n",
       "Box Open Top"},
      {Language::kRust,
       "use std::io;\npub(crate) fn run<'a>(x: &'a str) -> i32 { 1 }\n"
       "impl Shape for Box {\n    fn draw(&self) { let c = '{'; }\n}\n"
       "pub enum Kind { A, B }\n",
       "run Shape draw Kind"},
      {Language::kJava,
       "package a;\nimport a.b.C;\npublic class Main extends Base {\n"
       "  private int x = 1;\n  @Override\n  public void run(String[] a) { go(); }\n}\n",
       "Main run"},
      {Language::kMarkdown, "# One\ntext\n```\n# not\n```\n## Two words\n#hash\n", "One Two words"},
      {Language::kOther, "def x(): pass\n", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(NamesIn(c.language, c.text), c.names) << c.text;
}

TEST(CodeFactsTest, ImportsAreFoundInEachLanguage) {
  EXPECT_EQ(ImportsIn(Language::kCpp, "#include \"a/b.h\"\n#include <map>\n"), "a/b.h map");
  EXPECT_EQ(ImportsIn(Language::kPython, "import os.path\nfrom .a import b\n"), "os.path .a");
  EXPECT_EQ(ImportsIn(Language::kScript, "import {a} from './a'\nexport * from \"b\"\n"), "./a b");
  EXPECT_EQ(ImportsIn(Language::kGo, "import (\n\t\"fmt\"\n\tx \"a/b\"\n)\n"), "fmt a/b");
  EXPECT_EQ(ImportsIn(Language::kRust, "use crate::a::b;\n"), "crate::a::b");
  EXPECT_EQ(ImportsIn(Language::kJava, "import a.b.C;\n"), "a.b.C");
}

TEST(CodeFactsTest, AnOutlineIsDeclarationsOrFirstLines) {  // ASM-116
  const std::string_view code = "class A {\n  void F(int x) {\n    y();\n  }\n};\n";
  EXPECT_EQ(Outline(code, ReadCode(Language::kCpp, code)), "class A\n  void F(int x)\n");
  const std::string_view text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
  EXPECT_EQ(Outline(text, {}), "1\n2\n3\n4\n5\n6\n7\n8\n[left out: 2 of 10 lines]\n");
}

TEST(CodeFactsTest, AnyBytesAreReadToTheEnd) {
  constexpr std::string_view kBytes = "ab(){}[];:\"'`/*\\\n#= <class fn import R\"x( \xFF";
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(60); i > 0; --i)
      text += kBytes[random.Below(kBytes.size())];
    const auto language = static_cast<Language>(random.Below(8));
    const CodeFacts facts = ReadCode(language, text);
    for (const Symbol& symbol : facts.symbols) {
      EXPECT_GE(symbol.depth, 0);
      EXPECT_LE(symbol.line.size(), 160u);
      EXPECT_EQ(symbol.line.find('\n'), std::string::npos);
    }
    Outline(text, facts);
  }
}

// Each of these took minutes: what was read before was looked through again for each brace, blank
// line, colon or quote.
TEST(CodeFactsTest, TheTimeGrowsWithTheText) {
  const auto repeated = [](std::string_view text, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) all += text;
    return all;
  };
  constexpr std::size_t kHalf = 512 << 10;
  const std::string blanks(kHalf, ' ');
  const std::pair<Language, std::string> kCases[] = {
      {Language::kScript, "import " + repeated("{}", 2 * kHalf)},
      {Language::kScript, repeated("<", kHalf) + "import " + repeated("{}", kHalf)},
      {Language::kGo, "a," + repeated("\n", 2 * kHalf)},
      {Language::kScript, blanks + "'a'" + repeated("b,\n", kHalf)},
      {Language::kCpp, blanks + "'a'" + repeated(":", kHalf)},
      {Language::kCpp, repeated("R\"", 2 * kHalf)},
  };
  const auto begun = std::chrono::steady_clock::now();
  for (const auto& [language, text] : kCases) ReadCode(language, text);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(ImportGraphTest, AnImportIsTheFileThatEndsLikeIt) {
  const std::vector<std::string> paths = {"src/base/files/walk.cc",
                                          "src/base/files/walk.h",
                                          "py/a/__init__.py",
                                          "py/a/b.py",
                                          "web/util.ts",
                                          "lib/util.ts",
                                          "r/src/x/y.rs"};
  const ImportGraph graph(paths);
  EXPECT_EQ(graph.Find("src/cli/x.cc", "base/files/walk.h"), 1u);
  EXPECT_EQ(graph.Find("py/c.py", "a.b"), 3u);
  EXPECT_EQ(graph.Find("py/c.py", "a"), 2u);
  EXPECT_EQ(graph.Find("web/main.ts", "./util"), 4u);
  EXPECT_EQ(graph.Find("lib/main.ts", "./util"), 5u);
  EXPECT_EQ(graph.Find("r/src/main.rs", "crate::x::y::Name"), 6u);
  EXPECT_EQ(graph.Find("py/c.py", "os.path"), std::nullopt);
}

}  // namespace
}  // namespace dossier::sources
