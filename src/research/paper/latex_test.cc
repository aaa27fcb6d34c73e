#include "research/paper/latex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kFigures[] = {"loss.png", "speed up.png"};
const std::string kKeys[] = {"knuth84", "a:b"};
const LatexInputs kInputs{.figures = kFigures, .keys = kKeys};

std::vector<std::string> CheckBody(std::string_view body) {
  return CheckLatex(fmt::format("\\documentclass{{article}}\n\\begin{{document}}\n{}\n"
                                "\\end{{document}}\n",
                                body),
                    kInputs);
}

TEST(LatexCheckTest, AWholePaperPasses) {  // RSP-43
  EXPECT_THAT(CheckBody(R"(\section*{One} 50\% of \citet[see][p.~2]{knuth84, a:b} \nocite{*}
% \includegraphics{not-there} \write18{x}
\begin{verbatim}
\end{figure} \input{/etc/passwd} % no comment
\end{verbatim}
\begin{figure}
  \includegraphics[width=.5\linewidth]{figures/loss.png}
  \includegraphics {speed up}
\end{figure}
\bibliography{references})"),
              IsEmpty());
}

TEST(LatexCheckTest, EachFaultIsToldWithItsLine) {  // RSP-43, RSP-T17
  struct Case {
    std::string_view body, fault;
  };
  constexpr Case kCases[] = {
      {"\\includegraphics{gone.png}",
       "line 3: there is no figure gone.png; there are: loss.png, speed up.png"},
      {"x\n\\cite{knuth84,gone}", "line 4: there is no reference gone in references.bib"},
      {"\\citep{}", "there is no reference \"\""},
      {"\\immediate\\write18{rm -r /}", "line 3: \\write18 runs a program"},
      {"\\write 18{rm}", "\\write18 runs a program"},
      {"\\directlua{os.exit()}", "\\directlua is not allowed"},
      {"\\input{/etc/passwd}", "\\input{/etc/passwd} is outside the folder"},
      {"\\input ../secret", "\\input{../secret} is outside"},
      {"\\input{|ls}", "\\input{|ls} is outside"},
      {"\\include{a/../../b}", "is outside the folder"},
      {"\\lstinputlisting[x]{\\jobname}", "is outside the folder"},
      {"\\bibliography{references,/a}", "\\bibliography{/a} is outside"},
      {"\\begin{itemize}", "line 3: \\begin{itemize} has no \\end{itemize}"},
      {"\\begin{a}\\begin{b}\\end{a}\\end{b}", "\\begin{b} has no \\end{b}"},
      {"\\end{center}", "line 3: \\end{center} has no \\begin{center}"},
  };
  for (const Case& c : kCases) {
    const std::vector<std::string> faults = CheckBody(c.body);
    ASSERT_FALSE(faults.empty()) << c.body;
    bool told = false;
    for (const std::string& fault : faults) told |= fault.find(c.fault) != std::string::npos;
    EXPECT_TRUE(told) << c.body << ": " << ::testing::PrintToString(faults);
  }
  EXPECT_THAT(CheckLatex("\\section{x}", kInputs), ElementsAre("there is no \\begin{document}"));
}

TEST(LatexCheckTest, ManyFaultsAreCounted) {
  std::string body;
  for (int i = 0; i < 50; ++i) body += "\\cite{no}\n";
  const auto faults = CheckBody(body);
  EXPECT_EQ(faults.size(), 21U);
  EXPECT_EQ(faults.back(), "and 30 more");
}

constexpr std::string_view kPaper = R"(\begin{document}
\begin{abstract} Short. \end{abstract}
First \ref{fig:loss} says it.

Nothing here.

\begin{figure}[t]\centering
\includegraphics[width=\linewidth]{figures/loss.png}
\caption{Loss {\em falls}.}\label{fig:loss}
\end{figure}

Also in \autoref{fig:loss}.
\begin{figure*}
\includegraphics{loss}\includegraphics{b.png}
\end{figure*}
\end{document})";

TEST(LatexFiguresTest, AFigureHasItsImagesCaptionAndReferences) {  // RSP-44
  const std::vector<PaperFigure> figures = FiguresOf(kPaper);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_THAT(figures[0].images, ElementsAre("figures/loss.png"));
  EXPECT_EQ(figures[0].caption, "Loss {\\em falls}.");
  EXPECT_EQ(figures[0].label, "fig:loss");
  ASSERT_EQ(figures[0].references.size(), 2U);
  EXPECT_THAT(figures[0].references[0], HasSubstr("First"));
  EXPECT_THAT(figures[0].references[1], HasSubstr("Also in"));
  EXPECT_THAT(figures[1].images, ElementsAre("loss", "b.png"));
  EXPECT_EQ(AbstractOf(kPaper), "Short.");
}

TEST(LatexFiguresTest, ARemovedImageTakesItsFigureOnlyIfItStandsAlone) {  // RSP-44
  const std::string kept = WithoutFigure(kPaper, "loss.png");
  EXPECT_THAT(kept, Not(HasSubstr("fig:loss}\n\\end{figure}")));
  EXPECT_THAT(kept, HasSubstr("\\begin{figure*}\n\\includegraphics{b.png}\n\\end{figure*}"));
  EXPECT_EQ(WithoutFigure(kPaper, "other.png"), kPaper);
}

TEST(LatexTest, EscapedTextPassesTheChecks) {
  EXPECT_EQ(EscapeLatex("50 % of $a_b\\"), "50 \\% of \\$a\\_b\\textbackslash{}");
  Random random(/*seed=*/9);
  for (int round = 0; round < 500; ++round) {
    EXPECT_THAT(CheckBody(EscapeLatex(random.Utf8(80))), IsEmpty());
  }
}

TEST(LatexTest, AnyTextIsScanned) {
  constexpr std::string_view kPieces[] = {"\\begin{", "verbatim}", "\\end{", "figure}", "%", "\n",
                                          "\\",       "{",         "}",      "[",       "]", "a"};
  Random random(/*seed=*/21);
  for (int round = 0; round < 2000; ++round) {
    std::string tex;
    for (int i = 0; i < 30; ++i) tex += kPieces[random.Below(std::size(kPieces))];
    EXPECT_EQ(WithoutComments(tex).size(), tex.size());
    static_cast<void>(CheckLatex(tex, kInputs));
    static_cast<void>(WithoutFigure(tex, "a"));
    static_cast<void>(FiguresOf(tex));
  }
}

}  // namespace
}  // namespace dossier::research
