#include "research/paper/writeup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/locations.h"
#include "research/exec/exec_local.h"
#include "research/paper/latex.h"
#include "research/paper/latex_build.h"
#include "research/paper/review.h"
#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Document(std::string_view body) {
  return fmt::format(
      "\\documentclass{{article}}\n\\usepackage{{graphicx}}\n\\begin{{document}}\n"
      "{}\n\\end{{document}}\n",
      body);
}
std::string Fenced(std::string_view tex) { return fmt::format("```latex\n{}```\n", tex); }

class WriteupTest : public ::testing::Test {
 protected:
  WriteupTest() { rig_.config.writeup_reflections = 0; }
  Paper Make(const PaperParts& parts = {}) {
    for (const std::string& figure : parts.figures) rig_.Write("figures/" + figure, TinyPng());
    auto paper = MakePaper(rig_.services, rig_.results, parts, {});
    EXPECT_THAT(paper, Succeeds());
    return paper ? *paper : Paper();
  }
  // The template of a group: it has no parts.
  void WithOwnTemplate() {
    rig_.Write("template.tex", Document("Words."));
    rig_.config.writeup_template = rig_.folder() + "/template.tex";
  }
  void WithoutLatex() { rig_.script->On("command -v *"); }
  // A LaTeX that fails for documents containing `\bad`.
  void WithLatex() {
    rig_.script->On("command -v *").Says("latexmk\npdflatex\n");
    rig_.script->On("latexmk *")
        .Does([](const ExecCommand&, const std::string& folder,
                 const CancelToken&) -> Result<ExecResult> {
          const std::string tex = *ReadFile(folder + "/paper.tex");
          if (tex.find("\\bad") != std::string::npos) {
            static_cast<void>(
                WriteFileAtomic(folder + "/paper.log", "! Undefined control sequence.\nl.4 \\bad"));
            return ExecResult{.status = 12};
          }
          static_cast<void>(WriteFileAtomic(folder + "/paper.pdf", "%PDF-1.5 " + tex));
          static_cast<void>(WriteFileAtomic(folder + "/paper.log",
                                            "Output written on paper.pdf (9 pages, 12 bytes).\n"));
          return ExecResult{.status = 0};
        });
  }

  ResearchRig rig_;
};

TEST_F(WriteupTest, WithoutLatexThereIsASourceAndAMessage) {  // RSP-43, RSP-T17
  WithoutLatex();
  WithOwnTemplate();
  rig_.caller.Reply("writeup", Fenced(Document("Text.")));
  const Paper paper = Make({.figures = {"a.png"}});
  EXPECT_EQ(paper.tex, "paper/paper.tex");
  EXPECT_EQ(paper.pdf, "");
  EXPECT_THAT(paper.message, HasSubstr("none of latexmk, pdflatex and tectonic"));
  EXPECT_EQ(rig_.Read("paper/paper.tex"), Document("Text."));
  EXPECT_EQ(rig_.Read("paper/figures/a.png"), TinyPng());
}

TEST_F(WriteupTest, AFaultyPaperIsRefusedAndAfterThreeThereIsNone) {  // RSP-43, RSP-T17, FLT-62
  const std::pair<std::string_view, std::string_view> kFaults[] = {
      {"\\includegraphics{gone.png}", "there is no figure gone.png"},
      {"\\cite{gone}", "there is no reference gone"},
      {"\\write18{ls}", "\\write18 runs a program"}};
  for (const auto& [body, fault] : kFaults) rig_.caller.Reply("writeup", Fenced(Document(body)));
  const Paper paper = Make();
  ASSERT_EQ(rig_.caller.refusals.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(rig_.caller.refusals[i], HasSubstr(std::string(kFaults[i].second)));
  }
  EXPECT_THAT(paper.failure, HasSubstr("line 20: this is not written yet: To be written:"));
  EXPECT_THAT(rig_.Read("paper/paper.tex"), HasSubstr("\\title{Sorting \\& <speed>}"));
  EXPECT_THAT(rig_.script->commands(), IsEmpty());  // nothing is compiled
}

TEST_F(WriteupTest, TheLastVersionThatCompiledIsKept) {  // RSP-43
  WithLatex();
  WithOwnTemplate();
  rig_.config.writeup_reflections = 3;
  rig_.caller.Reply("writeup", Fenced(Document("one \\bad")));
  rig_.caller.Reply("writeup_reflection", Fenced(Document("two")));
  rig_.caller.Reply("writeup_reflection", Fenced(Document("three \\bad")));
  rig_.caller.Reply("writeup_reflection", Fenced(Document("four \\input{/etc/x}")));
  const Paper paper = Make();
  EXPECT_EQ(rig_.Read("paper/paper.tex"), Document("two"));
  EXPECT_EQ(rig_.Read("paper/paper.pdf"), "%PDF-1.5 " + Document("two"));
  EXPECT_EQ(paper.pages, 9);
  EXPECT_EQ(paper.message, "");
  EXPECT_THAT(paper.warnings, ElementsAre(HasSubstr("9 pages; the limit is 8")));
  const OwnSection* checker = rig_.caller.Section("writeup_reflection", "checker");
  ASSERT_NE(checker, nullptr);
  EXPECT_THAT(ToJson(checker->value), HasSubstr("Undefined control sequence"));
  // In the third reflection: the versions before the newest, which is a section.
  const OwnSection* history = rig_.caller.Section("writeup_reflection", "history");
  ASSERT_NE(history, nullptr);
  ASSERT_EQ(history->turns.size(), 4U);
  EXPECT_EQ(history->turns[1].role, assembly::Role::kAssistant);
  EXPECT_THAT(history->turns[1].Text(), HasSubstr("one"));
  EXPECT_THAT(history->turns[3].Text(), HasSubstr("two"));
}

