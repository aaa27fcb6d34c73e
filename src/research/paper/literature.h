// Where citations come from: a BibTeX file, a search service, or nothing.
//
//   const Literature literature(services);
//   if (!literature.HasSource()) return Skip();
//   DOSSIER_ASSIGN_OR_RETURN(const auto entries, literature.Search("matrix blocking", round,
//   cancel));
//
// A search address holds `{query}`; what it answers is BibTeX, or JSON as Semantic Scholar's paper
// search gives it ({"data": [{"title", "year", "authors", "venue", "abstract", …}]}). Answers are
// kept in the run folder, so that a resumed run sees the same. Errors: kNetwork and the like of the
// fetch; kIo, kNotFound of the file.
//
// Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_PAPER_LITERATURE_H_
#define DOSSIER_RESEARCH_PAPER_LITERATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/paper/bibtex.h"

namespace dossier::research {

inline constexpr std::size_t kMaxSearchResults = 10;

class Literature {
 public:
  // `services` outlives it.
  explicit Literature(const Services& services) : services_(services) {}

  bool HasSource() const;
  // Citable entries, best first, at most kMaxSearchResults. `round` names the answer that is kept.
  Result<std::vector<BibEntry>> Search(std::string_view query, int round,
                                       const CancelToken& cancel) const;

 private:
  Result<std::vector<BibEntry>> FromFile(std::string_view query) const;
  Result<std::vector<BibEntry>> FromService(std::string_view query,
                                            const CancelToken& cancel) const;

  const Services& services_;
};

// The entries that share most words with the query, those that share none left out.
std::vector<BibEntry> BestMatches(std::vector<BibEntry> entries, std::string_view query);
// What a search service answered. Never fails: what is neither form has no entries.
std::vector<BibEntry> ReadSearchReply(std::string_view text);
// `url` with the query in place of `{query}`, percent-encoded; appended where there is no place.
std::string SearchUrl(std::string_view url, std::string_view query);

// One GET with a deadline of 30 s and at most 4 MiB, for Services::fetch.
std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> HttpFetch();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LITERATURE_H_
