// Analyses LaTeX text: what a document uses, what must not be compiled, its figures.
//
//   const std::vector<std::string> faults = CheckLatex(tex, {.figures = figures, .keys = keys});
//   if (!faults.empty()) TellTheModel(faults);
//
// Comments and verbatim text do not count. The checks help an honest model by saying what to
// change; what a document can do when it is compiled is limited by the sandbox. Thread-safety: pure
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
  std::size_t begin = 0, end = 0;  // byte range in the text, with options and argument
};
std::vector<LatexUse> ScanLatex(std::string_view tex);

// Returns `tex` with comments and verbatim text blanked out: offsets and lines stay.
std::string WithoutComments(std::string_view tex);

struct LatexInputs {
  std::span<const std::string> figures;  // names in figures/: "loss.png"
  std::span<const std::string> keys;     // keys in references.bib
};

// Returns the faults, one sentence each, with the line; at most 20. Faults are missing figures and
// keys, unbalanced environments, commands that run programs or write files, inputs outside the
// paper's folder, and a missing \begin{document}.
std::vector<std::string> CheckLatex(std::string_view tex, const LatexInputs& inputs);

// Marks a line of a template that says what must be written in its place.
inline constexpr std::string_view kToBeWritten = "To be written:";
inline constexpr std::string_view kTitlePlace = "@TITLE@";  // where a template has the title

// Returns the parts that are not written yet, one sentence each, with the line: template lines and
// the title's place that are still there; headings and an abstract without text, or with "TODO",
// "[Insert …]" or dots in its place; parts of the template that are gone. `given` is the template
// ("": there was none); a paper equal to it counts as not written at all.
std::vector<std::string> UnwrittenParts(std::string_view tex, std::string_view given);

// Returns true if the LaTeX runs a program, reads or writes a file, or hides that it does.
bool ReachesOut(std::string_view tex);

// Returns the name in `figures` that \includegraphics{argument} refers to, with or without
// "figures/" and file extension. "": none.
std::string FigureOf(std::string_view argument, std::span<const std::string> figures);

// A figure environment, in the form shown to a reviewer.
struct PaperFigure {
  std::vector<std::string> images;  // arguments of \includegraphics
  std::string caption, label;
  std::vector<std::string> references;  // paragraphs that refer to the label
};
std::vector<PaperFigure> FiguresOf(std::string_view tex);
// Removes the figure environments whose only images are those named by `image`, and those images
// from other environments.
std::string WithoutFigure(std::string_view tex, std::string_view image);
// Returns the text of \begin{abstract}; "": none.
std::string AbstractOf(std::string_view tex);

// Escapes a text for LaTeX: `50 %` becomes `50 \%`.
std::string EscapeLatex(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LATEX_H_
