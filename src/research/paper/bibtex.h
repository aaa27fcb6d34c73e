// Parses and writes BibTeX.
//
//   for (const BibEntry& entry : ParseBibtex(text)) Use(entry.key, entry.Field("title"));
//   WriteFileAtomic(path, BibtexText(entries));
//
// Accepts what is common: braces and quotes, nested braces, bare numbers, `#` joins, months and
// @string names, either kind of outer bracket. What cannot be parsed is skipped, and parsing goes
// on at the next entry. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_PAPER_BIBTEX_H_
#define DOSSIER_RESEARCH_PAPER_BIBTEX_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::research {

struct BibEntry {
  std::string type;  // "article", lower case
  std::string key;
  std::vector<std::pair<std::string, std::string>> fields;  // names lower case, in order

  std::string_view Field(std::string_view name) const;  // "": none
};

// Returns the entries, without comments, preambles and strings.
std::vector<BibEntry> ParseBibtex(std::string_view text);
// Writes values in braces; unbalanced braces are left out. Each entry ends with a blank line.
std::string BibtexText(const std::vector<BibEntry>& entries);
// Returns true if a paper may cite it: type, key of letters, digits and `_:.+/-`, title and year.
bool IsCitable(const BibEntry& entry);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_BIBTEX_H_
