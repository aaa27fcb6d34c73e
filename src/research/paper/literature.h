// Searches for citations in a BibTeX file or with a search service, or nowhere.
//
//   const Literature literature(services);
//   if (!literature.HasSource()) return Skip();
//   DOSSIER_ASSIGN_OR_RETURN(const auto entries,
//                            literature.Search("matrix blocking", round, cancel));
//
// A search address contains `{query}`; the service answers with BibTeX, or with JSON in the form of
// Semantic Scholar's paper search ({"data": [{"title", "year", "authors", "venue", "abstract",
// …}]}). Answers are stored in the run folder, so that a resumed run gets the same ones. Errors:
// kNetwork and others from the fetch; kIo, kNotFound for the file.
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
  // `services` must outlive this object.
  explicit Literature(const Services& services) : services_(services) {}

  bool HasSource() const;
  // Returns citable entries, best first, at most kMaxSearchResults. `round` names the kept answer.
  Result<std::vector<BibEntry>> Search(std::string_view query, int round,
                                       const CancelToken& cancel) const;

 private:
  Result<std::vector<BibEntry>> FromFile(std::string_view query) const;
  Result<std::vector<BibEntry>> FromService(std::string_view query,
                                            const CancelToken& cancel) const;

  const Services& services_;
};

// Returns the entries that share most words with the query, without those that share none.
std::vector<BibEntry> BestMatches(std::vector<BibEntry> entries, std::string_view query);
// Parses a search service's answer. Never fails: text in neither form gives no entries.
std::vector<BibEntry> ReadSearchReply(std::string_view text);
// Returns `url` with `{query}` replaced by the percent-encoded query; appended without `{query}`.
std::string SearchUrl(std::string_view url, std::string_view query);

// Returns a function for Services::fetch: one GET with a deadline of 30 s, at most 4 MiB.
std::function<Result<std::string>(const std::string& url, const CancelToken& cancel)> HttpFetch();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_LITERATURE_H_
