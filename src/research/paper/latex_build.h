// A paper compiled in the sandbox: no network, no shell escape, nothing read but its own folder and
// the TeX installation.
//
//   DOSSIER_ASSIGN_OR_RETURN(const LatexBuild built, BuildLatex(services, sources, cancel));
//   if (built.state == LatexBuild::State::kBuilt) Keep(built.pdf);
//   else Say(built.message);
//
// latexmk, or pdflatex with bibtex, or tectonic: the first that is there. A document that does not
// compile is an outcome. Errors: those of ExecBackend; kIo.
//
// Thread-safety: called by the thread of the run alone.

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
  std::string pdf;  // of kBuilt: the bytes
  int pages = 0;    // of kBuilt; 0: not known
  // Of kBuilt: what LaTeX warned of; else its errors, or what is missing and the way out.
  std::string message;
};

Result<LatexBuild> BuildLatex(const Services& services, const LatexSources& sources,
                              const CancelToken& cancel);

// The lines of a log that tell of errors and undefined references, the last `lines`.
std::string LatexErrors(std::string_view log, std::size_t lines);
// Of "Output written on paper.pdf (8 pages, 1234 bytes)."; 0: not said.
int LatexPages(std::string_view log);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LATEX_BUILD_H_
