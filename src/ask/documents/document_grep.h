// grep over a mapped text with RE2: linear time, bounded memory, whatever the pattern.
//
//   DOSSIER_ASSIGN_OR_RETURN(GrepResult found, Grep(text, "ERROR.*timeout", {.max = 100}, cancel));
//
// Matches never span lines; ^ and $ mean a line's ends, CRLF or a lone CR included. Of the empty
// matches of a line the first one counts. Thread-safety: pure function.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_GREP_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_GREP_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::ask {

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
  std::uint64_t context_at = 0, context_length = 0;  // the line and those around it
};

struct GrepResult {
  std::vector<GrepMatch> matches;
  std::uint64_t total = 0;  // matches in all
};

// Errors: kInvalidArgument for a pattern that RE2 does not take, naming pattern and reason;
// kCancelled.
Result<GrepResult> Grep(std::string_view text, std::string_view pattern, const GrepOptions& options,
                        const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_GREP_H_
