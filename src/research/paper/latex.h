// LaTeX as text: what a document uses, what must not be compiled, its figures.
//
//   const std::vector<std::string> faults = CheckLatex(tex, {.figures = figures, .keys = keys});
//   if (!faults.empty()) TellTheModel(faults);
//
// Comments and verbatim text do not count. The checks are for an honest model, and say what to
// change; what a document may do when it is compiled, the sandbox decides. Thread-safety: pure
// functions, linear in the length of the text.

#ifndef DOSSIER_RESEARCH_PAPER_LATEX_H_
#define DOSSIER_RESEARCH_PAPER_LATEX_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::research {

// One command with its first argument: \includegraphics[width=5cm]{loss.png}.
struct LatexUse {
  std::string command;             // "includegraphics", without a star
  std::string argument;            // "loss.png"; "": none
  std::size_t line = 1;            // from 1
  std::size_t begin = 0, end = 0;  // bytes of the text, with options and argument
};
std::vector<LatexUse> ScanLatex(std::string_view tex);

// `tex` with comments and verbatim text as blanks: offsets and lines stay.
std::string WithoutComments(std::string_view tex);

struct LatexInputs {
  std::span<const std::string> figures;  // names in figures/: "loss.png"
  std::span<const std::string> keys;     // of references.bib
};

// What is wrong, one sentence each, with its line; at most 20. Figures and keys that are not there,
// environments that do not balance, commands that run programs or write files, inputs outside the
// paper's folder, no \begin{document}.
std::vector<std::string> CheckLatex(std::string_view tex, const LatexInputs& inputs);

// A line of a template that says what belongs in its place begins with this.
inline constexpr std::string_view kToBeWritten = "To be written:";

// What nobody has written yet, one sentence each, with its line: places of a template that are
// still there, headings and an abstract with nothing below them. `given` is the template: a paper
// that says nothing else than it is not written at all. "": there was none.
std::vector<std::string> UnwrittenParts(std::string_view tex, std::string_view given);

// Whether a piece of LaTeX runs a program, reads or writes a file, or hides that it does.
bool ReachesOut(std::string_view tex);

// The name in `figures` that \includegraphics{argument} means: with or without "figures/" and the
// ending. "": none.
std::string FigureOf(std::string_view argument, std::span<const std::string> figures);

// A figure environment, as a reviewer sees it.
struct PaperFigure {
  std::vector<std::string> images;  // arguments of \includegraphics
  std::string caption, label;
  std::vector<std::string> references;  // paragraphs that refer to the label
};
std::vector<PaperFigure> FiguresOf(std::string_view tex);
// Without each figure environment whose only images are those that `image` names; in others,
// without these images.
std::string WithoutFigure(std::string_view tex, std::string_view image);
// The text of \begin{abstract}; "": none.
std::string AbstractOf(std::string_view tex);

// Text that stands for itself in LaTeX: `50 %` as `50 \%`.
std::string EscapeLatex(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LATEX_H_
