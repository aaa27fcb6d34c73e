// Counts code points and lines of a text in one pass.
//
//   TextCount count = CountText("naïve\ncafé\n");
//   count.utf8.code_points == 11 && count.lines.lines() == 2;
//
// A text may be counted in parts that are cut between code points: add the censuses, append the
// summaries. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_
#define DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_

#include <cstdint>
#include <string_view>

#include "base/text/utf8.h"

namespace dossier::inspect {

// Counts the lines of a text block by block, in any order of blocks.
//
//   LineSummary all = SummarizeLines("a\r");
//   all.Append(SummarizeLines("\nb"));       // the CRLF between the blocks is one end
//   all.lines() == 2 && all.crlf == 1;
//
// A line ends with LF, CRLF or a lone CR; a last line without an end counts if it is not empty.
// Appending is associative, so threads may summarize blocks and join them later. Thread-safety:
// values and pure functions.

struct LineSummary {
  std::uint64_t bytes = 0;
  std::uint64_t lf = 0, crlf = 0, cr = 0;  // a CR as the last byte is counted later: pending_cr
  std::uint64_t nul_bytes = 0;

  // Lines that both begin and end in this block. The parts before the first and after the last line
  // end may grow when blocks are joined. Lengths are bytes without line ends.
  std::uint64_t inner_blank = 0;
  std::uint64_t inner_longest = 0;
  bool any_end = false;
  std::uint64_t first_length = 0;  // before the first end; only if any_end
  bool first_blank = true;
  std::uint64_t last_length = 0;  // after the last end; everything if there is none
  bool last_blank = true;
  bool starts_with_lf = false;
  bool pending_cr = false;  // the last byte is a CR: a line end, or the first half of one

  void Append(const LineSummary& next);

  // For the whole text, after all blocks are joined.
  std::uint64_t lines() const;
  std::uint64_t blank_lines() const;
  std::uint64_t longest_line_bytes() const;
  std::uint64_t lone_cr() const { return cr + (pending_cr ? 1 : 0); }

  bool operator==(const LineSummary&) const = default;

 private:
  void ClosePendingCr();
};

// Processes one byte at a time; CountText (text_counter.h) gives the same result faster.
LineSummary SummarizeLines(std::string_view block);

struct TextCount {
  utf8::Census utf8;
  LineSummary lines;

  void Append(const TextCount& next);
  bool operator==(const TextCount& other) const;
};

TextCount CountText(std::string_view text);

namespace internal {
TextCount CountTextScalar(std::string_view text);
// Call this only if utf8::internal::HasAvx2().
TextCount CountTextAvx2(std::string_view text);
}  // namespace internal

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_
