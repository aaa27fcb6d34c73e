// Compiles a paper in the sandbox: no network, no shell escape; only its own folder and the TeX
// installation can be read.
//
//   DOSSIER_ASSIGN_OR_RETURN(const LatexBuild built, BuildLatex(services, sources, cancel));
//   if (built.state == LatexBuild::State::kBuilt) Keep(built.pdf);
//   else Say(built.message);
//
// Uses the first available of latexmk, pdflatex with bibtex, and tectonic. A document that does not
// compile is an outcome. Errors: those of ExecBackend; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_PAPER_LATEX_BUILD_H_
#define DOSSIER_RESEARCH_PAPER_LATEX_BUILD_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "research/node/phases.h"

namespace dossier::research {

inline constexpr Millis kLatexTime{180'000};

struct LatexSources {
  std::string tex;
  std::string bibtex;
  std::vector<std::string> figures;  // names in figures/ of the run folder
};

struct LatexBuild {
  enum class State : std::uint8_t { kBuilt, kFailed, kNoLatex } state = State::kNoLatex;
  std::string pdf;  // for kBuilt: the file's bytes
  int pages = 0;    // for kBuilt; 0: unknown
  // For kBuilt: LaTeX's warnings; else its errors, or what is missing and the remedy.
  std::string message;
};

Result<LatexBuild> BuildLatex(const Services& services, const LatexSources& sources,
                              const CancelToken& cancel);

// Returns the last `lines` log lines about errors and undefined references.
std::string LatexErrors(std::string_view log, std::size_t lines);
// Reads "Output written on paper.pdf (8 pages, 1234 bytes)."; 0 if there is no such line.
int LatexPages(std::string_view log);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LATEX_BUILD_H_