TEST_F(WriteupTest, AReflectionSeesUnusedFiguresAndEndsWhenTheModelIsDone) {  // RSP-43
  WithLatex();
  WithOwnTemplate();
  rig_.config.writeup_reflections = 3;
  rig_.caller.Reply("writeup", Fenced(Document("\\includegraphics{a}")));
  rig_.caller.Reply("writeup_reflection", "I am done");
  Make({.figures = {"a.png", "b.png"}, .final_memory = "Blocks win."});
  const OwnSection* memory = rig_.caller.Section("writeup_reflection", "final_memory");
  ASSERT_NE(memory, nullptr);  // claims need evidence: FLT-61
  EXPECT_EQ(memory->value, Json("Blocks win."));
  EXPECT_NE(rig_.caller.Section("writeup_reflection", "summaries"), nullptr);
  EXPECT_EQ(rig_.caller.Count("writeup_reflection"), 1U);
  const OwnSection* unused = rig_.caller.Section("writeup_reflection", "unused_figures");
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(ToJson(unused->value), R"(["b.png"])");
}

TEST_F(WriteupTest, WithNoModelThereIsOnlyTheTemplate) {  // RSP-46, FLT-62
  rig_.results.models = Models::kNone;
  EXPECT_NE(Make().failure, "");
  EXPECT_THAT(rig_.caller.requests, IsEmpty());
  EXPECT_TRUE(rig_.Has("paper/paper.tex"));
}

TEST_F(WriteupTest, PartsThatNobodyWroteAreRefusedAndFailTheStep) {  // FLT-62
  const std::string given(*BuiltInAsset("data/research/paper.tex"));
  std::string partly = WrittenPaper();
  partly.insert(partly.find("\\section{Results}"), "To be written: the machine.\n");
  rig_.caller.Reply("writeup", Fenced(given));
  rig_.caller.Reply("writeup", Fenced(partly));
  rig_.caller.Reply("writeup", "no paper");
  const Paper paper = Make();
  ASSERT_EQ(rig_.caller.refusals.size(), 3U);
  EXPECT_THAT(rig_.caller.refusals[0], HasSubstr("To be written: the question and why"));
  EXPECT_THAT(rig_.caller.refusals[1], HasSubstr("this is not written yet: To be written: the m"));
  EXPECT_THAT(paper.failure, HasSubstr("paper/paper.tex is not written: line "));
  EXPECT_EQ(paper.pdf, "");
  EXPECT_EQ(rig_.Read("paper/paper.tex"), partly);  // the best available, for a person
  EXPECT_EQ(rig_.caller.Count("writeup_reflection"), 0U);
  EXPECT_THAT(rig_.script->commands(), IsEmpty());
  const auto reviewed = ReviewPaper(rig_.services, rig_.results, {});
  ASSERT_THAT(reviewed, Succeeds());
  EXPECT_FALSE(reviewed->review);
  EXPECT_EQ(rig_.caller.Count("review"), 0U);
}

