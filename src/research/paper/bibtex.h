// BibTeX: entries in, entries out.
//
//   for (const BibEntry& entry : ParseBibtex(text)) Use(entry.key, entry.Field("title"));
//   WriteFileAtomic(path, BibtexText(entries));
//
// Reads what people have: braces and quotes, nested braces, bare numbers, `#` joins, months and
// names of @string, either kind of outer bracket. What cannot be read is passed over; the next
// entry counts. Thread-safety: pure functions.

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

// Entries; no comments, preambles or strings.
std::vector<BibEntry> ParseBibtex(std::string_view text);
// Values in braces; braces that do not balance are left out. Ends each entry with a blank line.
std::string BibtexText(const std::vector<BibEntry>& entries);
// Whether it may stand in a paper: a type, a key of letters, digits and `_:.+/-`, a title and a
// year.
bool IsCitable(const BibEntry& entry);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_BIBTEX_H_
