// Collects the literature of a paper: a model names topics, a BibTeX file or a search service
// answers, and the model chooses.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Citations found, GatherCitations(services, results, cancel));
//   // paper/references.bib holds found.entries
//
// Sources: citations.bibtex and .search_url of the configuration. Without a source, or if none
// answers, there are no citations, and a warning says so. Errors: those of RoleCaller::Call; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_PAPER_CITATIONS_H_
#define DOSSIER_RESEARCH_PAPER_CITATIONS_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"
#include "research/paper/bibtex.h"

namespace dossier::research {

struct Citations {
  std::vector<BibEntry> entries;  // each with key, title and year; keys are unique
  std::vector<std::string> warnings;
};

// Always writes paper/references.bib, even without citations.
Result<Citations> GatherCitations(const Services& services, const RunResults& results,
                                  const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_CITATIONS_H_