TEST(UnwrittenPartsTest, TemplatesPlacesEmptyPartsAndCopiesAreFound) {  // FLT-62
  const std::string given =
      ReplaceAll(*BuiltInAsset("data/research/paper.tex"), kTitlePlace, "Sorting");
  EXPECT_EQ(UnwrittenParts(given, given).size(), 7U);
  EXPECT_THAT(UnwrittenParts(WrittenPaper(), given), IsEmpty());
  std::string less = ReplaceAll(WrittenPaper(), "\\section{Results}", "");
  EXPECT_THAT(UnwrittenParts(less, given),
              ElementsAre("\\section{Results} of the template is missing"));
  const std::string renamed =
      ReplaceAll(WrittenPaper(), "\\section{Results}", "\\section{Findings}");
  EXPECT_THAT(UnwrittenParts(renamed, given), IsEmpty());
  less = ReplaceAll(ReplaceAll(less, "\\begin{abstract}", ""), "\\end{abstract}", "");
  EXPECT_EQ(UnwrittenParts(less, given).size(), 2U);
  const std::string own = Document("\\section{A}\nFixed words.\n");
  EXPECT_THAT(UnwrittenParts(own, own), ElementsAre("nothing of the template was changed"));
  EXPECT_THAT(UnwrittenParts(Document("\\section{A}\nOther words.\n"), own), IsEmpty());
  const struct {
    std::string_view body;
    std::size_t parts;
  } kCases[] = {{"\\section{A}\n\\section{B}\ntext", 1},
                {"\\section{A}\\label{a}\n% words\n\\section{B}\ntext", 1},
                {"\\section{A}\n\\subsection{B}\ntext", 0},
                {"\\section{A}\n\\subsection{B}\n", 2},
                {"\\begin{abstract}\n\\end{abstract}\ntext", 1},
                {"\\begin{abstract}\nWe sort.\n\\end{abstract}\n\\section{A}\n\\input{a}\n", 0},
                {"\\section{The \\emph{best}}\n$x$", 0},
                {"\\section{A}\nTODO", 1},
                {"\\section{A}\nTODO: say why\n", 1},
                {"\\section{A}\n[Insert the discussion here]", 1},
                {"\\section{A}\n[1] says so.", 0},
                {"\\section{A}\n\\ldots", 1},
                {"\\section{A}\n… \\emph{TBD}.\n\\section{B}\n\\emph{Words.}", 1},
                {"\\section{A}\n\\textit{To be written: the discussion.}", 1},
                {"\\title{@TITLE@}\ntext", 1}};
  for (const auto& example : kCases) {
    EXPECT_EQ(UnwrittenParts(Document(example.body), "").size(), example.parts) << example.body;
  }
}

TEST(LatexBuildTest, PagesAndErrorsAreReadFromTheLog) {
  EXPECT_EQ(LatexPages("x\nOutput written on paper.pdf (12 pages,\n 3456 bytes).\n"), 12);
  EXPECT_EQ(LatexPages("Output written on pap\ner.pdf (1 page, 3 bytes)."), 1);
  EXPECT_EQ(LatexPages("No pages of output."), 0);
  EXPECT_EQ(LatexErrors("a\n! LaTeX Error: File `x' not found.\nb\nl.3 \\x\n", 9),
            "! LaTeX Error: File `x' not found.\nl.3 \\x\n");
}

TEST(PaperTemplateTest, TheBuiltInTemplatePassesTheChecks) {  // RSP-43
  const auto tex = BuiltInAsset("data/research/paper.tex");
  ASSERT_TRUE(tex);
  EXPECT_THAT(CheckLatex(*tex, {}), IsEmpty());
}

// With the real programs, if LaTeX and the sandbox are available.
class RealLatexTest : public WriteupTest {
 protected:
  void SetUp() override {
    rig_.services.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    rig_.services.backend = [](std::string_view) { return MakeLocalBackend({}); };
    const auto built = BuildLatex(rig_.services, {.tex = Document("Hello.")}, {});
    if (!built) GTEST_SKIP() << "the sandbox is not available here: " << built.error().message;
    if (built->state == LatexBuild::State::kNoLatex)
      GTEST_FAIL() << "scripts/setup --test installs LaTeX";
    ASSERT_EQ(built->state, LatexBuild::State::kBuilt) << built->message;
    EXPECT_EQ(built->pages, 1);
  }
};

TEST_F(RealLatexTest, TheTemplateCompilesWithFiguresAndCitations) {  // RSP-43, RSP-T17
  const auto entries = ParseBibtex(
      "@article{hoare62, title={Quicksort}, author={C. Hoare}, "
      "journal={Comp. J.}, year=1962}");
  std::string tex = WrittenPaper();
  const std::size_t at = tex.find("\\section{Results}");
  tex.insert(at, "\\includegraphics{a.png} \\cite{hoare62}\n");
  rig_.caller.Reply("writeup", Fenced(tex));
  const Paper paper = Make({.figures = {"a.png"}, .citations = entries});
  EXPECT_EQ(paper.pdf, "paper/paper.pdf") << paper.message;
  EXPECT_EQ(paper.pages, 1);
}

TEST_F(RealLatexTest, NoProgramIsRunAndNoFileOutsideIsRead) {  // RSP-43
  const std::string secret = rig_.folder() + "/secret.tex";
  ASSERT_TRUE(WriteFileAtomic(secret, "SECRET"));
  for (const std::string& body :
       {fmt::format("\\input{{{}}}", secret), std::string("\\input{/etc/passwd}")}) {
    const auto built = BuildLatex(rig_.services, {.tex = Document(body)}, {});
    ASSERT_THAT(built, Succeeds());
    EXPECT_EQ(built->state, LatexBuild::State::kFailed) << body;
  }
  const auto built =
      BuildLatex(rig_.services, {.tex = Document("\\immediate\\write18{touch written}x")}, {});
  ASSERT_THAT(built, Succeeds());
  EXPECT_FALSE(rig_.Has("workers/paper/latex/written"));
}

}  // namespace
}  // namespace dossier::research
