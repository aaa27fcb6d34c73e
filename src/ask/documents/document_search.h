// Finds paragraphs that share the rarest words of a query, ranked by BM25, without an index.
//
//   std::vector<TextDocument> documents = …;
//   for (const Passage& passage : FindPassages(documents, "Which gate closed first?", 4000)) …
//
// A passage is a record if the format has records, else a paragraph between blank lines, limited to
// about ten lines or 2,000 bytes. Words are runs of letters and digits, without case and plural s;
// each CJK character is a word. Memory does not depend on the size of the texts. Thread-safety:
// pure functions.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_SEARCH_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_SEARCH_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"

namespace dossier::ask {

// A text to search or to serve. `text` is decoded, valid UTF-8, mapped or in memory, and must
// outlive this.
struct TextDocument {
  std::string name;
  std::string_view text;
  inspect::Description description;
  // The original if it is not text ("SQLite database"), and how code reads it.
  std::string stands_for = {}, way = {};
};

struct Passage {
  std::size_t document = 0;          // index
  std::uint64_t at = 0, length = 0;  // byte range in its text
  double score = 0;                  // positive; comparable within one search
};

// Returns the best `count` passages, best first; with equal scores, the earlier first. Errors:
// kCancelled.
Result<std::vector<Passage>> SearchPassages(std::span<const TextDocument> documents,
                                            std::string_view query, std::size_t count,
                                            const CancelToken& cancel);

// The number of passages, and the number that contain each of `words` (hashes; at most 64 are
// used). Incomplete if cancelled.
struct PassageCounts {
  std::uint64_t passages = 0;
  std::vector<std::uint64_t> with;  // one per word
};
PassageCounts CountPassages(std::span<const TextDocument> documents,
                            std::span<const std::uint64_t> words, const CancelToken& cancel);

// Returns the passages to show a model with its question: best first, no duplicate texts,
// `max_chars` code points in total. Rare words decide, as in SearchPassages. Empty if nothing
// shares a word with the question, or if cancelled.
std::vector<Passage> FindPassages(std::span<const TextDocument> documents,
                                  std::string_view question, std::size_t max_chars,
                                  const CancelToken& cancel = {});

// Searches a mapped text with RE2: linear time and bounded memory for any pattern.
//
//   DOSSIER_ASSIGN_OR_RETURN(GrepResult found, Grep(text, "ERROR.*timeout", {.max = 100}, cancel));
//
// Matches never span lines; ^ and $ match a line's ends, also at CRLF or a lone CR. Of a line's
// empty matches only the first counts. Thread-safety: pure function.

struct GrepOptions {
  enum class Case { kSensitive, kIgnore } letter_case = Case::kSensitive;
  enum class Each { kLine, kMatch } each = Each::kLine;  // kLine: the first match of every line
  std::uint64_t max = 1000;                              // matches listed; all are counted
  std::uint64_t context = 0;                             // lines before and after
};

struct GrepMatch {
  std::uint64_t at = 0, length = 0;                  // bytes
  std::uint64_t line = 0;                            // from 1
  std::uint64_t line_at = 0, line_length = 0;        // without the line end
  std::uint64_t context_at = 0, context_length = 0;  // the line and its context lines
};

struct GrepResult {
  std::vector<GrepMatch> matches;
  std::uint64_t total = 0;  // number of all matches
};

// Errors: kInvalidArgument for a pattern that RE2 rejects, with pattern and reason; kCancelled.
Result<GrepResult> Grep(std::string_view text, std::string_view pattern, const GrepOptions& options,
                        const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_SEARCH_H_
