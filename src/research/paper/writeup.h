// Makes the paper: a model writes LaTeX, which is checked, compiled in the sandbox and revised.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Paper paper, MakePaper(services, results, {.figures = figures,
//                            .aggregator = script, .final_memory = text, .citations = found},
//                            cancel));
//   if (paper.pdf.empty()) Say(paper.message);     // paper.tex is there
//
// The last version that compiled is kept; without LaTeX, the last one that passed the checks. A
// paper with unwritten parts is a failure: its text is kept as paper.tex, but it is not compiled,
// and must not be reviewed. Errors: those of RoleCaller::Call and of the sandbox; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_PAPER_WRITEUP_H_
#define DOSSIER_RESEARCH_PAPER_WRITEUP_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"
#include "research/paper/bibtex.h"

namespace dossier::research {

struct PaperParts {
  std::vector<std::string> figures;  // names in figures/
  std::string aggregator;            // script; "": none
  std::string final_memory;
  std::vector<BibEntry> citations;
  int attempt = 0;  // number of times the run was asked to retry what failed
};

struct Paper {
  std::string tex;      // relative to the run folder: "paper/paper.tex"
  std::string pdf;      // "": none
  std::string message;  // why there is no PDF
  int pages = 0;        // of the PDF
  std::string failure;  // the unwritten parts; "": complete
  std::vector<std::string> warnings;
};

// Writes paper/: paper.tex, references.bib, the figures, paper.pdf.
Result<Paper> MakePaper(const Services& services, const RunResults& results,
                        const PaperParts& parts, const CancelToken& cancel);

// Writes one version of the paper to paper/; without a PDF, an old one is removed. Errors: kIo.
Status KeepPaper(const Services& services, std::string_view tex, std::string_view pdf,
                 const std::vector<std::string>& figures);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_WRITEUP_H_
