#include "cli/markdown/code_block.h"

#include <gtest/gtest.h>

namespace dossier::cli {
namespace {

// FLT-141
TEST(LastCodeBlock, IsTheContentOfTheLastFence) {
  EXPECT_EQ(LastCodeBlock("no code"), std::nullopt);
  EXPECT_EQ(LastCodeBlock("a `x` b"), std::nullopt);
  EXPECT_EQ(LastCodeBlock("```x``` inline\n"), std::nullopt);
  EXPECT_EQ(LastCodeBlock("```\none\n```\ntext\n~~~py\ntwo\n```\n~~~\nend"), "two\n```\n");
  EXPECT_EQ(LastCodeBlock("```sh\r\nmake\r\n```\r\n"), "make\r\n");
  EXPECT_EQ(LastCodeBlock("1. Do:\n   ```sh\n   if x; then\n     y\n   fi\n   ```\n"),
            "if x; then\n  y\nfi\n");
  EXPECT_EQ(LastCodeBlock("```\nopen\nend"), "open\nend");  // a reply that was cut
  EXPECT_EQ(LastCodeBlock("```\n```"), "");
}

std::string Marked(CodeColors& colors, std::string_view line) {
  std::string out, plain;
  for (const StyledText& piece : colors.Line(line)) {
    plain += piece.text;
    const char* mark = Has(piece.style, Style::kDim)       ? "c"
                       : Has(piece.style, Style::kCode)    ? "t"
                       : Has(piece.style, Style::kHeading) ? "n"
                       : Has(piece.style, Style::kBold)    ? "k"
                                                           : "";
    out += *mark ? std::string(mark) + "<" + piece.text + ">" : piece.text;
  }
  EXPECT_EQ(plain, line);
  return out;
}

// FLT-137
TEST(CodeColors, TellCommentsTextsNumbersAndKeptWords) {
  CodeColors python("python");
  EXPECT_EQ(Marked(python, "def f(x1): return x1 // 2  # half"),
            "k<def> f(x1): k<return> x1 // n<2>  c<# half>");
  EXPECT_EQ(Marked(python, "s = 'it\\'s' + \"#no\""), "s = t<'it\\'s'> + t<\"#no\">");
  EXPECT_EQ(Marked(python, "d = '''one"), "d = t<'''one>");
  EXPECT_EQ(Marked(python, "two''' + 3"), "t<two'''> + n<3>");
  CodeColors cpp("cpp");
  EXPECT_EQ(Marked(cpp, "#include <a>  /* one"), "#include <a>  c</* one>");
  EXPECT_EQ(Marked(cpp, "two */ if (x)  // why"), "c<two */> k<if> (x)  c<// why>");
  CodeColors sql("sql");
  EXPECT_EQ(Marked(sql, "SELECT 'x' -- why"), "SELECT t<'x'> c<-- why>");
  CodeColors none("");
  EXPECT_EQ(Marked(none, "don't ä http"), "don't ä http");
}

}  // namespace
}  // namespace dossier::cli
